"""What came in and nobody has taken yet: messages in their order, counted by bytes."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from ..._rpc.framing import START
from .transport import MessageTooLong

HIGH = 2 * 1024 * 1024
"""Over this many bytes that nobody took, nothing more is read."""
OVERHEAD = 64
"""How many bytes a waiting message costs beyond its own: tiny ones count, too."""
BATCH = 1024 * 1024
"""How many bytes are handed out at once, unless a single message is longer."""
NOTICES = 1000
"""How many messages that were too long are told of one by one while nobody takes them; the rest are counted."""


class Received:
    """The messages that came in and that nobody has taken yet, and the place of those that were too long.

    Counted is what waits here and nothing else. So there is something to take whenever `pause` has been called, and
    `resume` is called once it was taken.
    """

    def __init__(self, high: int = HIGH, overhead: int = OVERHEAD) -> None:
        """Start with nothing; over `high` bytes that wait, each message with its `overhead`, reading pauses."""
        self._parts: deque[tuple[list[bytes] | MessageTooLong, int]] = deque()
        """What was received in a row, at most a batch, with what it costs."""
        self._size = 0
        self._high: int | None = high
        self._overhead = overhead
        self._notices: deque[MessageTooLong] = deque()
        self._error: OSError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self.is_ended = False
        self.is_paused = False
        self.pause: Callable[[], None] | None = None
        self.resume: Callable[[], None] | None = None

    def put(self, messages: list[bytes]) -> None:
        """Take messages, and the list itself; after the end they count for nothing."""
        if not messages or self.is_ended:
            return
        cost = sum(map(len, messages)) + self._overhead * len(messages)
        if cost > BATCH and len(messages) > 1:
            half = len(messages) // 2
            self.put(messages[:half])
            self.put(messages[half:])
            return
        if self._parts:
            last, before = self._parts[-1]
            if isinstance(last, list) and before + cost <= BATCH:
                last += messages
                self._parts[-1] = last, before + cost
                self._grow(cost)
                return
        self._parts.append((messages, cost))
        self._grow(cost)

    def put_too_long(self, limit: int, start: bytes) -> None:
        """Take note of a message that was too long, whose beginning this is."""
        if self.is_ended:
            return
        if len(self._notices) >= NOTICES:
            self._notices[-1].more += 1
            return
        notice = MessageTooLong(limit, start[:START])
        cost = len(notice.start) + self._overhead
        self._parts.append((notice, cost))
        self._notices.append(notice)
        self._grow(cost)

    def end(self, why: BaseException | None = None) -> None:
        """Take note of the stream's end, and stop to read; what waits can still be taken."""
        if self.is_ended:
            return
        self.is_ended = True
        if self.pause is not None and not self.is_paused:
            self.pause()  # somebody else may hold the stream open and go on to write
        self.pause = self.resume = None
        self._error = why if isinstance(why, OSError) else None
        self._wake()

    def bound(self, high: int | None) -> None:
        """Change over how many waiting bytes reading pauses; None lets it go on."""
        self._high = high
        if high is not None:
            self._grow(0)
        elif self.is_paused:
            self._go_on()

    async def take(self) -> Sequence[bytes]:
        """Wait for messages, and give those that came in a row, at most a batch; none at the end.

        Raises `MessageTooLong` in the place of a message that was, and the `OSError` with which the stream ended.
        """
        while not self._parts:
            if self.is_ended:
                if self._error is not None:
                    raise self._error
                return ()
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        if len(self._parts) > 1:
            await asyncio.sleep(0)  # whoever takes all of it leaves the others their turns
        part, cost = self._parts.popleft()
        self._shrink(cost)
        if isinstance(part, MessageTooLong):
            self._notices.popleft()
            raise part
        return part

    def _grow(self, size: int) -> None:
        self._size += size
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        if not self.is_paused and self._high is not None and self._size > self._high and self.pause is not None:
            self.is_paused = True
            self.pause()

    def _shrink(self, size: int) -> None:
        self._size -= size
        if self.is_paused and (self._high is None or self._size <= self._high):
            self._go_on()

    def _go_on(self) -> None:
        self.is_paused = False
        if self.resume is not None:
            self.resume()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
