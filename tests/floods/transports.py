"""Floods of the transports: lines, frames and what is left unread."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import acp_msgspec as acp
from acp_msgspec import aio
from msgspec import Raw

from tests.floods.measure import flood

MB = 1_000_000
NOTE = b'{"jsonrpc":"2.0","method":"_x/flood","params":"%b"}'
WRITE = "import os, sys\ndef write(data, fd=1):\n    while data: data = data[os.write(fd, data):]\n"
FRAMES = """
import asyncio, sys, websockets

async def session(socket):
    for _ in range({count}):
        await socket.send({message})
    await socket.send("end")
    await asyncio.sleep(99)

async def main():
    async with websockets.serve(session, "127.0.0.1", 0) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.sleep(99)

asyncio.run(main())
"""


class Stuck(aio.Client):
    """Gets stuck in the first notification."""

    async def extension_notification(self, method: str, params: Raw, /) -> None:
        await asyncio.sleep(3600)


async def child(code: str, **options: Any) -> aio.ProcessTransport:
    return await aio.spawn([sys.executable, "-c", WRITE + code], grace=0.1, **options)


async def counted(transport: aio.Transport, last: bytes = b"end") -> tuple[int, int]:
    """Receive up to a last message, or the end, and count the messages and those that were too long."""
    good = long = 0
    while True:
        try:
            messages = await transport.receive()
        except aio.MessageTooLong as why:
            long += 1 + why.more
            continue
        good += len(messages)
        if not messages or messages[-1] == last:
            await transport.close()
            return good, long
        await asyncio.sleep(0)


@flood()
async def lines_over_the_limit() -> None:
    transport = await child("for _ in range(100): write((b'x' * 3999 + b'\\n') * 250)\nwrite(b'end\\n')", limit=2000)
    await asyncio.sleep(1)
    assert await counted(transport) == (1, 25_000)


@flood()
async def tiny_lines_over_the_limit() -> None:
    transport = await child("for _ in range(10): write(b'xx\\n' * 100_000)\nwrite(b'e\\n')", limit=1)
    await asyncio.sleep(1)
    assert await counted(transport, b"e") == (1, 1_000_000)


@flood()
async def lines_over_and_under_the_limit() -> None:
    transport = await child("for _ in range(20): write(b'1234\\nend\\n' * 10_000)", limit=3)
    await asyncio.sleep(1)
    good = long = 0
    for _ in range(200_000):
        with suppress(aio.MessageTooLong):
            good += len(await transport.receive())
        if good == 200_000:
            break
    assert good == 200_000
    await transport.close()
    assert not long


@flood()
async def messages_over_the_limit_in_memory() -> None:
    here, there = aio.memory_pair(limit=2000)
    sending = asyncio.create_task(there.send([b"x" * 4000] * 100_000 + [b"end"]))
    assert await counted(here) == (1, 100_000)
    await asyncio.gather(sending, return_exceptions=True)


@flood()
async def empty_lines() -> None:
    transport = await child("for _ in range(40): write(b'\\n' * 1_000_000)\nwrite(b'end\\n')")
    assert await counted(transport) == (1, 0)


@flood()
async def empty_lines_and_a_small_limit() -> None:
    transport = await child("for _ in range(20): write(b'\\r\\n' * 500_000)\nwrite(b'end\\n')", limit=100)
    assert await counted(transport) == (1, 0)


@flood()
async def tiny_lines() -> None:
    transport = await child("for _ in range(10): write(b'1\\n' * 500_000)\nwrite(b'end\\n')")
    await asyncio.sleep(1)
    assert await counted(transport) == (5_000_001, 0)


@flood()
async def one_line_without_an_end() -> None:
    transport = await child("for _ in range(300): write(b'x' * 1_000_000)\nwrite(b'\\nend\\n')", limit=MB)
    assert await counted(transport) == (1, 1)


@flood(memory=192 * 1024 * 1024)  # a line of 64 MiB, and the copy that is handed out
async def one_line_as_long_as_it_may_be() -> None:
    transport = await child("write(b'x' * (64 * 1024 * 1024) + b'\\nend\\n')")
    assert await counted(transport) == (2, 0)


@flood()
async def one_line_byte_by_byte() -> None:
    splitter = acp.LineSplitter(64 * 1024 * 1024)
    for number in range(2 * MB):
        splitter.feed(b"x")
        if number % 10_000 == 0:
            await asyncio.sleep(0)
    assert splitter.feed(b"\n") == [b"x" * 2 * MB]


@flood()
async def output_that_nobody_takes() -> None:
    transport = await child("while True: write(b'x' * 9999 + b'\\n')")
    await asyncio.sleep(2)
    assert not transport.is_gone
    await transport.close()


@flood()
async def output_of_others_behind_the_end() -> None:
    transport = await child("import subprocess; subprocess.Popen(['yes', 'y' * 500])")
    await asyncio.sleep(3)
    assert transport.is_gone
    good, _ = await counted(transport)
    assert good


@flood()
async def standard_error() -> None:
    transport = await child("for _ in range(300): write(b'x' * 1_000_000, 2)\nwrite(b'end\\n')")
    assert await counted(transport) == (1, 0)
    assert len(transport.stderr) == 65536


@flood()
async def a_peer_that_left_100_mb() -> None:
    here, there = aio.memory_pair()
    sending = asyncio.create_task(there.send([NOTE % (b"x" * MB)] * 100))
    await asyncio.sleep(0)
    await there.close()
    await asyncio.gather(sending, return_exceptions=True)
    async with aio.ClientConnection(here, Stuck(), grace=0.1) as client, asyncio.timeout(10):
        await client.wait_closed()


@asynccontextmanager
async def serving(count: int, message: str) -> AsyncGenerator[aio.Transport, None]:
    """Let another process send frames, and connect to it."""
    code = FRAMES.format(count=count, message=message)
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    yield await aio.connect_websocket(f"ws://127.0.0.1:{int(await server.stdout.readline())}")
    server.kill()
    await server.wait()


@flood()
async def large_frames_that_nobody_takes() -> None:
    async with serving(64, "'x' * (8 * 1024 * 1024)") as transport:
        await asyncio.sleep(3)
        assert await counted(transport) == (65, 0)


@flood()
async def tiny_frames() -> None:
    async with serving(200_000, "''") as transport:
        await asyncio.sleep(1)
        assert await counted(transport) == (200_001, 0)


RAW = """
import asyncio
from websockets.utils import accept_key

async def session(reader, writer):
    head = (await reader.readuntil(b"\\r\\n\\r\\n")).decode()
    key = next(line.partition(": ")[2] for line in head.splitlines() if line.startswith("Sec-WebSocket-Key"))
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
        b"Sec-WebSocket-Accept: %b\\r\\n\\r\\n" % accept_key(key).encode()
    )
    writer.write({frames} + b"\\x81\\x03end")
    await asyncio.sleep(99)

async def main():
    server = await asyncio.start_server(session, "127.0.0.1")
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.sleep(99)

asyncio.run(main())
"""


async def received_raw(frames: str) -> tuple[int, int]:
    """Let another process write frames as bytes, at once, and receive them."""
    code = RAW.format(frames=frames)
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    transport = await aio.connect_websocket(f"ws://127.0.0.1:{int(await server.stdout.readline())}")
    await asyncio.sleep(1)
    found = await counted(transport)
    server.kill()
    await server.wait()
    return found


@flood()
async def tiny_frames_at_once() -> None:
    assert await received_raw(r"b'\x81\x00' * 300_000") == (300_001, 0)


@flood()
async def fragments_at_once() -> None:
    assert await received_raw(r"(b'\x01\x00' + b'\x00\x00' * 4000 + b'\x80\x00') * 50") == (51, 0)


@flood()
async def fragments_without_an_end() -> None:
    assert await received_raw(r"b'\x01\x00' + b'\x00\x00' * 1_000_000") == (0, 0)


@flood()
async def pings_at_once() -> None:
    assert await received_raw(r"b'\x89\x00' * 100_000") == (1, 0)


@flood()
async def pings_without_an_end() -> None:
    assert await received_raw(r"(b'\x89\x7d' + b'x' * 125) * 800_000") == (0, 0)


@flood()
async def frames_in_pieces() -> None:
    async with serving(100, "['x'] * 4000") as transport:
        await asyncio.sleep(1)
        assert await counted(transport) == (101, 0)


@flood()
async def a_server_that_is_killed_with_frames_left() -> None:
    code = FRAMES.format(count=MB, message="'x' * 1_000_000")
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    transport: Any = await aio.connect_websocket(f"ws://127.0.0.1:{int(await server.stdout.readline())}")
    await asyncio.sleep(1)
    server.kill()
    await server.wait()
    async with asyncio.timeout(5):
        while not transport.is_gone:
            await asyncio.sleep(0.1)
    await counted(transport)
