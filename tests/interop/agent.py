"""Our agent of the interop runs: it does what the prompt's first word says, and tells what it saw.

`python -m tests.interop.agent` speaks on standard input and output, `--websocket` serves WebSockets.
`peers/agent.py` and `peers/agent.mjs` are the same agent on the SDKs of others.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import acp_msgspec as acp
import msgspec
from acp_msgspec import aio, v1

from tests.interop.scenario import BIG, ECHO, ERROR, HOLDING, MANY, NOTE, TERMINAL, UNKNOWN_UPDATE

MODES = v1.SessionModeState(
    current_mode_id=v1.SessionModeId("ask"),
    available_modes=[
        v1.SessionMode(id=v1.SessionModeId("ask"), name="Ask"),
        v1.SessionMode(id=v1.SessionModeId("code"), name="Code"),
    ],
)
Session = v1.SessionId


def options(model: str = "small", fast: bool = False) -> list[v1.SessionConfigOption]:
    """Give the settings of a session."""
    choices = [v1.SessionConfigSelectOption(value=v1.SessionConfigValueId(m), name=m) for m in ("small", "large")]
    return [
        v1.SessionConfigOptionSelect(
            id=v1.SessionConfigId("model"),
            name="Model",
            current_value=v1.SessionConfigValueId(model),
            options=choices,
        ),
        v1.SessionConfigOptionBoolean(id=v1.SessionConfigId("fast"), name="Fast", current_value=fast),
    ]


class Agent(aio.Agent):
    """What one connection has."""

    def __init__(self, client: aio.AgentConnection) -> None:
        self.client = client
        self.about = v1.InitializeRequest(protocol_version=0)
        self.session = v1.NewSessionRequest(cwd="", mcp_servers=[])
        self.count = 0
        self.notes: list[Any] = []
        self.cancelled: dict[str, asyncio.Event] = {}
        self.holding = asyncio.Event()

    async def initialize(self, params: v1.InitializeRequest, /) -> v1.InitializeResponse:
        self.about = params
        yes = v1.SessionCapabilities(
            list=v1.SessionListCapabilities(),
            delete=v1.SessionDeleteCapabilities(),
            resume=v1.SessionResumeCapabilities(),
            close=v1.SessionCloseCapabilities(),
        )
        return v1.InitializeResponse(
            protocol_version=1,
            agent_info=v1.Implementation(name="interop-agent", version="1"),
            agent_capabilities=v1.AgentCapabilities(
                load_session=True,
                prompt_capabilities=v1.PromptCapabilities(image=True, audio=True, embedded_context=True),
                session_capabilities=yes,
                auth=v1.AgentAuthCapabilities(logout=v1.LogoutCapabilities()),
            ),
            auth_methods=[v1.AuthMethodAgent(id=v1.AuthMethodId("password"), name="Password")],
        )

    async def authenticate(self, params: v1.AuthenticateRequest, /) -> v1.AuthenticateResponse:
        if params.method_id != "password":
            raise acp.AuthenticationRequired
        return v1.AuthenticateResponse()

    async def logout(self, params: v1.LogoutRequest, /) -> v1.LogoutResponse:
        return v1.LogoutResponse()

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        self.session = params
        self.count += 1
        return v1.NewSessionResponse(session_id=Session(f"s{self.count}"), modes=MODES, config_options=options())

    async def session_load(self, params: v1.LoadSessionRequest, /) -> v1.LoadSessionResponse:
        if params.session_id != "old":
            raise acp.ResourceNotFound
        question = v1.SessionUpdateUserMessageChunk(content=v1.TextContent(text="question"))
        await self.update(params.session_id, question)
        await self.say(params.session_id, "answer")
        return v1.LoadSessionResponse(modes=MODES, config_options=options())

    async def session_list(self, params: v1.ListSessionsRequest, /) -> v1.ListSessionsResponse:
        return v1.ListSessionsResponse(
            sessions=[v1.SessionInfo(session_id=Session("old"), cwd=params.cwd or "/", title="Old")], next_cursor="more"
        )

    async def session_resume(self, params: v1.ResumeSessionRequest, /) -> v1.ResumeSessionResponse:
        return v1.ResumeSessionResponse(modes=MODES)

    async def session_close(self, params: v1.CloseSessionRequest, /) -> v1.CloseSessionResponse:
        return v1.CloseSessionResponse()

    async def session_delete(self, params: v1.DeleteSessionRequest, /) -> v1.DeleteSessionResponse:
        return v1.DeleteSessionResponse()

    async def session_set_mode(self, params: v1.SetSessionModeRequest, /) -> v1.SetSessionModeResponse:
        await self.update(params.session_id, v1.CurrentModeUpdate(current_mode_id=params.mode_id))
        return v1.SetSessionModeResponse()

    async def session_set_config_option(
        self, params: v1.SetSessionConfigOptionRequest, /
    ) -> v1.SetSessionConfigOptionResponse:
        match params:
            case v1.SetSessionConfigOptionRequestBoolean(value=value):
                return v1.SetSessionConfigOptionResponse(config_options=options(fast=value))
            case v1.SetSessionConfigOptionRequestValueId(value=model):
                return v1.SetSessionConfigOptionResponse(config_options=options(model=model))
            case _:
                raise acp.InvalidParams

    async def session_cancel(self, params: v1.CancelNotification, /) -> None:
        self.stop(params.session_id).set()

    async def extension_request(self, method: str, params: msgspec.Raw, /) -> Any:
        if method != ECHO:
            raise acp.MethodNotFound(data=method)
        return {"echo": msgspec.json.decode(params)}

    async def extension_notification(self, method: str, params: msgspec.Raw, /) -> None:
        if method == HOLDING:
            self.holding.set()
        elif method == NOTE:
            self.notes.append(msgspec.json.decode(params))

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        first = params.prompt[0]
        assert isinstance(first, v1.TextContent)
        deed: Callable[[v1.PromptRequest], Awaitable[v1.StopReason | None]] = getattr(self, f"do_{first.text}")
        return v1.PromptResponse(stop_reason=await deed(params) or v1.StopReason.END_TURN)

    def stop(self, session: str) -> asyncio.Event:
        """Give what is set once the session's turn is cancelled."""
        return self.cancelled.setdefault(session, asyncio.Event())

    async def update(self, session: Session, update: v1.SessionUpdate) -> None:
        await self.client.session_update(v1.SessionNotification(session_id=session, update=update))

    async def say(self, session: Session, value: Any) -> None:
        """Say a text, or any JSON as one."""
        text = value if isinstance(value, str) else acp.encode(value).decode()
        await self.update(session, v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=text)))

    async def do_client(self, params: v1.PromptRequest) -> None:
        can, info = self.about.client_capabilities, self.about.client_info
        await self.say(
            params.session_id,
            {
                "version": self.about.protocol_version,
                "read": can.fs.read_text_file,
                "write": can.fs.write_text_file,
                "terminal": can.terminal,
                "name": info.name if info else None,
            },
        )

    async def do_session(self, params: v1.PromptRequest) -> None:
        servers = [[s.name, s.command, s.args] for s in self.session.mcp_servers if isinstance(s, v1.McpServerStdio)]
        await self.say(params.session_id, {"cwd": self.session.cwd, "servers": servers})

    async def do_stream(self, params: v1.PromptRequest) -> None:
        for text in ("hm", "m"):
            thought = v1.SessionUpdateAgentThoughtChunk(content=v1.TextContent(text=text))
            await self.update(params.session_id, thought)
        for text in ("one ", "two ", "drei ü 🎈\u2028"):
            await self.say(params.session_id, text)

    async def do_many(self, params: v1.PromptRequest) -> None:
        for n in range(MANY):
            await self.say(params.session_id, str(n))

    async def do_tools(self, params: v1.PromptRequest) -> None:
        call = v1.ToolCallId("t1")
        await self.update(
            params.session_id,
            v1.ToolCall(
                tool_call_id=call,
                title="Edit a",
                kind=v1.ToolKind.EDIT,
                status=v1.ToolCallStatus.PENDING,
                locations=[v1.ToolCallLocation(path="/a", line=3)],
                raw_input={"n": 1},
            ),
        )
        working = v1.SessionUpdateToolCallUpdate(tool_call_id=call, status=v1.ToolCallStatus.IN_PROGRESS)
        await self.update(params.session_id, working)
        await self.update(
            params.session_id,
            v1.SessionUpdateToolCallUpdate(
                tool_call_id=call,
                status=v1.ToolCallStatus.COMPLETED,
                content=[
                    v1.Diff(path="/a", old_text="old\n", new_text="new\n"),
                    v1.Content(content=v1.TextContent(text="done")),
                ],
                raw_output={"ok": True},
            ),
        )

    async def do_plan(self, params: v1.PromptRequest) -> None:
        entries = [
            v1.PlanEntry(content="first", priority=v1.PlanEntryPriority.HIGH, status=v1.PlanEntryStatus.COMPLETED),
            v1.PlanEntry(content="then", priority=v1.PlanEntryPriority.LOW, status=v1.PlanEntryStatus.PENDING),
        ]
        await self.update(params.session_id, v1.Plan(entries=entries))

    async def do_updates(self, params: v1.PromptRequest) -> None:
        for update in (
            v1.AvailableCommandsUpdate(available_commands=[v1.AvailableCommand(name="go", description="Go")]),
            v1.ConfigOptionUpdate(config_options=options(model="large")),
            v1.SessionInfoUpdate(title="Title"),
            v1.UsageUpdate(used=5, size=10),
        ):
            await self.update(params.session_id, update)

    async def do_future(self, params: v1.PromptRequest) -> None:
        tag = UNKNOWN_UPDATE["sessionUpdate"]
        await self.update(params.session_id, acp.UnknownVariant("sessionUpdate", tag, UNKNOWN_UPDATE))
        await self.say(params.session_id, "after")

    def permission(self, session: Session, title: str) -> v1.RequestPermissionRequest:
        kinds = (v1.PermissionOptionKind.ALLOW_ONCE, v1.PermissionOptionKind.REJECT_ONCE)
        return v1.RequestPermissionRequest(
            session_id=session,
            tool_call=v1.ToolCallUpdate(tool_call_id=v1.ToolCallId("t2"), title=title, kind=v1.ToolKind.EXECUTE),
            options=[v1.PermissionOption(option_id=v1.PermissionOptionId(k), name=k, kind=k) for k in kinds],
        )

    async def ask(self, session: Session, title: str) -> v1.StopReason | None:
        answer = await self.client.session_request_permission(self.permission(session, title))
        match answer.outcome:
            case v1.SelectedPermissionOutcome(option_id=option):
                await self.say(session, option)
                return None
            case _:
                await self.say(session, "cancelled")
                return v1.StopReason.CANCELLED

    async def do_allow(self, params: v1.PromptRequest) -> v1.StopReason | None:
        return await self.ask(params.session_id, "allow")

    async def do_reject(self, params: v1.PromptRequest) -> v1.StopReason | None:
        return await self.ask(params.session_id, "reject")

    async def do_leave(self, params: v1.PromptRequest) -> v1.StopReason | None:
        return await self.ask(params.session_id, "leave")

    async def do_withdraw(self, params: v1.PromptRequest) -> None:
        asking = asyncio.ensure_future(
            self.client.session_request_permission(self.permission(params.session_id, "hold"))
        )
        await self.holding.wait()
        asking.cancel()
        await asyncio.wait([asking])
        await self.say(params.session_id, "withdrawn")

    async def do_read(self, params: v1.PromptRequest) -> None:
        file = await self.client.fs_read_text_file(
            v1.ReadTextFileRequest(session_id=params.session_id, path="/lines", line=2, limit=1)
        )
        await self.say(params.session_id, file.content)

    async def do_missing(self, params: v1.PromptRequest) -> None:
        try:
            await self.client.fs_read_text_file(v1.ReadTextFileRequest(session_id=params.session_id, path="/missing"))
        except acp.RequestError as why:
            await self.say(params.session_id, {"code": why.code})

    async def do_write(self, params: v1.PromptRequest) -> None:
        await self.client.fs_write_text_file(
            v1.WriteTextFileRequest(session_id=params.session_id, path="/new", content="text\nü\n")
        )
        await self.say(params.session_id, "written")

    async def terminal(self, session: Session, *words: str) -> v1.TerminalId:
        made = await self.client.terminal_create(
            v1.CreateTerminalRequest(
                session_id=session,
                command=words[0],
                args=list(words[1:]),
                env=[v1.EnvVariable(name="WORD", value="hi")],
                output_byte_limit=100,
            )
        )
        return made.terminal_id

    async def do_terminal(self, params: v1.PromptRequest) -> None:
        session = params.session_id
        name = await self.terminal(session, *TERMINAL)
        ended = await self.client.terminal_wait_for_exit(
            v1.WaitForTerminalExitRequest(session_id=session, terminal_id=name)
        )
        shown = await self.client.terminal_output(v1.TerminalOutputRequest(session_id=session, terminal_id=name))
        await self.client.terminal_release(v1.ReleaseTerminalRequest(session_id=session, terminal_id=name))
        status = shown.exit_status
        await self.say(
            session,
            {
                "exit": ended.exit_code,
                "output": shown.output,
                "truncated": shown.truncated,
                "status": status.exit_code if status else None,
            },
        )

    async def do_kill(self, params: v1.PromptRequest) -> None:
        session = params.session_id
        name = await self.terminal(session, "sleep", "60")
        before = await self.client.terminal_output(v1.TerminalOutputRequest(session_id=session, terminal_id=name))
        await self.client.terminal_kill(v1.KillTerminalRequest(session_id=session, terminal_id=name))
        ended = await self.client.terminal_wait_for_exit(
            v1.WaitForTerminalExitRequest(session_id=session, terminal_id=name)
        )
        await self.client.terminal_release(v1.ReleaseTerminalRequest(session_id=session, terminal_id=name))
        await self.say(session, {"ran": before.exit_status is None, "signal": ended.signal})

    async def do_elicit(self, params: v1.PromptRequest) -> None:
        answer = await self.client.elicitation_create(
            v1.CreateElicitationRequestFormSession(
                session_id=params.session_id,
                message="Who?",
                requested_schema=v1.ElicitationSchema(
                    properties={"name": v1.StringPropertySchema(title="Name")}, required=["name"]
                ),
            )
        )
        assert isinstance(answer, v1.CreateElicitationResponseAccept)
        await self.say(params.session_id, {"content": answer.content})

    async def do_wait(self, params: v1.PromptRequest) -> v1.StopReason:
        await self.say(params.session_id, "waiting")
        await self.stop(params.session_id).wait()
        return v1.StopReason.CANCELLED

    async def do_hang(self, params: v1.PromptRequest) -> None:
        await self.say(params.session_id, "hanging")
        await asyncio.Event().wait()

    async def do_refuse(self, params: v1.PromptRequest) -> None:
        raise acp.RequestError(ERROR["message"], ERROR["data"], code=ERROR["code"])

    async def do_crash(self, params: v1.PromptRequest) -> None:
        raise RuntimeError("crashed")

    async def do_blocks(self, params: v1.PromptRequest) -> None:
        await self.say(params.session_id, [acp.to_builtins(block)["type"] for block in params.prompt])

    async def do_meta(self, params: v1.PromptRequest) -> None:
        await self.say(params.session_id, params.meta)

    async def do_extensions(self, params: v1.PromptRequest) -> None:
        await self.client.extension_notify(NOTE, {"n": 2})
        answer = await self.client.extension_call(ECHO, {"n": 1})
        await self.say(params.session_id, msgspec.json.decode(answer))

    async def do_notes(self, params: v1.PromptRequest) -> None:
        await self.say(params.session_id, self.notes)

    async def do_big(self, params: v1.PromptRequest) -> None:
        await self.say(params.session_id, "x" * BIG)

    async def do_size(self, params: v1.PromptRequest) -> None:
        block = params.prompt[1]
        assert isinstance(block, v1.TextContent)
        await self.say(params.session_id, {"size": len(block.text)})


async def main() -> None:
    """Serve on standard input and output, or on a port of this machine, which is printed."""
    if "--websocket" not in sys.argv:
        await aio.AgentConnection(await aio.stdio(), Agent).serve()
        return
    async with await aio.serve_websocket(lambda t: aio.AgentConnection(t, Agent).serve(), "127.0.0.1") as server:
        print(server.port, flush=True)
        await server.wait_closed()


if __name__ == "__main__":
    asyncio.run(main())
