"""The titles of tool calls: a message that changes a call seldom repeats its title."""

from hashlib import sha256
from typing import Any, cast

import msgspec
from msgspec import UNSET, Struct

MOST = 10_000
"""How many titles are remembered."""
_CLEARED: dict[type, bool] = {}
_LONG = 200  # characters; longer names are remembered by their digest, longer titles are cut


def tool_call_of(message: Any) -> Any:
    """Find the tool call (or the update of one) that a decoded message is about; None where it is about none."""
    params = getattr(message, "params", None)
    update = getattr(params, "update", None)
    if update is not None:
        return update if getattr(update, "tool_call_id", None) is not None else None
    subject = getattr(params, "subject", None)
    places = (getattr(params, "tool_call", None), getattr(subject, "tool_call", None), subject)
    return next((it for it in places if getattr(it, "tool_call_id", None) is not None), None)


class Titles:
    """The last title of each tool call of a connection, in bounded memory: the oldest are forgotten."""

    def __init__(self) -> None:
        """Start with none."""
        self._titles: dict[tuple[str, str], str] = {}

    def restart(self) -> None:
        """Begin a new connection, whose calls are others even if they bear the same ids."""
        self._titles.clear()

    def learn(self, message: Any, session: str | None) -> str | None:
        """Take note of what a message says of a title; give the title where the message has none itself."""
        told = tool_call_of(message)
        if told is None:
            return None
        key = (_short(session or ""), _short(str(told.tool_call_id)))
        title = getattr(told, "title", UNSET)
        if isinstance(title, str):
            self._titles.pop(key, None)
            if len(self._titles) >= MOST:
                del self._titles[next(iter(self._titles))]
            self._titles[key] = title[:_LONG]
            return None
        if title is None and _is_cleared_by_null(cast("type[object]", type(told))):
            self._titles.pop(key, None)
        return self._titles.get(key)


def _short(name: str) -> str:
    return name if len(name) <= _LONG else sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def _is_cleared_by_null(kind: type) -> bool:
    """Say whether null takes a title away; where absence and null are the same, it leaves the title as it is."""
    if kind not in _CLEARED:
        fields = msgspec.structs.fields(kind) if issubclass(kind, Struct) else ()
        _CLEARED[kind] = any(field.name == "title" and field.default is UNSET for field in fields)
    return _CLEARED[kind]
