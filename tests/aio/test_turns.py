"""Whole turns between the typed ends, in memory, for every schema."""

import importlib
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1, v2
from acp_msgspec.v2 import aio as v2_aio
from msgspec import Raw

from tests.aio.support import run
from tests.from_schema import idle, least

SESSION = v1.SessionId("s")
IDLE = idle("v2")


class EchoAgent(aio.Agent):
    """Asks for permission, reads a file, and says what it was told."""

    def __init__(self, client: aio.AgentConnection) -> None:
        self.client = client
        self.cancelled: list[str] = []

    async def initialize(self, params: v1.InitializeRequest, /) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=params.protocol_version)

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id=SESSION)

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        for block in params.prompt:
            assert isinstance(block, v1.TextContent)
            for word in block.text.split():
                await self.client.session_update(said(word))
        file = await self.client.fs_read_text_file(v1.ReadTextFileRequest(session_id=SESSION, path="/a"))
        await self.client.session_update(said(file.content))
        return v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)

    async def session_cancel(self, params: v1.CancelNotification, /) -> None:
        self.cancelled.append(params.session_id)

    async def extension_request(self, method: str, params: Raw, /) -> Any:
        return {"method": method, "params": params}


class Screen(aio.Client):
    def __init__(self) -> None:
        self.text: list[str] = []
        self.extensions: list[tuple[str, bytes]] = []

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        assert isinstance(params.update, v1.SessionUpdateAgentMessageChunk)
        assert isinstance(params.update.content, v1.TextContent)
        self.text.append(params.update.content.text)

    async def fs_read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
        return v1.ReadTextFileResponse(content=f"the content of {params.path}")

    async def extension_notification(self, method: str, params: Raw, /) -> None:
        self.extensions.append((method, bytes(params)))


def said(text: str) -> v1.SessionNotification:
    chunk = v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=text))
    return v1.SessionNotification(session_id=SESSION, update=chunk)


def prompt(text: str) -> v1.PromptRequest:
    return v1.PromptRequest(session_id=SESSION, prompt=[v1.TextContent(text=text)])


def test_a_turn() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        screen = Screen()
        async with aio.AgentConnection(there, EchoAgent) as agent, aio.ClientConnection(here, screen) as client:
            told = await client.negotiate()
            assert told.protocol_version == 1
            session = await client.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))
            assert session.session_id == SESSION
            answer = await client.session_prompt(prompt("to be or not"))
            assert answer.stop_reason is v1.StopReason.END_TURN
            # Everything that the agent said before it answered has been handled by now.
            assert screen.text == ["to", "be", "or", "not", "the content of /a"]
            await client.session_cancel(v1.CancelNotification(session_id=SESSION))
            await client.notify(v1.CancelNotification(session_id=v1.SessionId("other")))
            result = await client.extension_call("_ours/x", {"a": 1})
            assert bytes(result) == b'{"method":"_ours/x","params":{"a":1}}'
            assert isinstance(agent.handler, EchoAgent)
            assert agent.handler.cancelled == [SESSION, "other"]
            await agent.extension_notify("_ours/y", [1])
            await agent.extension_notify("_ours/z")
            with pytest.raises(acp.MethodNotFound) as caught:
                await agent.extension_call("_ours/unknown")
            assert caught.value.data == "_ours/unknown"
            assert screen.extensions == [("_ours/y", b"[1]"), ("_ours/z", b"null")]
            with pytest.raises(acp.MethodNotFound):
                await client.session_load(
                    v1.LoadSessionRequest(session_id=SESSION, cwd="/", mcp_servers=[]), force=True
                )

    run(turn())


def test_any_object_with_some_of_the_methods_will_do() -> None:
    class Bare:
        async def session_new(self, params: v1.NewSessionRequest) -> v1.NewSessionResponse:
            return v1.NewSessionResponse(session_id=v1.SessionId(params.cwd))

    async def turn() -> None:
        here, there = aio.memory_pair()
        bare: Any = Bare()
        async with aio.AgentConnection(there, bare), aio.ClientConnection(here) as client:
            made = await client.session_new(v1.NewSessionRequest(cwd="/x", mcp_servers=[]))
            assert made.session_id == "/x"
            with pytest.raises(acp.MethodNotFound) as caught:
                await client.session_prompt(prompt(""))
            assert caught.value.data == "session/prompt"
            await client.session_cancel(v1.CancelNotification(session_id=SESSION))  # ignored

    run(turn())


def test_a_turn_of_v2() -> None:
    class Agent(v2_aio.Agent):
        def __init__(self, client: v2_aio.AgentConnection) -> None:
            self.client = client

        async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
            idle = v2.UpdateSessionNotification(session_id=params.session_id, update=IDLE)
            await self.client.session_update(idle)
            return least(v2.PromptResponse)

    class Client(v2_aio.Client):
        def __init__(self) -> None:
            self.updates: list[v2.SessionUpdate] = []

        async def session_update(self, params: v2.UpdateSessionNotification, /) -> None:
            self.updates.append(params.update)

    async def turn() -> None:
        here, there = aio.memory_pair()
        client = Client()
        async with v2_aio.AgentConnection(there, Agent), v2_aio.ClientConnection(here, client) as conn:
            await conn.session_prompt(v2.PromptRequest(session_id=v2.SessionId("s"), prompt=[]))
            assert client.updates == [IDLE]

    run(turn())


def test_a_method_of_both_sides_and_both_kinds(relaying: tuple[Any, Any]) -> None:
    package, module = relaying
    ends: Any = importlib.import_module(f"{module.__name__}.aio")

    class Both:
        def __init__(self) -> None:
            self.seen: list[str] = []

        async def relay(self, params: Any, /) -> Any:
            self.seen.append(f"request {type(params).__name__}")
            return {"ok": True}

        async def relay_notification(self, params: Any, /) -> None:
            self.seen.append(f"notification {type(params).__name__}")

    async def turn() -> None:
        here, there = importlib.import_module(f"{package.__name__}.aio").memory_pair()
        one, two = Both(), Both()
        async with ends.AgentConnection(there, one) as agent, ends.ClientConnection(here, two) as client:
            for end in (agent, client):
                await end.relay_notification(module.RelayNotification())
                assert await end.relay(module.RelayRequest()) == {"ok": True}
        assert one.seen == two.seen == ["notification RelayNotification", "request RelayRequest"]

    run(turn())
