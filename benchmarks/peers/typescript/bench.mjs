// The TypeScript SDK: the steps that its connection takes with a line.
//
// Receiving (core/stream.js, core/jsonrpc.js, v1/stable/acp.js): decode the bytes, trim, JSON.parse, the guards of the
// message's form, then the zod schema of the params. The SDK gives results to the caller unchecked, so the line of a
// response is done after the guard. Sending: JSON.stringify, a newline, UTF-8. Streams and promises are left out.
//
// Usage: node bench.mjs NODE_MODULES LINES; see ../serve.py for what is said on standard input and output.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [, , modules, folder] = process.argv;
const sdk = join(modules, "@agentclientprotocol", "sdk");
const load = (...path) => import(pathToFileURL(join(sdk, ...path)).href);
const zod = await load("dist", "v1", "schema", "zod.gen.js");
const rpc = await load("dist", "core", "jsonrpc.js");

const SIDE = "TypeScript SDK";
const SCHEMAS = {
  "session/update": zod.zSessionNotification,
  "session/prompt": zod.zPromptRequest,
  "session/new": zod.zNewSessionRequest,
  "initialize result": zod.zInitializeResponse,
};
const TARGET = 1; // milliseconds of one sample
const SAMPLES = 3;
const WARM = 150; // milliseconds before the first round, for the compiler
const textDecoder = new TextDecoder();
const textEncoder = new TextEncoder();

function receive(bytes, schemas) {
  const message = JSON.parse(textDecoder.decode(bytes).trim());
  if (!rpc.isRequestMessage(message) && !rpc.isNotificationMessage(message) && !rpc.isResponseShapedMessage(message)) {
    throw new Error("no message");
  }
  if ("method" in message) {
    return schemas[message.method].parse(message.params ?? {});
  }
  if (!rpc.isResponseMessage(message)) {
    throw new Error("no response");
  }
  return message.result;
}

const cases = new Map();
for (const { name, kind } of JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"))) {
  const line = new Uint8Array(readFileSync(join(folder, `${name}.line.json`)));
  const params = new Uint8Array(readFileSync(join(folder, `${name}.params.json`)));
  const message = JSON.parse(textDecoder.decode(line));
  const schema = SCHEMAS[kind];
  const parsed = schema.parse(JSON.parse(textDecoder.decode(params)));
  cases.set(`decode line|${SIDE}|${name}`, () => receive(line, SCHEMAS));
  cases.set(`decode params|${SIDE}|${name}`, () => schema.parse(JSON.parse(textDecoder.decode(params))));
  cases.set(`encode line|${SIDE}|${name}`, () => textEncoder.encode(JSON.stringify(message) + "\n"));
  cases.set(`encode params|${SIDE}|${name}`, () => textEncoder.encode(JSON.stringify(parsed)));
}

let sink;
function timed(call, repeats) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < repeats; i++) {
    sink = call();
  }
  return Number(process.hrtime.bigint() - start) / 1e9;
}

function repeatsOf(call) {
  const until = performance.now() + WARM;
  while (performance.now() < until) {
    timed(call, 1);
  }
  for (let repeats = 1; ; repeats *= 4) {
    const spent = timed(call, repeats);
    if (spent > TARGET / 4e3) {
      return Math.max(1, Math.floor((repeats * TARGET) / 1e3 / spent));
    }
  }
}

const say = (what) => process.stdout.write(JSON.stringify(what) + "\n");
const version = (name) => JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")).version;
say({
  cases: [...cases.keys()],
  cannot: {},
  about: {
    node: process.versions.node,
    "@agentclientprotocol/sdk": version("@agentclientprotocol/sdk"),
    zod: version("zod"),
  },
});
const repeats = new Map();
for await (const name of createInterface({ input: process.stdin })) {
  const call = cases.get(name);
  if (!repeats.has(name)) {
    repeats.set(name, repeatsOf(call));
  }
  const count = repeats.get(name);
  timed(call, Math.floor(count / 4) + 1);
  let best = Infinity;
  for (let i = 0; i < SAMPLES; i++) {
    best = Math.min(best, timed(call, count));
  }
  say(best / count);
}
if (sink === undefined) {
  process.exitCode = 1;
}
