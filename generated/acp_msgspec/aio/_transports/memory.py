"""A transport that stays in memory."""

from collections.abc import Sequence

from .receive_buffer import Received
from .transport import Flow, Transport


class _Pipe:
    """One direction of a pair: the messages under way."""

    __slots__ = ("flow", "received")

    def __init__(self, bound: int) -> None:
        self.received = Received(bound, overhead=0)
        self.flow = Flow()
        self.received.pause, self.received.resume = self.flow.pause, self.flow.resume

    def close(self) -> None:
        self.received.end()
        self.flow.lose(BrokenPipeError("The other end is closed"))


class _MemoryEnd:
    """One end of a pair."""

    def __init__(self, incoming: _Pipe, outgoing: _Pipe, limit: int | None) -> None:
        self._in = incoming
        self._out = outgoing
        self._limit = limit

    @property
    def is_gone(self) -> bool:
        return self._in.received.is_ended

    async def receive(self) -> Sequence[bytes]:
        return await self._in.received.take()

    async def send(self, messages: Sequence[bytes]) -> None:
        pipe, limit = self._out, self._limit
        pipe.flow.check()
        if limit is None:
            pipe.received.put(list(messages))
        else:
            for message in messages:
                if len(message) <= limit:
                    pipe.received.put([message])
                else:
                    pipe.received.put_too_long(limit, message)
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
