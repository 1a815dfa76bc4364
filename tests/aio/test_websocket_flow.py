"""WebSocket: what waits is bounded by bytes, pongs behind it end nothing, and every end of the peer shows."""

import asyncio
import signal
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any

import pytest
import websockets
from acp_msgspec import aio

from tests.aio.support import run
from tests.aio.test_process import ENV
from tests.aio.test_websocket import serving

HIGH: int = import_module("acp_msgspec.aio._transports.websocket_transport").HIGH
MESSAGE = b"x" * 100_000
MORE = HIGH // len(MESSAGE) + 400
"""More messages than fit here and in the buffers of the system."""
SERVER = """
import asyncio, websockets

async def flood(socket):
    print("connected", flush=True)
    while True:
        await socket.send("x" * 100_000)

async def main():
    async with websockets.serve(flood, "127.0.0.1", 0) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.sleep(99)

asyncio.run(main())
"""


async def until_gone(transport: Any, seconds: float) -> None:
    async with asyncio.timeout(seconds):
        while not transport.is_gone:
            await asyncio.sleep(0.01)


async def until_full(transport: Any) -> None:
    async with asyncio.timeout(15):
        while not transport._received.is_paused:
            await asyncio.sleep(0.01)


async def sizes(transport: aio.Transport) -> list[int]:
    """Receive up to the end."""
    found: list[int] = []
    while messages := await transport.receive():
        found += map(len, messages)
    return found


@pytest.mark.slow
def test_what_waits_is_bounded_by_bytes() -> None:
    async def turn() -> None:
        sent = 0

        async def session(transport: aio.Transport) -> None:
            nonlocal sent
            for number in range(MORE):
                await transport.send([MESSAGE + b"%d" % number])
                sent += 1
            await transport.receive()

        async with serving(session) as url:
            transport: Any = await aio.connect_websocket(url)
            await until_full(transport)
            await asyncio.sleep(0.5)
            assert HIGH < transport._received._size < HIGH + 1024 * 1024
            assert sent < MORE
            assert not transport.is_gone
            received: list[bytes] = []
            while len(received) < MORE:
                received += await transport.receive()
            assert received == [MESSAGE + b"%d" % number for number in range(MORE)]
            await transport.close()

    run(turn())


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(3, id="little"),
        pytest.param(30, id="some"),
        pytest.param(MORE, id="more than fits", marks=pytest.mark.slow),
    ],
)
def test_a_close_behind_messages_that_nobody_takes(count: int) -> None:
    async def turn() -> None:
        async def session(transport: aio.Transport) -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    for _ in range(count):
                        await transport.send([MESSAGE])
            await transport.close()

        async with serving(session) as url:
            transport = await aio.connect_websocket(url)
            await until_gone(transport, 8)
            found = await sizes(transport)
            assert set(found) == {len(MESSAGE)}
            assert len(found) == count or count == MORE
            assert getattr(transport, "reason", None) is not None
            await transport.close()

    run(turn())


@pytest.mark.parametrize("size", [1, HIGH + len(MESSAGE), HIGH * 2], ids=["little", "the bound", "more"])
@pytest.mark.slow
def test_a_reset_behind_messages_that_nobody_takes(size: int) -> None:
    async def turn() -> None:
        async def session(socket: Any) -> None:
            for _ in range(0, size, len(MESSAGE)):
                socket.protocol.send_text(MESSAGE)
                socket.send_data()
            await asyncio.sleep(1)
            socket.transport.abort()

        async with websockets.serve(session, "127.0.0.1", 0) as server:
            transport = await aio.connect_websocket(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}")
            await until_gone(transport, 5)
            await sizes(transport)
            assert getattr(transport, "reason", None) == "the connection broke"
            await transport.close()

    run(turn())


@pytest.mark.slow
def test_a_peer_that_is_killed_in_a_flood() -> None:
    async def turn() -> None:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", SERVER, stdout=asyncio.subprocess.PIPE, env=ENV
        )
        assert child.stdout is not None
        transport: Any = await aio.connect_websocket(f"ws://127.0.0.1:{int(await child.stdout.readline())}")
        await until_full(transport)
        assert not transport.is_gone
        child.send_signal(signal.SIGKILL)
        await until_gone(transport, 5)
        assert len(await sizes(transport)) * len(MESSAGE) > HIGH
        assert transport.reason is not None
        await transport.close()
        await child.wait()

    run(turn())


@pytest.mark.parametrize("count", [MORE, HIGH // len(MESSAGE) + 10])
@pytest.mark.slow
def test_pongs_behind_messages_end_nothing(count: int) -> None:
    async def turn() -> None:
        async def session(transport: aio.Transport) -> None:
            for _ in range(count):
                await transport.send([MESSAGE])
            assert await transport.receive() == [b"done"]
            await transport.send([b"fine"])
            await transport.receive()

        # Half a second is enough for a pong on a machine that has other tests to run, too.
        async with serving(session, ping_interval=0.1, ping_timeout=7.5) as url:
            transport = await aio.connect_websocket(url, ping_interval=0.1, ping_timeout=0.5)
            await until_full(transport)
            await asyncio.sleep(2.5)
            received: list[bytes] = []
            while len(received) < count:
                received += await transport.receive()
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.5)
            await transport.send([b"done"])
            assert await transport.receive() == [b"fine"]
            await transport.close()

    run(turn())


@asynccontextmanager
async def deaf() -> AsyncGenerator[str, None]:
    """Serve connections of which nothing is read."""
    over = asyncio.Event()

    async def session(socket: Any) -> None:
        socket.transport.pause_reading()
        await over.wait()
        socket.transport.abort()

    async with websockets.serve(session, "127.0.0.1", 0) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        over.set()


async def fill(transport: aio.Transport) -> None:
    """Send until the peer takes no more."""
    with suppress(TimeoutError):
        async with asyncio.timeout(0.5):
            while True:
                await transport.send([MESSAGE])


@pytest.mark.slow
def test_a_close_does_not_wait_for_a_peer_that_reads_nothing() -> None:
    async def turn() -> None:
        async with deaf() as url:
            transport = await aio.connect_websocket(url)
            await fill(transport)
            started = time.monotonic()
            await transport.close()
            assert time.monotonic() - started < 5

    run(turn())


@pytest.mark.slow
def test_a_peer_that_reads_nothing_is_given_up() -> None:
    async def turn() -> None:
        async with deaf() as url:
            transport = await aio.connect_websocket(url, ping_interval=0.2, ping_timeout=0.2)
            filling = asyncio.create_task(fill(transport))
            async with asyncio.timeout(8):
                assert await transport.receive() == ()
            assert getattr(transport, "reason", "") == "this side closed the connection: keepalive ping timeout"
            with suppress(OSError):
                await filling
            await transport.close()

    run(turn())


@pytest.mark.parametrize("counts", [True, False])
def test_a_message_in_pieces(monkeypatch: pytest.MonkeyPatch, *, counts: bool) -> None:
    messages = import_module("websockets.asyncio.messages")
    if counts and not hasattr(messages, "MAX_FRAGMENTS"):
        pytest.skip("This version of the library does not count fragments")
    if not counts:  # as in older versions
        monkeypatch.delattr(messages, "MAX_FRAGMENTS", raising=False)

    async def turn() -> None:
        async def session(socket: Any) -> None:
            await socket.send("whole")
            await socket.send(["x"] * 4000)
            await socket.send(["x"] * 2 + [""] * 5000)
            await socket.wait_closed()

        async with websockets.serve(session, "127.0.0.1", 0) as server:
            transport = await aio.connect_websocket(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}")
            assert await sizes(transport) == [5, 4000]
            assert getattr(transport, "reason", None) == "a message has too many fragments"
            await transport.close()

    run(turn())


def test_a_peer_that_pings_and_takes_no_pongs() -> None:
    async def turn() -> None:
        async with deaf() as url:
            transport: Any = await aio.connect_websocket(url, ping_interval=None)
            filling = asyncio.create_task(fill(transport))
            await asyncio.sleep(0.2)
            for _ in range(1000):  # as if the peer had sent them
                transport._socket.data_received((b"\x89\x7d" + b"x" * 125) * 100)
                if transport._socket.is_overrun:
                    break
                assert transport._socket.transport.get_write_buffer_size() < 2 * 1024 * 1024
                await asyncio.sleep(0)
            assert await transport.receive() == ()
            assert transport.reason == "the peer does not take the answers to its pings"
            with suppress(OSError):
                await filling
            await transport.close()

    run(turn())


def test_large_messages_in_both_directions_wait_for_each_other() -> None:
    async def turn() -> None:
        messages = [b"x" * 8 * 1024 * 1024] * 4

        async def session(transport: aio.Transport) -> None:
            await transport.send(messages)
            assert await sizes(transport) == [len(m) for m in messages]

        async with serving(session) as url:
            transport = await aio.connect_websocket(url)
            sending = asyncio.create_task(transport.send(messages))
            received: list[bytes] = []
            while len(received) < len(messages):
                received += await transport.receive()
            assert received == messages
            await sending
            await transport.close()

    run(turn())
