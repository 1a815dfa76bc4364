"""Whole turns between the typed ends, in memory, for every schema."""

from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1, v1_unstable, v2
from acp_msgspec.v1_unstable import aio as v1_unstable_aio
from acp_msgspec.v2 import aio as v2_aio
from msgspec import Raw

from tests.aio.support import run

SESSION = v1.SessionId("s")
IDLE = v2.SessionUpdateStateUpdateIdle()


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
            return v2.PromptResponse()

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


def test_a_method_of_both_sides_and_both_kinds() -> None:
    class Both:
        def __init__(self) -> None:
            self.seen: list[str] = []

        async def mcp_message(self, params: v1_unstable.MessageMcpRequest, /) -> Any:
            self.seen.append(f"request {params.method}")
            return {"ok": True}

        async def mcp_message_notification(self, params: v1_unstable.MessageMcpNotification, /) -> None:
            self.seen.append(f"notification {params.method}")

    async def turn() -> None:
        here, there = aio.memory_pair()
        one: Any = Both()
        two: Any = Both()
        connection = v1_unstable.McpConnectionId("c")
        request = v1_unstable.MessageMcpRequest(connection_id=connection, method="tools/list")
        notification = v1_unstable.MessageMcpNotification(connection_id=connection, method="progress")
        async with (
            v1_unstable_aio.AgentConnection(there, one) as agent,
            v1_unstable_aio.ClientConnection(here, two) as client,
        ):
            for end in (agent, client):
                await end.mcp_message_notification(notification)
                assert await end.mcp_message(request) == {"ok": True}
        assert one.seen == two.seen == ["notification progress", "request tools/list"]

    run(turn())
