"""A budget of memory: what handlers read at the same time, and what they have answered and the peer has not read."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from .._request_task import current_request_task

T = TypeVar("T")

_HOLDER: ContextVar[asyncio.Task[Any] | None] = ContextVar("_HOLDER", default=None)
"""The task until whose end `Reservation.hold` holds memory."""


@contextmanager
def held_until_answered() -> Generator[None]:
    """Within the block, `Reservation.hold` holds memory until the current request of the peer has been answered.

    Outside of a task that answers a request nothing is held.
    """
    token = _HOLDER.set(current_request_task())
    try:
        yield
    finally:
        _HOLDER.reset(token)


def holds_until_answered() -> bool:
    """Return whether `Reservation.hold` holds memory here, because the peer waits for what is being read."""
    return _HOLDER.get() is not None


class Reservation:
    """Bytes that are reserved from a budget."""

    __slots__ = ("_budget", "size")

    def __init__(self, budget: "Budget", size: int) -> None:
        """Store how many bytes were reserved."""
        self._budget = budget
        self.size = size

    def shrink(self, size: int) -> None:
        """Return all but `size` bytes to the budget."""
        if size < self.size:
            self._budget.free += self.size - size
            self.size = size
            self._budget.grant_waiting()

    def release(self, *_: object) -> None:
        """Return all bytes to the budget."""
        self.shrink(0)

    def hold(self, size: int) -> None:
        """Hold `size` bytes until the current request has been answered, or release all if there is none."""
        task = _HOLDER.get()
        if task is None:
            self.release()
        else:
            self.shrink(size)
            self._budget.hold(task, self)


class Budget:
    """A number of bytes, reserved in the order of the requests; a larger request gets the whole budget."""

    def __init__(self, total: int) -> None:
        """Start with all bytes free."""
        self.total = total
        self.free = total
        self._waiting: deque[tuple[asyncio.Future[None], int]] = deque()
        self._held: dict[asyncio.Task[Any], Reservation] = {}
        self._waiting_tasks: Counter[asyncio.Task[Any]] = Counter()
        """How many reservations each task waits for."""

    async def reserve(self, size: int) -> Reservation:
        """Wait until `size` bytes are free and reserve them.

        What the current task holds is released first, so that a task never waits for itself.
        """
        size = min(size, self.total)
        task = _HOLDER.get()
        if task is not None:
            self._release_held(task)
        if self._waiting or size > self.free:
            await self._wait(size, task)
        else:
            self.free -= size
        return Reservation(self, size)

    async def _wait(self, size: int, task: asyncio.Task[Any] | None) -> None:
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((granted, size))
        if task is not None:
            self._waiting_tasks[task] += 1
        try:
            await granted
        except asyncio.CancelledError:
            if not granted.cancelled():
                self.free += size
            self.grant_waiting()
            raise
        finally:
            if task is not None:
                self._waiting_tasks -= Counter((task,))

    async def run_in_thread(self, size: int, work: Callable[[], T]) -> tuple[Reservation, T]:
        """Reserve bytes, run a function in a thread, and return the reservation and the result.

        If the caller is cancelled, the bytes stay reserved until the thread has finished.
        """
        reservation = await self.reserve(size)
        running = asyncio.get_running_loop().run_in_executor(None, work)

        def finished(_: object) -> None:
            reservation.release()
            if not running.cancelled():
                running.exception()  # asyncio would log it as never retrieved: nothing else awaits the future

        try:
            return reservation, await asyncio.shield(running)
        except BaseException:
            running.add_done_callback(finished)
            raise

    def grant_waiting(self) -> None:
        """Grant free bytes to the waiting tasks, in order."""
        while self._waiting and (self._waiting[0][1] <= self.free or self._waiting[0][0].done()):
            granted, size = self._waiting.popleft()
            if not granted.done():
                self.free -= size
                granted.set_result(None)

    def hold(self, task: asyncio.Task[Any], reservation: Reservation) -> None:
        """Hold a reservation until a task has ended or reserves more."""
        self._release_held(task)
        if self._waiting_tasks[task]:
            reservation.release()
            return
        self._held[task] = reservation
        task.add_done_callback(self._release_held)

    def _release_held(self, task: asyncio.Task[Any]) -> None:
        reservation = self._held.pop(task, None)
        if reservation is not None:
            reservation.release()
