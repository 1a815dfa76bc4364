"""Chooses the messages to show: by method, with `--errors`, and with `--last`."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from .log_message import LogMessage
from .schemas import LABELS, schema

BUDGET = 32 * 1024 * 1024
"""The greatest number of bytes of messages held for `--last`."""


class Selection:
    """Chooses messages whose method matches `only` and not `exclude`; with `errors`, only odd ones."""

    def __init__(self, only: Sequence[str] = (), exclude: Sequence[str] = (), *, errors: bool = False) -> None:
        """Store the patterns."""
        self._only = only
        self._exclude = exclude
        self._errors = errors
        self._unmatched = {*only, *exclude}
        """Patterns that have matched no message so far."""

    def wants(self, message: LogMessage) -> bool:
        """Return whether to show a message. A response has the method of its request."""
        method = message.method or ""
        if self._unmatched:
            self._unmatched -= {pattern for pattern in self._unmatched if fnmatchcase(method, pattern)}
        if self._only and not any(fnmatchcase(method, pattern) for pattern in self._only):
            return False
        if self._exclude and any(fnmatchcase(method, pattern) for pattern in self._exclude):
            return False
        return not self._errors or message.is_odd

    def unknown(self, seen_methods: Iterable[str]) -> Iterator[str]:
        """Yield a warning for each pattern that matches no method of a schema or of the log so far."""
        if not self._unmatched:
            return
        known = sorted({method for label in LABELS for method in schema(label).methods})
        for option, patterns in (("--only", self._only), ("--exclude", self._exclude)):
            for pattern in dict.fromkeys(patterns):
                if pattern in self._unmatched and not any(fnmatchcase(method, pattern) for method in known):
                    close = get_close_matches(pattern[:100], [*dict.fromkeys((*known, *seen_methods))], 3)
                    hint = f" (did you mean {', '.join(close)}?)" if close else ""
                    yield f"{option} {pattern}: unknown method, neither a schema nor the log so far has it{hint}"


class LastMessages:
    """The last messages: at most `number` of them, within the budget."""

    def __init__(self, number: int) -> None:
        """Start with no messages."""
        self._held: deque[LogMessage] = deque()
        self._number = number
        self._size = 0
        self._is_over_budget = False

    def add(self, message: LogMessage) -> None:
        """Add a message; drop the oldest ones if there are too many."""
        self._held.append(message)
        self._size += len(message.raw)
        if len(self._held) > self._number:
            self._drop_oldest()
        while self._size > BUDGET and len(self._held) > 1:
            self._drop_oldest()
            self._is_over_budget = True

    @property
    def is_short(self) -> bool:
        """Whether the budget allows fewer messages than requested."""
        return self._is_over_budget and len(self._held) < self._number

    def take(self) -> Iterator[LogMessage]:
        """Remove and yield the messages in order."""
        while self._held:
            yield self._held.popleft()
        self._size = 0

    def _drop_oldest(self) -> None:
        self._size -= len(self._held.popleft().raw)
