"""What an update did: events for whoever redraws a part of a window.

`index` is a place in `Snapshot.timeline`. Events name what changed and do not hold it: take a snapshot when it is time
to draw.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from ._blocks import Block
from ._views import Role

What: TypeAlias = Literal["tool_call", "compaction", "terminal"]


class MessageAppended(Struct, frozen=True, kw_only=True):
    """A message grew by `block`, or began with it."""

    index: int
    role: Role
    message_id: str | None
    block: Block
    started: bool


class EmptyChunk(Struct, frozen=True, kw_only=True):
    """A chunk of a message held no text; it was left out, and no message was begun by it."""

    role: Role
    message_id: str | None


class MessageReplaced(Struct, frozen=True, kw_only=True):
    """A message has another content, id or metadata as a whole, or began whole."""

    index: int
    role: Role
    message_id: str | None
    started: bool


class ToolCallChanged(Struct, frozen=True, kw_only=True):
    """A tool call began or changed.

    `before` is the status that it had, None for one that began; `fields` are the attributes of `ToolCallView` that
    were set.
    """

    index: int
    tool_call_id: str
    before: str | None
    status: str
    fields: tuple[str, ...]


class CompactionChanged(Struct, frozen=True, kw_only=True):
    """The context is being, or was, summed up; `before` is None for the first report."""

    index: int
    compaction_id: str
    before: str | None
    status: str


class IllegalMove(Struct, frozen=True, kw_only=True):
    """Something moved to a status that should not follow the one before; the move was made all the same."""

    what: What
    id: str
    before: str
    after: str


class Unannounced(Struct, frozen=True, kw_only=True):
    """An update was about something that had not been announced; it was begun with what the update says."""

    what: What
    id: str


class TerminalChanged(Struct, frozen=True, kw_only=True):
    """A terminal of the agent or of this client began, changed, or printed more."""

    terminal_id: str


class BadOutput(Struct, frozen=True, kw_only=True):
    """Output of a terminal was no Base64, and was left out."""

    terminal_id: str
    problem: str


class PlanReplaced(Struct, frozen=True, kw_only=True):
    """A plan is there whole, for the first time or anew."""

    plan_id: str | None


class PlanRemoved(Struct, frozen=True, kw_only=True):
    """A plan is gone; `existed` is false where there was none of that id."""

    plan_id: str
    existed: bool


class CommandsChanged(Struct, frozen=True, kw_only=True):
    """The user can call other commands."""


class ModeChanged(Struct, frozen=True, kw_only=True):
    """The session is in another mode, or there are others to choose from."""

    mode: str | None


class ConfigChanged(Struct, frozen=True, kw_only=True):
    """The options of the session are others, or have other values."""


class UsageChanged(Struct, frozen=True, kw_only=True):
    """More or fewer tokens are in the context, or more was paid."""


class TitleChanged(Struct, frozen=True, kw_only=True):
    """The session is called otherwise; None means that it has no title."""

    title: str | None


class InfoChanged(Struct, frozen=True, kw_only=True):
    """The time of the last activity or the metadata of the session changed."""


class TurnStarted(Struct, frozen=True, kw_only=True):
    """The user began a turn."""

    number: int


class TurnEnded(Struct, frozen=True, kw_only=True):
    """A turn is over. What belongs to it is no longer known to the agent if it was `refused`."""

    number: int
    stop_reason: str | None
    refused: bool


class ActivityChanged(Struct, frozen=True, kw_only=True):
    """The agent began to work, waits for the user, or has become idle."""

    activity: str


class NoticeGiven(Struct, frozen=True, kw_only=True):
    """The agent has something to tell the user at this moment; it is no part of the session, and is not kept."""

    severity: str
    title: str
    description: str | None


class UnknownKept(Struct, frozen=True, kw_only=True):
    """An update that no release of the schemas here knows was put into the timeline."""

    index: int
    tag: str


Change: TypeAlias = (
    MessageAppended
    | EmptyChunk
    | MessageReplaced
    | ToolCallChanged
    | CompactionChanged
    | IllegalMove
    | Unannounced
    | TerminalChanged
    | BadOutput
    | PlanReplaced
    | PlanRemoved
    | CommandsChanged
    | ModeChanged
    | ConfigChanged
    | UsageChanged
    | TitleChanged
    | InfoChanged
    | TurnStarted
    | TurnEnded
    | ActivityChanged
    | NoticeGiven
    | UnknownKept
)
"""Every kind of event."""
