"""The client of the interop runs on the official Python SDK: it tries every feature and prints what it saw as JSON.

`python -m tests.interop.peers.client COMMAND …` starts an agent, `… --websocket URL` reaches one.
This module runs in the environment of the SDK, which it reaches by name, since type checkers see another one.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from tests.interop.scenario import BIG, FEATURES, LINES, method_of
from tests.interop.terminals import Terminals

acp: Any = import_module("acp")
schema: Any = import_module("acp.schema")
PATIENCE = 10.0  # seconds for one feature
ABSENT: dict[str, Any] = {"absent": True}
Seen = dict[str, Any]


class Client:
    """What the agent may ask for, and what it told."""

    def __init__(self) -> None:
        self.updates: list[tuple[str, Any]] = []
        self.files = {"/lines": LINES}
        self.terminals = Terminals()
        self.notes: list[Any] = []
        self.asked = asyncio.Event()
        self.answer = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append((session_id, update))

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_: Any) -> Any:
        if tool_call.title == "leave":
            self.asked.set()
            await self.answer.wait()
            return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        chosen = next(o.option_id for o in options if o.kind == f"{tool_call.title}_once")
        return schema.RequestPermissionResponse(outcome=schema.AllowedOutcome(outcome="selected", option_id=chosen))

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **_: Any
    ) -> Any:
        if path not in self.files:
            raise acp.RequestError.resource_not_found(path)
        start = (line or 1) - 1
        end = None if limit is None else start + limit
        return schema.ReadTextFileResponse(content="".join(self.files[path].splitlines(keepends=True)[start:end]))

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> Any:
        self.files[path] = content
        return schema.WriteTextFileResponse()

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: Any = None,
        env: Any = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        **_: Any,
    ) -> Any:
        given: list[Any] = env or []
        variables = {variable.name: variable.value for variable in given}
        name = await self.terminals.create(command, args or [], variables, output_byte_limit)
        return schema.CreateTerminalResponse(terminal_id=name)

    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        found = self.terminals.open[terminal_id]
        status = found.status()
        return schema.TerminalOutputResponse(
            output=found.output.decode(),
            truncated=found.truncated,
            exit_status=schema.TerminalExitStatus(exit_code=status[0], signal=status[1]) if status else None,
        )

    async def wait_for_terminal_exit(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        code, name = await self.terminals.open[terminal_id].wait()
        return schema.WaitForTerminalExitResponse(exit_code=code, signal=name)

    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        self.terminals.open[terminal_id].kill()
        return schema.KillTerminalResponse()

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        await self.terminals.release(terminal_id)
        return schema.ReleaseTerminalResponse()

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        return schema.AcceptElicitationResponse(action="accept", content={"name": "Ada"})

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"echo": params}

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        self.notes.append(params)

    def on_connect(self, conn: Any) -> None:
        """The connection is given to the trial."""


class Trial:
    """One connection, on which the features are tried."""

    def __init__(self, agent: Any, client: Client) -> None:
        self.agent = agent
        self.client = client

    async def all(self) -> Seen:
        """Try everything; a feature that fails has its error as what was seen."""
        seen: Seen = {}
        for feature in FEATURES:
            deed: Callable[[], Awaitable[Seen]] | None = getattr(self, method_of(feature), None)
            self.client.updates.clear()
            if deed is None:
                seen[feature] = ABSENT
                continue
            try:
                async with asyncio.timeout(PATIENCE):
                    seen[feature] = await deed()
            except acp.RequestError as why:
                seen[feature] = {"error": why.code}
            except TimeoutError:
                seen[feature] = {"error": "no answer"}
            except Exception as why:  # whatever their side raises is what was seen
                seen[feature] = {"error": f"{type(why).__name__}: {str(why).splitlines()[0]}"}
        return seen

    def of(self, kind: str) -> list[Any]:
        """List the updates of one kind."""
        return [update for _, update in self.client.updates if update.session_update == kind]

    def texts(self, kind: str = "agent_message_chunk", session: str | None = None) -> list[str]:
        """List the texts of chunks."""
        found = [u for of, u in self.client.updates if u.session_update == kind and session in (None, of)]
        return [update.content.text for update in found]

    def said(self) -> Any:
        """Give what the agent said as JSON."""
        return json.loads("".join(self.texts()))

    async def prompt(self, *blocks: Any, session: str = "s1", **meta: Any) -> str:
        content = [acp.text_block(block) if isinstance(block, str) else block for block in blocks]
        answer = await self.agent.prompt(session_id=session, prompt=content, **meta)
        stop: str = answer.stop_reason
        return stop

    async def told(self, text: str, session: str | None = None) -> None:
        """Wait until the agent has said a text."""
        while text not in self.texts(session=session):
            await asyncio.sleep(0.005)

    async def code(self, work: Awaitable[Any]) -> int | None:
        """Give the code of the error that a call fails with."""
        try:
            await work
        except acp.RequestError as why:
            code: int = why.code
            return code
        return None

    async def initialize(self) -> Seen:
        switch = schema.SessionConfigOptionsCapabilities(boolean=schema.BooleanConfigOptionCapabilities())
        answer = await self.agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_info=schema.Implementation(name="interop-client", version="1"),
            client_capabilities=schema.ClientCapabilities(
                fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True),
                terminal=True,
                session=schema.ClientSessionCapabilities(config_options=switch),
                elicitation=schema.ElicitationCapabilities(form=schema.ElicitationFormCapabilities()),
            ),
        )
        await self.agent.new_session(cwd="/", mcp_servers=[])
        await self.prompt("client")
        return {
            "version": answer.protocol_version,
            "load": answer.agent_capabilities.load_session,
            "auth": [method.id for method in answer.auth_methods],
            "agent": answer.agent_info.name,
            "client": self.said(),
        }

    async def authenticate(self) -> Seen:
        await self.agent.authenticate(method_id="password")
        return {"ok": True, "wrong": await self.code(self.agent.authenticate(method_id="guess"))}

    async def session_new(self) -> Seen:
        server = schema.McpServerStdio(name="files", command="/bin/files", args=["-v"], env=[])
        made = await self.agent.new_session(cwd="/tmp", mcp_servers=[server])
        await self.prompt("session", session=made.session_id)
        return {
            "id": made.session_id,
            "modes": modes(made),
            "options": [option.id for option in made.config_options],
            "agent saw": self.said(),
        }

    async def session_load(self) -> Seen:
        answer = await self.agent.load_session(cwd="/", session_id="old", mcp_servers=[])
        updates = [[update.session_update, update.content.text] for _, update in self.client.updates]
        wrong = await self.code(self.agent.load_session(cwd="/", session_id="new", mcp_servers=[]))
        return {"updates": updates, "modes": modes(answer), "wrong": wrong}

    async def session_list(self) -> Seen:
        answer = await self.agent.list_sessions(cwd="/")
        return {"ids": [session.session_id for session in answer.sessions], "cursor": answer.next_cursor}

    async def session_resume(self) -> Seen:
        return {"modes": modes(await self.agent.resume_session(session_id="old", cwd="/", mcp_servers=[]))}

    async def session_close(self) -> Seen:
        await self.agent.close_session(session_id="old")
        return {"ok": True}

    async def session_set_mode(self) -> Seen:
        await self.agent.set_session_mode(session_id="s1", mode_id="code")
        (update,) = self.of("current_mode_update")
        return {"ok": True, "update": update.current_mode_id}

    async def session_set_config_option_a_choice(self) -> Seen:
        answer = await self.agent.set_config_option(config_id="model", session_id="s1", value="large")
        return {"model": settings(answer)["model"]}

    async def session_set_config_option_a_switch(self) -> Seen:
        answer = await self.agent.set_config_option(config_id="fast", session_id="s1", value=True)
        return {"fast": settings(answer)["fast"]}

    async def text_and_thoughts_in_chunks(self) -> Seen:
        stop = await self.prompt("stream")
        return {"thoughts": self.texts("agent_thought_chunk"), "texts": self.texts(), "stop": stop}

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
        (call,) = self.of("tool_call")
        changes = self.of("tool_call_update")
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
        (plan,) = self.of("plan")
        return {"entries": [[entry.content, entry.priority, entry.status] for entry in plan.entries]}

    async def commands_settings_title_usage(self) -> Seen:
        await self.prompt("updates")
        (commands,) = self.of("available_commands_update")
        (changed,) = self.of("config_option_update")
        (info,) = self.of("session_info_update")
        (usage,) = self.of("usage_update")
        return {
            "commands": [command.name for command in commands.available_commands],
            "model": settings(changed)["model"],
            "title": info.title,
            "usage": [usage.used, usage.size],
        }

    async def an_update_of_an_unknown_kind(self) -> Seen:
        await self.prompt("future")
        return {"alive": self.texts() == ["after"]}

    async def content_of_all_kinds_in_a_prompt(self) -> Seen:
        await self.prompt(
            "blocks",
            acp.image_block("aGk=", "image/png"),
            acp.audio_block("aGk=", "audio/wav"),
            acp.resource_link_block("a", "file:///a"),
            acp.resource_block(acp.embedded_text_resource("file:///a", "a")),
            acp.resource_block(acp.embedded_blob_resource("file:///a", "aGk=")),
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
        await self.agent.cancel(session_id="s1")
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
        made = await self.agent.new_session(cwd="/", mcp_servers=[])
        turn = asyncio.ensure_future(self.prompt("wait", session=made.session_id))
        await self.told("waiting")
        await self.agent.cancel(session_id=made.session_id)
        return {"stop": await turn}

    async def two_turns_at_once(self) -> Seen:
        made = await self.agent.new_session(cwd="/", mcp_servers=[])
        turn = asyncio.ensure_future(self.prompt("wait", session=made.session_id))
        await self.told("waiting", made.session_id)
        stop = await self.prompt("stream")
        await self.agent.cancel(session_id=made.session_id)
        return {"stop": stop, "other": await turn}

    async def error_invalid_params(self) -> Seen:
        return {"code": await self.code(self.raw("session/set_mode", {"sessionId": 4}))}

    async def error_unknown_method(self) -> Seen:
        return {"code": await self.code(self.raw("session/nonsense", {}))}

    def raw(self, method: str, params: Any) -> Awaitable[Any]:
        """Call what the SDK would not let one call."""
        answer: Awaitable[Any] = self.agent._conn.send_request(method, params)
        return answer

    async def error_of_the_handler_with_data(self) -> Seen:
        try:
            await self.prompt("refuse")
        except acp.RequestError as why:
            return {"code": why.code, "message": str(why), "data": why.data}
        return {"code": None}

    async def error_a_handler_that_crashes(self) -> Seen:
        return {"code": await self.code(self.prompt("crash"))}

    async def meta(self) -> Seen:
        await self.prompt("meta", key=[1, "two"])
        return {"meta": self.said()}

    async def extension_request(self) -> Seen:
        answer = await self.agent.ext_method("interop/echo", {"n": 1})
        await self.prompt("extensions")
        return {"by client": answer, "by agent": self.said()}

    async def extension_notification(self) -> Seen:
        await self.agent.ext_notification("interop/note", {"n": 3})
        await self.agent.ext_method("interop/echo", {})
        await self.prompt("notes")
        return {"by client": self.said(), "by agent": self.client.notes}

    async def a_notification_then_a_request(self) -> Seen:
        await self.agent.ext_notification("interop/note", {"n": 4})
        await self.prompt("notes")
        return {"in order": {"n": 4} in self.said()}

    async def x_5_mb_to_the_agent(self) -> Seen:
        await self.prompt("size", "x" * BIG)
        found: Seen = self.said()
        return found

    async def x_5_mb_to_the_client(self) -> Seen:
        await self.prompt("big")
        return {"size": len("".join(self.texts()))}


def modes(answer: Any) -> list[str]:
    """Name the modes of a session."""
    return [mode.id for mode in answer.modes.available_modes] if answer.modes else []


def settings(answer: Any) -> dict[str, Any]:
    """Give the values of a session's settings."""
    return {option.id: option.current_value for option in answer.config_options}


async def main() -> None:
    """Try everything on the agent that the arguments name."""
    client = Client()
    if sys.argv[1] == "--websocket":
        ws: Any = import_module("acp.ws")
        stream = await ws.create_websocket_stream(sys.argv[2])
        agent = acp.connect_to_agent(client, stream, use_unstable_protocol=True)
        seen = await Trial(agent, client).all()
        await agent.close()
    else:
        limit = {"limit": acp.core.DEFAULT_STDIO_BUFFER_LIMIT_BYTES, "stderr": None}
        started = acp.spawn_agent_process(
            client,
            *sys.argv[1:],
            env=dict(os.environ),
            transport_kwargs=limit,
            use_unstable_protocol=True,
        )
        async with started as (agent, _):
            seen = await Trial(agent, client).all()
    print(json.dumps(seen))


if __name__ == "__main__":
    asyncio.run(main())
