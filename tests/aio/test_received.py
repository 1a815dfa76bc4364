"""What came in and waits: its order, its size by bytes, and that reading always goes on once it was taken."""

import asyncio
import random
from contextlib import suppress
from importlib import import_module
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio
from hypothesis import given
from hypothesis import strategies as st

from tests.aio.support import run

LIMIT = 20
ReceiveBuffer: Any = import_module("acp_msgspec.aio._transports.receive_buffer").ReceiveBuffer
LineBuffer: Any = import_module("acp_msgspec.aio._transports.lines").LineBuffer
NOTICES: int = import_module("acp_msgspec.aio._transports.receive_buffer").NOTICES


class Reading:
    """Stands for a stream that can be paused."""

    def __init__(self, lines: Any) -> None:
        self.is_on = True
        lines.pause, lines.resume = self.pause, self.resume

    def pause(self) -> None:
        assert self.is_on
        self.is_on = False

    def resume(self) -> None:
        assert not self.is_on
        self.is_on = True


async def taken(transport: Any) -> list[bytes | int]:
    """Take everything up to the end; a message that was too long shows as how many it stands for."""
    take = getattr(transport, "take", None) or transport.receive
    found: list[bytes | int] = []
    while True:
        try:
            messages = await take()
        except aio.MessageTooLong as why:
            found.append(1 + why.more)
            continue
        if not messages:
            return found
        found += messages


def feed(lines: Any, stream: bytes, dice: random.Random) -> None:
    while stream:
        cut = dice.choice([1, 7, 50, len(stream)])
        lines.feed(stream[:cut])
        stream = stream[cut:]


GOOD, LONG = st.binary(min_size=1, max_size=LIMIT), st.binary(min_size=LIMIT + 1, max_size=LIMIT * 5)


@given(st.lists(st.one_of(GOOD, LONG, st.just(b""))), st.integers(0, 2**32), st.booleans(), st.booleans())
def test_messages_are_told_in_the_order_in_which_they_came(
    messages: list[bytes], seed: int, crlf: bool, has_end: bool
) -> None:
    messages = [m.replace(b"\n", b"n").replace(b"\r", b"r") for m in messages]
    stream = (b"\r\n" if crlf else b"\n").join([*messages, b""])
    if not has_end:
        stream = stream.removesuffix(b"\n").removesuffix(b"\r")

    async def turn() -> None:
        lines = LineBuffer(LIMIT)
        feed(lines, stream, random.Random(seed))
        lines.end()
        assert await taken(lines) == [m if len(m) <= LIMIT else 1 for m in messages if m]
        assert lines._size == 0

    run(turn())


@given(st.lists(st.one_of(GOOD, LONG, st.none()), max_size=60), st.integers(0, 2**32))
def test_reading_pauses_only_while_there_is_something_to_take(steps: list[bytes | None], seed: int) -> None:
    async def turn() -> None:
        lines = LineBuffer(LIMIT)
        reading = Reading(lines)
        lines.set_high(300)
        dice = random.Random(seed)
        for step in steps:
            if step is not None:
                feed(lines, step.replace(b"\n", b"n") + dice.choice([b"\n", b"\r\n", b"\n\n\n"]), dice)
            while dice.random() < 0.3 and lines._parts:
                with suppress(aio.MessageTooLong):
                    await lines.take()
            assert lines._size == sum(cost for _, cost in lines._parts)
            assert reading.is_on == (lines._size <= 300)
            assert reading.is_on or lines._parts
        lines.end()

    run(turn())


@pytest.mark.slow
def test_many_messages_that_are_too_long_are_counted() -> None:
    async def turn() -> None:
        lines = LineBuffer(LIMIT)
        reading = Reading(lines)
        for _ in range(40):
            lines.feed((b"x" * 30 + b"\n") * 8000)
        assert reading.is_on
        lines.feed(b"good\n")
        lines.end()
        *notices, good = await taken(lines)
        assert good == b"good"
        assert (len(notices), sum(int(n) for n in notices)) == (NOTICES, 320_000)
        why = aio.MessageTooLong(5, b"abc", 2)
        assert str(why) == "A message is longer than 5 bytes, and so are 2 after it"

    run(turn())


def test_one_long_line_in_many_pieces() -> None:
    async def turn() -> None:
        lines = LineBuffer(LIMIT)
        reading = Reading(lines)
        for _ in range(1000):
            lines.feed(b"x" * 10_000)
            assert reading.is_on
        lines.feed(b"\ngood\n")
        lines.end()
        assert await taken(lines) == [1, b"good"]

    run(turn())


@pytest.mark.slow
def test_empty_lines_cost_nothing() -> None:
    async def turn() -> None:
        lines = LineBuffer(LIMIT)
        reading = Reading(lines)
        for _ in range(40):
            lines.feed(b"\n" * 262_144)
            lines.feed(b"\r\n" * 131_072)
            assert reading.is_on
        lines.feed(b"good\n")
        assert await lines.take() == [b"good"]

    run(turn())


def test_tiny_lines_count_for_more_than_their_bytes() -> None:
    lines = LineBuffer(LIMIT)
    reading = Reading(lines)
    size = 0
    while reading.is_on:
        lines.feed(b"1\n" * 1000)
        size += 1000
    assert size < 50_000


def test_nothing_is_read_behind_the_end() -> None:
    async def turn() -> None:
        lines = LineBuffer(LIMIT)
        reading = Reading(lines)
        lines.feed(b"one\ntwo")
        lines.end(ConnectionResetError(104, "reset"))
        assert not reading.is_on
        lines.feed(b"three\n")
        lines.end()
        assert await lines.take() == [b"one", b"two"]
        for _ in range(2):
            with pytest.raises(ConnectionResetError):
                await lines.take()

    run(turn())


def test_a_bound_that_is_lifted() -> None:
    async def turn() -> None:
        received = ReceiveBuffer(100)
        reading = Reading(received)
        received.put([b"x" * 200])
        assert not reading.is_on
        received.set_high(None)
        assert reading.is_on
        received.put([b"x" * 200])
        assert reading.is_on
        received.set_high(100)
        assert not reading.is_on
        assert len(await received.take()) == 2
        assert reading.is_on

    run(turn())


def test_a_taker_that_is_cancelled_loses_nothing() -> None:
    async def turn() -> None:
        received = ReceiveBuffer()
        for _ in range(2):
            taking = asyncio.create_task(received.take())
            await asyncio.sleep(0)
            taking.cancel()
            await asyncio.wait([taking])
        taking = asyncio.create_task(received.take())
        await asyncio.sleep(0)
        received.put([b"1"])
        taking.cancel()
        await asyncio.wait([taking])
        assert await received.take() == [b"1"]

    run(turn())


def test_a_pair_in_memory_tells_in_order_and_waits_for_room() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair(limit=LIMIT, buffer=50)
        good, long = b"g" * LIMIT, b"l" * (LIMIT + 1)
        sending = asyncio.create_task(there.send([good, long, long, good, good, long]))
        await asyncio.sleep(0)
        assert not sending.done()
        assert await here.receive() == [good]
        for _ in range(2):
            with pytest.raises(aio.MessageTooLong) as caught:
                await here.receive()
            assert (caught.value.limit, caught.value.start) == (LIMIT, long)
        assert await here.receive() == [good, good]
        await sending
        await there.close()
        assert await taken(here) == [1]
        assert getattr(here, "is_gone", None) is True
        with pytest.raises(BrokenPipeError):
            await here.send([good])

    run(turn())


def test_a_line_byte_by_byte() -> None:
    splitter = acp.LineSplitter(limit=100_000)
    for _ in range(100_000):
        assert splitter.feed(b"x") == []
    assert splitter.feed(b"\r") == []
    assert splitter.pending == 100_001
    assert splitter.feed(b"\n") == [b"x" * 100_000]
    assert splitter.pending == 0


def test_no_more_than_a_batch_is_handed_out_at_once() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        messages = [b"%d" % n * 1000 for n in range(10_000)] + [b"x" * 5_000_000, b"end"]
        sending = asyncio.create_task(there.send(messages))
        batches = [await here.receive()]
        while batches[-1][-1] != b"end":
            batches.append(await here.receive())
        assert [m for batch in batches for m in batch] == messages
        assert max(sum(map(len, batch)) for batch in batches if len(batch) > 1) <= 1024 * 1024
        assert len(batches) < 100
        await sending

    run(turn())


def test_whoever_takes_a_lot_leaves_the_others_their_turns() -> None:
    async def turn() -> None:
        lines = LineBuffer(LIMIT)
        lines.feed((b"x" * 50 + b"\n") * 100)
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        running = asyncio.create_task(other())
        for _ in range(100):
            with pytest.raises(aio.MessageTooLong):
                await lines.take()
        assert turns > 90
        running.cancel()
        await asyncio.wait([running])

    run(turn())
