"""Which messages are shown: by their methods, what is odd about them, and how late they come."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from .conversation import Seen
from .schemas import LABELS, schema

BUDGET = 32 * 1024 * 1024
"""How many bytes of messages are held back at most for `--last`."""


class Selection:
    """Chooses messages by patterns of methods: `only` those, none of `exclude`; `errors` are those that are odd."""

    def __init__(self, only: Sequence[str] = (), exclude: Sequence[str] = (), *, errors: bool = False) -> None:
        """Keep what to choose."""
        self._only = only
        self._exclude = exclude
        self._errors = errors
        self._unseen = {*only, *exclude}
        """Patterns that no message has fitted so far."""

    def wants(self, seen: Seen) -> bool:
        """Say whether a message is to be shown; an answer goes with its request."""
        method = seen.method or ""
        if self._unseen:
            self._unseen -= {pattern for pattern in self._unseen if fnmatchcase(method, pattern)}
        if self._only and not any(fnmatchcase(method, pattern) for pattern in self._only):
            return False
        if self._exclude and any(fnmatchcase(method, pattern) for pattern in self._exclude):
            return False
        return not self._errors or seen.is_odd

    def unknown(self, seen_methods: Iterable[str]) -> Iterator[str]:
        """Name each pattern that fits neither a method of any schema nor one of the log so far, with what is close."""
        if not self._unseen:
            return
        known = sorted({method for label in LABELS for method in schema(label).methods})
        for option, patterns in (("--only", self._only), ("--exclude", self._exclude)):
            for pattern in dict.fromkeys(patterns):
                if pattern in self._unseen and not any(fnmatchcase(method, pattern) for method in known):
                    close = get_close_matches(pattern[:100], [*dict.fromkeys((*known, *seen_methods))], 3)
                    hint = f" (did you mean {', '.join(close)}?)" if close else ""
                    yield f"{option} {pattern}: unknown method, neither a schema nor the log so far has it{hint}"


class Last:
    """The last messages, at most `number` of them, and not more than fit into the budget."""

    def __init__(self, number: int) -> None:
        """Start with none."""
        self._held: deque[Seen] = deque()
        self._most = number
        self._size = 0
        self._over = False

    def add(self, seen: Seen) -> None:
        """Take one more message, and forget the first where there are too many."""
        self._held.append(seen)
        self._size += len(seen.raw)
        if len(self._held) > self._most:
            self._forget()
        while self._size > BUDGET and len(self._held) > 1:
            self._forget()
            self._over = True

    @property
    def is_short(self) -> bool:
        """Whether there are fewer than asked for because more did not fit into the budget."""
        return self._over and len(self._held) < self._most

    def take(self) -> Iterator[Seen]:
        """Give the messages, the first one first, and forget them."""
        while self._held:
            yield self._held.popleft()
        self._size = 0

    def _forget(self) -> None:
        self._size -= len(self._held.popleft().raw)
