"""What is known to be otherwise: what a client sees then, and why. Anything else that differs fails the tests."""

from dataclasses import dataclass
from typing import Any, Literal

from tests.interop.columns import Column
from tests.interop.scenario import FEATURES

ABSENT: dict[str, Any] = {"absent": True}
NOT_FOUND: dict[str, Any] = {"error": -32601}
UNSTABLE = "it counts as unstable there, and its server cannot be told to allow that"
STATES = ["in_progress", "completed"]


@dataclass(frozen=True, slots=True)
class Note:
    """A feature that a pair has not, or has otherwise.

    `only` names the sides that it is about, as in "Python SDK agent" or "SDK client".
    """

    feature: str
    only: str
    verdict: Literal["not there", "differs"]
    seen: dict[str, Any]
    why: str

    def is_about(self, column: Column, feature: str) -> bool:
        """Say whether the note is about a feature of a pair."""
        return feature == self.feature and self.only in f"{column.sdk} {column.theirs} {column.transport}"


def call_without_status() -> dict[str, Any]:
    """Give what is seen of a tool call whose status is not told."""
    told = FEATURES["tool call with a diff"]
    return {**told, "call": [*told["call"][:3], None, *told["call"][4:]], "states": [None, *STATES]}


NOTES = [
    Note("logout", "Python SDK agent", "not there", NOT_FOUND, "no handler for `logout`"),
    Note("logout", "Python SDK client", "not there", ABSENT, "no call for `logout`"),
    Note("session/delete", "Python SDK agent", "not there", NOT_FOUND, "no handler for `session/delete`"),
    Note("session/delete", "Python SDK client", "not there", ABSENT, "no call for `session/delete`"),
    Note(
        "tool call with a diff",
        "SDK client",
        "differs",
        call_without_status(),
        "`pending` is the default of a tool call's status and is not written, by us as by the reference; their types "
        "have no default and give none",
    ),
    Note(
        "an update of an unknown kind",
        "Python SDK agent",
        "not there",
        NOT_FOUND,
        "updates are its own types alone",
    ),
    Note(
        "$/cancel_request to the agent",
        "Python SDK agent",
        "not there",
        {"error": "no answer"},
        "`$/cancel_request` is an unknown notification to it; the request goes on",
    ),
    Note("$/cancel_request to the agent", "Python SDK client", "not there", ABSENT, "it never sends one"),
    Note("$/cancel_request to the client", "Python SDK agent", "not there", NOT_FOUND, "it never sends one"),
    Note(
        "$/cancel_request to the client",
        "Python SDK client",
        "not there",
        ABSENT,
        "`$/cancel_request` is an unknown notification to it",
    ),
    Note("session/resume", "Python SDK agent WebSocket", "not there", NOT_FOUND, UNSTABLE),
    Note("session/close", "Python SDK agent WebSocket", "not there", NOT_FOUND, UNSTABLE),
    Note(
        "5 MB to the client",
        "Python SDK client WebSocket",
        "differs",
        {"error": "ConnectionError: Connection closed"},
        "it sets no limit for messages, which leaves that of its library, 1 MiB; the connection closes",
    ),
    Note(
        "a notification, then a request",
        "TypeScript SDK agent stdio",
        "differs",
        {"in order": False},
        "its handlers are tried one after the other, each a step later, so that a request overtakes a notification "
        "whose handler was registered after its own",
    ),
]


def verdict(column: Column, feature: str, seen: Any) -> str | dict[str, Any]:
    """Judge what was seen; raise `AssertionError` for what is neither expected nor known."""
    known = next((note for note in NOTES if note.is_about(column, feature)), None)
    expected = known.seen if known else FEATURES[feature]
    assert seen == expected, f"{column.name}, {feature}: {seen} was seen instead of {expected}"
    return {known.verdict: known.why, "seen": known.seen} if known else "ok"
