"""Statistics of a log, in bounded memory, for the closing summary."""

from typing import Any

from msgspec import Struct

from .clock import between
from .conversation import Conversation
from .formatting import shorten
from .log_message import LogMessage, MessageKind
from .pending import LISTED, PendingRequest

_MAX_METHODS = _MAX_KEYS = _MAX_SESSIONS = 1000
_OTHERS = "(others)"


class Occurrences(Struct):
    """How often something occurred, and the lines of the first occurrences."""

    number: int = 0
    lines: list[int] = []

    def add(self, line: int) -> None:
        """Count an occurrence."""
        self.number += 1
        if len(self.lines) < LISTED and self.lines[-1:] != [line]:
            self.lines.append(line)


class KeyStatistics(Struct):
    """An undeclared key: how often it occurred, the lines of the first occurrences, and the path of the first one."""

    key: str
    number: int = 0
    lines: list[int] = []
    path: str = ""


class UnansweredRequest(Struct):
    """A request without a response."""

    line: int
    method: str


class Statistics(Struct, kw_only=True):
    """The statistics of a whole log, as the closing summary shows them and `--json` writes them."""

    lines: int = 0
    bytes: int = 0
    messages: int = 0
    shown: int = 0
    kinds: dict[MessageKind, int]
    senders: dict[str, int]
    methods: dict[str, int]
    """Requests and notifications by method."""
    sessions: int = 0
    """Number of sessions, counted per connection."""
    connections: int = 1
    protocol_version: int | None = None
    schema: str = ""
    seconds: float | None = None
    """From the first known time to the last one."""
    unanswered: int = 0
    first_unanswered: list[UnansweredRequest]
    unpaired: Occurrences
    """Responses to requests that the log does not contain."""
    repairs: Occurrences
    unknown: Occurrences
    undeclared: list[KeyStatistics] = []
    """Undeclared keys, the most frequent first."""
    errors: Occurrences
    broken: Occurrences
    given_up: int = 0
    """Requests that were forgotten because too many were pending."""

    @property
    def is_fine(self) -> bool:
        """Whether every message was valid; repairs and unknown parts are not errors."""
        return not self.errors.number and not self.broken.number


class StatisticsCollector:
    """Counts messages one by one."""

    def __init__(self) -> None:
        """Start at zero."""
        self.statistics = Statistics(
            kinds=dict.fromkeys(("request", "notification", "response", "error", "invalid"), 0),
            senders={"client": 0, "agent": 0, "unknown": 0},
            methods={},
            first_unanswered=[],
            unpaired=Occurrences(),
            repairs=Occurrences(),
            unknown=Occurrences(),
            errors=Occurrences(),
            broken=Occurrences(),
        )
        self._sessions: set[tuple[int, str]] = set()
        self._undeclared: dict[str, KeyStatistics] = {}
        self._first: Any = None
        self._last: Any = None

    def add_line(self, size: int) -> None:
        """Count a line, whatever it contains."""
        self.statistics.lines += 1
        self.statistics.bytes += size

    def add(self, message: LogMessage) -> None:
        """Count a message."""
        statistics, line = self.statistics, message.line
        if message.moment is not None:
            self._first, self._last = self._first or message.moment, message.moment
        if message.kind == "broken":
            statistics.broken.add(line)
            return
        statistics.messages += 1
        statistics.kinds[message.kind] += 1
        statistics.senders[message.sender or "unknown"] += 1
        if message.session is not None and len(self._sessions) < _MAX_SESSIONS:
            name = message.session if len(message.session) <= 100 else shorten(message.session, 100)
            self._sessions.add((message.connection, name))
        if message.method is not None and not message.is_answer:
            method = message.method if len(message.method) <= 80 else shorten(message.method, 80)
            if method not in statistics.methods and len(statistics.methods) >= _MAX_METHODS:
                method = _OTHERS
            statistics.methods[method] = statistics.methods.get(method, 0) + 1
        if message.is_unpaired:
            statistics.unpaired.add(line)
        if message.problem is not None:
            statistics.errors.add(line)
        for _ in message.repairs:
            statistics.repairs.add(line)
        for _ in message.unknown:
            statistics.unknown.add(line)
        for path, key in message.undeclared:
            self._add_key(key if len(key) <= 80 else shorten(key, 80), path, line)

    def _add_key(self, key: str, path: str, line: int) -> None:
        if key not in self._undeclared and len(self._undeclared) >= _MAX_KEYS:
            key, path = _OTHERS, ""
        found = self._undeclared.get(key)
        if found is None:
            found = self._undeclared[key] = KeyStatistics(key, path=path)
        found.number += 1
        if len(found.lines) < LISTED and found.lines[-1:] != [line]:
            found.lines.append(line)

    @property
    def sessions(self) -> int:
        """Number of sessions so far."""
        return len(self._sessions)

    def close(self, conversation: Conversation) -> Statistics:
        """Complete the statistics with what is known only at the end."""
        statistics, pending = self.statistics, conversation.pending
        waiting = pending.waiting()
        first: list[PendingRequest] = [*pending.unanswered.first, *waiting]
        statistics.unanswered = pending.unanswered.number + len(waiting)
        statistics.first_unanswered = [UnansweredRequest(a.line, a.method) for a in first[:LISTED]]
        statistics.given_up = pending.given_up
        statistics.sessions = len(self._sessions)
        statistics.connections = conversation.connection
        statistics.protocol_version = conversation.negotiated
        statistics.schema = conversation.label
        statistics.methods = dict(sorted(statistics.methods.items(), key=lambda item: (-item[1], item[0])))
        statistics.undeclared = sorted(self._undeclared.values(), key=lambda found: (-found.number, found.key))
        statistics.seconds = between(self._first, self._last)
        return statistics
