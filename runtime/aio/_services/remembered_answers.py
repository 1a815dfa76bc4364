"""What a user has decided for always: found again by all that a request says, within bounds."""

from hashlib import sha256
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET, Struct

from ..._rpc.encoding import to_builtins

A = TypeVar("A")

ANSWERS = 1000
"""Answers remembered for one session; the oldest go first."""
SESSIONS = 1000
"""Sessions with remembered answers; the oldest go first."""
LOCATED = frozenset({"read", "edit", "delete", "move", "search"})
"""The kinds of calls whose locations say enough of what they do."""
TRACING = ("traceparent", "tracestate", "baggage")
"""Metadata that differs from request to request without saying what is done."""


def digest(value: Any) -> bytes:
    """Give the same 32 bytes for the same JSON, whatever the order of its keys.

    Raises what `encode` raises for anything but JSON.
    """
    return sha256(msgspec.json.encode(to_builtins(value), order="sorted")).digest()


def subject_of(request: Any) -> bytes | None:
    """Give what an "always" holds for: a digest of everything that tells one action from another.

    For a tool call these are its kind, title, raw input, locations, content and metadata, for a command the command,
    its folder and its metadata. None where the request does not say what will be done: the model chooses the title, so
    that another action may have the same. It takes raw input, content, or the locations of a call that works on files.
    """
    subject = getattr(request, "subject", None)
    call = getattr(request, "tool_call", None) or getattr(subject, "tool_call", None)
    if call is not None:
        names = ("kind", "title", "raw_input", "locations", "content")
        said = {name: _given(call, name) for name in names}
        enough = [said["raw_input"], said["content"]]
        if str(said["kind"]) in LOCATED:
            enough.append(said["locations"])
        if not any(enough):  # null, and what is empty, such as input that is still to come
            return None
        return _digest_or_none(["tool", said, _metadata(call)])
    command = _given(subject, "command")
    if not isinstance(command, str) or not command:
        return None
    return _digest_or_none(["command", command, _given(subject, "cwd"), _metadata(subject)])


def _given(value: Any, name: str) -> Any:
    found = getattr(value, name, None)
    return None if found is UNSET else found


def _metadata(value: Any) -> Any:
    found: dict[str, Any] | None = _given(value, "meta")
    return None if found is None else {k: v for k, v in found.items() if k not in TRACING}


def _digest_or_none(value: Any) -> bytes | None:
    try:
        return digest(value)
    except (TypeError, ValueError, OverflowError, RecursionError):  # such a request is asked about each time
        return None


def recognizable(key: object) -> Any:
    """Make a key of anything: small where it is JSON, which may be large and need not be hashable, or else itself."""
    found = _digest_or_none(key)
    return key if found is None else found


class _Answers(Struct, Generic[A]):
    """The answers of one session; `scope` is kept, so that nothing else can take its identity over."""

    scope: object
    session: Any
    known: dict[Any, A]


class Consents(Generic[A]):
    """The answers that hold for the rest of a session, by scope, session and key."""

    def __init__(self) -> None:
        """Start with none."""
        self._sessions: dict[tuple[int, Any], _Answers[A]] = {}
        self.epoch = 0
        """Changes whenever something was forgotten."""

    def get(self, scope: object, session: Any, key: Any) -> A | None:
        """Find an answer; only what the same scope put in is found."""
        found = self._sessions.get((id(scope), recognizable(session)))
        return None if found is None else found.known.get(key)

    def put(self, scope: object, session: Any, key: Any, answer: A) -> None:
        """Remember an answer."""
        session = recognizable(session)
        found = self._sessions.setdefault((id(scope), session), _Answers(scope, session, {}))
        found.known[key] = answer
        for known, most in ((found.known, ANSWERS), (self._sessions, SESSIONS)):
            if len(known) > most:
                del known[next(iter(known))]

    def forget(self, session: Any, scope: object) -> None:
        """Forget the answers of a session, of a scope, of both, or all; None stands for any."""
        self.epoch += 1
        wanted = None if session is None else recognizable(session)
        for key, found in list(self._sessions.items()):
            if wanted in (None, found.session) and (scope is None or scope is found.scope):
                del self._sessions[key]
