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
        pipe = self._out
        pipe.flow.check()
        self._put(messages)
        await pipe.flow.wait_writable()

    def send_now(self, messages: Sequence[bytes]) -> bool:
        pipe = self._out
        if not pipe.flow.is_open:
            return False
        self._put(messages)
        return True

    def _put(self, messages: Sequence[bytes]) -> None:
        received, limit = self._out.received, self._limit
        if limit is None:
            received.put(list(messages))
            return
        for message in messages:
            if len(message) <= limit:
                received.put([message])
            else:
                received.put_too_long(limit, message)

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
