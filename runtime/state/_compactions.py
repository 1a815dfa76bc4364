"""Summaries of the context, which take the place of older parts of a conversation."""

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Struct

from .._patch import apply_patch
from ._blocks import Block, Blocks
from ._changes import Change, CompactionChanged, IllegalMove, Unannounced
from ._timeline import Timeline, Turns
from ._tool_calls import is_legal
from ._views import CompactionView

_FIRST = "in_progress"


class _CompactionFacts(Struct):
    """What updates patch as it is."""

    compaction_id: str
    status: str = _FIRST
    error: str | None = None
    meta: dict[str, Any] | None = None


class _Compaction:
    """A summary that may still grow."""

    __slots__ = ("facts", "index", "summary", "turn")

    def __init__(self, facts: _CompactionFacts, turn: int) -> None:
        self.facts = facts
        self.turn = turn
        self.index = -1
        self.summary = Blocks()

    def view(self) -> CompactionView:
        facts = self.facts
        return CompactionView(
            turn=self.turn,
            compaction_id=facts.compaction_id,
            status=facts.status,
            summary=self.summary.view(),
            error=facts.error,
            meta=facts.meta,
        )


class Compactions:
    """The summaries of a session, by id."""

    __slots__ = ("_by_id", "_timeline", "_turns")

    def __init__(self, timeline: Timeline, turns: Turns) -> None:
        """Put summaries into `timeline`."""
        self._timeline = timeline
        self._turns = turns
        self._by_id: dict[str, _Compaction] = {}

    def knows(self, compaction_id: str) -> bool:
        """Say whether a summary has begun."""
        return compaction_id in self._by_id

    def patch(self, update: Any) -> Iterator[Change]:
        """Begin a summary or change what an update carries."""
        known = self._by_id.get(update.compaction_id)
        before = None if known is None else known.facts.status
        compaction = known or self._begin(update.compaction_id, _FIRST)
        compaction.facts = apply_patch(compaction.facts, update)
        if update.summary is not UNSET:
            compaction.summary.replace(update.summary or ())
        self._timeline.touch(compaction.index)
        after = compaction.facts.status
        if before is not None and not is_legal(before, after):
            yield IllegalMove(what="compaction", id=update.compaction_id, before=before, after=after)
        yield self._changed(compaction, before)

    def append(self, compaction_id: str, block: Block) -> Iterator[Change]:
        """Add to a summary."""
        compaction = self._by_id.get(compaction_id)
        before = None if compaction is None else compaction.facts.status
        if compaction is None:
            yield Unannounced(what="compaction", id=compaction_id)
            compaction = self._begin(compaction_id, _FIRST)
        compaction.summary.append(block)
        self._timeline.touch(compaction.index)
        yield self._changed(compaction, before)

    def _begin(self, compaction_id: str, status: str) -> _Compaction:
        facts = _CompactionFacts(compaction_id=compaction_id, status=status)
        compaction = self._by_id[compaction_id] = _Compaction(facts, self._turns.number)
        compaction.index = self._timeline.add(compaction)
        return compaction

    def _changed(self, compaction: _Compaction, before: str | None) -> CompactionChanged:
        facts = compaction.facts
        return CompactionChanged(
            index=compaction.index, compaction_id=facts.compaction_id, before=before, status=facts.status
        )
