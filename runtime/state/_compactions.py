"""Context compactions: summaries that replace older parts of a conversation."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import UNSET, Struct

from .._patch import apply_patch
from ._blocks import Block, Blocks
from ._changes import Change, CompactionChanged, IllegalMove, Unannounced
from ._timeline import Timeline, Turns
from ._tool_calls import is_legal
from ._views import CompactionView


class _CompactionFields(Struct):
    """The fields that an update changes as they are; the names are those of the schemas."""

    compaction_id: str
    status: str = "in_progress"
    error: str | None = None
    meta: dict[str, Any] | None = None


class _Compaction:
    """A compaction whose summary may still grow."""

    __slots__ = ("fields", "index", "summary", "turn")

    def __init__(self, fields: _CompactionFields, turn: int) -> None:
        self.fields = fields
        self.turn = turn
        self.index = -1
        self.summary = Blocks()

    def view(self) -> CompactionView:
        fields = self.fields
        return CompactionView(
            turn=self.turn,
            compaction_id=fields.compaction_id,
            status=fields.status,
            summary=self.summary.view(),
            error=fields.error,
            meta=fields.meta,
        )


class Compactions:
    """The compactions of a session, by id."""

    __slots__ = ("_by_id", "_on_begin", "_timeline", "_turns")

    def __init__(self, timeline: Timeline, turns: Turns, on_begin: Callable[[], None]) -> None:
        """Start with no compactions. New ones go into `timeline`, after a call of `on_begin`."""
        self._timeline = timeline
        self._turns = turns
        self._on_begin = on_begin
        self._by_id: dict[str, _Compaction] = {}

    def apply(self, update: Any) -> Iterator[Change]:
        """Apply an update. The first one of an id begins a compaction."""
        known = self._by_id.get(update.compaction_id)
        before = None if known is None else known.fields.status
        compaction = known or self._begin(update.compaction_id)
        compaction.fields = apply_patch(compaction.fields, update)
        if update.summary is not UNSET:
            compaction.summary.replace(update.summary or ())
        self._timeline.touch(compaction.index)
        after = compaction.fields.status
        if before is not None and not is_legal(before, after):
            yield IllegalMove(what="compaction", id=update.compaction_id, before=before, after=after)
        yield _changed(compaction, before)

    def append(self, compaction_id: str, block: Block) -> Iterator[Change]:
        """Append a streamed block to a summary."""
        compaction = self._by_id.get(compaction_id)
        before = None if compaction is None else compaction.fields.status
        if compaction is None:
            yield Unannounced(what="compaction", id=compaction_id)
            compaction = self._begin(compaction_id)
        compaction.summary.append(block)
        self._timeline.touch(compaction.index)
        yield _changed(compaction, before)

    def _begin(self, compaction_id: str) -> _Compaction:
        self._on_begin()
        fields = _CompactionFields(compaction_id=compaction_id)
        compaction = self._by_id[compaction_id] = _Compaction(fields, self._turns.number)
        compaction.index = self._timeline.add(compaction)
        return compaction


def _changed(compaction: _Compaction, before: str | None) -> CompactionChanged:
    fields = compaction.fields
    return CompactionChanged(
        index=compaction.index, compaction_id=fields.compaction_id, before=before, status=fields.status
    )
