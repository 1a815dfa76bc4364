// The agent of the interop runs on the TypeScript SDK. It speaks on standard input and output; with --websocket it
// serves WebSockets on a port of this machine, which it prints.
import { createServer } from "node:http";
import { acp, asIs, load, scenario, signal, stdioStream } from "./common.mjs";

const { ERROR, BIG, MANY, MODES, TERMINAL, UNKNOWN_UPDATE, ECHO, NOTE, HOLDING } = scenario;

const modes = { currentModeId: "ask", availableModes: MODES.map((id) => ({ id, name: id })) };
const options = (model = "small", fast = false) => [
  {
    type: "select",
    id: "model",
    name: "Model",
    currentValue: model,
    options: ["small", "large"].map((value) => ({ value, name: value })),
  },
  { type: "boolean", id: "fast", name: "Fast", currentValue: fast },
];

const permission = (sessionId, title) => ({
  sessionId,
  toolCall: { toolCallId: "t2", title, kind: "execute" },
  options: ["allow_once", "reject_once"].map((kind) => ({ optionId: kind, name: kind, kind })),
});

function makeAgent() {
  const state = { about: null, session: null, count: 0, notes: [], stops: new Map(), holding: signal() };
  const stopOf = (id) => {
    if (!state.stops.has(id)) state.stops.set(id, signal());
    return state.stops.get(id);
  };
  const update = (client, sessionId, body) => client.notify("session/update", { sessionId, update: body });
  const text = (kind, value) => ({ sessionUpdate: kind, content: { type: "text", text: value } });
  const say = (client, id, value) =>
    update(client, id, text("agent_message_chunk", typeof value === "string" ? value : JSON.stringify(value)));

  async function ask(client, id, title) {
    const { outcome } = await client.request("session/request_permission", permission(id, title));
    await say(client, id, outcome.outcome === "selected" ? outcome.optionId : "cancelled");
    return outcome.outcome === "selected" ? undefined : "cancelled";
  }

  const terminal = (client, sessionId, [command, ...args]) =>
    client.createTerminal({ sessionId, command, args, env: [{ name: "WORD", value: "hi" }], outputByteLimit: 100 });

  const deeds = {
    client: ({ client, id }) => say(client, id, state.about),
    session: ({ client, id }) => say(client, id, state.session),
    async stream({ client, id }) {
      for (const part of ["hm", "m"]) await update(client, id, text("agent_thought_chunk", part));
      for (const part of ["one ", "two ", "drei ü 🎈\u2028"]) await say(client, id, part);
    },
    async many({ client, id }) {
      for (let n = 0; n < MANY; n++) await say(client, id, String(n));
    },
    async tools({ client, id }) {
      await update(client, id, {
        sessionUpdate: "tool_call",
        toolCallId: "t1",
        title: "Edit a",
        kind: "edit",
        status: "pending",
        locations: [{ path: "/a", line: 3 }],
        rawInput: { n: 1 },
      });
      await update(client, id, { sessionUpdate: "tool_call_update", toolCallId: "t1", status: "in_progress" });
      await update(client, id, {
        sessionUpdate: "tool_call_update",
        toolCallId: "t1",
        status: "completed",
        content: [
          { type: "diff", path: "/a", oldText: "old\n", newText: "new\n" },
          { type: "content", content: { type: "text", text: "done" } },
        ],
        rawOutput: { ok: true },
      });
    },
    plan: ({ client, id }) =>
      update(client, id, {
        sessionUpdate: "plan",
        entries: [
          { content: "first", priority: "high", status: "completed" },
          { content: "then", priority: "low", status: "pending" },
        ],
      }),
    async updates({ client, id }) {
      const availableCommands = [{ name: "go", description: "Go" }];
      await update(client, id, { sessionUpdate: "available_commands_update", availableCommands });
      await update(client, id, { sessionUpdate: "config_option_update", configOptions: options("large") });
      await update(client, id, { sessionUpdate: "session_info_update", title: "Title" });
      await update(client, id, { sessionUpdate: "usage_update", used: 5, size: 10 });
    },
    async future({ client, id }) {
      await update(client, id, UNKNOWN_UPDATE);
      await say(client, id, "after");
    },
    allow: ({ client, id }) => ask(client, id, "allow"),
    reject: ({ client, id }) => ask(client, id, "reject"),
    leave: ({ client, id }) => ask(client, id, "leave"),
    async withdraw({ client, id }) {
      const stop = new AbortController();
      const asking = client.request("session/request_permission", permission(id, "hold"), {
        cancellationSignal: stop.signal,
        stopWaitingOnCancel: true,
      });
      await state.holding.wait;
      stop.abort();
      await asking.catch(() => undefined);
      await say(client, id, "withdrawn");
    },
    async read({ client, id }) {
      const file = await client.request("fs/read_text_file", { sessionId: id, path: "/lines", line: 2, limit: 1 });
      await say(client, id, file.content);
    },
    async missing({ client, id }) {
      const asked = client.request("fs/read_text_file", { sessionId: id, path: "/missing" });
      await say(client, id, { code: (await asked.catch((why) => why)).code });
    },
    async write({ client, id }) {
      await client.request("fs/write_text_file", { sessionId: id, path: "/new", content: "text\nü\n" });
      await say(client, id, "written");
    },
    async terminal({ client, id }) {
      const made = await terminal(client, id, TERMINAL);
      const ended = await made.waitForExit();
      const shown = await made.currentOutput();
      await made.release();
      await say(client, id, {
        exit: ended.exitCode,
        output: shown.output,
        truncated: shown.truncated,
        status: shown.exitStatus?.exitCode,
      });
    },
    async kill({ client, id }) {
      const made = await terminal(client, id, ["sleep", "60"]);
      const before = await made.currentOutput();
      await made.kill();
      const ended = await made.waitForExit();
      await made.release();
      await say(client, id, { ran: before.exitStatus == null, signal: ended.signal });
    },
    async elicit({ client, id }) {
      const properties = { name: { type: "string", title: "Name" } };
      const answer = await client.request("elicitation/create", {
        mode: "form",
        sessionId: id,
        message: "Who?",
        requestedSchema: { type: "object", properties, required: ["name"] },
      });
      await say(client, id, { content: answer.content });
    },
    async wait({ client, id }) {
      await say(client, id, "waiting");
      await stopOf(id).wait;
      return "cancelled";
    },
    async hang({ client, id, signal: stopped }) {
      await say(client, id, "hanging");
      await new Promise((resolve) => stopped.addEventListener("abort", resolve));
      throw acp.RequestError.requestCancelled();
    },
    refuse() {
      throw new acp.RequestError(ERROR.code, ERROR.message, ERROR.data);
    },
    crash() {
      throw new TypeError("crashed");
    },
    blocks: ({ client, id, prompt }) =>
      say(
        client,
        id,
        prompt.map((block) => block.type),
      ),
    meta: ({ client, id, meta }) => say(client, id, meta ?? null),
    async extensions({ client, id }) {
      await client.notify(NOTE, { n: 2 });
      await say(client, id, await client.request(ECHO, { n: 1 }));
    },
    notes: ({ client, id }) => say(client, id, state.notes),
    big: ({ client, id }) => say(client, id, "x".repeat(BIG)),
    size: ({ client, id, prompt }) => say(client, id, { size: prompt[1].text.length }),
  };

  return acp
    .agent({ name: "interop-agent" })
    .onRequest("initialize", ({ params }) => {
      const can = params.clientCapabilities;
      state.about = {
        version: params.protocolVersion,
        read: can.fs.readTextFile,
        write: can.fs.writeTextFile,
        terminal: can.terminal,
        name: params.clientInfo?.name,
      };
      return {
        protocolVersion: acp.PROTOCOL_VERSION,
        agentInfo: { name: "interop-agent", version: "1" },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: true, embeddedContext: true },
          sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {} },
          auth: { logout: {} },
        },
        authMethods: [{ id: "password", name: "Password" }],
      };
    })
    .onRequest("authenticate", ({ params }) => {
      if (params.methodId !== "password") throw acp.RequestError.authRequired();
    })
    .onRequest("logout", () => ({}))
    .onRequest("session/new", ({ params }) => {
      const servers = params.mcpServers.map((server) => [server.name, server.command, server.args]);
      state.session = { cwd: params.cwd, servers };
      state.count += 1;
      return { sessionId: `s${state.count}`, modes, configOptions: options() };
    })
    .onRequest("session/load", async ({ params, client }) => {
      if (params.sessionId !== "old") throw acp.RequestError.sessionNotFound(params.sessionId);
      await update(client, "old", text("user_message_chunk", "question"));
      await say(client, "old", "answer");
      return { modes, configOptions: options() };
    })
    .onRequest("session/list", ({ params }) => ({
      sessions: [{ sessionId: "old", cwd: params.cwd ?? "/", title: "Old" }],
      nextCursor: "more",
    }))
    .onRequest("session/resume", () => ({ modes }))
    .onRequest("session/close", () => ({}))
    .onRequest("session/delete", () => ({}))
    .onRequest("session/set_mode", async ({ params, client }) => {
      const body = { sessionUpdate: "current_mode_update", currentModeId: params.modeId };
      await update(client, params.sessionId, body);
    })
    .onRequest("session/set_config_option", ({ params }) => ({
      configOptions: params.type === "boolean" ? options("small", params.value) : options(params.value),
    }))
    .onRequest("session/prompt", async ({ params, client, signal: stopped }) => {
      const { sessionId: id, prompt, _meta: meta } = params;
      const stop = await deeds[prompt[0].text]({ client, id, prompt, meta, signal: stopped });
      return { stopReason: stop ?? "end_turn" };
    })
    .onNotification("session/cancel", ({ params }) => stopOf(params.sessionId).set())
    .onRequest(ECHO, asIs, ({ params }) => ({ echo: params }))
    .onNotification(NOTE, asIs, ({ params }) => void state.notes.push(params))
    .onNotification(HOLDING, asIs, () => state.holding.set());
}

if (process.argv.includes("--websocket")) {
  const { AcpServer } = await load("@agentclientprotocol/sdk/experimental/server");
  const { createNodeWebSocketUpgradeHandler } = await load("@agentclientprotocol/sdk/experimental/node");
  const { default: ws } = await load("ws");
  const server = createServer();
  const served = new AcpServer({ createAgent: makeAgent });
  server.on("upgrade", createNodeWebSocketUpgradeHandler(served, new ws.WebSocketServer({ noServer: true })));
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
} else {
  const connection = makeAgent().connect(stdioStream(process.stdout, process.stdin));
  await connection.closed;
}
