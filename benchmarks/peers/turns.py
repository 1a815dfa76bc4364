"""How a client is told what to time: a line such as `chunks 5000` or `trips 1000`, and a line of JSON with the answer.

`trips@16 N` makes N trips over sixteen connections at once, `idle@16 1` opens sixteen more that stay idle. Times are in
seconds: `wall`, and processor time of the client and of the agent. Of idle connections the answer has the bytes of
memory that the client and the agent have gained.
"""

import asyncio
import gc
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

TEXT = "A piece of what a model says, as it comes. "
Trip = Callable[[], Awaitable[Any]]


async def serve(
    chunks: Callable[[int], Awaitable[Any]],
    trip: Trip,
    connect: Callable[[], Awaitable[Trip]] | None = None,
    agent_pid: int = 0,
) -> None:
    """Do what is asked for until the input ends; `chunks` and `trip` give the agent's processor time so far.

    `connect` opens one more connection to the same agent and gives its `trip`.
    """
    trips = [trip]

    async def open_up_to(count: int) -> None:
        assert connect is not None
        while len(trips) < count:
            trips.append(await connect())

    async def run(what: str, number: int, count: int) -> Any:
        if what == "chunks":
            return await chunks(count)
        await asyncio.gather(*(_repeat(each, count // number) for each in trips[:number]))
        return await trip()

    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:  # nothing else is to be done meanwhile
        name, _, count = line.partition(" ")
        what, _, number = name.partition("@")
        if what == "idle":
            await trip()
            before = _memory(os.getpid()), _memory(agent_pid)
            await open_up_to(len(trips) + int(number))
            await trip()
            after = _memory(os.getpid()), _memory(agent_pid)
            print(json.dumps({"client": after[0] - before[0], "agent": after[1] - before[1]}), flush=True)
            continue
        if number:
            await open_up_to(int(number))
        gc.collect()
        agent = (await trip())["cpu"]
        cpu, wall = time.process_time(), time.perf_counter()
        last = await run(what, int(number or 1), int(count))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print(json.dumps({"wall": wall, "client": cpu, "agent": last["cpu"] - agent}), flush=True)


async def _repeat(trip: Trip, count: int) -> None:
    for _ in range(count):
        await trip()


def _memory(pid: int) -> int:
    """Give the bytes of memory that a process has for itself, on Linux."""
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE")


async def started(*command: str) -> tuple[asyncio.subprocess.Process, int]:
    """Start an agent that serves WebSocket, and give it with the port that it says."""
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    return process, int(await process.stdout.readline())
