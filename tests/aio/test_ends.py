"""The end of a peer shows on every transport, whatever was left unread, and nothing that it wrote is lost."""

import asyncio
import inspect
import os
import pty
import signal
import socket
import subprocess
import sys
import time
import tty
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from acp_msgspec import aio

from tests.aio.support import run
from tests.aio.test_process import ENV, gone

HIGH: int = import_module("acp_msgspec.aio._transports.receive_buffer").HIGH
LINE = b"x" * 999 + b"\n"
WRITE = "import sys, os, time, subprocess; write = sys.stdout.buffer.write\n"
WATCHER = """
import asyncio, sys
from acp_msgspec import aio

async def main():
    transport = await aio.stdio()
    async with asyncio.timeout(10):
        while not transport.is_gone:
            await asyncio.sleep(0.01)
    print("gone", file=sys.stderr)
    size = 0
    try:
        while lines := await transport.receive():
            size += sum(map(len, lines)) + len(lines)
    except OSError as why:
        print(type(why).__name__, file=sys.stderr)
    print(size, file=sys.stderr)
    await transport.close()

asyncio.run(main())
"""


def more_than_is_read(line: bytes = LINE) -> int:
    """Say how many lines fill what is read while nobody takes them, and most of a pipe behind it."""
    return HIGH // (len(line) + 63) + 50_000 // len(line)


async def child(code: str, **options: Any) -> aio.ProcessTransport:
    return await aio.spawn([sys.executable, "-c", WRITE + code], grace=0.2, **options)


async def until(condition: Callable[[], bool], seconds: float) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def is_ended(transport: Any) -> bool:
    return bool(transport._protocol.lines.is_ended)


async def count(transport: aio.Transport, pause: float = 0) -> int:
    """Receive up to the end, and count the messages."""
    number = 0
    while messages := await transport.receive():
        number += len(messages)
        await asyncio.sleep(pause)
    return number


def test_lines_over_the_limit_make_nobody_deaf() -> None:
    async def turn() -> None:
        transport = await child(f"write((b'x' * {5 * HIGH // 1000} + b'\\n') * 1000 + b'good\\n')", limit=2000)
        told = 0
        lines: list[bytes] = []
        while not lines:
            try:
                lines = list(await transport.receive())
            except aio.MessageTooLong as why:
                told += 1 + why.more
        assert (told, lines) == (1000, [b"good"])
        await transport.close()

    run(turn())


@pytest.mark.parametrize("line", [LINE, b"1\n"], ids=["long", "tiny"])
def test_a_process_that_ends_with_its_pipe_full(line: bytes) -> None:
    number = more_than_is_read(line)

    async def turn() -> None:
        transport = await child(f"write({line!r} * {number}); sys.stdout.flush(); os._exit(0)")
        await until(lambda: transport.returncode is not None, 10)
        assert transport.is_gone
        await until(lambda: is_ended(transport), 3)  # though nobody has taken anything
        assert await count(transport, 0.1) == number
        await transport.close()

    run(turn())


@pytest.mark.parametrize("pause", [0, 0.05])
@pytest.mark.slow
def test_a_slow_reader_gets_all_that_a_process_wrote(pause: float) -> None:
    async def turn() -> None:
        transport = await child(f"write({LINE!r} * 20_000)")
        assert await count(transport, pause) == 20_000
        await transport.close()

    run(turn())


@pytest.mark.parametrize("is_read", [True, False])
@pytest.mark.slow
def test_what_a_process_started_may_write_for_ever(is_read: bool) -> None:
    code = "subprocess.Popen(['yes', 'y' * 500]); write(b'last words\\n')"

    async def turn() -> None:
        transport = await child(code)
        started = time.monotonic()
        await until(lambda: transport.is_gone, 5)
        if is_read:
            assert await count(transport, 0.01) > 0
        else:
            await until(lambda: is_ended(transport), 5)
            await asyncio.sleep(0.2)
            assert await count(transport) < 20_000  # a bounded number of them
        assert time.monotonic() - started < 10
        await transport.close()

    run(turn())


@pytest.mark.slow
def test_what_a_process_started_may_finish() -> None:
    code = "subprocess.Popen(['sh', '-c', 'sleep 0.7; echo late']); print('early')"

    async def turn() -> None:
        transport = await child(code)
        assert await count(transport) == 2
        await transport.close()

    run(turn())


@pytest.mark.parametrize("is_full", [True, False])
@pytest.mark.slow
def test_a_process_that_closes_its_output_and_lives(is_full: bool) -> None:
    number = more_than_is_read() if is_full else 3
    code = f"write({LINE!r} * {number}); sys.stdout.flush(); os.close(1); time.sleep(99)"

    async def turn() -> None:
        transport = await child(code)
        await until(lambda: transport.is_gone, 10)
        assert transport.returncode is None
        assert await count(transport) == number
        await transport.close()
        assert transport.is_gone
        assert await gone(transport.pid)

    run(turn())


@pytest.mark.slow
def test_a_process_that_lives_is_not_gone() -> None:
    async def turn() -> None:
        transport = await child("while True: write(b'x' * 9999 + b'\\n')")
        await asyncio.sleep(0.5)
        assert not transport.is_gone
        os.kill(transport.pid, signal.SIGKILL)
        await until(lambda: is_ended(transport), 5)
        assert await count(transport) > 0
        await transport.close()

    run(turn())


def watched(source: Any, write: Callable[[], None]) -> list[str]:
    """Let a program wait until its standard input is gone, and then read it; give what it tells."""
    command = [sys.executable, "-c", WATCHER]
    with subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV) as ran:
        write()
        _, told = ran.communicate(timeout=30)
    return told.decode().split()


@pytest.mark.parametrize("lines", [2, more_than_is_read()], ids=["little", "more than is read"])
@pytest.mark.parametrize("how", ["pipe", "socket", "half a socket", "tcp"])
@pytest.mark.slow
def test_standard_input_is_gone(how: str, lines: int) -> None:
    if how == "pipe":
        reading, writing = os.pipe()

        def write() -> None:
            os.close(reading)
            with os.fdopen(writing, "wb") as file:
                file.write(LINE * lines)

        assert watched(reading, write) == ["gone", str(1000 * lines)]
        return
    if how == "tcp":
        server = socket.create_server(("127.0.0.1", 0))
        theirs = socket.create_connection(server.getsockname())
        ours, _ = server.accept()
        server.close()
    else:
        ours, theirs = socket.socketpair()

    def send() -> None:
        theirs.close()
        ours.sendall(LINE * lines)
        if how == "half a socket":
            ours.shutdown(socket.SHUT_WR)
        else:
            ours.close()

    assert watched(theirs, send) == ["gone", str(1000 * lines)]
    ours.close()


@pytest.mark.slow
def test_a_terminal_that_is_gone() -> None:
    master, slave = pty.openpty()
    tty.setraw(slave)

    def write() -> None:
        os.close(slave)
        os.write(master, LINE[-1000:])
        time.sleep(0.5)
        os.close(master)

    assert watched(slave, write)[0] == "gone"


@pytest.mark.slow
def test_a_file_is_not_gone_before_its_end(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(LINE * 10_000)
    code = WATCHER.replace(
        "async with asyncio.timeout(10):", "await asyncio.sleep(0.5)\n    for _ in range(1):"
    ).replace("while not transport.is_gone:", "while transport.is_gone:")
    with path.open("rb") as file:
        ran = subprocess.run(
            [sys.executable, "-c", code], stdin=file, capture_output=True, env=ENV, timeout=30, check=True
        )
    assert ran.stderr.split() == [b"gone", b"10000000"]


def test_there_is_a_limit_unless_none_is_asked_for() -> None:
    for function in (aio.spawn, aio.stdio, aio.connect_websocket, aio.serve_websocket):
        assert inspect.signature(function).parameters["limit"].default == 64 * 1024 * 1024
