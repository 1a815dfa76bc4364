"""What messages and tool calls share: the order of the timeline, and the turns."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from msgspec import Struct

from ._blocks import Block
from ._changes import ActivityChanged, BackgroundChanged, Change, TurnEnded, TurnStarted
from ._views import Entry, TurnView


class MutableEntry(Protocol):
    """An entry that may still change."""

    def view(self) -> Entry:
        """Return a frozen view of its current state."""
        ...


class Timeline:
    """Entries in the order in which they began. Only changed entries get a new view."""

    __slots__ = ("_entries", "_stale", "_views")

    def __init__(self) -> None:
        """Start empty."""
        self._entries: list[MutableEntry] = []
        self._views: list[Entry] = []
        self._stale: set[int] = set()

    def add(self, entry: MutableEntry) -> int:
        """Append an entry and return its index."""
        self._stale.add(len(self._entries))
        self._entries.append(entry)
        return len(self._entries) - 1

    def touch(self, index: int) -> None:
        """Mark an entry as changed."""
        self._stale.add(index)

    def views(self) -> tuple[Entry, ...]:
        """Return views of all entries."""
        for index in sorted(self._stale):
            self._views[index : index + 1] = [self._entries[index].view()]
        self._stale.clear()
        return tuple(self._views)


class Turns:
    """The turns of a session: which of them run, and how the others ended."""

    __slots__ = ("_answered", "_open", "_prompted", "_views", "activity", "background", "number")

    def __init__(self) -> None:
        """Start before the first turn."""
        self._views: list[TurnView] = []
        self.number = 0
        self.activity: str | None = None
        self.background: tuple[Block, ...] | None = None
        self._answered = True
        """Whether the agent has said something since the latest turn began."""
        self._open: set[int] = set()
        """The turns that have begun and not ended."""
        self._prompted: set[int] = set()
        """The open turns whose prompt this client sent, and which wait for its response."""

    def views(self) -> tuple[TurnView, ...]:
        """Return views of all turns."""
        return tuple(self._views)

    def begin(self, *, prompted: bool = False) -> Iterator[Change]:
        """Begin a turn; `prompted` means that this client waits for the response to its prompt."""
        self.number += 1
        self._answered = False
        self._open.add(self.number)
        if prompted:
            self._prompted.add(self.number)
        self._views.append(TurnView(number=self.number))
        yield TurnStarted(number=self.number)

    def user_speaks(self) -> Iterator[Change]:
        """Note a message of the user. Unless it follows another one, it begins a turn."""
        if self._answered:
            yield from self.begin()

    def agent_speaks(self) -> None:
        """Note that the agent has begun to answer."""
        self._answered = True

    @property
    def is_on(self) -> bool:
        """Whether the latest turn has not ended, or an earlier one waits for the response to its prompt."""
        return self.number in self._open or bool(self._prompted)

    def left_open(self) -> list[int]:
        """List the turns before the latest one that have not ended."""
        return sorted(self._open - {self.number})

    def end(self, number: int, stop_reason: str | None, usage: Struct | None) -> Iterator[Change]:
        """End a turn. Repeating the same end changes nothing, and so does the number 0, which is not a turn."""
        if number == self.number:
            self._answered = True
        if not number:
            return
        self._open.discard(number)
        self._prompted.discard(number)
        before = self._views[number - 1]
        ended = TurnView(
            number=number,
            ended=True,
            # A refusal is final, whatever the agent does on its own afterwards.
            stop_reason=before.stop_reason if before.refused or stop_reason is None else stop_reason,
            usage=usage if usage is not None else before.usage,
        )
        if before.ended and ended.stop_reason == before.stop_reason and ended.usage is before.usage:
            return
        self._views[number - 1] = ended
        yield TurnEnded(number=ended.number, stop_reason=ended.stop_reason, refused=ended.refused)

    def set_activity(self, activity: str) -> Iterator[Change]:
        """Change what the agent does now."""
        if activity != self.activity:
            self.activity = activity
            yield ActivityChanged(activity=activity)

    def set_background(self, work: Iterable[Block] | None) -> Iterator[Change]:
        """Replace what goes on in the background; None if the agent does not report it."""
        listed = None if work is None else tuple(work)
        if listed != self.background:
            self.background = listed
            yield BackgroundChanged()
