"""Lines over streams of bytes: what the transports over pipes have in common."""

from collections.abc import Callable, Sequence

from ..._rpc.framing import LineSplitter, LineTooLong
from .receive_buffer import Received
from .transport import Flow

JOINED = 1024 * 1024
"""Up to this many bytes, messages are copied together for one write."""


class Lines(Received):
    """The lines that came in and that nobody has taken yet."""

    def __init__(self, limit: int | None) -> None:
        """Start with nothing; `limit` is the greatest length of a line in bytes."""
        super().__init__()
        self._splitter = LineSplitter(limit)

    def feed(self, data: bytes) -> None:
        """Take bytes of the stream. What is skipped costs nothing and does not count."""
        if self.is_ended:
            return
        try:
            self.put(self._splitter.feed(data))
        except LineTooLong as why:
            done = 0
            for place, start in zip(why.places, why.starts, strict=True):
                self.put(why.lines[done:place])
                self.put_too_long(why.limit, start)
                done = place
            self.put(why.lines[done:])

    def end(self, why: BaseException | None = None) -> None:
        """Take note of the stream's end; a last line without an end counts as well."""
        last = self._splitter.close()
        if last is not None:
            self.put([last])
        super().end(why)


async def write_lines(write: Callable[[bytes], None], flow: Flow, messages: Sequence[bytes]) -> None:
    """Write messages as lines, in one write where they are small, and wait for the stream to take them."""
    flow.check()
    if sum(map(len, messages)) <= JOINED:
        write(b"%b\n" % b"\n".join(messages))
        await flow.wait()
        return
    for message in messages:
        write(message)
        write(b"\n")
        await flow.wait()
