"""How a client is told what to time: `chunks N` or `trips N` on a line, and a line of JSON with the times back.

Times are in seconds: `wall`, and processor time of the client and of the agent.
"""

import gc
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

TEXT = "A piece of what a model says, as it comes. "


async def serve(chunks: Callable[[int], Awaitable[Any]], trip: Callable[[], Awaitable[Any]]) -> None:
    """Do what is asked for until the input ends; both calls give the agent's processor time so far."""
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:  # nothing else is to be done meanwhile
        what, _, number = line.partition(" ")
        count = int(number)
        gc.collect()
        agent = (await trip())["cpu"]
        cpu, wall = time.process_time(), time.perf_counter()
        if what == "chunks":
            last = await chunks(count)
        else:
            for _ in range(count - 1):
                await trip()
            last = await trip()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print(json.dumps({"wall": wall, "client": cpu, "agent": last["cpu"] - agent}), flush=True)
