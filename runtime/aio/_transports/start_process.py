"""Starting a process as the leader of a new group."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from . import platforms
from .process_tree import new_group_options, tree_of
from .windows_programs import batch_command_line, find_program, is_batch_file

P = TypeVar("P", bound=asyncio.SubprocessProtocol)

POLL_INTERVAL = 0.005
"""Seconds between two checks whether a killed process has ended."""
POLLS = 200
"""How many times to check."""


async def start_program(
    factory: Callable[[], P],
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None,
    cwd: str | os.PathLike[str] | None,
    **options: Any,
) -> tuple[asyncio.SubprocessTransport, P]:
    """Start a program with its arguments, without a shell, as the leader of a new group.

    Raises `OSError` if it cannot be started, and `ValueError` for an argument that a batch file cannot be given.
    """
    loop = asyncio.get_running_loop()
    options |= {"env": env, "cwd": cwd, **new_group_options()}
    if not platforms.is_windows():
        return await await_start(loop.subprocess_exec(factory, *command, **options))
    program = find_program(command[0], env=env, cwd=cwd)
    if is_batch_file(program):
        line = batch_command_line(program, command[1:])
        starting = loop.subprocess_shell(factory, line, **options)
    else:
        starting = loop.subprocess_exec(factory, program, *command[1:], **options)
    try:
        return await await_start(starting)
    except NotImplementedError:
        raise OSError("This event loop cannot start processes on Windows; the ProactorEventLoop can") from None


async def await_start(work: Coroutine[Any, Any, tuple[asyncio.SubprocessTransport, P]]) -> tuple[Any, P]:
    """Await a start and return its transport and protocol; if cancelled, kill the whole group of the new process.

    asyncio would kill only the process itself, and then wait for every process that has its pipes open.
    """
    starting = asyncio.get_running_loop().create_task(work)
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        starting.add_done_callback(_kill_started)
        await asyncio.wait([starting])
        await _wait_for_exit(starting)
        raise


def _kill_started(starting: asyncio.Task[tuple[asyncio.SubprocessTransport, P]]) -> None:
    transport = _started_transport(starting)
    if transport is not None:
        with suppress(OSError):
            tree_of(transport.get_pid()).kill()
        transport.close()


async def _wait_for_exit(starting: asyncio.Task[tuple[asyncio.SubprocessTransport, P]]) -> None:
    """Wait for the end of the killed process, so that the loop is not closed before it is notified."""
    transport = _started_transport(starting)
    for _ in range(POLLS):
        if transport is None or transport.get_returncode() is not None:
            return
        await asyncio.sleep(POLL_INTERVAL)


def _started_transport(
    starting: asyncio.Task[tuple[asyncio.SubprocessTransport, P]],
) -> asyncio.SubprocessTransport | None:
    is_started = not starting.cancelled() and starting.exception() is None
    return starting.result()[0] if is_started else None
