"""A whole connection of the official Python SDK, as `connection_ours` has it.

This module runs in the venv of the SDK, which it reaches by name, since type checkers see another one.
"""

import asyncio
import os
import socket
import sys
import time
from importlib import import_module
from typing import Any

from benchmarks.peers.turns import TEXT, Trip, serve, started

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
    if sys.argv[1:] == ["server"]:
        await listen()
        return
    client = Client()
    if sys.argv[1:] == ["websocket"]:
        process, port = await started(sys.executable, "-m", "benchmarks.peers.connection_official", "server")
        await drive(client, None, f"ws://127.0.0.1:{port}/acp", process.pid)
        process.kill()
        return
    spawned = acp.spawn_agent_process(
        client,
        sys.executable,
        "-m",
        "benchmarks.peers.connection_official",
        "agent",
        env=dict(os.environ),
        transport_kwargs={"stderr": None, "limit": acp.core.DEFAULT_STDIO_BUFFER_LIMIT_BYTES},
    )
    async with spawned as (agent, _):
        await drive(client, agent)


async def listen() -> None:
    """Serve WebSocket as the SDK does it: an application for an ASGI server."""
    server_of: Any = import_module("acp.http.asgi").create_asgi_app
    uvicorn: Any = import_module("uvicorn")
    listening = socket.create_server(("127.0.0.1", 0))
    options = {"ws": "websockets-sansio", "lifespan": "off", "log_level": "error", "ws_per_message_deflate": False}

    def new_agent(_: Any) -> Agent:
        return Agent()

    server = uvicorn.Server(uvicorn.Config(server_of(new_agent), **options))
    print(listening.getsockname()[1], flush=True)
    await server.serve(sockets=[listening])


async def drive(client: Client, agent: Any, url: str = "", agent_pid: int = 0) -> None:
    """Do what is asked for over a connection, and over more to the address of a server."""
    connections: list[Any] = []

    async def opened(agent: Any = None) -> Any:
        if agent is None:
            stream = await import_module("acp.ws.client").create_websocket_stream(url)
            agent = acp.connect_to_agent(client, stream)
            connections.append(agent)
        await agent.initialize(protocol_version=1)
        await agent.new_session(cwd="/", mcp_servers=[])
        return agent

    def trip_of(agent: Any) -> Trip:
        async def trip() -> Any:
            return (await agent.set_session_mode(session_id=SESSION, mode_id="m")).field_meta

        return trip

    agent = await opened(agent)

    async def chunks(count: int) -> Any:
        client.count = 0
        answer = await agent.prompt(session_id=SESSION, prompt=[acp.text_block(str(count))])
        assert client.count == count * len(TEXT)
        return answer.field_meta

    async def connect() -> Trip:
        return trip_of(await opened())

    await serve(chunks, trip_of(agent), connect, agent_pid)
    for connection in connections:
        await connection.close()


if __name__ == "__main__":
    asyncio.run(main())
