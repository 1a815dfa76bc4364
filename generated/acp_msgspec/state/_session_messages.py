"""Messages between sessions: what an agent and its subagents write to each other."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import UNSET, Struct

from .._patch import apply_patch
from ._blocks import Block, Blocks
from ._changes import Change, SessionMessageChanged
from ._timeline import Timeline, Turns
from ._views import SessionMessageView


class _Fields(Struct):
    """The fields that an update changes as they are; the names are those of the schemas."""

    message_id: str
    sender_session_id: str | None = None
    recipient_session_id: str | None = None
    sender_message_id: str | None = None
    recipient_message_id: str | None = None
    meta: dict[str, Any] | None = None


class _SessionMessage:
    """A message that may still grow."""

    __slots__ = ("blocks", "fields", "index", "turn")

    def __init__(self, fields: _Fields, turn: int) -> None:
        self.fields = fields
        self.turn = turn
        self.index = -1
        self.blocks = Blocks()

    def view(self) -> SessionMessageView:
        values = {name: getattr(self.fields, name) for name in self.fields.__struct_fields__}
        return SessionMessageView(turn=self.turn, blocks=self.blocks.view(), **values)


class SessionMessages:
    """The messages between this session and others, by id."""

    __slots__ = ("_by_id", "_on_begin", "_timeline", "_turns")

    def __init__(self, timeline: Timeline, turns: Turns, on_begin: Callable[[], None]) -> None:
        """Start with no messages. New ones go into `timeline`, after a call of `on_begin`."""
        self._timeline = timeline
        self._turns = turns
        self._on_begin = on_begin
        self._by_id: dict[str, _SessionMessage] = {}

    def apply(self, update: Any) -> Iterator[Change]:
        """Apply an update. The first one of an id, which may be a chunk, begins the message."""
        message, started = self._of(update.message_id)
        message.fields = apply_patch(message.fields, update)
        if update.content is not UNSET:
            message.blocks.replace(update.content or ())
        yield self._changed(message, started=started)

    def append(self, message_id: str, block: Block) -> Iterator[Change]:
        """Append a streamed block to a message."""
        message, started = self._of(message_id)
        message.blocks.append(block)
        yield self._changed(message, started=started)

    def _of(self, message_id: str) -> tuple[_SessionMessage, bool]:
        known = self._by_id.get(message_id)
        if known is not None:
            return known, False
        self._on_begin()
        message = self._by_id[message_id] = _SessionMessage(_Fields(message_id=message_id), self._turns.number)
        message.index = self._timeline.add(message)
        return message, True

    def _changed(self, message: _SessionMessage, *, started: bool) -> Change:
        self._timeline.touch(message.index)
        return SessionMessageChanged(index=message.index, message_id=message.fields.message_id, started=started)
