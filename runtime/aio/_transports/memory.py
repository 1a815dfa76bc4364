"""A pair of transports that are connected in memory."""

from collections.abc import Sequence

from .flow_control import FlowControl
from .receive_buffer import ReceiveBuffer
from .transport import Transport


class _MemoryPipe:
    """One direction of a pair: the messages that were sent and not received yet."""

    __slots__ = ("flow", "received")

    def __init__(self, high: int) -> None:
        self.received = ReceiveBuffer(high, overhead=0)
        self.flow = FlowControl()
        self.received.pause, self.received.resume = self.flow.pause, self.flow.resume

    def close(self) -> None:
        self.received.end()
        self.flow.fail(BrokenPipeError("The other end is closed"))


class _MemoryEnd:
    """One end of a pair."""

    def __init__(self, incoming: _MemoryPipe, outgoing: _MemoryPipe, limit: int | None) -> None:
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
        await pipe.flow.wait_writable()

    async def close(self) -> None:
        self._in.close()
        self._out.close()


def memory_pair(*, limit: int | None = None, buffer: int = 65536) -> tuple[Transport, Transport]:
    """Return two transports for one event loop; each receives what the other sends.

    `limit` is the maximum length of a message in bytes, None for no limit. While more than `buffer` bytes wait to be
    received, `send` waits.
    """
    there, back = _MemoryPipe(buffer), _MemoryPipe(buffer)
    return _MemoryEnd(back, there, limit), _MemoryEnd(there, back, limit)
