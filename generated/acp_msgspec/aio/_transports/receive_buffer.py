"""Messages that have arrived and wait to be received, bounded by their bytes."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from ..._rpc.framing import START
from .transport import MessageTooLong, Take

HIGH = 2 * 1024 * 1024
"""Default number of waiting bytes above which reading pauses."""
OVERHEAD = 64
"""Bytes that a waiting message counts for beyond its own, so that many tiny messages are bounded too."""
BATCH = 1024 * 1024
"""`take` returns at most this many bytes at once, unless a single message is longer."""
NOTICES = 1000
"""How many waiting messages over the limit are reported one by one; further ones are only counted."""


class ReceiveBuffer:
    """Buffers messages in their order, with a notice in the place of each message that was too long.

    Only what waits in this buffer counts. So there is something to take whenever `pause` has been called, and `resume`
    is called once it was taken.
    """

    def __init__(self, high: int = HIGH, overhead: int = OVERHEAD) -> None:
        """Start empty. Reading pauses above `high` waiting bytes; each message counts `overhead` bytes extra."""
        self._parts: deque[tuple[list[bytes] | MessageTooLong, int]] = deque()
        """Consecutive messages, at most a batch, or a notice; each with the bytes that it counts for."""
        self._size = 0
        self._high: int | None = high
        self._overhead = overhead
        self._notices: deque[MessageTooLong] = deque()
        self._error: OSError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self.is_ended = False
        self.is_paused = False
        self.pause: Callable[[], None] | None = None
        """Called to pause reading from the underlying stream."""
        self.resume: Callable[[], None] | None = None
        """Called to resume it."""
        self.deliver_to: Take | None = None
        """Called with messages that come while `take` waits; it returns whether it has handled them."""

    def put(self, messages: list[bytes]) -> None:
        """Add messages, taking over the list itself. Messages after the end are ignored."""
        if not messages or self.is_ended:
            return
        if self.deliver(messages):
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
        """Add a notice for a message over the limit; `start` is its beginning."""
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
        """End the stream and stop reading; waiting messages can still be taken."""
        if self.is_ended:
            return
        self.is_ended = True
        if self.pause is not None and not self.is_paused:
            self.pause()  # another process may hold the stream open and go on writing
        self.pause = self.resume = None
        self._error = why if isinstance(why, OSError) else None
        self._wake()

    def set_high(self, high: int | None) -> None:
        """Change the number of waiting bytes above which reading pauses; None never pauses."""
        self._high = high
        if high is not None:
            self._grow(0)
        elif self.is_paused:
            self._resume_reading()

    async def take(self) -> Sequence[bytes]:
        """Wait for messages and return consecutive ones, at most a batch; an empty sequence at the end.

        Raises `MessageTooLong` in the place of a message over the limit, and the `OSError` that ended the stream.
        """
        while not self._parts:
            if self.is_ended:
                if self._error is not None:
                    raise self._error
                return ()
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        if len(self._parts) > 1:
            await asyncio.sleep(0)  # let other tasks run while a full buffer is emptied
        part, cost = self._parts.popleft()
        self._shrink(cost)
        if isinstance(part, MessageTooLong):
            self._notices.popleft()
            raise part
        return part

    def deliver(self, messages: list[bytes]) -> bool:
        """Hand messages over instead of waking `take`; return whether they were handled."""
        waiter, deliver_to = self._waiter, self.deliver_to
        if deliver_to is None or waiter is None or waiter.done() or self._parts or self.is_ended:
            return False
        try:
            return deliver_to(messages)
        except Exception as error:
            waiter.set_exception(error)  # `take` raises it
            return True
        except BaseException as error:
            waiter.set_exception(RuntimeError(repr(error)))
            raise  # it ends the event loop

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
            self._resume_reading()

    def _resume_reading(self) -> None:
        self.is_paused = False
        if self.resume is not None:
            self.resume()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
