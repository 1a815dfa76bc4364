"""What a type checker must see in the typed ends; `make types` checks this file, nothing runs it."""

from typing import assert_type

from acp_msgspec import aio, v1, v1_unstable, v2
from acp_msgspec.v1_unstable import aio as v1_unstable_aio
from acp_msgspec.v2 import aio as v2_aio
from msgspec import Raw


class Editor(aio.Client):
    async def session_update(self, params: v1.SessionNotification, /) -> None:
        assert_type(params.session_id, v1.SessionId)

    async def fs_read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
        return v1.ReadTextFileResponse(content=params.path)


class Helper(aio.Agent):
    def __init__(self, client: aio.AgentConnection) -> None:
        self.client = client

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        file = await self.client.fs_read_text_file(v1.ReadTextFileRequest(session_id=params.session_id, path="/a"))
        assert_type(file, v1.ReadTextFileResponse)
        return v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)


class Prompting(aio.Agent, helpers=["prompt"]):
    async def prompt(self, text: str) -> None:
        print(text)


async def client(transport: aio.Transport) -> None:
    async with aio.ClientConnection(transport, Editor()) as conn:
        assert_type(conn, aio.ClientConnection)
        session = await conn.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]), timeout=5, force=True)
        assert_type(session, v1.NewSessionResponse)
        assert_type(await conn.session_cancel(v1.CancelNotification(session_id=session.session_id)), None)
        assert_type(await conn.extension_call("_x/y", {"a": 1}), Raw)
        assert_type(conn.closed, aio.ConnectionClosed | None)
    aio.ClientConnection(transport, lambda _: Editor(), max_requests=5)
    aio.ClientConnection(transport)


async def agent() -> None:
    await aio.AgentConnection(await aio.stdio(), Helper).serve()
    server = await aio.serve_websocket(lambda t: aio.AgentConnection(t, Helper).serve())
    assert_type(server.port, int)
    process = await aio.spawn(["agent"])
    assert_type(process.returncode, int | None)


async def others(transport: aio.Transport) -> None:
    async with v2_aio.ClientConnection(transport) as conn:
        assert_type(
            await conn.session_prompt(v2.PromptRequest(session_id=v2.SessionId("s"), prompt=[])), v2.PromptResponse
        )
    async with v1_unstable_aio.AgentConnection(transport) as other:
        chunk = v1_unstable.SessionUpdateAgentMessageChunk(content=v1_unstable.TextContent(text="x"))
        note = v1_unstable.SessionNotification(session_id=v1_unstable.SessionId("s"), update=chunk)
        assert_type(await other.session_update(note), None)
