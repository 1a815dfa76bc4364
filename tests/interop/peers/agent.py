"""The agent of the interop runs on the official Python SDK, `agent-client-protocol`.

This module runs in the environment of the SDK, which it reaches by name, since type checkers see another one.
`python -m tests.interop.peers.agent` speaks on standard input and output, `--websocket` serves WebSockets.
"""

import asyncio
import json
import socket
import sys
from importlib import import_module
from typing import Any

from tests.interop.scenario import BIG, ERROR, MANY, MODES, TERMINAL

acp: Any = import_module("acp")
schema: Any = import_module("acp.schema")


def modes() -> Any:
    """Give the modes of a session."""
    known = [schema.SessionMode(id=name, name=name) for name in MODES]
    return schema.SessionModeState(current_mode_id="ask", available_modes=known)


def options(model: str = "small", fast: bool = False) -> list[Any]:
    """Give the settings of a session."""
    choices = [schema.SessionConfigSelectOption(value=m, name=m) for m in ("small", "large")]
    return [
        schema.SessionConfigOptionSelect(id="model", name="Model", type="select", current_value=model, options=choices),
        schema.SessionConfigOptionBoolean(id="fast", name="Fast", type="boolean", current_value=fast),
    ]


class Agent:
    """What one connection has."""

    def __init__(self, client: Any = None) -> None:
        self.client = client
        self.about: dict[str, Any] = {}
        self.session: dict[str, Any] = {}
        self.count = 0
        self.notes: list[Any] = []
        self.cancelled: dict[str, asyncio.Event] = {}

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(
        self, protocol_version: int, client_capabilities: Any = None, client_info: Any = None, **_: Any
    ) -> Any:
        self.about = {
            "version": protocol_version,
            "read": client_capabilities.fs.read_text_file,
            "write": client_capabilities.fs.write_text_file,
            "terminal": client_capabilities.terminal,
            "name": client_info.name,
        }
        return schema.InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_info=schema.Implementation(name="interop-agent", version="1"),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, audio=True, embedded_context=True),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                ),
            ),
            auth_methods=[schema.AuthMethodAgent(id="password", name="Password")],
        )

    async def authenticate(self, method_id: str, **_: Any) -> Any:
        if method_id != "password":
            raise acp.RequestError.auth_required()
        return schema.AuthenticateResponse()

    async def new_session(self, cwd: str, mcp_servers: Any = None, **_: Any) -> Any:
        self.session = {"cwd": cwd, "servers": [[s.name, s.command, s.args] for s in mcp_servers]}
        self.count += 1
        return schema.NewSessionResponse(session_id=f"s{self.count}", modes=modes(), config_options=options())

    async def load_session(self, cwd: str, session_id: str, mcp_servers: Any = None, **_: Any) -> Any:
        if session_id != "old":
            raise acp.RequestError.resource_not_found(session_id)
        await self.client.session_update(session_id, acp.update_user_message_text("question"))
        await self.say(session_id, "answer")
        return schema.LoadSessionResponse(modes=modes(), config_options=options())

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> Any:
        old = schema.SessionInfo(session_id="old", cwd=cwd, title="Old")
        return schema.ListSessionsResponse(sessions=[old], next_cursor="more")

    async def resume_session(self, session_id: str, cwd: str, **_: Any) -> Any:
        return schema.ResumeSessionResponse(modes=modes())

    async def close_session(self, session_id: str, **_: Any) -> Any:
        return schema.CloseSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> Any:
        update = schema.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=mode_id)
        await self.client.session_update(session_id, update)
        return schema.SetSessionModeResponse()

    async def set_config_option(self, config_id: str, session_id: str, value: Any, **_: Any) -> Any:
        changed = options(fast=value) if isinstance(value, bool) else options(model=value)
        return schema.SetSessionConfigOptionResponse(config_options=changed)

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.stop(session_id).set()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method != "interop/echo":
            raise acp.RequestError.method_not_found(method)
        return {"echo": params}

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        if method == "interop/note":
            self.notes.append(params)

    async def prompt(self, session_id: str, prompt: Any, **meta: Any) -> Any:
        deed = getattr(self, f"do_{prompt[0].text}")
        stop = await deed(session_id, prompt, meta)
        return schema.PromptResponse(stop_reason=stop or "end_turn")

    def stop(self, session: str) -> asyncio.Event:
        """Give what is set once the session's turn is cancelled."""
        return self.cancelled.setdefault(session, asyncio.Event())

    async def say(self, session: str, value: Any) -> None:
        """Say a text, or any JSON as one."""
        text = value if isinstance(value, str) else json.dumps(value)
        await self.client.session_update(session, acp.update_agent_message_text(text))

    async def do_client(self, session: str, *_: Any) -> None:
        await self.say(session, self.about)

    async def do_session(self, session: str, *_: Any) -> None:
        await self.say(session, self.session)

    async def do_stream(self, session: str, *_: Any) -> None:
        for text in ("hm", "m"):
            await self.client.session_update(session, acp.update_agent_thought_text(text))
        for text in ("one ", "two ", "drei ü 🎈\u2028"):
            await self.say(session, text)

    async def do_many(self, session: str, *_: Any) -> None:
        for n in range(MANY):
            await self.say(session, str(n))

    async def do_tools(self, session: str, *_: Any) -> None:
        update = self.client.session_update
        places = [schema.ToolCallLocation(path="/a", line=3)]
        call = acp.start_tool_call("t1", "Edit a", kind="edit", status="pending", locations=places, raw_input={"n": 1})
        await update(session, call)
        await update(session, acp.update_tool_call("t1", status="in_progress"))
        content = [
            acp.tool_diff_content("/a", "new\n", "old\n"),
            acp.tool_content(acp.text_block("done")),
        ]
        await update(session, acp.update_tool_call("t1", status="completed", content=content, raw_output={"ok": True}))

    async def do_plan(self, session: str, *_: Any) -> None:
        entries = [
            acp.plan_entry("first", priority="high", status="completed"),
            acp.plan_entry("then", priority="low", status="pending"),
        ]
        await self.client.session_update(session, acp.update_plan(entries))

    async def do_updates(self, session: str, *_: Any) -> None:
        command = schema.AvailableCommand(name="go", description="Go")
        for update in (
            schema.AvailableCommandsUpdate(session_update="available_commands_update", available_commands=[command]),
            schema.ConfigOptionUpdate(session_update="config_option_update", config_options=options(model="large")),
            schema.SessionInfoUpdate(session_update="session_info_update", title="Title"),
            schema.UsageUpdate(session_update="usage_update", used=5, size=10),
        ):
            await self.client.session_update(session, update)

    async def do_future(self, session: str, *_: Any) -> None:
        """There are only the kinds that the SDK knows."""
        raise acp.RequestError.method_not_found("future")

    async def ask(self, session: str, title: str) -> str | None:
        call = schema.ToolCallUpdate(tool_call_id="t2", title=title, kind="execute")
        kinds = ("allow_once", "reject_once")
        choices = [schema.PermissionOption(option_id=kind, name=kind, kind=kind) for kind in kinds]
        answer = await self.client.request_permission(session, call, choices)
        if answer.outcome.outcome == "selected":
            await self.say(session, answer.outcome.option_id)
            return None
        await self.say(session, "cancelled")
        return "cancelled"

    async def do_allow(self, session: str, *_: Any) -> str | None:
        return await self.ask(session, "allow")

    async def do_reject(self, session: str, *_: Any) -> str | None:
        return await self.ask(session, "reject")

    async def do_leave(self, session: str, *_: Any) -> str | None:
        return await self.ask(session, "leave")

    async def do_withdraw(self, session: str, *_: Any) -> None:
        """The SDK has no `$/cancel_request`."""
        raise acp.RequestError.method_not_found("$/cancel_request")

    async def do_read(self, session: str, *_: Any) -> None:
        await self.say(session, (await self.client.read_text_file(session, "/lines", line=2, limit=1)).content)

    async def do_missing(self, session: str, *_: Any) -> None:
        try:
            await self.client.read_text_file(session, "/missing")
        except acp.RequestError as why:
            await self.say(session, {"code": why.code})

    async def do_write(self, session: str, *_: Any) -> None:
        await self.client.write_text_file(session, "/new", "text\nü\n")
        await self.say(session, "written")

    async def terminal(self, session: str, *words: str) -> str:
        env = [schema.EnvVariable(name="WORD", value="hi")]
        made = await self.client.create_terminal(
            session, words[0], args=list(words[1:]), env=env, output_byte_limit=100
        )
        name: str = made.terminal_id
        return name

    async def do_terminal(self, session: str, *_: Any) -> None:
        name = await self.terminal(session, *TERMINAL)
        ended = await self.client.wait_for_terminal_exit(session, name)
        shown = await self.client.terminal_output(session, name)
        await self.client.release_terminal(session, name)
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

    async def do_kill(self, session: str, *_: Any) -> None:
        name = await self.terminal(session, "sleep", "60")
        before = await self.client.terminal_output(session, name)
        await self.client.kill_terminal(session, name)
        ended = await self.client.wait_for_terminal_exit(session, name)
        await self.client.release_terminal(session, name)
        await self.say(session, {"ran": before.exit_status is None, "signal": ended.signal})

    async def do_elicit(self, session: str, *_: Any) -> None:
        name = schema.ElicitationStringPropertySchema(type="string", title="Name")
        asked = schema.ElicitationSchema(type="object", properties={"name": name}, required=["name"])
        mode = schema.ElicitationFormSessionMode(session_id=session, requested_schema=asked)
        answer = await self.client.create_elicitation("Who?", mode)
        await self.say(session, {"content": answer.content})

    async def do_wait(self, session: str, *_: Any) -> str:
        await self.say(session, "waiting")
        await self.stop(session).wait()
        return "cancelled"

    async def do_hang(self, session: str, *_: Any) -> None:
        await self.say(session, "hanging")
        await asyncio.Event().wait()

    async def do_refuse(self, *_: Any) -> None:
        raise acp.RequestError(ERROR["code"], ERROR["message"], ERROR["data"])

    async def do_crash(self, *_: Any) -> None:
        raise RuntimeError("crashed")

    async def do_blocks(self, session: str, prompt: Any, _: Any) -> None:
        await self.say(session, [block.type for block in prompt])

    async def do_meta(self, session: str, _: Any, meta: dict[str, Any]) -> None:
        await self.say(session, meta)

    async def do_extensions(self, session: str, *_: Any) -> None:
        await self.client.ext_notification("interop/note", {"n": 2})
        await self.say(session, await self.client.ext_method("interop/echo", {"n": 1}))

    async def do_notes(self, session: str, *_: Any) -> None:
        await self.say(session, self.notes)

    async def do_big(self, session: str, *_: Any) -> None:
        await self.say(session, "x" * BIG)

    async def do_size(self, session: str, prompt: Any, _: Any) -> None:
        await self.say(session, {"size": len(prompt[1].text)})


def main() -> None:
    """Serve on standard input and output, or on a port of this machine, which is printed."""
    if "--websocket" not in sys.argv:
        asyncio.run(acp.run_agent(Agent(), use_unstable_protocol=True))
        return
    http: Any = import_module("acp.http.asgi")
    uvicorn: Any = import_module("uvicorn")

    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    server = uvicorn.Server(uvicorn.Config(http.create_asgi_app(Agent), log_level="error", lifespan="off"))
    server.run(sockets=[listening])


if __name__ == "__main__":
    main()
