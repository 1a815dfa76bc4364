"""Calls that wait for the peer's answer."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

from .call import Call
from .inbox import HANDLER_RUN, Inbox

LONGEST_ID = 30
"""A text longer than this, in characters, is not compared with ids."""
FEW = 8
"""Up to this number of pending calls, each is written by itself and at once."""
MAX_ABANDONED = 10_000
"""How many abandoned calls are remembered, so that their late answers are dropped silently."""


class Calls:
    """The pending calls of this side, by their ids, and those that were abandoned."""

    __slots__ = ("_abandoned", "_ids", "_inbox", "_on_next_call", "_pending")

    def __init__(self, inbox: Inbox) -> None:
        """Start without calls; ids count from 1."""
        self._pending: dict[Any, Call] = {}
        self._abandoned: dict[int, Callable[[], object] | None] = {}
        self._ids = count(1)
        self._inbox = inbox
        self._on_next_call: Callable[[], None] | None = None

    @property
    def any_pending(self) -> bool:
        """Whether a call waits for its answer."""
        return bool(self._pending)

    @property
    def any_known(self) -> bool:
        """Whether a response may come: to a pending call, or to an abandoned one."""
        return bool(self._pending or self._abandoned)

    @property
    def are_few(self) -> bool:
        """Whether so few calls wait that each is written at once; more of them are rather written together."""
        return len(self._pending) <= FEW

    def add(self, method: str) -> Call:
        """Open a call under a new id."""
        request_id = next(self._ids)
        call = Call(request_id, method, asyncio.get_running_loop().create_future(), HANDLER_RUN.get())
        self._pending[request_id] = call
        if call.handler_run:
            self._inbox.call_started(call)
        if self._on_next_call is not None:
            callback, self._on_next_call = self._on_next_call, None
            callback()
        return call

    def call_on_next(self, callback: Callable[[], None]) -> None:
        """Have a function called once, at the next call."""
        self._on_next_call = callback

    def get(self, request_id: Any) -> Call | None:
        """Return the pending call with an id."""
        return self._pending.get(request_id)

    def method_of(self, request_id: Any) -> str | None:
        """Return the method of the pending call with an id."""
        call = self._pending.get(request_id)
        return call.method if call is not None else None

    def find_similar(self, request_id: Any) -> Call | None:
        """Find the pending call whose id equals this one except for its JSON type: `"1"` and `1.0` for 1."""
        number: Any = None
        if isinstance(request_id, float) or (isinstance(request_id, str) and len(request_id) <= LONGEST_ID):
            with suppress(ValueError):
                number = float(request_id)
        return self._pending.get(int(number)) if number is not None and number.is_integer() else None

    def take(self, request_id: Any) -> Call | None:
        """Remove and return the pending call that a response answers; None if its id is unknown."""
        return self._pending.pop(request_id, None)

    def fail(self, call: Call, error: Exception) -> None:
        """Remove a pending call, and deliver an error as its answer."""
        self._pending.pop(call.id, None)
        self._inbox.deliver(call, error)

    def abandon(self, request_id: int, when_late: Callable[[], object] | None = None) -> None:
        """Give a call up; `when_late` is called if an answer still comes."""
        call = self._pending.pop(request_id, None)
        if call is None:
            return
        self._inbox.call_ended(call)
        self._abandoned[request_id] = when_late
        if len(self._abandoned) > MAX_ABANDONED:
            del self._abandoned[next(iter(self._abandoned))]

    def is_abandoned(self, request_id: Any) -> bool:
        """Return whether the call with an id was abandoned, and its answer has not come yet."""
        return type(request_id) is int and request_id in self._abandoned

    def drop_late(self, request_id: Any) -> bool:
        """Return whether an answer is that of an abandoned call, which is then forgotten."""
        if not self.is_abandoned(request_id):
            return False
        when_late = self._abandoned.pop(request_id)
        if when_late is not None:
            when_late()
        return True

    def abandon_those_of_running_handler(self, error_of: Callable[[Call], Exception]) -> None:
        """Fail the calls that the running handler waits for; if their answers still come, they are dropped."""
        run = self._inbox.handler_run
        for call in [c for c in self._pending.values() if run and c.handler_run == run]:
            self.abandon(call.id)
            call.complete(error_of(call))

    def fail_those_of_running_handler(self, new_error: Callable[[], Exception]) -> None:
        """Fail the calls that the running handler waits for, at once."""
        run = self._inbox.handler_run
        if run:
            self._fail_now([c for c in self._pending.values() if c.handler_run == run], new_error)

    def fail_all(self, new_error: Callable[[], Exception]) -> None:
        """Fail all calls at once, but deliver the answers that came and still wait for the handlers before them."""
        self._inbox.deliver_all()
        self._fail_now(list(self._pending.values()), new_error)

    def _fail_now(self, calls: list[Call], new_error: Callable[[], Exception]) -> None:
        for call in calls:
            del self._pending[call.id]
            call.complete(new_error())
