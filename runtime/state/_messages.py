"""The messages and thoughts of a session, from chunks and from whole messages."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import UNSET, Struct

from .._patch import apply_patch
from ._blocks import Block, Blocks, text_of
from ._changes import Change, EmptyChunk, MessageAppended, MessageReplaced
from ._timeline import Timeline, Turns
from ._views import MessageView, Role


class _MessageFields(Struct):
    """The fields that a whole message changes as they are; the names are those of the schemas."""

    message_id: str | None = None
    meta: dict[str, Any] | None = None


class _Message:
    """A message that may still grow."""

    __slots__ = ("blocks", "fields", "index", "role", "turn")

    def __init__(self, role: Role, message_id: str | None, turn: int) -> None:
        self.role = role
        self.fields = _MessageFields(message_id)
        self.turn = turn
        self.index = -1
        self.blocks = Blocks()

    @property
    def message_id(self) -> str | None:
        return self.fields.message_id

    def view(self) -> MessageView:
        return MessageView(
            turn=self.turn, role=self.role, message_id=self.message_id, blocks=self.blocks.view(), meta=self.fields.meta
        )


class Messages:
    """All messages of a session.

    A role and an id identify a message, since some agents use one id for a thought and the answer after it. A chunk
    without an id belongs to the open message: the latest one, until another role speaks, a tool call or a compaction
    begins, or a turn ends.
    """

    __slots__ = ("_by_id", "_echo", "_open", "_timeline", "_turns")

    def __init__(self, timeline: Timeline, turns: Turns) -> None:
        """Start with no messages. New ones go into `timeline`."""
        self._timeline = timeline
        self._turns = turns
        self._by_id: dict[tuple[Role, str], _Message] = {}
        self._open: _Message | None = None
        self._echo: _Message | None = None
        """The prompt of this client, until the agent repeats it as a message."""

    def close(self) -> None:
        """Close the open message: the next chunk without an id begins a new one."""
        self._open = None

    def forget_prompt(self) -> None:
        """Stop expecting that the agent repeats the prompt."""
        self._echo = None

    def prompt(self, blocks: Iterable[Block]) -> Iterator[Change]:
        """Add the prompt of this client."""
        yield from self._turns.begin(prompted=True)
        message = self._add(Role.USER, None)
        message.blocks.replace(blocks)
        self._open = self._echo = message
        yield _replaced(message, started=True)

    def chunk(self, role: Role, message_id: str | None, block: Block) -> Iterator[Change]:
        """Add a chunk. One with an empty text changes nothing."""
        if getattr(block, "text", None) == "" and text_of(block) == "":
            yield EmptyChunk(role=role, message_id=message_id)
            return
        message = self._find(role, message_id)
        if message is None and role is Role.USER and self._echo is not None and self._echo is self._open:
            message = self._repeated(self._echo, message_id)
            message.blocks.replace(())
            yield _replaced(message, started=False)
        started = message is None
        if message is None:
            if role is Role.USER:
                yield from self._turns.user_speaks()
            message = self._add(role, message_id)
        if role is not Role.USER:
            self._turns.agent_speaks()
        message.blocks.append(block)
        self._timeline.touch(message.index)
        self._open = message
        yield MessageAppended(
            index=message.index, role=role, message_id=message.message_id, block=block, started=started
        )

    def whole(self, role: Role, update: Any) -> Iterator[Change]:
        """Begin a message or change its content and `meta`: UNSET leaves them, None clears them."""
        message_id: str = update.message_id
        message = self._by_id.get((role, message_id))
        if message is None and role is Role.USER and self._echo is not None:
            message = self._repeated(self._echo, message_id)
        started = message is None
        if message is None:
            if role is Role.USER:
                yield from self._turns.user_speaks()
            message = self._add(role, message_id)
        if role is not Role.USER:
            self._turns.agent_speaks()
        message.fields = apply_patch(message.fields, update)
        if update.content is not UNSET:
            message.blocks.replace(update.content or ())
        self._open = message
        self._timeline.touch(message.index)
        yield _replaced(message, started=started)

    def _find(self, role: Role, message_id: str | None) -> _Message | None:
        if message_id is not None:
            return self._by_id.get((role, message_id))
        is_open = self._open is not None and self._open.role is role and self._open is not self._echo
        return self._open if is_open else None

    def _add(self, role: Role, message_id: str | None) -> _Message:
        message = _Message(role, message_id, self._turns.number)
        message.index = self._timeline.add(message)
        if message_id is not None:
            self._by_id[role, message_id] = message
        self._open = message
        return message

    def _repeated(self, message: _Message, message_id: str | None) -> _Message:
        """Treat the prompt of this client as the message that the agent now sends with its own id."""
        self._echo = None
        message.fields = _MessageFields(message_id, message.fields.meta)
        if message_id is not None:
            self._by_id[Role.USER, message_id] = message
        return message


def _replaced(message: _Message, *, started: bool) -> MessageReplaced:
    return MessageReplaced(index=message.index, role=message.role, message_id=message.message_id, started=started)
