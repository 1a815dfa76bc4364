"""What the peer has sent and is not handled yet: notifications run in order, and answers keep their place."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from itertools import count
from typing import Any

from .call import Call
from .endpoint import Handler, Hook
from .outbox import Outbox
from .pending_request import PendingRequest
from .queue_item import Delivery, HookNotification, QueueItem, RequestStart
from .settling import Settling

HANDLER_RUN: ContextVar[int] = ContextVar("acp_handler_run", default=0)
"""The handler run that this code is part of: a number for each item that an inbox handles, or 0 outside of all.

Runs are numbered for all connections together, so that a run of one is never taken for a run of another.
"""
_RUNS = count(1)

LOOP_EXITS = (KeyboardInterrupt, SystemExit)
"""Exceptions that end the event loop, and with it the connection."""
MAX_BYTES = 8 * 1024 * 1024
"""Above this number of bytes read since the inbox was last empty, reading waits until it is."""
MAX_BYTES_WHILE_CALLING = 30 * 1024 * 1024
"""Above this number of bytes, reading also waits if a handler waits for an answer that may be behind them."""


class Inbox:
    """A queue of items and the one worker that handles them in order.

    While more than `bound` items wait, the reader waits as well, unless the running handler itself waits for the peer's
    answer, which may be behind them.
    """

    __slots__ = (
        "_awaited",
        "_bound",
        "_bytes",
        "_drained",
        "_is_over",
        "_on_failure",
        "_queue",
        "_room",
        "_start_request",
        "_stopping",
        "_wake",
        "handler_run",
        "put",
        "settling",
    )

    def __init__(
        self,
        bound: int,
        start_request: Callable[[PendingRequest], Awaitable[None]],
        on_failure: Callable[[Handler | Hook | None, BaseException], None],
    ) -> None:
        """Start empty. `start_request` starts a request's task, `on_failure` is called with a handler that raised."""
        self.handler_run = 0
        """The number of the running handler's run, 0 while none runs."""
        self.settling = Settling()
        self._queue: deque[QueueItem] = deque()
        self.put: Callable[[QueueItem], None] = self._queue.append
        """Add an item; the worker looks at it once it is woken."""
        self._awaited = 0
        """How many answers, or how often room in the outbox, the running handler waits for."""
        self._bytes = 0
        self._bound = bound
        self._start_request = start_request
        self._on_failure = on_failure
        self._wake: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None
        self._drained: asyncio.Future[None] | None = None
        self._stopping = False
        self._is_over = False

    @property
    def is_idle(self) -> bool:
        """Whether no item waits and no handler runs."""
        return not self._queue and not self.handler_run

    @property
    def is_full(self) -> bool:
        """Whether reading should wait."""
        return len(self._queue) > self._bound or self._bytes > MAX_BYTES

    @property
    def must_wait(self) -> bool:
        """Whether reading waits, also with regard to what the running handler waits for."""
        return self.is_full and (not self._awaited or self._is_flooded) and not self._is_over

    @property
    def is_deadlocked(self) -> bool:
        """Whether the running handler waits for an answer that is not read, as too much waits already."""
        return self._awaited > 0 and self._is_flooded

    @property
    def _is_flooded(self) -> bool:
        return self._bytes > MAX_BYTES_WHILE_CALLING

    def count_bytes(self, size: int) -> None:
        """Count the bytes of what was put."""
        self._bytes += size

    @property
    def may_start(self) -> bool:
        """Whether a request need not wait: no item does, no handler runs, and all have seen the last answer."""
        return not self._queue and not self.handler_run and not self.settling.is_under_way

    @property
    def has_items(self) -> bool:
        """Whether an item waits."""
        return bool(self._queue)

    def wake(self) -> None:
        """Have the worker look at the queue."""
        wake = self._wake
        if wake is not None and not wake.done():
            wake.set_result(None)

    def call_started(self, call: Call) -> None:
        """Let reading continue if the running handler has made this call, as it waits for the answer."""
        if call.handler_run and call.handler_run == self.handler_run:
            self._awaited += 1
            self._release()

    def call_ended(self, call: Call) -> None:
        """Stop counting a call of the running handler that was given up."""
        if call.handler_run and call.handler_run == self.handler_run:
            self._awaited -= 1

    def deliver(self, call: Call, outcome: Any) -> None:
        """Hand an answer over, after the handlers of all earlier notifications.

        The handler that made the call does not count among them: it would wait for itself.
        """
        if call.handler_run and call.handler_run == self.handler_run:
            self._awaited -= 1
            call.complete(outcome)
        elif self.is_idle:
            call.complete(outcome)
            self.settling.begin()
        else:
            self._queue.append(Delivery(call, outcome))

    def deliver_all(self) -> None:
        """Hand over all answers that still wait for the handlers before them."""
        for item in self._queue:
            if isinstance(item, Delivery):
                item.call.complete(item.outcome)

    async def wait_for_room(self) -> None:
        """Wait until half of the bound is free, or the inbox is empty after too many bytes, or a handler calls."""
        while self.must_wait:
            self._room = asyncio.get_running_loop().create_future()
            await self._room
            self._room = None
            if self._awaited:
                return

    async def wait_for_outbox(self, outbox: Outbox) -> None:
        """Wait until the peer has taken something; if the running handler waits for that, reading continues meanwhile.

        The peer may itself wait for this side to read. If reading has to wait as well, the handler continues, and makes
        room by that, until the outbox holds as much as the inbox may.
        """
        run = HANDLER_RUN.get()
        if not run or run != self.handler_run:
            await outbox.wait_for_room()
            return
        if self._is_flooded and outbox.size <= MAX_BYTES_WHILE_CALLING:
            return
        self._awaited += 1
        self._release()
        try:
            await outbox.wait_for_room()
        finally:
            if run == self.handler_run:
                self._awaited -= 1

    async def wait_until_idle(self) -> None:
        """Wait until no item waits and no handler runs."""
        while not self.is_idle and not self._is_over:
            self._drained = asyncio.get_running_loop().create_future()
            await self._drained

    def stop(self) -> None:
        """Handle no item after the running one; the next cancellation of the worker ends it."""
        self._stopping = True
        self._queue.clear()

    async def run(self, handlers: Mapping[type[Any], Handler]) -> None:
        """Handle items until cancelled; `handlers` are those of notifications, by their envelopes."""
        try:
            await self._handle_items(handlers)
        finally:
            self._is_over = True
            self.settling.stop()
            self.handler_run = self._awaited = 0
            self._release()
            self._release_drained()

    async def _handle_items(self, handlers: Mapping[type[Any], Handler]) -> None:
        loop = asyncio.get_running_loop()
        queue, half = self._queue, self._bound // 2
        while not self._stopping:
            while queue:
                if self.settling.is_under_way:
                    await self.settling.wait()
                item = queue.popleft()
                self.handler_run = next(_RUNS)
                HANDLER_RUN.set(self.handler_run)
                self._awaited = 0
                handler: Handler | Hook | None = None
                try:
                    awaitable: Awaitable[Any] | None = None
                    # Comparing classes takes a third of the time of a class pattern, which calls msgspec's metaclass.
                    if type(item) is RequestStart:
                        awaitable = self._start_request(item.request)
                    elif type(item) is Delivery:
                        item.call.complete(item.outcome)
                        self.settling.begin()
                    elif type(item) is HookNotification:
                        handler = item.hook
                        awaitable = item.hook(item.method, item.params)
                    else:
                        handler = handlers[type(item)]
                        awaitable = handler(item.params)
                    if awaitable is not None:
                        await awaitable
                except BaseException as error:
                    if self._is_end(error):
                        raise
                    self._on_failure(handler, error)
                    if isinstance(error, LOOP_EXITS):
                        raise
                if self._room is not None and len(queue) <= half and self._bytes <= MAX_BYTES:
                    self._release()
            self._note_empty()
            if not self._stopping:  # or else a handler has swallowed its cancellation
                self._wake = loop.create_future()
                await self._wake

    def _note_empty(self) -> None:
        """Let everything continue that waits for an empty inbox."""
        self.handler_run = self._bytes = self._awaited = 0
        self._release()
        self._release_drained()

    def _release(self) -> None:
        """Let the waiting reader continue."""
        if self._room is not None and not self._room.done():
            self._room.set_result(None)

    def _release_drained(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    def _is_end(self, error: BaseException) -> bool:
        """Return whether the worker itself was cancelled, and not merely something that a handler awaits."""
        task = asyncio.current_task()
        is_own = task is not None and task.cancelling() > 0
        return isinstance(error, asyncio.CancelledError) and (self._stopping or is_own)
