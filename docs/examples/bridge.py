"""A bridge from WebSocket to stdio: `python bridge.py [--port N] [--token T] COMMAND…` runs an agent for each client.

What one side sends goes to the other as it is, so the bridge serves every version of the protocol.
"""

import argparse
import asyncio
import sys

from acp_msgspec.aio import Transport, serve_websocket, spawn


async def pump(source: Transport, target: Transport) -> None:
    """Carry messages until one of the two ends."""
    try:
        while messages := await source.receive():
            await target.send(messages)
    except OSError as why:
        print(f"broken: {why}", file=sys.stderr)


async def bridge(client: Transport, command: list[str]) -> None:
    """Connect one client to an agent of its own; when either ends, so does the other."""
    agent = await spawn(command, on_stderr=sys.stderr.buffer.write)
    ways = [asyncio.create_task(pump(client, agent)), asyncio.create_task(pump(agent, client))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await agent.close()
        await client.close()


async def main() -> None:
    parser = argparse.ArgumentParser(description="Let clients reach an agent over WebSocket.")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--token", help="what clients must show to get in")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the agent's command")
    asked = parser.parse_args()
    if not asked.command:
        parser.error("no agent's command is given")
    command: list[str] = asked.command
    server = await serve_websocket(lambda client: bridge(client, command), port=asked.port, token=asked.token)
    async with server:
        print(f"ws://localhost:{server.port}", flush=True)
        await server.wait_closed()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        raise SystemExit(130) from None
