"""The order of what happened, and who is whose turn: the parts that messages and tool calls share."""

from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct

from ._changes import ActivityChanged, Change, TurnEnded, TurnStarted
from ._views import Entry, TurnView


class Draft(Protocol):
    """An entry that still grows."""

    def view(self) -> Entry:
        """Give it as it is now."""
        ...


class Timeline:
    """Entries in the order in which they began; only those that changed are shown anew."""

    __slots__ = ("_drafts", "_stale", "_views")

    def __init__(self) -> None:
        """Start with nothing."""
        self._drafts: list[Draft] = []
        self._views: list[Entry] = []
        self._stale: set[int] = set()

    def add(self, draft: Draft) -> int:
        """Add an entry and give its place."""
        self._stale.add(len(self._drafts))
        self._drafts.append(draft)
        return len(self._drafts) - 1

    def touch(self, index: int) -> None:
        """Take note that an entry has changed."""
        self._stale.add(index)

    def views(self) -> tuple[Entry, ...]:
        """Show all entries."""
        for index in sorted(self._stale):
            self._views[index : index + 1] = [self._drafts[index].view()]
        self._stale.clear()
        return tuple(self._views)


class Turns:
    """Which turn is on, and how the others ended."""

    __slots__ = ("_answered", "_asked", "_open", "_views", "activity", "number")

    def __init__(self) -> None:
        """Start before the first turn."""
        self._views: list[TurnView] = []
        self.number = 0
        self.activity: str | None = None
        self._answered = True
        self._open: set[int] = set()
        """The turns that have begun and not ended."""
        self._asked: set[int] = set()
        """Those of them that wait for the response to a prompt of this client."""

    def views(self) -> tuple[TurnView, ...]:
        """Show all turns."""
        return tuple(self._views)

    def begin(self, *, asked: bool = False) -> Iterator[Change]:
        """Begin a turn; `asked` says that this client waits for the response to its prompt."""
        self.number += 1
        self._answered = False
        self._open.add(self.number)
        if asked:
            self._asked.add(self.number)
        self._views.append(TurnView(number=self.number))
        yield TurnStarted(number=self.number)

    def user_speaks(self) -> Iterator[Change]:
        """Take note of a message of the user: after anything but such a message, it begins a turn."""
        if self._answered:
            yield from self.begin()

    def agent_speaks(self) -> None:
        """Take note that the agent has begun to answer."""
        self._answered = True

    @property
    def is_on(self) -> bool:
        """Whether the last turn has not ended, or one before it whose prompt waits for its response."""
        return self.number in self._open or bool(self._asked)

    def left_open(self) -> list[int]:
        """List the turns before the last one that have not ended."""
        return sorted(self._open - {self.number})

    def end(self, number: int, stop_reason: str | None, usage: Struct | None) -> Iterator[Change]:
        """End a turn; the same end told twice counts once. There is none of the number 0."""
        if number == self.number:
            self._answered = True
        if not number:
            return
        self._open.discard(number)
        self._asked.discard(number)
        before = self._views[number - 1]
        ended = TurnView(
            number=number,
            ended=True,
            # What was refused stays so, whatever the agent does on its own afterwards.
            stop_reason=before.stop_reason if before.refused or stop_reason is None else stop_reason,
            usage=usage if usage is not None else before.usage,
        )
        if before.ended and ended.stop_reason == before.stop_reason and ended.usage is before.usage:
            return
        self._views[number - 1] = ended
        yield TurnEnded(number=ended.number, stop_reason=ended.stop_reason, refused=ended.refused)

    def set_activity(self, activity: str) -> Iterator[Change]:
        """Take note of what the agent does now."""
        if activity != self.activity:
            self.activity = activity
            yield ActivityChanged(activity=activity)
