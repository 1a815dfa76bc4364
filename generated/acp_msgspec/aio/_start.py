"""The start of a process that leads a group of its own."""

import asyncio
import os
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

P = TypeVar("P")

STEP = 0.005
STEPS = 200
"""So many steps of so many seconds are left to a killed process to go."""


async def started(work: Coroutine[Any, Any, tuple[asyncio.SubprocessTransport, P]]) -> tuple[Any, P]:
    """Start a process, and give its transport and protocol; a start that is cancelled leaves nothing of its group.

    asyncio would kill the process alone, and then wait for whoever else has its pipes open.
    """
    starting = asyncio.get_running_loop().create_task(work)
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        starting.add_done_callback(_discard)
        await asyncio.wait([starting])
        await _gone(starting)
        raise


def _discard(starting: asyncio.Task[tuple[asyncio.SubprocessTransport, P]]) -> None:
    transport = _transport(starting)
    if transport is not None:
        with suppress(OSError, AttributeError):  # not every system has groups
            os.killpg(transport.get_pid(), signal.SIGKILL)
        transport.close()


async def _gone(starting: asyncio.Task[tuple[asyncio.SubprocessTransport, P]]) -> None:
    """Wait for the end, so that the loop does not end before it has heard of that."""
    transport = _transport(starting)
    for _ in range(STEPS):
        if transport is None or transport.get_returncode() is not None:
            return
        await asyncio.sleep(STEP)


def _transport(starting: asyncio.Task[tuple[asyncio.SubprocessTransport, P]]) -> asyncio.SubprocessTransport | None:
    is_started = not starting.cancelled() and starting.exception() is None
    return starting.result()[0] if is_started else None
