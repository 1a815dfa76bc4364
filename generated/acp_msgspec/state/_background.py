"""What happens beside the conversation: terminals of the agent's own, and summaries of the context."""

import binascii
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Struct

from .._patch import apply_patch
from ._blocks import Block, Blocks
from ._calls import is_legal
from ._changes import BadOutput, Change, CompactionChanged, IllegalMove, TerminalChanged, Unannounced
from ._timeline import Timeline, Turns
from ._views import CompactionView, TerminalView


class _TerminalFacts(Struct):
    """What updates patch as it is; the names are those of the schemas."""

    command: str | None = None
    cwd: str | None = None
    meta: dict[str, Any] | None = None


class _Terminal:
    """A terminal that may still print."""

    __slots__ = ("exit_status", "facts", "output", "terminal_id", "view")

    def __init__(self, terminal_id: str) -> None:
        self.terminal_id = terminal_id
        self.facts = _TerminalFacts()
        self.output: list[bytes] = []
        self.exit_status: Any = None
        self.view: TerminalView | None = None

    def show(self) -> TerminalView:
        if self.view is None:
            self.output = [b"".join(self.output)]
            self.view = TerminalView(
                terminal_id=self.terminal_id,
                command=self.facts.command,
                cwd=self.facts.cwd,
                output=self.output[0],
                exited=self.exit_status is not None,
                exit_code=getattr(self.exit_status, "exit_code", None),
                signal=getattr(self.exit_status, "signal", None),
                meta=self.facts.meta,
            )
        return self.view


class Terminals:
    """The terminals of an agent, by id."""

    __slots__ = ("_terminals",)

    def __init__(self) -> None:
        """Start with none."""
        self._terminals: dict[str, _Terminal] = {}

    def views(self) -> tuple[TerminalView, ...]:
        """Show all terminals, in the order in which they began."""
        return tuple(terminal.show() for terminal in self._terminals.values())

    def patch(self, update: Any) -> Iterator[Change]:
        """Begin a terminal or change what an update carries."""
        terminal = self._terminals.setdefault(update.terminal_id, _Terminal(update.terminal_id))
        terminal.facts = apply_patch(terminal.facts, update)
        terminal.view = None
        if update.exit_status is not UNSET:
            terminal.exit_status = update.exit_status
        if update.output is not UNSET:
            terminal.output = []
            if update.output is not None:
                yield from _print(terminal, update.output.data)
        yield TerminalChanged(terminal_id=update.terminal_id)

    def append(self, terminal_id: str, data: str) -> Iterator[Change]:
        """Add what a terminal has printed."""
        terminal = self._terminals.get(terminal_id)
        if terminal is None:
            terminal = self._terminals[terminal_id] = _Terminal(terminal_id)
            yield Unannounced(what="terminal", id=terminal_id)
        terminal.view = None
        yield from _print(terminal, data)
        yield TerminalChanged(terminal_id=terminal_id)


def _print(terminal: _Terminal, data: str) -> Iterator[Change]:
    try:
        terminal.output.append(b64decode(data, validate=True))
    except (binascii.Error, ValueError) as why:
        yield BadOutput(terminal_id=terminal.terminal_id, problem=str(why))


class _CompactionFacts(Struct):
    """What updates patch as it is."""

    compaction_id: str
    status: str
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
        compaction = known or self._begin(update.compaction_id, update.status)
        compaction.facts = apply_patch(compaction.facts, update)
        if update.summary is not UNSET:
            compaction.summary.replace(update.summary or ())
        self._timeline.touch(compaction.index)
        if before is not None and not is_legal(before, update.status):
            yield IllegalMove(what="compaction", id=update.compaction_id, before=before, after=update.status)
        yield self._changed(compaction, before)

    def append(self, compaction_id: str, block: Block) -> Iterator[Change]:
        """Add to a summary."""
        compaction = self._by_id.get(compaction_id)
        before = None if compaction is None else compaction.facts.status
        if compaction is None:
            yield Unannounced(what="compaction", id=compaction_id)
            compaction = self._begin(compaction_id, "in_progress")
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
