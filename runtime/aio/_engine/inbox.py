"""The way in: notifications are handled one after the other, and responses do not overtake them."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from itertools import count
from typing import Any

from .outbox import Outbox

Deed = Callable[[Any], Awaitable[Any] | None]

TURN: ContextVar[int] = ContextVar("acp_turn", default=0)
"""The turn in which this code runs: that of the notification handler that it is part of, or 0.

Turns are numbered for all connections together, so that one's turn is never taken for another's.
"""
_TURNS = count(1)

ENDS = (KeyboardInterrupt, SystemExit)
"""What ends the loop that it is raised in, and so the connection."""
BYTES = 8 * 1024 * 1024
"""Above this number of bytes read since the inbox was last empty, reading waits until it is."""
MOST_BYTES = 30 * 1024 * 1024
"""Above this number of bytes, reading also waits where a handler waits for an answer that may be behind them."""
SETTLING = 10
"""How many turns of the loop those who wait for an answer get before what came behind it is handled.

A task sees the answer in the first, whoever awaits that task in the third, and `gather`, `wait_for` and `TaskGroup`
around it take two more each.
"""


class Inbox:
    """A queue of deeds and the one worker that does them in order.

    A deed is a function and its argument: a notification's handler, or the delivery of a response that came after
    notifications. Over `bound` waiting deeds the reader waits, unless the running handler itself waits for the peer's
    answer, which may be behind them.
    """

    __slots__ = (
        "_bound",
        "_empty",
        "_failed",
        "_over",
        "_room",
        "_stopping",
        "_wake",
        "bytes",
        "is_settling",
        "queue",
        "turn",
        "wanted",
    )

    def __init__(self, bound: int, failed: Callable[[Deed, BaseException], None]) -> None:
        """Start empty; `failed` is told of deeds that raise."""
        self.queue: deque[tuple[Deed, Any]] = deque()
        self.turn = 0
        """The turn of the handler that is running, 0 where none is."""
        self.wanted = 0
        """How many calls wait that were made in the running turn."""
        self.bytes = 0
        self.is_settling = False
        """Whether an answer was delivered that those who wait for it may not have seen yet."""
        self._bound = bound
        self._failed = failed
        self._wake: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None
        self._empty: asyncio.Future[None] | None = None
        self._stopping = False
        self._over = False

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits or runs."""
        return not self.queue and not self.turn

    @property
    def is_full(self) -> bool:
        """Whether reading should wait."""
        return len(self.queue) > self._bound or self.bytes > BYTES

    @property
    def must_wait(self) -> bool:
        """Whether reading waits, also for the running handler."""
        return self.is_full and (not self.wanted or self.is_flooded) and not self._over

    @property
    def is_flooded(self) -> bool:
        """Whether reading must wait, also where the running handler waits for an answer."""
        return self.bytes > MOST_BYTES

    def wake(self) -> None:
        """Have the worker look at the queue."""
        wake = self._wake
        if wake is not None and not wake.done():
            wake.set_result(None)

    def release(self) -> None:
        """Let the waiting reader go on."""
        if self._room is not None and not self._room.done():
            self._room.set_result(None)

    async def room(self) -> None:
        """Wait until half of the bound is free, or all where the bytes were too many, or a handler waits in vain."""
        while self.must_wait:
            self._room = asyncio.get_running_loop().create_future()
            await self._room
            self._room = None
            if self.wanted:
                return

    async def wait_for(self, outbox: Outbox) -> None:
        """Wait until the peer has taken something; where the running handler waits for that, reading goes on.

        The peer may itself wait for this side to read. Where reading has to wait as well, the handler goes on, and
        makes room by that, until the outbox holds as much as the inbox may.
        """
        turn = TURN.get()
        if not turn or turn != self.turn:
            await outbox.room()
            return
        if self.is_flooded and outbox.size <= MOST_BYTES:
            return
        self.wanted += 1
        self.release()
        try:
            await outbox.room()
        finally:
            if turn == self.turn:
                self.wanted -= 1

    async def drained(self) -> None:
        """Wait until nothing waits or runs."""
        while not self.is_idle and not self._over:
            self._empty = asyncio.get_running_loop().create_future()
            await self._empty

    def stop(self) -> None:
        """Take the next cancellation for the end of the worker, and handle nothing more after the running deed."""
        self._stopping = True
        self.queue.clear()

    async def run(self) -> None:
        """Do the deeds until cancelled."""
        try:
            await self._run()
        finally:
            self._over = True
            self.turn = self.wanted = 0
            self.release()
            self._tell_empty()

    def _tell_empty(self) -> None:
        if self._empty is not None and not self._empty.done():
            self._empty.set_result(None)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        queue, bound = self.queue, self._bound
        while not self._stopping:
            while queue:
                if self.is_settling:
                    await self._settle()
                deed, argument = queue.popleft()
                self.turn = next(_TURNS)
                TURN.set(self.turn)
                self.wanted = 0
                try:
                    todo = deed(argument)
                    if todo is not None:
                        await todo
                except BaseException as why:
                    if self._is_end(why):
                        raise
                    self._failed(deed, why)
                    if isinstance(why, ENDS):
                        raise
                if self._room is not None and len(queue) <= bound // 2 and self.bytes <= BYTES:
                    self.release()
            self.turn = self.bytes = self.wanted = 0
            self.release()
            self._tell_empty()
            if not self._stopping:  # or else a handler has swallowed its cancellation
                self._wake = loop.create_future()
                await self._wake

    async def _settle(self) -> None:
        """Let those who wait for a delivered answer see it before what came behind it is handled."""
        for _ in range(SETTLING):
            await asyncio.sleep(0)
        self.is_settling = False

    def _is_end(self, why: BaseException) -> bool:
        """Say whether the worker itself was cancelled: a handler that awaits what somebody else cancelled goes on."""
        task = asyncio.current_task()
        is_own = task is not None and task.cancelling() > 0
        return isinstance(why, asyncio.CancelledError) and (self._stopping or is_own)
