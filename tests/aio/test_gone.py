"""The end of the peer is seen even while a handler is stuck and nothing more is read."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from typing import Any

import pytest
from acp_msgspec import aio
from msgspec import Raw

from tests.aio.support import run
from tests.aio.test_process import ENV

pytestmark = pytest.mark.slow

FLOOD = b'{"jsonrpc":"2.0","method":"_x/flood","params":"%b"}' % (b"x" * 1000)
ASK = b'{"jsonrpc":"2.0","id":"q%d","method":"_x/stuck"}'
FLOODER = """
import sys
line = b'{"jsonrpc":"2.0","method":"_x/flood","params":"%b"}\\n' % (b"x" * 1000)
while True:
    sys.stdout.buffer.write(line)
"""
STUCK = """
import asyncio, sys
from acp_msgspec import aio
from tests.aio.test_gone import Stuck

async def main():
    async with aio.AgentConnection(await aio.stdio(), Stuck(), grace=0.1) as conn:
        try:
            await conn.extension_call("_x/call")
        except aio.ConnectionClosed as why:
            print(why, file=sys.stderr)

asyncio.run(main())
"""


class Stuck(aio.Agent):
    async def extension_notification(self, method: str, params: Raw, /) -> None:
        await asyncio.sleep(3600)

    async def extension_request(self, method: str, params: Raw, /) -> Any:
        await asyncio.sleep(3600)


async def flood(transport: aio.Transport, *messages: bytes) -> None:
    """Send until the other side takes no more, and go away."""
    try:
        async with asyncio.timeout(0.3):
            for message in messages:
                await transport.send([message])
    except TimeoutError:
        pass
    await transport.close()


async def ended(transport: aio.Transport) -> str:
    async with aio.ClientConnection(transport, Stuck(), grace=0.1) as conn:  # type: ignore[arg-type]
        with pytest.raises(aio.ConnectionClosed) as caught:
            await conn.extension_call("_x/call")
    return caught.value.reason


def test_in_memory() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        flooding = asyncio.create_task(flood(there, *([FLOOD] * 3000)))
        assert await ended(here) == "the peer closed the connection"
        await flooding

    run(turn())


def test_with_requests_that_are_stuck() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        flooding = asyncio.create_task(flood(there, *(ASK % n for n in range(5000))))
        async with aio.AgentConnection(here, Stuck(), grace=0.1) as conn:
            await conn.wait_closed()
        await flooding

    run(turn())


def test_of_a_process() -> None:
    async def turn() -> None:
        transport = await aio.spawn([sys.executable, "-c", FLOODER])
        asyncio.get_running_loop().call_later(1, os.kill, transport.pid, signal.SIGKILL)
        assert await ended(transport) == "the process was killed by SIGKILL"

    run(turn())


def test_of_standard_input() -> None:
    async def turn() -> None:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", STUCK, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=ENV
        )
        assert child.stdin is not None
        child.stdin.write((FLOOD + b"\n") * 3000)
        await asyncio.sleep(1)
        child.stdin.transport.abort()
        _, told = await child.communicate()
        assert told.decode().splitlines()[-1] == "the peer closed the connection"

    run(turn())


def test_of_a_websocket() -> None:
    async def turn() -> None:
        async def session(transport: aio.Transport) -> None:
            await flood(transport, *([FLOOD] * 3000))

        async with await aio.serve_websocket(session) as server:
            transport = await aio.connect_websocket(
                f"ws://localhost:{server.port}", ping_interval=0.5, ping_timeout=0.5
            )
            assert "closed the connection" in await ended(transport)

    run(turn())


def test_calls_fail_though_a_request_does_not_end() -> None:
    class Stubborn(aio.Agent):
        release = asyncio.Event()

        async def extension_request(self, method: str, params: Raw, /) -> Any:
            while not self.release.is_set():
                try:
                    await self.release.wait()
                except asyncio.CancelledError:
                    continue

    async def turn() -> None:
        here, there = aio.memory_pair()
        await there.send([ASK % 1])
        problems: list[aio.Problem] = []
        async with aio.AgentConnection(here, Stubborn(), on_problem=problems.append) as conn:
            call = asyncio.ensure_future(conn.extension_call("_x/call"))
            await there.receive()
            await there.close()
            ending = asyncio.ensure_future(conn.wait_closed())
            await asyncio.wait([call, ending], return_when=asyncio.FIRST_COMPLETED)
            assert isinstance(call.exception(), aio.ConnectionClosed)
            assert not ending.done()
            assert not problems  # nobody has lost patience with the handler
            Stubborn.release.set()
            await ending

    run(turn())
