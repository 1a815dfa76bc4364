"""The contents of a snapshot: frozen values, the same for all schemas."""

from enum import StrEnum
from typing import Any, TypeAlias

from msgspec import Struct

from ._blocks import Block, text_of


class Role(StrEnum):
    """The author of a message."""

    USER = "user"
    AGENT = "agent"
    THOUGHT = "thought"


class View(Struct, frozen=True, kw_only=True):
    """Base of the entries of the timeline.

    `turn` is the number of the turn, from 1, or 0 before the first turn.
    """

    turn: int


class MessageView(View, frozen=True, kw_only=True):
    """A message or a thought, as far as it has been received.

    `message_id` is None if the agent does not identify messages.
    """

    role: Role
    message_id: str | None = None
    blocks: tuple[Block, ...] = ()
    meta: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join(text_of(block) or "" for block in self.blocks)


class ToolCallView(View, frozen=True, kw_only=True):
    """The current state of a tool call.

    `kind` and `status` are values of the schema's enumerations. `content` and `locations` hold objects of the schema's
    classes, `raw_input` and `raw_output` any JSON.
    """

    tool_call_id: str
    title: str | None = None
    name: str | None = None
    kind: str = "other"
    status: str = "pending"
    content: tuple[Block, ...] = ()
    locations: tuple[Struct, ...] = ()
    raw_input: Any = None
    raw_output: Any = None
    capabilities: Any = None
    meta: dict[str, Any] | None = None


class CompactionView(View, frozen=True, kw_only=True):
    """A summary that replaces older context."""

    compaction_id: str
    status: str
    summary: tuple[Block, ...] = ()
    error: str | None = None
    meta: dict[str, Any] | None = None


class SessionMessageView(View, frozen=True, kw_only=True):
    """A message between this session and another one, such as a subagent's.

    `sender_session_id` and `recipient_session_id` are None as long as the agent has not told them. The ids of the
    message on either side are those in the transcript of that session.
    """

    message_id: str
    sender_session_id: str | None = None
    recipient_session_id: str | None = None
    sender_message_id: str | None = None
    recipient_message_id: str | None = None
    blocks: tuple[Block, ...] = ()
    meta: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join(text_of(block) or "" for block in self.blocks)


class UnknownView(View, frozen=True, kw_only=True):
    """An update that is unknown to all schemas here, kept whole and in its place."""

    tag: str
    update: Block


Entry: TypeAlias = MessageView | ToolCallView | CompactionView | SessionMessageView | UnknownView
"""An entry of the timeline."""


class PlanItem(Struct, frozen=True, kw_only=True):
    """A step of a plan; `priority` and `status` are values of the schema's enumerations."""

    content: str
    priority: str
    status: str
    meta: dict[str, Any] | None = None


class PlanView(Struct, frozen=True, kw_only=True):
    """A plan: steps, a file, Markdown, or a type of plan that is unknown to all schemas here.

    `plan_id` is None if the agent has one plan and no ids.
    """

    plan_id: str | None = None
    items: tuple[PlanItem, ...] = ()
    uri: str | None = None
    markdown: str | None = None
    other: Block | None = None


class TerminalView(Struct, frozen=True, kw_only=True):
    """A terminal of the agent, or one of this client, which `SessionState.terminal_output` reports.

    `output` holds the raw bytes; `truncated` means that their beginning was left out. `size` and `capabilities` are
    objects of the schema, None if the agent does not tell them.
    """

    terminal_id: str
    command: str | None = None
    cwd: str | None = None
    output: bytes = b""
    exited: bool = False
    exit_code: int | None = None
    signal: str | None = None
    size: Any = None
    capabilities: Any = None
    meta: dict[str, Any] | None = None
    truncated: bool = False


class UsageView(Struct, frozen=True, kw_only=True):
    """Tokens in the context, the size of the context, and the cost of the session so far."""

    used: int
    size: int
    cost: float | None = None
    currency: str | None = None


class SubagentView(Struct, frozen=True, kw_only=True):
    """A session that this one created and owns, as this one reports it.

    `state` is the object of the schema that was last reported, `capabilities` says what the client may do with the
    session. `cwd` and `additional_directories` are None where they are those of this session.
    """

    session_id: str
    title: str | None = None
    description: str | None = None
    state: Any = None
    cwd: str | None = None
    additional_directories: tuple[str, ...] | None = None
    capabilities: Any = None
    meta: dict[str, Any] | None = None

    @property
    def activity(self) -> str | None:
        """What the subagent does, as `Snapshot.activity`; None if that is not known."""
        return getattr(self.state, "state", None)


class CursorView(Struct, frozen=True, kw_only=True):
    """A position in the session that some methods take; `anchor` and `capabilities` are objects of the schema."""

    cursor_id: str
    anchor: Any = None
    capabilities: Any = None
    meta: dict[str, Any] | None = None


class TurnView(Struct, frozen=True, kw_only=True):
    """A turn: a message of the user and everything after it.

    `stop_reason` is None while the turn runs, and if it ended without one. `usage` is the object of the schema.
    """

    number: int
    ended: bool = False
    stop_reason: str | None = None
    usage: Struct | None = None

    @property
    def refused(self) -> bool:
        """Whether the agent refused the turn, and so dropped it from its context."""
        return self.stop_reason == "refusal"


class Snapshot(Struct, frozen=True, kw_only=True):
    """A session at one moment.

    A snapshot never changes, and shares unchanged parts with earlier and later ones. Its schema objects are those that
    the agent sent: treat them as frozen, too. `activity` is `running`, `idle`, `requires_action` or a value of a later
    release, and None before any is known. `background` lists the work that goes on besides, and is None if the agent
    does not report it. `suggestions` are prompts that the agent expects next. `mode` is the id of one of `modes`;
    `commands`, `modes`, `suggestions` and `config_options` hold objects of the schema's classes.
    """

    session_id: str | None = None
    timeline: tuple[Entry, ...] = ()
    turns: tuple[TurnView, ...] = ()
    activity: str | None = None
    background: tuple[Block, ...] | None = None
    plans: tuple[PlanView, ...] = ()
    terminals: tuple[TerminalView, ...] = ()
    subagents: tuple[SubagentView, ...] = ()
    cursors: tuple[CursorView, ...] = ()
    suggestions: tuple[Struct, ...] = ()
    commands: tuple[Struct, ...] = ()
    mode: str | None = None
    modes: tuple[Struct, ...] = ()
    config_options: tuple[Block, ...] = ()
    usage: UsageView | None = None
    title: str | None = None
    updated_at: str | None = None
    meta: dict[str, Any] | None = None

    @property
    def messages(self) -> tuple[MessageView, ...]:
        """The messages and thoughts, in order."""
        return tuple(entry for entry in self.timeline if isinstance(entry, MessageView))

    @property
    def tool_calls(self) -> tuple[ToolCallView, ...]:
        """The tool calls, in the order in which they began."""
        return tuple(entry for entry in self.timeline if isinstance(entry, ToolCallView))

    @property
    def conversation(self) -> tuple[Entry, ...]:
        """The conversation in the context of the agent: the timeline without refused turns."""
        refused = {turn.number for turn in self.turns if turn.refused}
        return tuple(entry for entry in self.timeline if entry.turn not in refused)

    def is_dropped(self, entry: Entry) -> bool:
        """Return whether an entry belongs to a refused turn, which the agent no longer has in its context."""
        return 0 < entry.turn <= len(self.turns) and self.turns[entry.turn - 1].refused

    def terminal(self, terminal_id: str) -> TerminalView | None:
        """Return the terminal with this id; None if there is none."""
        return next((t for t in self.terminals if t.terminal_id == terminal_id), None)
