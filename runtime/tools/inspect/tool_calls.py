"""The tool calls of a connection, merged from the messages about them: few updates repeat the title."""

from hashlib import sha256
from typing import Any

from msgspec import Struct

from ...state._tool_call import ToolCallFields, merge, tool_call_of

MAX_CALLS = 10_000
"""How many tool calls are remembered; the least recently updated are forgotten first."""
_MAX_LENGTH = 200  # characters; longer ids are remembered by their digest, other longer texts are cut


def tool_call_in(decoded: Any) -> Any:
    """Return the tool call, or the update of one, in a decoded message; None if it is about no call.

    A permission request for a command may only refer to a call by its id.
    """
    params = getattr(decoded, "params", None)
    found = tool_call_of(params)
    if found is None and getattr(params, "update", None) is None:
        found = getattr(params, "subject", None)
    return found if getattr(found, "tool_call_id", None) is not None else None


class ToolCallTracker:
    """The current fields of each tool call of a connection, in bounded memory."""

    def __init__(self) -> None:
        """Start with no calls."""
        self._calls: dict[tuple[str, str], ToolCallFields] = {}

    def restart(self) -> None:
        """Begin a new connection, whose calls are different ones, even with the same ids."""
        self._calls.clear()

    def apply(self, decoded: Any, session: str) -> ToolCallFields | None:
        """Merge a message into the tool call that it is about, and return that call."""
        update = tool_call_in(decoded)
        if not isinstance(update, Struct):
            return None
        call_id = str(getattr(update, "tool_call_id", ""))
        key = (_short(session), _short(call_id))
        known = self._calls.pop(key, None)
        call = _bounded(merge(known or ToolCallFields(tool_call_id=call_id), update))
        if call.title is not None:  # of other calls, there is nothing worth remembering
            if len(self._calls) >= MAX_CALLS:
                del self._calls[next(iter(self._calls))]
            self._calls[key] = call
        return call


def _bounded(call: ToolCallFields) -> ToolCallFields:
    """Cut the texts of a call, which have no limit otherwise."""
    for name in call.__struct_fields__:
        text = getattr(call, name)
        if text is not None and len(text) > _MAX_LENGTH:
            setattr(call, name, text[:_MAX_LENGTH])
    return call


def _short(name: str) -> str:
    return name if len(name) <= _MAX_LENGTH else sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
