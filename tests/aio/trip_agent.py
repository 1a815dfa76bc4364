"""An agent that tells how many iterations its event loop has made: `python -m tests.aio.trip_agent HOW`."""

import asyncio
import sys
from typing import Any

from acp_msgspec import aio
from msgspec import Raw


class Turns:
    """Counts the iterations of the running event loop."""

    def __init__(self) -> None:
        self.count = 0
        loop: Any = asyncio.get_running_loop()
        once = loop._run_once

        def counted() -> None:
            self.count += 1
            once()

        loop._run_once = counted


class TripAgent(aio.Agent):
    def __init__(self, turns: Turns) -> None:
        self.turns = turns

    async def extension_request(self, method: str, params: Raw, /) -> int:
        if method == "_x/waits":
            await asyncio.sleep(0)
        return self.turns.count


async def main(how: str) -> None:
    turns = Turns()
    agent = TripAgent(turns)
    if how == "stdio":
        await aio.AgentConnection(await aio.stdio(), agent).serve()
        return
    ended = asyncio.Event()

    async def session(transport: aio.Transport) -> None:
        await aio.AgentConnection(transport, agent).serve()
        ended.set()

    async with await aio.serve_websocket(session, "127.0.0.1") as server:
        print(server.port, flush=True)
        await ended.wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
