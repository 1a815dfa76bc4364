"""A whole connection of the official Python SDK, as `connection_ours` has it.

This module runs in the venv of the SDK, which it reaches by name, since type checkers see another one.
"""

import asyncio
import os
import sys
import time
from importlib import import_module
from typing import Any

from benchmarks.peers.turns import TEXT, serve

acp: Any = import_module("acp")
schema: Any = import_module("acp.schema")
SESSION = "session-1"


class Agent:
    """Sends chunks."""

    client: Any = None

    def on_connect(self, conn: Any) -> None:
        """Keep the way to the client."""
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> Any:
        """Answer."""
        return schema.InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **_: Any) -> Any:
        """Answer."""
        return schema.NewSessionResponse(session_id=SESSION)

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> Any:
        """Answer."""
        return schema.SetSessionModeResponse(field_meta={"cpu": time.process_time()})

    async def prompt(self, session_id: str, prompt: Any, **_: Any) -> Any:
        """Send the chunks, then answer."""
        for _n in range(int(prompt[0].text)):
            await self.client.session_update(session_id, acp.update_agent_message_text(TEXT))
        return schema.PromptResponse(stop_reason="end_turn", field_meta={"cpu": time.process_time()})


class Client:
    """Counts characters."""

    def __init__(self) -> None:
        """Start at zero."""
        self.count = 0

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """Look at the text of a chunk."""
        self.count += len(update.content.text)

    def on_connect(self, conn: Any) -> None:
        """Nothing is to be kept."""


async def main() -> None:
    """Be the agent, or start it and do what is asked for."""
    if sys.argv[1:] == ["agent"]:
        await acp.run_agent(Agent())
        return
    client = Client()
    started = acp.spawn_agent_process(
        client,
        sys.executable,
        "-m",
        "benchmarks.peers.connection_official",
        "agent",
        env=dict(os.environ),
        transport_kwargs={"stderr": None, "limit": acp.core.DEFAULT_STDIO_BUFFER_LIMIT_BYTES},
    )
    async with started as (agent, _):
        await agent.initialize(protocol_version=1)
        await agent.new_session(cwd="/", mcp_servers=[])

        async def chunks(count: int) -> Any:
            client.count = 0
            answer = await agent.prompt(session_id=SESSION, prompt=[acp.text_block(str(count))])
            assert client.count == count * len(TEXT)
            return answer.field_meta

        async def trip() -> Any:
            return (await agent.set_session_mode(session_id=SESSION, mode_id="m")).field_meta

        await serve(chunks, trip)


if __name__ == "__main__":
    asyncio.run(main())
