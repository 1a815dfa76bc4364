"""A whole connection of ours: `python -m benchmarks.peers.connection_ours` is the client, `… agent` its agent.

With `websocket` it is the client of `… server`, which serves many connections over WebSocket.

The agent sends as many chunks as the prompt says, then answers, with the processor time that it took in `_meta`.
"""

import asyncio
import sys
import time
from contextlib import AsyncExitStack
from typing import Any

from acp_msgspec import aio, v1

from benchmarks.peers.turns import TEXT, Trip, serve, started

SESSION = v1.SessionId("session-1")


class Agent(aio.Agent):
    """Sends chunks."""

    def __init__(self, client: aio.AgentConnection) -> None:
        """Keep the way to the client."""
        self.client = client

    async def initialize(self, params: v1.InitializeRequest, /) -> v1.InitializeResponse:
        """Answer."""
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        """Answer."""
        return v1.NewSessionResponse(session_id=SESSION)

    async def session_set_mode(self, params: v1.SetSessionModeRequest, /) -> v1.SetSessionModeResponse:
        """Answer."""
        return v1.SetSessionModeResponse(meta={"cpu": time.process_time()})

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        """Send the chunks, then answer."""
        (block,) = params.prompt
        assert isinstance(block, v1.TextContent)
        update, session = self.client.session_update, params.session_id
        for _ in range(int(block.text)):
            chunk = v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=TEXT))
            await update(v1.SessionNotification(session_id=session, update=chunk))
        return v1.PromptResponse(stop_reason=v1.StopReason.END_TURN, meta={"cpu": time.process_time()})


class Client(aio.Client):
    """Counts characters."""

    def __init__(self) -> None:
        """Start at zero."""
        self.count = 0

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        """Look at the text of a chunk."""
        match params.update:
            case v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=text)):
                self.count += len(text)
            case _:
                raise AssertionError("Another update")


async def main() -> None:
    """Be the agent, or start it and do what is asked for."""
    if sys.argv[1:] == ["agent"]:
        await aio.AgentConnection(await aio.stdio(), Agent).serve()
        return
    if sys.argv[1:] == ["server"]:
        async with await aio.serve_websocket(lambda each: aio.AgentConnection(each, Agent).serve()) as server:
            print(server.port, flush=True)
            await server.wait_closed()
    client = Client()
    command = [sys.executable, "-m", "benchmarks.peers.connection_ours"]
    if sys.argv[1:] == ["websocket"]:
        process, port = await started(*command, "server")
        url = f"ws://localhost:{port}"
        await drive(client, await aio.connect_websocket(url), url, process.pid)
        process.kill()
        return
    await drive(client, await aio.spawn([*command, "agent"]))


async def drive(client: Client, transport: aio.Transport, url: str = "", agent_pid: int = 0) -> None:
    """Do what is asked for over a connection, and over more to the address of a server."""
    mode = v1.SetSessionModeRequest(session_id=SESSION, mode_id=v1.SessionModeId("m"))
    async with AsyncExitStack() as stack:

        async def opened(transport: aio.Transport) -> aio.ClientConnection:
            agent = await stack.enter_async_context(aio.ClientConnection(transport, client))
            await agent.initialize(v1.InitializeRequest(protocol_version=1))
            await agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))
            return agent

        def trip_of(agent: aio.ClientConnection) -> Trip:
            async def trip() -> Any:
                return (await agent.session_set_mode(mode)).meta

            return trip

        agent = await opened(transport)

        async def chunks(count: int) -> Any:
            client.count = 0
            block = v1.TextContent(text=str(count))
            answer = await agent.session_prompt(v1.PromptRequest(session_id=SESSION, prompt=[block]))
            assert client.count == count * len(TEXT)
            return answer.meta

        async def connect() -> Trip:
            return trip_of(await opened(await aio.connect_websocket(url)))

        await serve(chunks, trip_of(agent), connect, agent_pid)


if __name__ == "__main__":
    asyncio.run(main())
