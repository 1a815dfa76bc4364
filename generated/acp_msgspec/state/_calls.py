"""Tool calls: what is known of each, and how far it has come."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Struct, field

from .._patch import apply_patch
from ._blocks import Block
from ._changes import Change, IllegalMove, ToolCallChanged, Unannounced
from ._timeline import Timeline, Turns
from ._views import ToolCallView

FIRST, ENDS = "pending", frozenset({"completed", "failed", "cancelled"})
_RANKS = {"pending": 0, "in_progress": 1, **dict.fromkeys(ENDS, 2)}


def is_legal(before: str, after: str) -> bool:
    """Say whether a status may follow another: forward, steps may be left out, and the end is the end.

    What a later release or an extension calls a status may follow and precede everything.
    """
    if before == after or before not in _RANKS or after not in _RANKS:
        return True
    return _RANKS[before] < _RANKS[after]


class _Facts(Struct):
    """What updates patch; the names are those of the schemas."""

    tool_call_id: str
    title: str | None = None
    name: str | None = None
    kind: str = "other"
    status: str = FIRST
    content: list[Any] = field(default_factory=list[Any])
    locations: list[Any] = field(default_factory=list[Any])
    raw_input: Any = None
    raw_output: Any = None
    meta: dict[str, Any] | None = None


class _Call:
    """A tool call that may still change."""

    __slots__ = ("facts", "index", "turn")

    def __init__(self, facts: _Facts, turn: int) -> None:
        self.facts = facts
        self.turn = turn
        self.index = -1

    def view(self) -> ToolCallView:
        facts = {name: getattr(self.facts, name) for name in self.facts.__struct_fields__}
        facts["content"], facts["locations"] = tuple(facts["content"]), tuple(facts["locations"])
        return ToolCallView(turn=self.turn, **facts)


class ToolCalls:
    """All tool calls of a session, by id."""

    __slots__ = ("_calls", "_timeline", "_turns")

    def __init__(self, timeline: Timeline, turns: Turns) -> None:
        """Put tool calls into `timeline`."""
        self._timeline = timeline
        self._turns = turns
        self._calls: dict[str, _Call] = {}

    def knows(self, tool_call_id: str) -> bool:
        """Say whether a call has begun."""
        return tool_call_id in self._calls

    def announce(self, update: Any) -> Iterator[Change]:
        """Take a whole call; where there is one of its id, the new one stands in its place."""
        yield from self._set(update, _Facts(tool_call_id=update.tool_call_id), whole=True)

    def patch(self, update: Any) -> Iterator[Change]:
        """Change what an update carries. Where updates also begin calls, none is unannounced."""
        call = self._calls.get(update.tool_call_id)
        if call is None and hasattr(update, "session_update") and not _is_upsert(update):
            yield Unannounced(what="tool_call", id=update.tool_call_id)
        facts = call.facts if call is not None else _Facts(tool_call_id=update.tool_call_id)
        yield from self._set(update, facts, whole=False)

    def add_content(self, tool_call_id: str, content: Block) -> Iterator[Change]:
        """Add a streamed item of content."""
        call = self._calls.get(tool_call_id)
        before = None if call is None else call.facts.status
        if call is None:
            yield Unannounced(what="tool_call", id=tool_call_id)
            call = self._begin(_Facts(tool_call_id=tool_call_id))
        call.facts.content.append(content)
        self._timeline.touch(call.index)
        yield self._changed(call, before, ("content",))

    def _set(self, update: Any, base: _Facts, *, whole: bool) -> Iterator[Change]:
        call = self._calls.get(update.tool_call_id)
        before = None if call is None else call.facts.status
        facts = apply_patch(base, update)
        for name in ("content", "locations"):
            if getattr(facts, name) is getattr(update, name):
                setattr(facts, name, list(getattr(facts, name)))  # it will grow, and the update shall not
        names = facts.__struct_fields__[1:]
        changed = tuple(n for n in names if whole or getattr(facts, n) is not getattr(base, n))
        if call is None:
            call = self._begin(facts)
        call.facts = facts
        self._timeline.touch(call.index)
        if before is not None and not is_legal(before, facts.status):
            yield IllegalMove(what="tool_call", id=facts.tool_call_id, before=before, after=facts.status)
        yield self._changed(call, before, changed)

    def _begin(self, facts: _Facts) -> _Call:
        self._turns.agent_speaks()
        call = self._calls[facts.tool_call_id] = _Call(facts, self._turns.number)
        call.index = self._timeline.add(call)
        return call

    def _changed(self, call: _Call, before: str | None, fields: tuple[str, ...]) -> ToolCallChanged:
        facts = call.facts
        return ToolCallChanged(
            index=call.index, tool_call_id=facts.tool_call_id, before=before, status=facts.status, fields=fields
        )


def _is_upsert(update: Any) -> bool:
    """Tell the schemas apart in which an update may begin a call: there, its fields have three states."""
    return any(f.name == "title" and f.default is UNSET for f in msgspec.structs.fields(update))
