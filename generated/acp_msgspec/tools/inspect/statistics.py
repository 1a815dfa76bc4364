"""Counting what a log holds, in bounded memory, for the closing summary."""

from typing import Any

from msgspec import Struct

from .clock import between
from .conversation import Conversation, Kind, Seen
from .formatting import brief
from .pending import LISTED, Asked

_MOST_METHODS = _MOST_KEYS = 1000
_OTHERS = "(others)"


class Places(Struct):
    """How often something was seen, and the lines of the first times."""

    number: int = 0
    lines: list[int] = []

    def add(self, line: int) -> None:
        """Count one more."""
        self.number += 1
        if len(self.lines) < LISTED and self.lines[-1:] != [line]:
            self.lines.append(line)


class UndeclaredKey(Struct):
    """A key that its schema does not declare: how often it was seen, and the lines and the path of the first times."""

    key: str
    number: int = 0
    lines: list[int] = []
    path: str = ""


class Unanswered(Struct):
    """A request without an answer."""

    line: int
    method: str


class Totals(Struct, kw_only=True):
    """What was counted in a whole log, as the closing summary tells it and `--json` writes it."""

    lines: int = 0
    bytes: int = 0
    messages: int = 0
    shown: int = 0
    kinds: dict[Kind, int]
    senders: dict[str, int]
    methods: dict[str, int]
    """Requests and notifications by method."""
    sessions: int = 0
    """Of each connection by itself."""
    connections: int = 1
    protocol_version: int | None = None
    schema: str = ""
    seconds: float | None = None
    """From the first known time to the last."""
    unanswered: int = 0
    first_unanswered: list[Unanswered]
    unpaired: Places
    """Responses without a request."""
    repairs: Places
    unknown: Places
    undeclared: list[UndeclaredKey] = []
    """Undeclared keys, the most frequent first."""
    errors: Places
    broken: Places
    given_up: int = 0
    """Requests that were forgotten because too many waited."""

    @property
    def is_fine(self) -> bool:
        """Whether every line was read: repairs and what is unknown do no harm."""
        return not self.errors.number and not self.broken.number


class Tally:
    """Counts messages as they come."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.totals = Totals(
            kinds=dict.fromkeys(("request", "notification", "response", "error", "invalid"), 0),
            senders={"client": 0, "agent": 0, "unknown": 0},
            methods={},
            first_unanswered=[],
            unpaired=Places(),
            repairs=Places(),
            unknown=Places(),
            errors=Places(),
            broken=Places(),
        )
        self._sessions: set[tuple[int, str]] = set()
        self._undeclared: dict[str, UndeclaredKey] = {}
        self._first: Any = None
        self._last: Any = None

    def add_line(self, size: int) -> None:
        """Count a line, whatever it holds."""
        self.totals.lines += 1
        self.totals.bytes += size

    def add(self, seen: Seen) -> None:
        """Count a message."""
        totals, line = self.totals, seen.line
        if seen.moment is not None:
            self._first, self._last = self._first or seen.moment, seen.moment
        if seen.kind == "broken":
            totals.broken.add(line)
            return
        totals.messages += 1
        totals.kinds[seen.kind] += 1
        totals.senders[seen.sender or "unknown"] += 1
        if seen.session is not None and len(self._sessions) < _MOST_METHODS:
            name = seen.session if len(seen.session) <= 100 else brief(seen.session, 100)
            self._sessions.add((seen.connection, name))
        if seen.method is not None and not seen.is_answer:
            method = seen.method if len(seen.method) <= 80 else brief(seen.method, 80)
            if method not in totals.methods and len(totals.methods) >= _MOST_METHODS:
                method = _OTHERS
            totals.methods[method] = totals.methods.get(method, 0) + 1
        if seen.is_answer and seen.asked is None:
            totals.unpaired.add(line)
        if seen.problem is not None:
            totals.errors.add(line)
        for _ in seen.repairs:
            totals.repairs.add(line)
        for _ in seen.unknown:
            totals.unknown.add(line)
        for path, key in seen.undeclared:
            self._add_key(key if len(key) <= 80 else brief(key, 80), path, line)

    def _add_key(self, key: str, path: str, line: int) -> None:
        if key not in self._undeclared and len(self._undeclared) >= _MOST_KEYS:
            key, path = _OTHERS, ""
        found = self._undeclared.get(key)
        if found is None:
            found = self._undeclared[key] = UndeclaredKey(key, path=path)
        found.number += 1
        if len(found.lines) < LISTED and found.lines[-1:] != [line]:
            found.lines.append(line)

    @property
    def sessions(self) -> int:
        """How many sessions were seen so far."""
        return len(self._sessions)

    def close(self, conversation: Conversation) -> Totals:
        """Complete the totals with what is only known at the end."""
        totals, pending = self.totals, conversation.pending
        waiting = pending.waiting()
        first: list[Asked] = [*pending.lost.first, *waiting]
        totals.unanswered = pending.lost.number + len(waiting)
        totals.first_unanswered = [Unanswered(a.line, a.method) for a in first[:LISTED]]
        totals.given_up = pending.given_up
        totals.sessions = len(self._sessions)
        totals.connections = conversation.connection
        totals.protocol_version = conversation.negotiated
        totals.schema = conversation.label
        totals.methods = dict(sorted(totals.methods.items(), key=lambda item: (-item[1], item[0])))
        totals.undeclared = sorted(self._undeclared.values(), key=lambda found: (-found.number, found.key))
        totals.seconds = between(self._first, self._last)
        return totals
