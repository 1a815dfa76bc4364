"""Tool calls: what is known of each, and how far it has come."""

from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import Any, get_args

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

    __slots__ = ("facts", "index", "is_presumed", "stopped", "turn")

    def __init__(self, facts: _Facts, turn: int) -> None:
        self.facts = facts
        self.turn = turn
        self.index = -1
        self.stopped = "cancelled"
        """The status of a call that is stopped, in the words of its schema."""
        self.is_presumed = False
        """Whether the end of its turn has ended it, and not the agent."""

    def view(self) -> ToolCallView:
        facts = {name: getattr(self.facts, name) for name in self.facts.__struct_fields__}
        facts["content"], facts["locations"] = tuple(facts["content"]), tuple(facts["locations"])
        return ToolCallView(turn=self.turn, **facts)


class ToolCalls:
    """All tool calls of a session, by id."""

    __slots__ = ("_calls", "_open", "_timeline", "_turns")

    def __init__(self, timeline: Timeline, turns: Turns) -> None:
        """Put tool calls into `timeline`."""
        self._timeline = timeline
        self._turns = turns
        self._calls: dict[str, _Call] = {}
        self._open: dict[int, dict[str, _Call]] = {}
        """The calls that have not ended, by the number of their turn."""

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
        self._track(call)
        self._timeline.touch(call.index)
        yield self._changed(call, before, ("content",))

    def stop(self, turn: int) -> Iterator[Change]:
        """End the calls of a turn that was cancelled or has failed; what the agent says of them later still counts."""
        for call in self._open.pop(turn, {}).values():
            before = call.facts.status
            call.facts = msgspec.structs.replace(call.facts, status=call.stopped)
            call.is_presumed = True
            self._timeline.touch(call.index)
            yield self._changed(call, before, ("status",))

    def _track(self, call: _Call) -> None:
        if call.facts.status in ENDS:
            self._open.get(call.turn, {}).pop(call.facts.tool_call_id, None)
        else:
            self._open.setdefault(call.turn, {})[call.facts.tool_call_id] = call

    def _set(self, update: Any, base: _Facts, *, whole: bool) -> Iterator[Change]:
        call = self._calls.get(update.tool_call_id)
        before = None if call is None else call.facts.status
        facts = apply_patch(base, update)
        for name in ("content", "locations"):
            if getattr(facts, name) is getattr(update, name, None):
                setattr(facts, name, list(getattr(facts, name)))  # it will grow, and the update shall not
        names = facts.__struct_fields__[1:]
        changed = tuple(n for n in names if whole or getattr(facts, n) is not getattr(base, n))
        if call is None:
            call = self._begin(facts)
        call.facts, call.stopped = facts, _stopped(update.__class__)
        self._track(call)
        self._timeline.touch(call.index)
        may_follow = call.is_presumed or before is None or is_legal(before, facts.status)
        call.is_presumed = call.is_presumed and "status" not in changed
        if before is not None and not may_follow:
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


@cache
def _stopped(update: type[Struct]) -> str:
    """Find the status of a call that did not come to its end, in the schema of the class of an update."""
    for found in msgspec.structs.fields(update):
        if found.name == "status":
            words: dict[str, str] = {word.value: word for word in _words(found.type)}
            return words.get("cancelled") or words.get("failed") or "failed"
    return "cancelled"


def _words(kind: Any) -> Iterator[StrEnum]:
    """List the members of the enumerations in a type."""
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        yield from kind
    for part in get_args(kind):
        yield from _words(part)


def _is_upsert(update: Any) -> bool:
    """Tell the schemas apart in which an update may begin a call: there, its fields have three states."""
    return any(f.name == "title" and f.default is UNSET for f in msgspec.structs.fields(update))
