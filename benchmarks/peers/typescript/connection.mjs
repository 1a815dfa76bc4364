// A whole connection of the TypeScript SDK, as peers/connection_ours.py has it.
//
// Usage: node connection.mjs NODE_MODULES TEXT [agent]; see ../turns.py for what is said on standard input and output.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [, script, modules, TEXT, role] = process.argv;
const acp = await import(pathToFileURL(join(modules, "@agentclientprotocol", "sdk", "dist", "v1", "stable", "acp.js")));
const sessionId = "session-1";
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const stream = (output, input) => acp.ndJsonStream(Writable.toWeb(output), Readable.toWeb(input));

async function agent() {
  const app = acp
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
  await app.connect(stream(process.stdout, process.stdin)).closed;
}

async function client() {
  let count = 0;
  const child = spawn(process.execPath, [script, modules, TEXT, "agent"], { stdio: ["pipe", "pipe", "inherit"] });
  process.on("exit", () => child.kill());
  const app = acp.client({ name: "bench" }).onNotification("session/update", ({ params }) => {
    count += params.update.content.text.length;
  });
  await app.connectWith(stream(child.stdin, child.stdout), async (to) => {
    await to.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION });
    await to.request("session/new", { cwd: "/", mcpServers: [] });
    const trip = async () => (await to.request("session/set_mode", { sessionId, modeId: "m" }))._meta;
    const chunks = async (number) => {
      count = 0;
      const prompt = [{ type: "text", text: String(number) }];
      const answer = await to.request("session/prompt", { sessionId, prompt });
      if (count !== number * TEXT.length) throw new Error("chunks are missing");
      return answer._meta;
    };
    console.log(JSON.stringify({ ready: true }));
    for await (const line of createInterface({ input: process.stdin })) {
      const [what, number] = line.split(" ");
      const before = (await trip()).cpu;
      const own = cpu();
      const start = performance.now();
      let last;
      if (what === "chunks") last = await chunks(Number(number));
      else for (let n = 0; n < Number(number); n++) last = await trip();
      const wall = (performance.now() - start) / 1e3;
      console.log(JSON.stringify({ wall, client: cpu() - own, agent: last.cpu - before }));
    }
  });
  process.exit(0);
}

await (role === "agent" ? agent() : client());
