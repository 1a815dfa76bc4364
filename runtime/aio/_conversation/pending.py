"""The changes that the reader of a turn has not taken yet."""

from collections import deque
from typing import Any

from msgspec.structs import replace

from .changes import ModeUpdated, PlanUpdated, SessionUpdated, TerminalUpdated, Text, Thought, ToolUpdated, UsageUpdated

MAX_CHANGES = 1000
"""Above this number, a change is merged into a waiting one that it continues or outdates, wherever that one stands.

What is left then are values that the state of the session holds as well, so a slow reader costs no more than the
conversation itself.
"""


class _Waiting:
    """A change, and the texts that continue it."""

    __slots__ = ("change", "texts")

    def __init__(self, change: Any) -> None:
        self.change = change
        self.texts: list[str] | None = None

    def result(self) -> Any:
        return self.change if self.texts is None else replace(self.change, text="".join(self.texts))


class PendingChanges:
    """A queue that merges what can be merged: always with `merges`, otherwise when it has grown long."""

    __slots__ = ("_last_of", "_merges", "_queue")

    def __init__(self, *, merges: bool) -> None:
        """Start empty."""
        self._merges = merges
        self._queue: deque[Any] = deque()
        """The changes; those that others may be merged into are wrapped."""
        self._last_of: dict[object, _Waiting] = {}
        """The last waiting change that a new one may be merged into, by what both are about."""

    def __len__(self) -> int:
        """Return the number of waiting changes."""
        return len(self._queue)

    def put(self, change: Any) -> None:
        """Add a change."""
        queue = self._queue
        is_long = len(queue) >= MAX_CHANGES
        key = _key(change) if is_long or self._merges else None
        if key is None:
            queue.append(change)
            return
        last = self._last_of.get(key)
        if last is not None and (is_long or last is queue[-1]):
            _merge(last, change)
            return
        waiting = self._last_of[key] = _Waiting(change)
        queue.append(waiting)

    def take(self) -> Any:
        """Take the first change."""
        first = self._queue.popleft()
        if type(first) is not _Waiting:
            return first
        key = _key(first.change)
        if self._last_of.get(key) is first:
            del self._last_of[key]
        return first.result()


def _merge(waiting: _Waiting, change: Any) -> None:
    if isinstance(change, Text | Thought):
        if waiting.texts is None:
            waiting.texts = [waiting.change.text]
        waiting.texts.append(change.text)
    else:
        waiting.change = change


def _key(change: Any) -> object:
    """Return what a change is about, for changes of which a later one continues or outdates an earlier one."""
    match change:
        case Text() | Thought():
            return type(change), change.message_id
        case ToolUpdated():
            return ToolUpdated, change.call.tool_call_id
        case TerminalUpdated():
            return TerminalUpdated, change.terminal.terminal_id
        case PlanUpdated():
            return PlanUpdated, change.plan_id
        case SessionUpdated():
            return type(change.change)
        case ModeUpdated() | UsageUpdated():
            return type(change)
        case _:
            return None
