// The client of the interop runs on the TypeScript SDK: it tries every feature and prints what it saw as JSON.
// `node client.mjs COMMAND …` starts an agent, `node client.mjs --websocket URL` reaches one.
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { acp, asIs, load, scenario, signal, stdioStream } from "./common.mjs";

const { BIG, FEATURES, LINES, ECHO, NOTE, HOLDING } = scenario;
const PATIENCE = 10_000; // milliseconds for one feature

const state = {
  updates: [],
  files: new Map([["/lines", LINES]]),
  terminals: new Map(),
  terminalCount: 0,
  notes: [],
  asked: signal(),
  answer: signal(),
  withdrawn: false,
};

function startTerminal({ command, args, env, outputByteLimit }) {
  const variables = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
  const child = spawn(command, args ?? [], { env: { ...process.env, ...variables }, stdio: ["ignore", "pipe", "pipe"] });
  const made = { child, output: Buffer.alloc(0), truncated: false, status: null };
  const keep = (data) => {
    made.output = Buffer.concat([made.output, data]);
    if (outputByteLimit != null && made.output.length > outputByteLimit) {
      made.output = made.output.subarray(-outputByteLimit);
      made.truncated = true;
    }
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  made.ended = new Promise((resolve) =>
    child.on("close", (exitCode, name) => resolve((made.status = { exitCode, signal: name }))),
  );
  return made;
}

const client = acp
  .client({ name: "interop-client" })
  .onNotification("session/update", ({ params }) => void state.updates.push(params))
  .onRequest("session/request_permission", async ({ params, agent, signal: stopped }) => {
    const { title } = params.toolCall;
    if (title === "leave") {
      state.asked.set();
      await state.answer.wait;
      return { outcome: { outcome: "cancelled" } };
    }
    if (title === "hold") {
      await agent.notify(HOLDING);
      await new Promise((resolve) => stopped.addEventListener("abort", resolve));
      state.withdrawn = true;
      return { outcome: { outcome: "cancelled" } };
    }
    const { optionId } = params.options.find(({ kind }) => kind === `${title}_once`);
    return { outcome: { outcome: "selected", optionId } };
  })
  .onRequest("fs/read_text_file", ({ params }) => {
    const text = state.files.get(params.path);
    if (text === undefined) throw acp.RequestError.resourceNotFound(params.path);
    const start = (params.line ?? 1) - 1;
    const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    return { content: lines.slice(start, params.limit == null ? undefined : start + params.limit).join("") };
  })
  .onRequest("fs/write_text_file", ({ params }) => {
    state.files.set(params.path, params.content);
    return {};
  })
  .onRequest("terminal/create", ({ params }) => {
    const terminalId = `t${++state.terminalCount}`;
    state.terminals.set(terminalId, startTerminal(params));
    return { terminalId };
  })
  .onRequest("terminal/output", ({ params }) => {
    const { output, truncated, status } = state.terminals.get(params.terminalId);
    return { output: output.toString(), truncated, ...(status && { exitStatus: status }) };
  })
  .onRequest("terminal/wait_for_exit", ({ params }) => state.terminals.get(params.terminalId).ended)
  .onRequest("terminal/kill", ({ params }) => {
    state.terminals.get(params.terminalId).child.kill("SIGKILL");
    return {};
  })
  .onRequest("terminal/release", ({ params }) => {
    state.terminals.get(params.terminalId).child.kill("SIGKILL");
    state.terminals.delete(params.terminalId);
    return {};
  })
  .onRequest("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }))
  .onRequest(ECHO, asIs, ({ params }) => ({ echo: params }))
  .onNotification(NOTE, asIs, ({ params }) => void state.notes.push(params));

const ofKind = (kind) => state.updates.map(({ update }) => update).filter((u) => u.sessionUpdate === kind);
const texts = (kind = "agent_message_chunk") => ofKind(kind).map(({ content }) => content.text);
const said = () => JSON.parse(texts().join(""));
const modes = (answer) => (answer.modes?.availableModes ?? []).map(({ id }) => id);
const settings = ({ configOptions }) => Object.fromEntries(configOptions.map((o) => [o.id, o.currentValue]));
const told = async (text) => {
  while (!texts().includes(text)) await sleep(5);
};
const codeOf = (work) =>
  work.then(
    () => null,
    (why) => why.code ?? String(why),
  );

function trial(agent) {
  const request = (method, params, options) => agent.request(method, params, options);
  async function prompt(blocks, { sessionId = "s1", options, ...more } = {}) {
    const content = [blocks].flat().map((b) => (typeof b === "string" ? { type: "text", text: b } : b));
    const answer = await request("session/prompt", { sessionId, prompt: content, ...more }, options);
    return answer.stopReason;
  }
  const newSession = async () => (await request("session/new", { cwd: "/", mcpServers: [] })).sessionId;
  const asked = (word) => async () => {
    const stop = await prompt(word);
    return { said: texts().join(""), stop };
  };
  const answered = (word) => async () => {
    await prompt(word);
    return said();
  };

  return {
    async initialize() {
      const answer = await request("initialize", {
        protocolVersion: acp.PROTOCOL_VERSION,
        clientInfo: { name: "interop-client", version: "1" },
        clientCapabilities: {
          fs: { readTextFile: true, writeTextFile: true },
          terminal: true,
          session: { configOptions: { boolean: {} } },
          elicitation: { form: {} },
        },
      });
      await newSession();
      await prompt("client");
      return {
        version: answer.protocolVersion,
        load: answer.agentCapabilities.loadSession,
        auth: answer.authMethods.map(({ id }) => id),
        agent: answer.agentInfo.name,
        client: said(),
      };
    },
    async authenticate() {
      await request("authenticate", { methodId: "password" });
      return { ok: true, wrong: await codeOf(request("authenticate", { methodId: "guess" })) };
    },
    async logout() {
      await request("logout", {});
      return { ok: true };
    },
    async "session/new"() {
      const server = { name: "files", command: "/bin/files", args: ["-v"], env: [] };
      const made = await request("session/new", { cwd: "/tmp", mcpServers: [server] });
      await prompt("session", { sessionId: made.sessionId });
      const ids = made.configOptions.map(({ id }) => id);
      return { id: made.sessionId, modes: modes(made), options: ids, "agent saw": said() };
    },
    async "session/load"() {
      const ask = (sessionId) => request("session/load", { sessionId, cwd: "/", mcpServers: [] });
      const answer = await ask("old");
      const updates = state.updates.map(({ update }) => [update.sessionUpdate, update.content.text]);
      return { updates, modes: modes(answer), wrong: await codeOf(ask("new")) };
    },
    async "session/list"() {
      const answer = await request("session/list", { cwd: "/" });
      return { ids: answer.sessions.map(({ sessionId }) => sessionId), cursor: answer.nextCursor };
    },
    async "session/resume"() {
      return { modes: modes(await request("session/resume", { sessionId: "old", cwd: "/", mcpServers: [] })) };
    },
    async "session/close"() {
      await request("session/close", { sessionId: "old" });
      return { ok: true };
    },
    async "session/delete"() {
      await request("session/delete", { sessionId: "old" });
      return { ok: true };
    },
    async "session/set_mode"() {
      await request("session/set_mode", { sessionId: "s1", modeId: "code" });
      const [update] = ofKind("current_mode_update");
      return { ok: true, update: update.currentModeId };
    },
    async "session/set_config_option, a choice"() {
      const answer = await request("session/set_config_option", { sessionId: "s1", configId: "model", value: "large" });
      return { model: settings(answer).model };
    },
    async "session/set_config_option, a switch"() {
      const params = { sessionId: "s1", configId: "fast", type: "boolean", value: true };
      return { fast: settings(await request("session/set_config_option", params)).fast };
    },
    async "text and thoughts in chunks"() {
      const stop = await prompt("stream");
      return { thoughts: texts("agent_thought_chunk"), texts: texts(), stop };
    },
    async "1,000 chunks, in order"() {
      await prompt("many");
      const numbers = texts();
      await sleep(50);
      return {
        count: texts().length,
        "in order": numbers.every((text, n) => text === String(n)),
        "before the answer": numbers.length === texts().length,
      };
    },
    async "tool call with a diff"() {
      await prompt("tools");
      const [call] = ofKind("tool_call");
      const changes = ofKind("tool_call_update");
      const [diff, text] = changes.at(-1).content;
      const places = call.locations.map(({ path, line }) => [path, line]);
      return {
        call: [call.toolCallId, call.title, call.kind, call.status, places, call.rawInput],
        states: [call, ...changes].map(({ status }) => status),
        diff: [diff.path, diff.oldText, diff.newText],
        text: text.content.text,
        output: changes.at(-1).rawOutput,
      };
    },
    async plan() {
      await prompt("plan");
      const [{ entries }] = ofKind("plan");
      return { entries: entries.map(({ content, priority, status }) => [content, priority, status]) };
    },
    async "commands, settings, title, usage"() {
      await prompt("updates");
      const [usage] = ofKind("usage_update");
      return {
        commands: ofKind("available_commands_update")[0].availableCommands.map(({ name }) => name),
        model: settings(ofKind("config_option_update")[0]).model,
        title: ofKind("session_info_update")[0].title,
        usage: [usage.used, usage.size],
      };
    },
    async "an update of an unknown kind"() {
      await prompt("future");
      return { alive: texts().join() === "after" };
    },
    async "content of all kinds in a prompt"() {
      await prompt([
        "blocks",
        { type: "image", data: "aGk=", mimeType: "image/png" },
        { type: "audio", data: "aGk=", mimeType: "audio/wav" },
        { type: "resource_link", uri: "file:///a", name: "a" },
        { type: "resource", resource: { uri: "file:///a", text: "a" } },
        { type: "resource", resource: { uri: "file:///a", blob: "aGk=" } },
      ]);
      return { types: said() };
    },
    "permission: allowed": asked("allow"),
    "permission: rejected": asked("reject"),
    async "permission: cancelled with the turn"() {
      const turn = prompt("leave");
      await state.asked.wait;
      await agent.notify("session/cancel", { sessionId: "s1" });
      state.answer.set();
      return { stop: await turn };
    },
    async "fs/read_text_file"() {
      await prompt("read");
      return { said: texts().join("") };
    },
    "fs/read_text_file, no such file": answered("missing"),
    async "fs/write_text_file"() {
      await prompt("write");
      return { said: texts().join(""), content: state.files.get("/new") };
    },
    async "terminal: create, wait, output, release"() {
      await prompt("terminal");
      return { ...said(), released: state.terminals.size === 0 };
    },
    "terminal: kill": answered("kill"),
    "elicitation/create": answered("elicit"),
    async "session/cancel in mid turn"() {
      const sessionId = await newSession();
      const turn = prompt("wait", { sessionId });
      await told("waiting");
      await agent.notify("session/cancel", { sessionId });
      return { stop: await turn };
    },
    async "two turns at once"() {
      const sessionId = await newSession();
      const turn = prompt("wait", { sessionId });
      await told("waiting");
      const stop = await prompt("stream");
      await agent.notify("session/cancel", { sessionId });
      return { stop, other: await turn };
    },
    async "$/cancel_request to the agent"() {
      const stop = new AbortController();
      const turn = prompt("hang", { options: { cancellationSignal: stop.signal } });
      await told("hanging");
      stop.abort();
      return { code: await codeOf(turn) };
    },
    async "$/cancel_request to the client"() {
      await prompt("withdraw");
      return { said: texts().join(""), told: state.withdrawn };
    },
    async "error: invalid params"() {
      return { code: await codeOf(request("session/set_mode", { sessionId: 4 })) };
    },
    async "error: unknown method"() {
      return { code: await codeOf(request("session/nonsense", {})) };
    },
    async "error: of the handler, with data"() {
      const why = await prompt("refuse").catch((error) => error);
      return { code: why.code, message: why.message, data: why.data };
    },
    async "error: a handler that crashes"() {
      return { code: await codeOf(prompt("crash")) };
    },
    async _meta() {
      await prompt("meta", { _meta: { key: [1, "two"] } });
      return { meta: said() };
    },
    async "extension request"() {
      const answer = await request(ECHO, { n: 1 });
      await prompt("extensions");
      return { "by client": answer, "by agent": said() };
    },
    async "extension notification"() {
      await agent.notify(NOTE, { n: 3 });
      await request(ECHO, {});
      await prompt("notes");
      return { "by client": said(), "by agent": state.notes };
    },
    async "a notification, then a request"() {
      await agent.notify(NOTE, { n: 4 });
      await prompt("notes");
      return { "in order": said().some(({ n }) => n === 4) };
    },
    async "5 MB to the agent"() {
      await prompt(["size", "x".repeat(BIG)]);
      return said();
    },
    async "5 MB to the client"() {
      await prompt("big");
      return { size: texts().join("").length };
    },
  };
}

async function tryAll(agent) {
  const deeds = trial(agent);
  const seen = {};
  for (const feature of Object.keys(FEATURES)) {
    state.updates.length = 0;
    const late = sleep(PATIENCE, { error: "no answer" }, { ref: false });
    try {
      seen[feature] = await Promise.race([deeds[feature](), late]);
    } catch (why) {
      seen[feature] = { error: why.code ?? `${why.name}: ${why.message}` };
    }
  }
  return seen;
}

async function open(args) {
  if (args[0] === "--websocket") {
    const { createWebSocketStream } = await load("@agentclientprotocol/sdk/experimental/ws-client");
    const { default: WebSocket } = await load("ws");
    return createWebSocketStream(args[1], { WebSocket });
  }
  const child = spawn(args[0], args.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  process.on("exit", () => child.kill());
  return stdioStream(child.stdin, child.stdout);
}

const seen = await client.connectWith(await open(process.argv.slice(2)), tryAll);
process.stdout.write(`${JSON.stringify(seen)}\n`, () => process.exit(0));
