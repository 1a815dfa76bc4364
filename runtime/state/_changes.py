"""What an update changed: events for code that redraws a part of a window.

`index` is an index into `Snapshot.timeline`. Events name what changed without its new value: take a snapshot when it is
time to draw.
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
    """A chunk with an empty text was ignored; it did not begin a message."""

    role: Role
    message_id: str | None


class MessageReplaced(Struct, frozen=True, kw_only=True):
    """The content, the id or the `meta` of a message was replaced, or a whole message was added."""

    index: int
    role: Role
    message_id: str | None
    started: bool


class ToolCallChanged(Struct, frozen=True, kw_only=True):
    """A tool call began or changed.

    `before` is its earlier status, None if it began; `fields` are the attributes of `ToolCallView` that were set.
    """

    index: int
    tool_call_id: str
    before: str | None
    status: str
    fields: tuple[str, ...]


class CompactionChanged(Struct, frozen=True, kw_only=True):
    """A compaction of the context began or changed; `before` is None if it began."""

    index: int
    compaction_id: str
    before: str | None
    status: str


class IllegalMove(Struct, frozen=True, kw_only=True):
    """A status changed to one that should not follow it. The change was applied nevertheless."""

    what: What
    id: str
    before: str
    after: str


class Unannounced(Struct, frozen=True, kw_only=True):
    """An update was about something that had not been announced. The update began it."""

    what: What
    id: str


class TerminalChanged(Struct, frozen=True, kw_only=True):
    """A terminal of the agent or of this client began, changed, or printed more."""

    terminal_id: str


class BadOutput(Struct, frozen=True, kw_only=True):
    """Output of a terminal was not valid Base64, and was ignored."""

    terminal_id: str
    problem: str


class PlanReplaced(Struct, frozen=True, kw_only=True):
    """A plan was added or replaced."""

    plan_id: str | None


class PlanRemoved(Struct, frozen=True, kw_only=True):
    """A plan was removed; `existed` is False if there was none with that id."""

    plan_id: str
    existed: bool


class CommandsChanged(Struct, frozen=True, kw_only=True):
    """The available commands changed."""


class ModeChanged(Struct, frozen=True, kw_only=True):
    """The mode of the session changed, or the list of modes."""

    mode: str | None


class ConfigChanged(Struct, frozen=True, kw_only=True):
    """The configuration options of the session, or their values, changed."""


class UsageChanged(Struct, frozen=True, kw_only=True):
    """The token usage or the cost changed."""


class TitleChanged(Struct, frozen=True, kw_only=True):
    """The title of the session changed; None means that it has none."""

    title: str | None


class InfoChanged(Struct, frozen=True, kw_only=True):
    """The time of the last activity or the `meta` of the session changed."""


class TurnStarted(Struct, frozen=True, kw_only=True):
    """A turn began."""

    number: int


class TurnEnded(Struct, frozen=True, kw_only=True):
    """A turn ended. If it was `refused`, the agent no longer has its entries in its context."""

    number: int
    stop_reason: str | None
    refused: bool


class ActivityChanged(Struct, frozen=True, kw_only=True):
    """The agent began to work, waits for the user, or became idle."""

    activity: str


class NoticeGiven(Struct, frozen=True, kw_only=True):
    """The agent has a notice for the user. It is not part of the session, and not kept."""

    severity: str
    title: str
    description: str | None


class SubagentChanged(Struct, frozen=True, kw_only=True):
    """A subagent was announced, or what is known of it changed."""

    session_id: str
    started: bool


class SessionMessageChanged(Struct, frozen=True, kw_only=True):
    """A message between this session and another one began, grew or changed."""

    index: int
    message_id: str
    started: bool


class CursorChanged(Struct, frozen=True, kw_only=True):
    """A cursor into the session was added, or what it may be used for changed."""

    cursor_id: str
    started: bool


class SuggestionsChanged(Struct, frozen=True, kw_only=True):
    """The prompts that the agent suggests changed."""


class BackgroundChanged(Struct, frozen=True, kw_only=True):
    """The work that goes on in the background changed."""


class ReplayCompleted(Struct, frozen=True, kw_only=True):
    """The agent has sent the whole history that `session/resume` asked for."""


class UnknownKept(Struct, frozen=True, kw_only=True):
    """An update that is unknown to all schemas here was added to the timeline."""

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
    | SubagentChanged
    | SessionMessageChanged
    | CursorChanged
    | SuggestionsChanged
    | BackgroundChanged
    | ReplayCompleted
    | UnknownKept
)
"""Any event."""
