"""Answers that hold for the rest of a session, in bounded memory."""

from typing import Any, Generic, TypeVar

from msgspec import Struct

from .permission_keys import compact_key

A = TypeVar("A")

ANSWERS = 1000
"""How many answers are kept per session; the oldest are dropped first."""
SESSIONS = 1000
"""How many sessions with answers are kept; the oldest are dropped first."""


class _SessionAnswers(Struct, Generic[A]):
    """The answers of one session. Keeping `scope` alive ensures that no other object gets its `id()`."""

    scope: object
    session: Any
    by_key: dict[Any, A]


class RememberedAnswers(Generic[A]):
    """Answers by scope, session and key."""

    def __init__(self) -> None:
        """Start empty."""
        self._sessions: dict[tuple[int, Any], _SessionAnswers[A]] = {}
        self.epoch = 0
        """Changes whenever answers are forgotten."""

    def get(self, scope: object, session: Any, key: Any) -> A | None:
        """Return the answer that was stored for the same scope, session and key."""
        found = self._sessions.get((id(scope), compact_key(session)))
        return None if found is None else found.by_key.get(key)

    def put(self, scope: object, session: Any, key: Any, answer: A) -> None:
        """Store an answer."""
        session = compact_key(session)
        found = self._sessions.setdefault((id(scope), session), _SessionAnswers(scope, session, {}))
        found.by_key[key] = answer
        for entries, maximum in ((found.by_key, ANSWERS), (self._sessions, SESSIONS)):
            if len(entries) > maximum:
                del entries[next(iter(entries))]

    def forget(self, session: Any, scope: object) -> None:
        """Forget the answers of a session, of a scope, or both; None means any."""
        self.epoch += 1
        wanted = None if session is None else compact_key(session)
        for key, found in list(self._sessions.items()):
            if wanted in (None, found.session) and (scope is None or scope is found.scope):
                del self._sessions[key]
