"""A whole connection of ours: `python -m benchmarks.peers.connection_ours` is the client, `… agent` its agent.

The agent sends as many chunks as the prompt says, then answers, with the processor time that it took in `_meta`.
"""

import asyncio
import sys
import time
from typing import Any

from acp_msgspec import aio, v1

from benchmarks.peers.turns import TEXT, serve

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
    client = Client()
    transport = await aio.spawn([sys.executable, "-m", "benchmarks.peers.connection_ours", "agent"])
    async with aio.ClientConnection(transport, client) as agent:
        await agent.initialize(v1.InitializeRequest(protocol_version=1))
        await agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))
        mode = v1.SetSessionModeRequest(session_id=SESSION, mode_id=v1.SessionModeId("m"))

        async def chunks(count: int) -> Any:
            client.count = 0
            block = v1.TextContent(text=str(count))
            answer = await agent.session_prompt(v1.PromptRequest(session_id=SESSION, prompt=[block]))
            assert client.count == count * len(TEXT)
            return answer.meta

        async def trip() -> Any:
            return (await agent.session_set_mode(mode)).meta

        await serve(chunks, trip)


if __name__ == "__main__":
    asyncio.run(main())
