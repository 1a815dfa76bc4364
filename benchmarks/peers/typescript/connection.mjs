// A whole connection of the TypeScript SDK, as peers/connection_ours.py has it.
//
// Usage: node connection.mjs NODE_MODULES TEXT [agent | websocket | server]; see ../turns.py for what is said on
// standard input and output.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [, script, modules, TEXT, role] = process.argv;
const load = (...path) => import(pathToFileURL(join(modules, ...path)));
const sdk = (...path) => load("@agentclientprotocol", "sdk", "dist", ...path);
const acp = await sdk("v1", "stable", "acp.js");
const sessionId = "session-1";
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const stream = (output, input) => acp.ndJsonStream(Writable.toWeb(output), Readable.toWeb(input));

function agentApp() {
  return acp
    .agent({ name: "bench" })
    .onRequest("initialize", () => ({ protocolVersion: acp.PROTOCOL_VERSION }))
    .onRequest("session/new", () => ({ sessionId }))
    .onRequest("session/set_mode", () => ({ _meta: { cpu: cpu() } }))
    .onRequest("session/prompt", async ({ params, client }) => {
      const count = Number(params.prompt[0].text);
      for (let n = 0; n < count; n++) {
        await client.notify("session/update", {
          sessionId: params.sessionId,
          update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: TEXT } },
        });
      }
      return { stopReason: "end_turn", _meta: { cpu: cpu() } };
    });
}

async function agent() {
  await agentApp().connect(stream(process.stdout, process.stdin)).closed;
}

async function server() {
  const [{ AcpServer }, { createNodeWebSocketUpgradeHandler }, { WebSocketServer }] = await Promise.all([
    sdk("transports", "server.js"),
    sdk("transports", "node-adapter.js"),
    load("ws", "wrapper.mjs"),
  ]);
  const http = createServer();
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  http.on("upgrade", createNodeWebSocketUpgradeHandler(new AcpServer({ createAgent: agentApp }), sockets));
  http.listen(0, "127.0.0.1", () => console.log(http.address().port));
}

// The bytes of memory that a process has for itself, on Linux.
function memory(pid) {
  const pages = readFileSync(`/proc/${pid}/statm`, "ascii").split(" ");
  return (Number(pages[1]) - Number(pages[2])) * 4096;
}

async function client(websocket) {
  let count = 0;
  const stdio = ["pipe", "pipe", "inherit"];
  const child = spawn(process.execPath, [script, modules, TEXT, websocket ? "server" : "agent"], { stdio });
  process.on("exit", () => child.kill());
  let connect;
  if (websocket) {
    const { createWebSocketStream } = await sdk("transports", "ws-stream.js");
    const { WebSocket } = await load("ws", "wrapper.mjs");
    const port = await new Promise((resolve) => child.stdout.once("data", (data) => resolve(Number(data))));
    connect = () => createWebSocketStream(`ws://127.0.0.1:${port}/acp`, { WebSocket });
  } else connect = () => stream(child.stdin, child.stdout);
  const app = acp.client({ name: "bench" }).onNotification("session/update", ({ params }) => {
    count += params.update.content.text.length;
  });
  const peers = [];
  const open = () =>
    new Promise((resolve, reject) => {
      app
        .connectWith(connect(), async (to) => {
          await to.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION });
          await to.request("session/new", { cwd: "/", mcpServers: [] });
          peers.push(to);
          resolve(to);
          await new Promise(() => {});
        })
        .catch(reject);
    });
  const trip = async (to) => (await to.request("session/set_mode", { sessionId, modeId: "m" }))._meta;
  const repeat = async (to, times) => {
    for (let n = 0; n < times; n++) await trip(to);
  };
  const first = await open();
  const chunks = async (number) => {
    count = 0;
    const prompt = [{ type: "text", text: String(number) }];
    const answer = await first.request("session/prompt", { sessionId, prompt });
    if (count !== number * TEXT.length) throw new Error("chunks are missing");
    return answer._meta;
  };
  console.log(JSON.stringify({ ready: true }));
  for await (const line of createInterface({ input: process.stdin })) {
    const [name, times] = line.split(" ");
    const [what, number] = name.split("@");
    if (what === "idle") {
      await trip(first);
      const before = [memory(process.pid), memory(child.pid)];
      for (let n = 0; n < Number(number); n++) await open();
      await trip(first);
      const answer = { client: memory(process.pid) - before[0], agent: memory(child.pid) - before[1] };
      console.log(JSON.stringify(answer));
      continue;
    }
    while (peers.length < Number(number ?? 1)) await open();
    const before = (await trip(first)).cpu;
    const own = cpu();
    const start = performance.now();
    let last;
    if (what === "chunks") last = await chunks(Number(times));
    else {
      const used = peers.slice(0, Number(number ?? 1));
      await Promise.all(used.map((to) => repeat(to, Math.floor(Number(times) / used.length))));
      last = await trip(first);
    }
    const wall = (performance.now() - start) / 1e3;
    console.log(JSON.stringify({ wall, client: cpu() - own, agent: last.cpu - before }));
  }
  process.exit(0);
}

const roles = { agent, server, websocket: () => client(true) };
await (roles[role] ?? (() => client(false)))();
