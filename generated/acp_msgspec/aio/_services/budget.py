"""Memory shared out by size: what handlers read at once, and what they have answered and nobody has read yet."""

import asyncio
import sys
from collections import Counter, deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from .._engine.requests import ANSWERING

T = TypeVar("T")

WORST = 6
"""The greatest number of bytes that a byte of a text takes as JSON."""
_SHORT = b'\b\t\n\f\r"\\'
"""What JSON escapes with two bytes."""
_LONG = bytes(n for n in range(32) if n not in _SHORT)
"""What JSON escapes with six bytes."""
_CHUNK = 1 << 20
_KEEPER: ContextVar[asyncio.Task[Any] | None] = ContextVar("_KEEPER", default=None)


def held_size(text: str) -> int:
    """Count the bytes that a text takes while it waits to be sent, or while it is sent as JSON, whichever are more."""
    return max(json_size(text), sys.getsizeof(text))


def json_size(text: str) -> int:
    """Count the bytes that a text takes as JSON."""
    size = 2
    for start in range(0, len(text), _CHUNK):
        part = text[start : start + _CHUNK].encode()
        bare = len(part.translate(None, _SHORT))
        size += 2 * len(part) - bare + 5 * (len(part) - len(part.translate(None, _LONG)))
    return size


@contextmanager
def answering() -> Generator[None]:
    """Within it, shares that are kept stay taken until the peer's request under way has been answered.

    Outside of a request's task nothing is kept.
    """
    task = asyncio.current_task()
    token = _KEEPER.set(task if task is not None and task.get_name() == ANSWERING else None)
    try:
        yield
    finally:
        _KEEPER.reset(token)


def is_answering() -> bool:
    """Say whether the peer waits for what is read now."""
    return _KEEPER.get() is not None


class Share:
    """Bytes taken from a budget."""

    __slots__ = ("_budget", "size")

    def __init__(self, budget: "Budget", size: int) -> None:
        """Take it as granted."""
        self._budget = budget
        self.size = size

    def shrink(self, size: int) -> None:
        """Give all but `size` bytes back."""
        if size < self.size:
            self._budget.free += self.size - size
            self.size = size
            self._budget.grant()

    def release(self, *_: object) -> None:
        """Give all of it back."""
        self.shrink(0)

    def keep(self, size: int) -> None:
        """Keep `size` bytes until the request has been answered; give them back at once where there is none."""
        task = _KEEPER.get()
        if task is None:
            self.release()
        else:
            self.shrink(size)
            self._budget.keep(task, self)


class Budget:
    """So many bytes, given out in the order in which they were asked for; what is greater waits for all of them."""

    def __init__(self, total: int) -> None:
        """Start with all of them free."""
        self.total = total
        self.free = total
        self._waiting: deque[tuple[asyncio.Future[None], int]] = deque()
        self._kept: dict[asyncio.Task[Any], Share] = {}
        self._asking: Counter[asyncio.Task[Any]] = Counter()
        """Tasks with shares that they wait for."""

    async def take(self, size: int) -> Share:
        """Wait for a share of the budget.

        A request that waits for one keeps no other one, so that it never waits for itself.
        """
        size = min(size, self.total)
        task = _KEEPER.get()
        if task is not None:
            self._end(task)
        if self._waiting or size > self.free:
            await self._wait(size, task)
        else:
            self.free -= size
        return Share(self, size)

    async def _wait(self, size: int, task: asyncio.Task[Any] | None) -> None:
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((granted, size))
        if task is not None:
            self._asking[task] += 1
        try:
            await granted
        except asyncio.CancelledError:
            if not granted.cancelled():
                self.free += size
            self.grant()
            raise
        finally:
            if task is not None:
                self._asking -= Counter((task,))

    async def run(self, size: int, work: Callable[[], T]) -> tuple[Share, T]:
        """Run a function in a thread within a share, and give both; the share outlives a caller that is cancelled."""
        share = await self.take(size)
        working = asyncio.get_running_loop().run_in_executor(None, work)

        def ended(_: object) -> None:
            share.release()
            if not working.cancelled():
                working.exception()  # nobody else asks for it

        try:
            return share, await asyncio.shield(working)
        except BaseException:
            working.add_done_callback(ended)
            raise

    def grant(self) -> None:
        """Give free bytes to those who wait."""
        while self._waiting and (self._waiting[0][1] <= self.free or self._waiting[0][0].done()):
            granted, size = self._waiting.popleft()
            if not granted.done():
                self.free -= size
                granted.set_result(None)

    def keep(self, task: asyncio.Task[Any], share: Share) -> None:
        """Keep a share until a task has ended, or asks for more."""
        self._end(task)
        if self._asking[task]:
            share.release()
            return
        self._kept[task] = share
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[Any]) -> None:
        share = self._kept.pop(task, None)
        if share is not None:
            share.release()
