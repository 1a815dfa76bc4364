"""What a snapshot shows: frozen values, free of the differences between the schemas."""

from enum import StrEnum
from typing import Any, TypeAlias

from msgspec import Struct

from ._blocks import Block, text_of


class Role(StrEnum):
    """Whose words a message holds."""

    USER = "user"
    AGENT = "agent"
    THOUGHT = "thought"


class View(Struct, frozen=True, kw_only=True):
    """Base of what stands in the timeline.

    `turn` counts the user's messages from 1, and is 0 for what came before the first.
    """

    turn: int


class MessageView(View, frozen=True, kw_only=True):
    """A message or a thought, with what has come of it so far.

    `message_id` is None where the agent does not track messages.
    """

    role: Role
    message_id: str | None = None
    blocks: tuple[Block, ...] = ()
    meta: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """Its text blocks, joined."""
        return "".join(text_of(block) or "" for block in self.blocks)


class ToolCallView(View, frozen=True, kw_only=True):
    """A tool call as it stands.

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
    meta: dict[str, Any] | None = None


class CompactionView(View, frozen=True, kw_only=True):
    """A summary that takes the place of older context."""

    compaction_id: str
    status: str
    summary: tuple[Block, ...] = ()
    error: str | None = None
    meta: dict[str, Any] | None = None


class UnknownView(View, frozen=True, kw_only=True):
    """An update that no release of the schemas here knows, whole, where it came."""

    tag: str
    update: Block


Entry: TypeAlias = MessageView | ToolCallView | CompactionView | UnknownView
"""What the timeline consists of."""


class PlanItem(Struct, frozen=True, kw_only=True):
    """A step of a plan; `priority` and `status` are values of the schema's enumerations."""

    content: str
    priority: str
    status: str
    meta: dict[str, Any] | None = None


class PlanView(Struct, frozen=True, kw_only=True):
    """A plan: steps, or a file, or Markdown, or what no release of the schemas here knows.

    `plan_id` is None for the one plan of agents that do not name theirs.
    """

    plan_id: str | None = None
    items: tuple[PlanItem, ...] = ()
    uri: str | None = None
    markdown: str | None = None
    other: Block | None = None


class TerminalView(Struct, frozen=True, kw_only=True):
    """A terminal: of the agent's own, or of this client, which `SessionState.terminal_output` tells of.

    `output` is what it printed, as bytes; `truncated` says that the beginning of it was left out.
    """

    terminal_id: str
    command: str | None = None
    cwd: str | None = None
    output: bytes = b""
    exited: bool = False
    exit_code: int | None = None
    signal: str | None = None
    meta: dict[str, Any] | None = None
    truncated: bool = False


class UsageView(Struct, frozen=True, kw_only=True):
    """How many tokens are in the context, how many fit, and what the session has cost so far."""

    used: int
    size: int
    cost: float | None = None
    currency: str | None = None


class TurnView(Struct, frozen=True, kw_only=True):
    """A turn: a message of the user and what came after it.

    `stop_reason` is None while the turn runs, and where it ended without one. `usage` is the schema's object.
    """

    number: int
    ended: bool = False
    stop_reason: str | None = None
    usage: Struct | None = None

    @property
    def refused(self) -> bool:
        """Whether the agent leaves the turn out of all that follows."""
        return self.stop_reason == "refusal"


class Snapshot(Struct, frozen=True, kw_only=True):
    """A session at one moment.

    It never changes, and shares what has not changed with earlier and later ones. The objects of the schemas in it are
    those that the agent sent: treat them as frozen, too. `activity` is `running`, `idle`, `requires_action` or a word
    of a later release, and None before any is known. `mode` is the id of one of `modes`; `commands`, `modes` and
    `config_options` hold objects of the schema's classes.
    """

    session_id: str | None = None
    timeline: tuple[Entry, ...] = ()
    turns: tuple[TurnView, ...] = ()
    activity: str | None = None
    plans: tuple[PlanView, ...] = ()
    terminals: tuple[TerminalView, ...] = ()
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
        """The tool calls, in the order in which they were first heard of."""
        return tuple(entry for entry in self.timeline if isinstance(entry, ToolCallView))

    @property
    def conversation(self) -> tuple[Entry, ...]:
        """What the agent goes on from: the timeline without the turns that it refused."""
        refused = {turn.number for turn in self.turns if turn.refused}
        return tuple(entry for entry in self.timeline if entry.turn not in refused)

    def is_dropped(self, entry: Entry) -> bool:
        """Say whether an entry is part of a turn that the agent refused, and so is no longer known to it."""
        return 0 < entry.turn <= len(self.turns) and self.turns[entry.turn - 1].refused

    def terminal(self, terminal_id: str) -> TerminalView | None:
        """Find a terminal."""
        return next((t for t in self.terminals if t.terminal_id == terminal_id), None)
