"""Calls that wait for the peer's answer."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

from msgspec import Struct

from ._inbox import TURN, Inbox

ABANDONED = 10_000
"""How many cancelled calls are remembered, so that their late answers are dropped without a word."""


class Call(Struct, eq=False):
    """One call: its method, the future of its answer, and the turn that it was made in."""

    method: str
    future: asyncio.Future[Any]
    turn: int

    def succeed(self, result: Any) -> None:
        """Deliver the result."""
        if not self.future.done():
            self.future.set_result(result)

    def fail(self, why: Exception) -> None:
        """Deliver an error."""
        if not self.future.done():
            self.future.set_exception(why)


class Calls:
    """The calls under way, by their ids."""

    __slots__ = ("_abandoned", "_ids", "_inbox", "added", "pending")

    def __init__(self, inbox: Inbox) -> None:
        """Start with none; ids count from 1."""
        self.pending: dict[Any, Call] = {}
        self.added: Callable[[], None] | None = None
        """Called once at the next call, for a reader that waits for room."""
        self._abandoned: dict[Any, None] = {}
        self._ids = count(1)
        self._inbox = inbox

    def add(self, method: str) -> tuple[int, Call]:
        """Open a call under a new id."""
        call = Call(method, asyncio.get_running_loop().create_future(), TURN.get())
        request_id = next(self._ids)
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

    def take(self, request_id: Any) -> Call | None:
        """Close the call that a response answers; there is none where its id is unknown."""
        return self.pending.pop(request_id, None)

    def deliver(self, call: Call, result: Any) -> None:
        """Hand an answer over, after the handlers of all earlier notifications.

        The handler that made the call does not count among them: it would wait for itself.
        """
        inbox = self._inbox
        deed = call.fail if isinstance(result, Exception) else call.succeed
        if call.turn and call.turn == inbox.turn:
            inbox.wanted -= 1
            deed(result)
        elif inbox.is_idle:
            deed(result)
        else:
            inbox.queue.append((deed, result))

    def abandon(self, request_id: int) -> bool:
        """Give a call up; say whether it was still without an answer."""
        call = self.pending.pop(request_id, None)
        if call is None:
            return False
        if call.turn and call.turn == self._inbox.turn:
            self._inbox.wanted -= 1
        self._abandoned[request_id] = None
        if len(self._abandoned) > ABANDONED:
            del self._abandoned[next(iter(self._abandoned))]
        return True

    def was_abandoned(self, request_id: Any) -> bool:
        """Say whether an answer is late, and forget the call."""
        return self._abandoned.pop(request_id, self) is None

    def fail_all(self, why: Callable[[], Exception], turn: int | None = None) -> None:
        """Fail the calls, or those of one turn only.

        All calls means the end: an answer that came, but waits for the handlers before it, is delivered then.
        """
        if turn is None:
            for deed, result in self._inbox.queue:
                if isinstance(getattr(deed, "__self__", None), Call):
                    deed(result)
        for request_id, call in list(self.pending.items()):
            if turn is None or call.turn == turn:
                del self.pending[request_id]
                call.fail(why())
