"""Transports: what carries whole messages between two ends, and one that stays in memory."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from .._framing import START
from .._portable import Portable


class MessageTooLong(Portable, ValueError):
    """The peer sent a message that outgrew the transport's limit; the message is lost, and the transport goes on.

    `limit` is in bytes; `start` is the message's beginning, as far as the transport kept it.
    """

    def __init__(self, limit: int, start: bytes = b"") -> None:
        """Keep the limit and the beginning."""
        super().__init__(f"A message is longer than {limit} bytes")
        self.limit = limit
        self.start = start


class Transport(Protocol):
    """What a connection needs of whatever carries its messages.

    A message is the UTF-8 text of one JSON value; what is sent has no line break in it. One task receives and another
    one sends.
    Three more attributes are read where a transport has them. `reason`, a text that says why the stream ended, and
    `returncode`, the exit status of the peer's process, are for `ConnectionClosed`. `is_gone` says whether the peer has
    ended, be there something left to receive or not: while handlers are stuck nothing is received.
    """

    async def receive(self) -> Sequence[bytes]:
        """Wait for messages and give all that are there, at least one; nothing means that the stream has ended.

        Raises `MessageTooLong` for a message beyond the limit, after which receiving goes on, and `OSError` where the
        stream broke.
        """
        ...

    async def send(self, messages: Sequence[bytes]) -> None:
        """Send messages, and return once the peer takes more: this is how a slow reader slows a writer down.

        Raises `OSError` where the stream is broken or closed.
        """
        ...

    async def close(self) -> None:
        """Close both directions and free what the transport holds; closing again does nothing."""
        ...


class Flow:
    """Lets a writer wait while the other side of a transport takes nothing, and fails it once the stream is lost."""

    __slots__ = ("_open", "lost")

    def __init__(self) -> None:
        """Start with a free way."""
        self._open = asyncio.Event()
        self._open.set()
        self.lost: OSError | None = None

    def pause(self) -> None:
        """Make writers wait."""
        self._open.clear()

    def resume(self) -> None:
        """Let writers go on."""
        self._open.set()

    def lose(self, why: BaseException | None) -> None:
        """Fail writers from now on."""
        if self.lost is None:
            self.lost = why if isinstance(why, OSError) else BrokenPipeError(f"The stream is closed ({why})")
        self._open.set()

    def check(self) -> None:
        """Raise what the stream was lost for."""
        if self.lost is not None:
            raise type(self.lost)(*self.lost.args)

    async def wait(self) -> None:
        """Wait for a free way."""
        if not self._open.is_set():
            await self._open.wait()
        self.check()


class _Pipe:
    """One direction of a pair: the messages under way."""

    __slots__ = ("bound", "closed", "flow", "messages", "size", "waiter")

    def __init__(self, bound: int) -> None:
        self.bound = bound
        self.messages: list[bytes] = []
        self.size = 0
        self.flow = Flow()
        self.waiter: asyncio.Future[None] | None = None
        self.closed = False

    def wake(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def close(self) -> None:
        self.closed = True
        self.flow.lose(BrokenPipeError("The other end is closed"))
        self.wake()


class _MemoryEnd:
    """One end of a pair."""

    def __init__(self, incoming: _Pipe, outgoing: _Pipe, limit: int | None) -> None:
        self._in = incoming
        self._out = outgoing
        self._limit = limit

    @property
    def is_gone(self) -> bool:
        return self._in.closed

    async def receive(self) -> Sequence[bytes]:
        pipe = self._in
        while not pipe.messages:
            if pipe.closed:
                return ()
            pipe.waiter = asyncio.get_running_loop().create_future()
            await pipe.waiter
        if self._limit is not None and len(pipe.messages[0]) > self._limit:
            raise MessageTooLong(self._limit, self._take(1)[0][:START])
        count = len(pipe.messages)
        if self._limit is not None:
            count = next((n for n, m in enumerate(pipe.messages) if len(m) > self._limit), count)
        return self._take(count)

    def _take(self, count: int) -> list[bytes]:
        pipe = self._in
        taken, pipe.messages = pipe.messages[:count], pipe.messages[count:]
        pipe.size = sum(map(len, pipe.messages))
        if pipe.size <= pipe.bound:
            pipe.flow.resume()
        return taken

    async def send(self, messages: Sequence[bytes]) -> None:
        pipe = self._out
        pipe.flow.check()
        pipe.messages += messages
        pipe.size += sum(map(len, messages))
        pipe.wake()
        if pipe.size > pipe.bound:
            pipe.flow.pause()
            await pipe.flow.wait()

    async def close(self) -> None:
        self._in.close()
        self._out.close()


def memory_pair(*, limit: int | None = None, buffer: int = 65536) -> tuple[Transport, Transport]:
    """Make two transports of one event loop, each of which receives what the other one sends.

    `limit` is the greatest length of a message in bytes, None for no limit; over `buffer` bytes under way a sender
    waits.
    """
    there, back = _Pipe(buffer), _Pipe(buffer)
    return _MemoryEnd(back, there, limit), _MemoryEnd(there, back, limit)
