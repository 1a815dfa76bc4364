"""The tool calls of a session: their fields and their progress."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import cache
from typing import Any, get_args

import msgspec
from msgspec import Struct, field

from ._blocks import Block
from ._changes import Change, IllegalMove, ToolCallChanged, Unannounced
from ._timeline import Timeline, Turns
from ._tool_call import ToolCallFields, is_announcement, may_begin, merge
from ._views import ToolCallView

FINAL_STATUSES = frozenset({"completed", "failed", "cancelled"})
_ORDER = {"pending": 0, "in_progress": 1, **dict.fromkeys(FINAL_STATUSES, 2)}


def is_legal(before: str, after: str) -> bool:
    """Return whether a status may follow another: steps may be skipped, but not reversed, and nothing follows the end.

    A status that is unknown here, of a later release or of an extension, may precede and follow every other.
    """
    if before == after or before not in _ORDER or after not in _ORDER:
        return True
    return _ORDER[before] < _ORDER[after]


class _AllFields(ToolCallFields):
    """All fields of a tool call."""

    content: list[Any] = field(default_factory=list[Any])
    locations: list[Any] = field(default_factory=list[Any])
    raw_input: Any = None
    raw_output: Any = None
    capabilities: Any = None
    meta: dict[str, Any] | None = None


class _ToolCall:
    """A tool call that may still change."""

    __slots__ = ("cancelled_status", "fields", "index", "is_presumed", "turn")

    def __init__(self, fields: _AllFields, turn: int) -> None:
        self.fields = fields
        self.turn = turn
        self.index = -1
        self.cancelled_status = "cancelled"
        """The status that a stopped call gets; not every schema has `cancelled`."""
        self.is_presumed = False
        """Whether its status follows from the end of its turn instead of an update."""

    def view(self) -> ToolCallView:
        values = {name: getattr(self.fields, name) for name in self.fields.__struct_fields__}
        values["content"], values["locations"] = tuple(values["content"]), tuple(values["locations"])
        return ToolCallView(turn=self.turn, **values)


class ToolCalls:
    """All tool calls of a session, by id."""

    __slots__ = ("_calls", "_on_begin", "_open", "_timeline", "_turns")

    def __init__(self, timeline: Timeline, turns: Turns, on_begin: Callable[[], None]) -> None:
        """Start with no calls. New ones go into `timeline`, after a call of `on_begin`."""
        self._timeline = timeline
        self._turns = turns
        self._on_begin = on_begin
        self._calls: dict[str, _ToolCall] = {}
        self._open: dict[int, dict[str, _ToolCall]] = {}
        """The calls without a final status, by the number of their turn."""

    def apply(self, update: Any) -> Iterator[Change]:
        """Announce a call or apply an update. An update of an unknown call begins it."""
        call = self._calls.get(update.tool_call_id)
        is_update = hasattr(update, "session_update") and not is_announcement(update)
        if call is None and is_update and not may_begin(update):
            yield Unannounced(what="tool_call", id=update.tool_call_id)
        base = call.fields if call is not None else _AllFields(tool_call_id=update.tool_call_id)
        fields = merge(base, update)
        for name in ("content", "locations"):
            if getattr(fields, name) is getattr(update, name, None):
                setattr(fields, name, list(getattr(fields, name)))  # chunks are appended to it, not to the update
        names = fields.__struct_fields__[1:]
        whole = is_announcement(update)
        changed = tuple(n for n in names if whole or getattr(fields, n) is not getattr(base, n))
        yield from self._set(call, fields, changed, _cancelled_status(update.__class__))

    def append_content(self, tool_call_id: str, content: Block) -> Iterator[Change]:
        """Append a streamed item of content."""
        call = self._calls.get(tool_call_id)
        before = None if call is None else call.fields.status
        if call is None:
            yield Unannounced(what="tool_call", id=tool_call_id)
            call = self._begin(_AllFields(tool_call_id=tool_call_id))
        call.fields.content.append(content)
        self._track(call)
        self._timeline.touch(call.index)
        yield _changed(call, before, ("content",))

    def stop(self, turn: int) -> Iterator[Change]:
        """End the open calls of a cancelled or failed turn. Later updates of the agent still apply."""
        for call in self._open.pop(turn, {}).values():
            before = call.fields.status
            call.fields = msgspec.structs.replace(call.fields, status=call.cancelled_status)
            call.is_presumed = True
            self._timeline.touch(call.index)
            yield _changed(call, before, ("status",))

    def _track(self, call: _ToolCall) -> None:
        if call.fields.status in FINAL_STATUSES:
            self._open.get(call.turn, {}).pop(call.fields.tool_call_id, None)
        else:
            self._open.setdefault(call.turn, {})[call.fields.tool_call_id] = call

    def _set(
        self, call: _ToolCall | None, fields: _AllFields, changed: tuple[str, ...], cancelled_status: str
    ) -> Iterator[Change]:
        before = None if call is None else call.fields.status
        if call is None:
            call = self._begin(fields)
        call.fields, call.cancelled_status = fields, cancelled_status
        self._track(call)
        self._timeline.touch(call.index)
        may_follow = call.is_presumed or before is None or is_legal(before, fields.status)
        call.is_presumed = call.is_presumed and "status" not in changed
        if before is not None and not may_follow:
            yield IllegalMove(what="tool_call", id=fields.tool_call_id, before=before, after=fields.status)
        yield _changed(call, before, changed)

    def _begin(self, fields: _AllFields) -> _ToolCall:
        self._on_begin()
        self._turns.agent_speaks()
        call = self._calls[fields.tool_call_id] = _ToolCall(fields, self._turns.number)
        call.index = self._timeline.add(call)
        return call


def _changed(call: _ToolCall, before: str | None, names: tuple[str, ...]) -> ToolCallChanged:
    fields = call.fields
    return ToolCallChanged(
        index=call.index, tool_call_id=fields.tool_call_id, before=before, status=fields.status, fields=names
    )


@cache
def _cancelled_status(update: type[Struct]) -> str:
    """Return the status of a stopped call in the schema of an update: `cancelled`, or `failed` if it lacks that."""
    for found in msgspec.structs.fields(update):
        if found.name == "status":
            members: dict[str, str] = {member.value: member for member in _enum_members(found.type)}
            return members.get("cancelled") or members.get("failed") or "failed"
    return "cancelled"


def _enum_members(annotation: Any) -> Iterator[StrEnum]:
    """List the members of the enumerations in a type."""
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        yield from annotation
    for part in get_args(annotation):
        yield from _enum_members(part)
