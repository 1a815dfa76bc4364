"""Agents that do as a test says, in each schema whose turns a client can follow, and the client at the other end."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from itertools import count
from types import ModuleType
from typing import Any

from acp_msgspec import aio

LABELS = ("v1", "v1_unstable", "v2")
Script = Callable[["Turn"], Awaitable[object]]
"""Plays one turn; what it returns is the stop reason, by default `end_turn`."""
NUMBERS = count(1)


class Schema:
    """The modules of a schema."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.types: ModuleType = import_module(f"acp_msgspec.{label}")
        self.aio: ModuleType = import_module(f"acp_msgspec.{label}.aio")
        self.conversation: ModuleType = import_module(f"acp_msgspec.{label}.conversation")
        self.has_idle = label == "v2"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.types, name)


class Turn:
    """A turn as the agent sees it."""

    def __init__(self, agent: Any, params: Any) -> None:
        self.agent = agent
        self.schema: Schema = agent.schema
        self.session: str = params.session_id
        self.prompt: list[Any] = getattr(params, "prompt", [])
        self.number = next(NUMBERS)

    async def update(self, update: Any) -> None:
        await self.agent.update(self.session, update)

    async def say(self, text: str) -> None:
        content = self.schema.TextContent(text=text)
        more = {"message_id": f"message {self.number}"} if self.schema.has_idle else {}
        await self.update(self.schema.SessionUpdateAgentMessageChunk(content=content, **more))

    async def tool(self, call: str, status: str, title: str = "Look") -> None:
        update = self.schema.SessionUpdateToolCallUpdate
        if not self.schema.has_idle and status == "pending":
            await self.update(self.schema.ToolCall(tool_call_id=call, title=title))
        else:
            await self.update(update(tool_call_id=call, title=title, status=self.schema.ToolCallStatus(status)))

    async def ask(self, title: str = "May I?") -> Any:
        s = self.schema
        option = s.PermissionOption(option_id="yes", name="Yes", kind=s.PermissionOptionKind.ALLOW_ONCE)
        call = s.ToolCallUpdate(tool_call_id="asked", title=title)
        about = {"subject": s.ToolCallPermissionSubject(tool_call=call)} if s.has_idle else {"tool_call": call}
        if s.has_idle:
            about["title"] = title
        request = s.RequestPermissionRequest(session_id=self.session, options=[option], **about)
        return (await self.agent.connection.session_request_permission(request)).outcome


def agent_class(schema: Schema) -> Any:
    """Make the class of agents that play scripts; it has the methods that each test may want."""

    class ScriptedAgent(schema.aio.Agent):  # type: ignore[misc,name-defined]
        def __init__(self, connection: Any, script: Script) -> None:
            self.schema = schema
            self.connection = connection
            self.script = script
            self.count = 0
            self.closed: list[str] = []
            self.cancelled: list[str] = []
            self.turns: dict[str, asyncio.Task[None]] = {}

        async def update(self, session: str, update: Any) -> None:
            kind = schema.types.METHODS["session/update"].notification
            await self.connection.session_update(kind(session_id=session, update=update))

        async def session_new(self, params: Any, /) -> Any:
            self.count += 1
            session = f"s{self.count}"
            info = schema.SessionInfoUpdate(title="early")
            await self.update(session, info)
            return schema.NewSessionResponse(session_id=session)

        async def session_close(self, params: Any, /) -> Any:
            self.closed.append(params.session_id)
            return schema.CloseSessionResponse()

        async def session_cancel(self, params: Any, /) -> None:
            self.cancelled.append(params.session_id)
            if params.session_id in self.turns:
                self.turns[params.session_id].cancel()

        async def session_prompt(self, params: Any, /) -> Any:
            turn = Turn(self, params)
            if not schema.has_idle:
                reason = await self.script(turn)
                return schema.PromptResponse(stop_reason=schema.StopReason(reason or "end_turn"))
            self.turns[params.session_id] = asyncio.create_task(self.play(turn))
            return schema.PromptResponse(message_id="u")

        async def play(self, turn: Turn) -> None:
            await turn.update(schema.SessionUpdateStateUpdateRunning())
            try:
                reason = await self.script(turn) or "end_turn"
            except asyncio.CancelledError:
                reason = "cancelled"
            name = "".join(part.capitalize() for part in str(reason).split("_"))
            await turn.update(getattr(schema, f"SessionUpdateStateUpdateIdle{name}")())

    return ScriptedAgent


@asynccontextmanager
async def talk(
    schema: Schema, script: Script, handler: Any = None, *, kind: Any = None, **options: Any
) -> AsyncGenerator[tuple[Any, Any]]:
    """Connect a client to an agent that plays a script; yields the client's agent and the agent itself."""
    here, there = aio.memory_pair()
    kind = kind or agent_class(schema)

    def make(connection: Any) -> Any:
        return kind(connection, script)

    async with schema.aio.AgentConnection(there, make) as serving:
        async with schema.conversation.connect(here, handler, **options) as agent:
            yield agent, serving.handler
        for task in serving.handler.turns.values():
            task.cancel()
        await asyncio.gather(*serving.handler.turns.values(), return_exceptions=True)
