"""The start of a process that leads a group of its own."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from . import platforms

P = TypeVar("P", bound=asyncio.SubprocessProtocol)

STEP = 0.005
STEPS = 200
"""How many steps of how many seconds are left to a killed process to go."""


async def execute(
    factory: Callable[[], P],
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None,
    cwd: str | os.PathLike[str] | None,
    **options: Any,
) -> tuple[asyncio.SubprocessTransport, P]:
    """Start a program with its arguments, without a shell, as the leader of a group of its own.

    Raises `OSError` where it cannot be started, and `ValueError` for an argument that a batch file cannot be given.
    """
    loop = asyncio.get_running_loop()
    options |= {"env": env, "cwd": cwd, **platforms.group_options()}
    if not platforms.is_windows():
        return await started(loop.subprocess_exec(factory, *command, **options))
    program = platforms.find_program(command[0], env=env, cwd=cwd)
    if platforms.is_batch(program):
        line = platforms.batch_line(program, command[1:])
        starting = loop.subprocess_shell(factory, line, **options)
    else:
        starting = loop.subprocess_exec(factory, program, *command[1:], **options)
    try:
        return await started(starting)
    except NotImplementedError:
        raise OSError("This event loop cannot start processes on Windows; the ProactorEventLoop can") from None


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
        with suppress(OSError):
            platforms.tree_of(transport.get_pid()).kill()
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
