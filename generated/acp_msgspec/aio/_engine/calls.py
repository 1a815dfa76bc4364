"""Calls that wait for the peer's answer."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

from msgspec import Struct

from .inbox import TURN, Inbox

LONGEST_ID = 30
ABANDONED = 10_000
"""How many cancelled calls are remembered, so that their late answers are dropped without a word."""


class Call(Struct, eq=False):
    """One call: its id, its method, the future of its answer, and the turn that it was made in."""

    id: int
    method: str
    future: asyncio.Future[Any]
    turn: int

    def complete(self, outcome: Any) -> None:
        """Deliver the result, or the exception that stands for the error."""
        if self.future.done():
            return
        if isinstance(outcome, Exception):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)


class _Delivery(Struct, frozen=True, eq=False):
    """An answer that waits for the handlers of what came before it."""

    call: Call
    inbox: Inbox

    def __call__(self, outcome: Any) -> None:
        self.call.complete(outcome)
        self.inbox.is_settling = True


class Calls:
    """The calls under way, by their ids."""

    __slots__ = ("_abandoned", "_ids", "_inbox", "added", "pending")

    def __init__(self, inbox: Inbox) -> None:
        """Start with none; ids count from 1."""
        self.pending: dict[Any, Call] = {}
        self.added: Callable[[], None] | None = None
        """Called once at the next call, for a reader that waits for room."""
        self._abandoned: dict[int, Callable[[], object] | None] = {}
        self._ids = count(1)
        self._inbox = inbox

    def add(self, method: str) -> tuple[int, Call]:
        """Open a call under a new id."""
        request_id = next(self._ids)
        call = Call(request_id, method, asyncio.get_running_loop().create_future(), TURN.get())
        self.pending[request_id] = call
        if call.turn and call.turn == self._inbox.turn:
            self._inbox.wanted += 1
            self._inbox.release()
        if self.added is not None:
            added, self.added = self.added, None
            added()
        return request_id, call

    def method_of(self, request_id: Any) -> str | None:
        """Give the method of a call under way."""
        call = self.pending.get(request_id)
        return call.method if call is not None else None

    def alike(self, request_id: Any) -> Call | None:
        """Find the call whose id is this one but for its JSON type: `"1"` and `1.0` for 1."""
        number: Any = None
        if isinstance(request_id, float) or (isinstance(request_id, str) and len(request_id) <= LONGEST_ID):
            with suppress(ValueError):
                number = float(request_id)
        return self.pending.get(int(number)) if number is not None and number.is_integer() else None

    def take(self, request_id: Any) -> Call | None:
        """Close the call that a response answers; there is none where its id is unknown."""
        return self.pending.pop(request_id, None)

    def deliver(self, call: Call, result: Any) -> None:
        """Hand an answer over, after the handlers of all earlier notifications.

        The handler that made the call does not count among them: it would wait for itself.
        """
        inbox = self._inbox
        if call.turn and call.turn == inbox.turn:
            inbox.wanted -= 1
            call.complete(result)
        elif inbox.is_idle:
            call.complete(result)
            inbox.is_settling = True
        else:
            inbox.queue.append((_Delivery(call, inbox), result))

    def abandon(self, request_id: int, when_late: Callable[[], object] | None = None) -> bool:
        """Give a call up; say whether it was still without an answer. `when_late` is called if an answer comes yet."""
        call = self.pending.pop(request_id, None)
        if call is None:
            return False
        if call.turn and call.turn == self._inbox.turn:
            self._inbox.wanted -= 1
        self._abandoned[request_id] = when_late
        if len(self._abandoned) > ABANDONED:
            del self._abandoned[next(iter(self._abandoned))]
        return True

    def is_abandoned(self, request_id: Any) -> bool:
        """Say whether a call with this id was given up, and its answer has not come yet."""
        return type(request_id) is int and request_id in self._abandoned

    def was_abandoned(self, request_id: Any) -> bool:
        """Say whether an answer is late, and forget the call."""
        if not self.is_abandoned(request_id):
            return False
        when_late = self._abandoned.pop(request_id)
        if when_late is not None:
            when_late()
        return True

    def give_up_running(self, why: Callable[[Call], Exception]) -> None:
        """Fail the calls that the running handler waits for; their answers are dropped should they come."""
        turn = self._inbox.turn
        for call in [c for c in self.pending.values() if turn and c.turn == turn]:
            self.abandon(call.id)
            call.complete(why(call))

    def fail_all(self, why: Callable[[], Exception], turn: int | None = None) -> None:
        """Fail the calls, or those of one turn only.

        All calls means the end: an answer that came, but waits for the handlers before it, is delivered then.
        """
        if turn is None:
            for deed, result in self._inbox.queue:
                if isinstance(deed, _Delivery):
                    deed.call.complete(result)
        for request_id, call in list(self.pending.items()):
            if turn is None or call.turn == turn:
                del self.pending[request_id]
                call.complete(why())
