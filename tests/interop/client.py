"""Our client of the interop runs: it tries every feature on an agent and writes down what it sees."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import acp_msgspec as acp
import msgspec
from acp_msgspec import aio, v1

from tests.interop.scenario import BIG, ECHO, FEATURES, HOLDING, LINES, NOTE, method_of
from tests.interop.terminals import Terminals

ONE = v1.SessionId("s1")
PATIENCE = 20.0  # seconds for one feature
Seen = dict[str, Any]


class Client(aio.Client):
    """What the agent may ask for, and what it told."""

    def __init__(self, agent: aio.ClientConnection) -> None:
        self.agent = agent
        self.updates: list[tuple[str, Any]] = []
        self.files = {"/lines": LINES}
        self.terminals = Terminals()
        self.notes: list[Any] = []
        self.asked = asyncio.Event()
        self.answer = asyncio.Event()
        self.withdrawn = asyncio.Event()
        self.told = asyncio.Event()
        self.errors = asyncio.Queue[int]()

    def hear(self, direction: str, message: bytes) -> None:
        """Keep the code of each error that comes in: the late answer to a cancelled call is not delivered."""
        if direction == "in" and b'"error"' in message[:200]:
            self.errors.put_nowait(msgspec.json.decode(message)["error"]["code"])

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        self.updates.append((params.session_id, params.update))
        self.told.set()

    async def session_request_permission(self, params: v1.RequestPermissionRequest, /) -> v1.RequestPermissionResponse:
        title = params.tool_call.title
        match title:
            case "leave":
                self.asked.set()
                await self.answer.wait()
                return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled())
            case "hold":
                await self.agent.extension_notify(HOLDING)
                try:
                    await asyncio.Event().wait()
                finally:
                    self.withdrawn.set()
            case _:
                pass
        option = next(o.option_id for o in params.options if o.kind == f"{title}_once")
        return v1.RequestPermissionResponse(outcome=v1.SelectedPermissionOutcome(option_id=option))

    async def fs_read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
        if params.path not in self.files:
            raise acp.ResourceNotFound(data={"uri": params.path})
        lines = self.files[params.path].splitlines(keepends=True)
        start = (params.line or 1) - 1
        end = None if params.limit is None else start + params.limit
        return v1.ReadTextFileResponse(content="".join(lines[start:end]))

    async def fs_write_text_file(self, params: v1.WriteTextFileRequest, /) -> v1.WriteTextFileResponse:
        self.files[params.path] = params.content
        return v1.WriteTextFileResponse()

    async def terminal_create(self, params: v1.CreateTerminalRequest, /) -> v1.CreateTerminalResponse:
        env = {variable.name: variable.value for variable in params.env}
        name = await self.terminals.create(params.command, params.args, env, params.output_byte_limit)
        return v1.CreateTerminalResponse(terminal_id=v1.TerminalId(name))

    async def terminal_output(self, params: v1.TerminalOutputRequest, /) -> v1.TerminalOutputResponse:
        found = self.terminals.open[params.terminal_id]
        status = found.status()
        return v1.TerminalOutputResponse(
            output=found.output.decode(),
            truncated=found.truncated,
            exit_status=v1.TerminalExitStatus(exit_code=status[0], signal=status[1]) if status else None,
        )

    async def terminal_wait_for_exit(self, params: v1.WaitForTerminalExitRequest, /) -> v1.WaitForTerminalExitResponse:
        code, name = await self.terminals.open[params.terminal_id].wait()
        return v1.WaitForTerminalExitResponse(exit_code=code, signal=name)

    async def terminal_kill(self, params: v1.KillTerminalRequest, /) -> v1.KillTerminalResponse:
        self.terminals.open[params.terminal_id].kill()
        return v1.KillTerminalResponse()

    async def terminal_release(self, params: v1.ReleaseTerminalRequest, /) -> v1.ReleaseTerminalResponse:
        await self.terminals.release(params.terminal_id)
        return v1.ReleaseTerminalResponse()

    async def elicitation_create(self, params: v1.CreateElicitationRequest, /) -> v1.CreateElicitationResponse:
        return v1.CreateElicitationResponseAccept(content={"name": "Ada"})

    async def extension_request(self, method: str, params: msgspec.Raw, /) -> Any:
        if method != ECHO:
            raise acp.MethodNotFound(data=method)
        return {"echo": msgspec.json.decode(params)}

    async def extension_notification(self, method: str, params: msgspec.Raw, /) -> None:
        self.notes.append(msgspec.json.decode(params))


async def observe(transport: aio.Transport) -> Seen:
    """Try every feature on the agent behind a transport."""
    heard: list[Client] = []
    problems: list[aio.Problem] = []

    def made(agent: aio.ClientConnection) -> Client:
        heard.append(Client(agent))
        return heard[0]

    def hear(way: str, message: bytes) -> None:
        heard[0].hear(way, message)

    async with aio.ClientConnection(transport, made, on_message=hear, on_problem=problems.append) as agent:
        seen = await Trial(agent, heard[0]).all()
    assert not problems, problems
    return seen


class Trial:
    """One connection, on which the features are tried."""

    def __init__(self, agent: aio.ClientConnection, client: Client) -> None:
        self.agent = agent
        self.client = client

    async def all(self) -> Seen:
        """Try everything; a feature that fails has its error as what was seen."""
        seen: Seen = {}
        for feature in FEATURES:
            deed: Callable[[], Awaitable[Seen]] = getattr(self, method_of(feature))
            self.client.updates.clear()
            try:
                async with asyncio.timeout(PATIENCE):
                    seen[feature] = await deed()
            except acp.RequestError as why:
                seen[feature] = {"error": why.code}
            except TimeoutError:
                seen[feature] = {"error": "no answer"}
            except (AssertionError, LookupError, AttributeError, msgspec.MsgspecError) as why:
                seen[feature] = {"error": f"{type(why).__name__}: {why}"}
        return seen

    # What many features need.

    def of(self, kind: type[Any]) -> list[Any]:
        """List the updates of one kind."""
        return [update for _, update in self.client.updates if isinstance(update, kind)]

    def texts(self, kind: type[Any] = v1.SessionUpdateAgentMessageChunk, session: str | None = None) -> list[str]:
        """List the texts of chunks."""
        return [
            u.content.text
            for of, u in self.client.updates
            if isinstance(u, kind) and isinstance(u.content, v1.TextContent) and session in (None, of)
        ]

    def said(self) -> Any:
        """Give what the agent said as JSON."""
        return msgspec.json.decode("".join(self.texts()))

    async def prompt(
        self, *blocks: str | v1.ContentBlock, session: v1.SessionId = ONE, meta: dict[str, Any] | None = None
    ) -> str:
        content: list[v1.ContentBlock] = [v1.TextContent(text=b) if isinstance(b, str) else b for b in blocks]
        params = v1.PromptRequest(session_id=session, prompt=content, meta=meta)
        return (await self.agent.session_prompt(params)).stop_reason

    async def told(self, text: str, session: str | None = None) -> None:
        """Wait until the agent has said a text."""
        while text not in self.texts(session=session):
            self.client.told.clear()
            await self.client.told.wait()

    async def code(self, work: Awaitable[Any]) -> int | None:
        """Give the code of the error that a call fails with."""
        try:
            await work
        except acp.RequestError as why:
            return why.code
        return None

    # The features.

    async def initialize(self) -> Seen:
        answer = await self.agent.initialize(
            v1.InitializeRequest(
                protocol_version=1,
                client_info=v1.Implementation(name="interop-client", version="1"),
                client_capabilities=v1.ClientCapabilities(
                    fs=v1.FileSystemCapabilities(read_text_file=True, write_text_file=True),
                    terminal=True,
                    session=v1.ClientSessionCapabilities(
                        config_options=v1.SessionConfigOptionsCapabilities(boolean=v1.BooleanConfigOptionCapabilities())
                    ),
                    elicitation=v1.ElicitationCapabilities(form=v1.ElicitationFormCapabilities()),
                ),
            )
        )
        await self.agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))
        await self.prompt("client", session=v1.SessionId("s1"))
        return {
            "version": answer.protocol_version,
            "load": answer.agent_capabilities.load_session,
            "auth": [m.id for m in answer.auth_methods if isinstance(m, v1.AuthMethodAgent)],
            "agent": answer.agent_info.name if answer.agent_info else None,
            "client": self.said(),
        }

    async def authenticate(self) -> Seen:
        await self.agent.authenticate(v1.AuthenticateRequest(method_id=v1.AuthMethodId("password")))
        wrong = self.agent.authenticate(v1.AuthenticateRequest(method_id=v1.AuthMethodId("guess")))
        return {"ok": True, "wrong": await self.code(wrong)}

    async def logout(self) -> Seen:
        await self.agent.logout(v1.LogoutRequest(), force=True)
        return {"ok": True}

    async def session_new(self) -> Seen:
        server = v1.McpServerStdio(name="files", command="/bin/files", args=["-v"], env=[])
        made = await self.agent.session_new(v1.NewSessionRequest(cwd="/tmp", mcp_servers=[server]))
        await self.prompt("session", session=made.session_id)
        return {
            "id": made.session_id,
            "modes": modes(made.modes),
            "options": list(settings(made.config_options or [])),
            "agent saw": self.said(),
        }

    async def session_load(self) -> Seen:
        def load(name: str) -> Awaitable[v1.LoadSessionResponse]:
            return self.agent.session_load(
                v1.LoadSessionRequest(session_id=v1.SessionId(name), cwd="/", mcp_servers=[])
            )

        answer = await load("old")
        updates = [[acp.to_builtins(u)["sessionUpdate"], u.content.text] for u in self.of(v1.ContentChunk)]
        return {"updates": updates, "modes": modes(answer.modes), "wrong": await self.code(load("new"))}

    async def session_list(self) -> Seen:
        answer = await self.agent.session_list(v1.ListSessionsRequest(cwd="/"))
        return {"ids": [session.session_id for session in answer.sessions], "cursor": answer.next_cursor}

    async def session_resume(self) -> Seen:
        params = v1.ResumeSessionRequest(session_id=v1.SessionId("old"), cwd="/", mcp_servers=[])
        return {"modes": modes((await self.agent.session_resume(params)).modes)}

    async def session_close(self) -> Seen:
        await self.agent.session_close(v1.CloseSessionRequest(session_id=v1.SessionId("old")))
        return {"ok": True}

    async def session_delete(self) -> Seen:
        params = v1.DeleteSessionRequest(session_id=v1.SessionId("old"))
        await self.agent.session_delete(params, force=True)  # what a peer does not have is to be seen, too
        return {"ok": True}

    async def session_set_mode(self) -> Seen:
        await self.agent.session_set_mode(v1.SetSessionModeRequest(session_id=ONE, mode_id=v1.SessionModeId("code")))
        (update,) = self.of(v1.CurrentModeUpdate)
        return {"ok": True, "update": update.current_mode_id}

    async def session_set_config_option_a_choice(self) -> Seen:
        answer = await self.agent.session_set_config_option(
            v1.SetSessionConfigOptionRequestValueId(
                session_id=ONE, config_id=v1.SessionConfigId("model"), value=v1.SessionConfigValueId("large")
            )
        )
        return {"model": settings(answer.config_options)["model"]}

    async def session_set_config_option_a_switch(self) -> Seen:
        answer = await self.agent.session_set_config_option(
            v1.SetSessionConfigOptionRequestBoolean(session_id=ONE, config_id=v1.SessionConfigId("fast"), value=True)
        )
        return {"fast": settings(answer.config_options)["fast"]}

    async def text_and_thoughts_in_chunks(self) -> Seen:
        stop = await self.prompt("stream")
        return {"thoughts": self.texts(v1.SessionUpdateAgentThoughtChunk), "texts": self.texts(), "stop": stop}

    async def x_1_000_chunks_in_order(self) -> Seen:
        await self.prompt("many")
        numbers = self.texts()
        count = len(numbers)
        await asyncio.sleep(0.05)
        return {
            "count": len(self.texts()),
            "in order": numbers == [str(n) for n in range(count)],
            "before the answer": count == len(self.texts()),
        }

    async def tool_call_with_a_diff(self) -> Seen:
        await self.prompt("tools")
        (call,) = self.of(v1.ToolCall)
        changes = self.of(v1.SessionUpdateToolCallUpdate)
        diff, text = changes[-1].content
        places = [[place.path, place.line] for place in call.locations]
        return {
            "call": [call.tool_call_id, call.title, call.kind, call.status, places, call.raw_input],
            "states": [call.status, *(change.status for change in changes)],
            "diff": [diff.path, diff.old_text, diff.new_text],
            "text": text.content.text,
            "output": changes[-1].raw_output,
        }

    async def plan(self) -> Seen:
        await self.prompt("plan")
        (plan,) = self.of(v1.Plan)
        return {"entries": [[entry.content, entry.priority, entry.status] for entry in plan.entries]}

    async def commands_settings_title_usage(self) -> Seen:
        await self.prompt("updates")
        (commands,) = self.of(v1.AvailableCommandsUpdate)
        (changed,) = self.of(v1.ConfigOptionUpdate)
        (info,) = self.of(v1.SessionInfoUpdate)
        (usage,) = self.of(v1.UsageUpdate)
        return {
            "commands": [command.name for command in commands.available_commands],
            "model": settings(changed.config_options)["model"],
            "title": info.title,
            "usage": [int(usage.used), int(usage.size)],
        }

    async def an_update_of_an_unknown_kind(self) -> Seen:
        await self.prompt("future")
        return {"alive": self.texts() == ["after"]}

    async def content_of_all_kinds_in_a_prompt(self) -> Seen:
        await self.prompt(
            "blocks",
            v1.ImageContent(data="aGk=", mime_type="image/png"),
            v1.AudioContent(data="aGk=", mime_type="audio/wav"),
            v1.ResourceLink(uri="file:///a", name="a"),
            v1.EmbeddedResource(resource=v1.TextResourceContents(uri="file:///a", text="a")),
            v1.EmbeddedResource(resource=v1.BlobResourceContents(uri="file:///a", blob="aGk=")),
        )
        return {"types": self.said()}

    async def permission_allowed(self) -> Seen:
        stop = await self.prompt("allow")
        return {"said": "".join(self.texts()), "stop": stop}

    async def permission_rejected(self) -> Seen:
        stop = await self.prompt("reject")
        return {"said": "".join(self.texts()), "stop": stop}

    async def permission_cancelled_with_the_turn(self) -> Seen:
        turn = asyncio.ensure_future(self.prompt("leave"))
        await self.client.asked.wait()
        await self.agent.session_cancel(v1.CancelNotification(session_id=ONE))
        self.client.answer.set()
        return {"stop": await turn}

    async def fs_read_text_file(self) -> Seen:
        await self.prompt("read")
        return {"said": "".join(self.texts())}

    async def fs_read_text_file_no_such_file(self) -> Seen:
        await self.prompt("missing")
        return {"code": self.said()["code"]}

    async def fs_write_text_file(self) -> Seen:
        await self.prompt("write")
        return {"said": "".join(self.texts()), "content": self.client.files["/new"]}

    async def terminal_create_wait_output_release(self) -> Seen:
        await self.prompt("terminal")
        return {**self.said(), "released": not self.client.terminals.open}

    async def terminal_kill(self) -> Seen:
        await self.prompt("kill")
        found: Seen = self.said()
        return found

    async def elicitation_create(self) -> Seen:
        await self.prompt("elicit")
        found: Seen = self.said()
        return found

    async def session_cancel_in_mid_turn(self) -> Seen:
        made = await self.agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))
        turn = asyncio.ensure_future(self.prompt("wait", session=made.session_id))
        await self.told("waiting")
        await self.agent.session_cancel(v1.CancelNotification(session_id=made.session_id))
        return {"stop": await turn}

    async def two_turns_at_once(self) -> Seen:
        made = await self.agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))
        turn = asyncio.ensure_future(self.prompt("wait", session=made.session_id))
        await self.told("waiting", made.session_id)
        stop = await self.prompt("stream")
        await self.agent.session_cancel(v1.CancelNotification(session_id=made.session_id))
        return {"stop": stop, "other": await turn}

    async def cancel_request_to_the_agent(self) -> Seen:
        turn = asyncio.ensure_future(self.prompt("hang"))
        await self.told("hanging")
        self.client.errors = asyncio.Queue[int]()
        turn.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await turn
        async with asyncio.timeout(2):
            return {"code": await self.client.errors.get()}

    async def cancel_request_to_the_client(self) -> Seen:
        await self.prompt("withdraw")
        return {"said": "".join(self.texts()), "told": self.client.withdrawn.is_set()}

    async def error_invalid_params(self) -> Seen:
        return {"code": await self.code(self.agent.call("session/set_mode", {"sessionId": 4}))}

    async def error_unknown_method(self) -> Seen:
        return {"code": await self.code(self.agent.call("session/nonsense", {}))}

    async def error_of_the_handler_with_data(self) -> Seen:
        try:
            await self.prompt("refuse")
        except acp.RequestError as why:
            return {"code": why.code, "message": why.message, "data": why.data}
        return {"code": None}

    async def error_a_handler_that_crashes(self) -> Seen:
        return {"code": await self.code(self.prompt("crash"))}

    async def meta(self) -> Seen:
        await self.prompt("meta", meta={"key": [1, "two"]})
        return {"meta": self.said()}

    async def extension_request(self) -> Seen:
        answer = await self.agent.extension_call(ECHO, {"n": 1})
        await self.prompt("extensions")
        return {"by client": msgspec.json.decode(answer), "by agent": self.said()}

    async def extension_notification(self) -> Seen:
        await self.agent.extension_notify(NOTE, {"n": 3})
        await self.agent.extension_call(ECHO, {})
        await self.prompt("notes")
        return {"by client": self.said(), "by agent": self.client.notes}

    async def a_notification_then_a_request(self) -> Seen:
        await self.agent.extension_notify(NOTE, {"n": 4})
        await self.prompt("notes")
        return {"in order": {"n": 4} in self.said()}

    async def x_5_mb_to_the_agent(self) -> Seen:
        await self.prompt("size", "x" * BIG)
        found: Seen = self.said()
        return found

    async def x_5_mb_to_the_client(self) -> Seen:
        await self.prompt("big")
        return {"size": len("".join(self.texts()))}


def modes(state: v1.SessionModeState | None) -> list[str]:
    return [mode.id for mode in state.available_modes] if state else []


def settings(options: list[Any]) -> dict[str, Any]:
    return {option.id: option.current_value for option in options}
