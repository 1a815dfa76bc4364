"""How many iterations of the event loop a round trip takes, and the shortcuts of transports that save some."""

import asyncio
import statistics
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest
from acp_msgspec import aio, v1
from msgspec import Raw
from msgspec.json import decode

from tests.aio.support import RawPeer, run
from tests.aio.test_process import ENV
from tests.aio.trip_agent import TripAgent, Turns
from tests.aio.wire import Wire

AT_MOST = 3
TRIPS = 50
COMMAND = [sys.executable, "-m", "tests.aio.trip_agent"]


@asynccontextmanager
async def connected(how: str) -> AsyncGenerator[aio.Transport]:
    if how == "stdio":
        yield await aio.spawn([*COMMAND, how], env=ENV)
        return
    process = await asyncio.create_subprocess_exec(*COMMAND, how, env=ENV, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    port = int(await process.stdout.readline())
    yield await aio.connect_websocket(f"ws://127.0.0.1:{port}")
    await process.wait()


@pytest.mark.parametrize("how", ["stdio", "websocket"])
@pytest.mark.parametrize("method", ["_x/ends at once", "_x/waits"])
def test_a_round_trip_takes_three_iterations_on_each_side(how: str, method: str) -> None:
    async def turn() -> None:
        turns = Turns()
        async with connected(how) as transport, aio.ClientConnection(transport) as conn:
            ours, theirs = [turns.count], [0]
            for _ in range(TRIPS):
                theirs.append(decode(await conn.extension_call(method)))
                ours.append(turns.count)
            waits = method == "_x/waits"
            their_trips = [after - before for before, after in pairwise(theirs[2:])]
            our_trips = [after - before for before, after in pairwise(ours[2:])]
            assert max(their_trips) <= AT_MOST + waits
            # A timer of this side takes an iteration now and then if the machine is slow.
            assert statistics.median(our_trips) <= AT_MOST

    run(turn())


def test_a_round_trip_in_memory_takes_three_iterations_in_all() -> None:
    async def turn() -> None:
        turns = Turns()
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, TripAgent(turns)), aio.ClientConnection(here) as conn:
            await conn.extension_call("_x/warm")
            before = turns.count
            for _ in range(TRIPS):
                await conn.extension_call("_x/ends at once")
            assert turns.count - before <= AT_MOST * TRIPS

    run(turn())


class Overriding:
    """Gives what it wraps, and notes what passes."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.passed: list[str] = []

    async def receive(self) -> Sequence[bytes]:
        messages: Sequence[bytes] = await self.inner.receive()
        self.passed.append("in")
        return messages

    async def send(self, messages: Sequence[bytes]) -> None:
        self.passed.append("out")
        await self.inner.send(messages)

    async def close(self) -> None:
        await self.inner.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def test_what_wraps_a_transport_sees_all_messages() -> None:
    async def turn() -> None:
        wrapped = Overriding(await aio.spawn([*COMMAND, "stdio"], env=ENV))
        async with aio.ClientConnection(wrapped) as conn:
            for _ in range(3):
                await conn.extension_call("_x/ends at once")
            assert wrapped.passed == ["out", "in"] * 3

    run(turn())


def test_a_class_that_overrides_a_method_is_used_without_its_shortcut() -> None:
    here, there = aio.memory_pair()
    passed: list[int] = []
    cls: Any = type(here)

    class Counting(cls):  # type: ignore[misc]
        async def send(self, messages: Sequence[bytes]) -> None:
            passed.append(len(messages))
            await cls.send(self, messages)

    async def turn() -> None:
        counting = Counting(*(getattr(here, name) for name in ("_in", "_out", "_limit")))
        peer = RawPeer(there)
        async with aio.ClientConnection(counting) as conn:
            call = asyncio.ensure_future(conn.extension_call("_x/y"))
            await peer.answer(1)
            await call
        assert passed == [1]

    run(turn())


def test_a_method_that_is_replaced_on_the_object_is_used() -> None:
    async def turn() -> None:
        transport: Any = await aio.spawn([*COMMAND, "stdio"], env=ENV)
        sent: list[int] = []
        send = transport.send

        async def counted(messages: Sequence[bytes]) -> None:
            sent.append(len(messages))
            await send(messages)

        transport.send = counted
        async with aio.ClientConnection(transport) as conn:
            await conn.extension_call("_x/ends at once")
        assert sent == [1]

    run(turn())


def test_many_calls_are_written_together() -> None:
    async def turn() -> None:
        wire = Wire()
        async with aio.ClientConnection(wire) as conn:
            await asyncio.sleep(0)
            calls = [asyncio.ensure_future(conn.extension_call("_x/y")) for _ in range(64)]
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert [m["id"] for m in wire.sent] == list(range(1, 65))
            assert wire.writes < 16
            for number in range(1, 65):
                wire.deliver({"jsonrpc": "2.0", "id": number, "result": number})
            assert [decode(raw) for raw in await asyncio.gather(*calls)] == list(range(1, 65))

    run(turn())


@pytest.mark.parametrize("how", ["stdio", "websocket"])
def test_a_peer_that_does_not_read_stops_the_writing(how: str) -> None:
    """Nothing is written without waiting while the stream accepts no more, and nothing is lost."""

    async def turn() -> None:
        async with connected(how) as transport, aio.ClientConnection(transport) as conn:
            big = "x" * 100_000
            calls = [asyncio.ensure_future(conn.extension_call("_x/y", [big])) for _ in range(40)]
            note = v1.CancelNotification(session_id=v1.SessionId("s"))
            for _ in range(100):
                await conn.session_cancel(note)
            await asyncio.gather(*calls)

    run(turn())


def test_a_transport_may_deliver_while_it_is_written_to() -> None:
    class Echo(Wire):
        """Answers each call in the write that brings it."""

        def send_now(self, messages: Sequence[bytes]) -> bool:
            super().send_now(messages)
            for message in map(decode, messages):
                if "method" in message:
                    self.deliver({"jsonrpc": "2.0", "id": message["id"], "result": "echo"})
            return True

    class Asking(aio.Agent):
        def __init__(self, conn: aio.AgentConnection) -> None:
            self.conn = conn

        async def extension_request(self, method: str, params: Raw, /) -> Any:
            return await self.conn.extension_call("_x/back")

    async def turn() -> None:
        wire = Echo()
        async with aio.AgentConnection(wire, Asking) as conn:
            await asyncio.sleep(0)
            assert decode(await conn.extension_call("_x/first")) == "echo"
            await wire.come("callback", {"jsonrpc": "2.0", "id": 7, "method": "_x/y"})
            assert await wire.answer(7) == "echo"

    run(turn())
