"""Lines over streams of bytes: what the transports over pipes have in common."""

import asyncio
from collections.abc import Callable, Sequence

from .._framing import LineSplitter, LineTooLong
from ._transport import Flow, MessageTooLong

HIGH = 1024 * 1024
"""Over so many received bytes that nobody took, nothing more is read."""
JOINED = 1024 * 1024
"""Up to so many bytes, messages are copied together for one write."""


class Lines:
    """The lines that came in and that nobody has taken yet."""

    __slots__ = (
        "_ended",
        "_error",
        "_lines",
        "_size",
        "_splitter",
        "_too_long",
        "_waiter",
        "is_paused",
        "pause",
        "resume",
    )

    def __init__(self, limit: int | None) -> None:
        """Start with nothing; `limit` is the greatest length of a line in bytes."""
        self._splitter = LineSplitter(limit)
        self._lines: list[bytes] = []
        self._size = 0
        self._too_long: list[MessageTooLong] = []
        self._ended = False
        self._error: OSError | None = None
        self.is_paused = False
        self._waiter: asyncio.Future[None] | None = None
        self.pause: Callable[[], None] | None = None
        self.resume: Callable[[], None] | None = None

    def feed(self, data: bytes) -> None:
        """Take bytes of the stream."""
        try:
            lines = self._splitter.feed(data)
        except LineTooLong as why:
            lines = why.lines
            self._too_long += [MessageTooLong(why.limit, start) for start in why.starts]
        if lines or self._too_long:
            self._lines += lines
            self._size += len(data)
            self._wake()
            if self._size > HIGH and not self.is_paused and self.pause is not None:
                self.is_paused = True
                self.pause()

    def end(self, why: BaseException | None = None) -> None:
        """Take note of the stream's end; a last line without an end counts as well."""
        if self._ended:
            return
        self._ended = True
        last = self._splitter.close()
        if last is not None:
            self._lines.append(last)
        self._error = why if isinstance(why, OSError) else None
        self._wake()

    @property
    def is_ready(self) -> bool:
        """Whether `take` has something to give or to raise."""
        return bool(self._lines) or self._ended or bool(self._too_long)

    async def take(self) -> Sequence[bytes]:
        """Wait for lines and give all that are there; none at the end."""
        while not self._lines:
            if self._too_long:
                raise self._too_long.pop(0)
            if self._ended:
                if self._error is not None:
                    raise self._error
                return ()
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        lines, self._lines = self._lines, []
        self._size = 0
        if self.is_paused and self.resume is not None:
            self.is_paused = False
            self.resume()
        return lines

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


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
