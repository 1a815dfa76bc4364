"""What happens in a turn, as the caller of a prompt sees it: values to match on, each complete in itself."""

from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct

from ...state import Change as StateChange
from ...state import MessageView, PlanView, Role, TerminalView, ToolCallView, UnknownView, UsageView

B = TypeVar("B")
S = TypeVar("S")
P = TypeVar("P")


class Text(Struct, frozen=True, kw_only=True):
    """The next piece of what the agent says. `message_id` is None if the agent does not identify messages."""

    text: str
    message_id: str | None = None


class Thought(Struct, frozen=True, kw_only=True):
    """The next piece of what the agent thinks."""

    text: str
    message_id: str | None = None


class Content(Struct, Generic[B], frozen=True, kw_only=True):
    """A block other than text, such as an image, in a message or a thought of the agent."""

    block: B
    role: Role
    message_id: str | None = None


class MessageUpdated(Struct, frozen=True, kw_only=True):
    """A message was replaced, or the agent repeated one of the user's; `message` is all of it."""

    message: MessageView


class ToolBegun(Struct, frozen=True, kw_only=True):
    """A tool call was announced."""

    call: ToolCallView


class ToolUpdated(Struct, frozen=True, kw_only=True):
    """A tool call changed, and may change again."""

    call: ToolCallView


class ToolEnded(Struct, frozen=True, kw_only=True):
    """A tool call reached its last status: `completed`, `failed` or `cancelled`.

    A call that is announced with such a status gives this change alone.
    """

    call: ToolCallView


class PlanUpdated(Struct, frozen=True, kw_only=True):
    """A plan was made or replaced; `plan` is None if it was removed."""

    plan_id: str | None
    plan: PlanView | None


class PermissionAsked(Struct, Generic[P], frozen=True, kw_only=True):
    """The agent waits for a permission. The handler of the client answers it; this only shows it."""

    request: P


class TerminalUpdated(Struct, frozen=True, kw_only=True):
    """A terminal began, printed more, or ended."""

    terminal: TerminalView


class ModeUpdated(Struct, frozen=True, kw_only=True):
    """The mode of the session changed."""

    mode: str | None


class UsageUpdated(Struct, frozen=True, kw_only=True):
    """The token usage or the cost changed."""

    usage: UsageView


class SessionUpdated(Struct, frozen=True, kw_only=True):
    """Something else of the session changed, such as its title, its commands or a compaction.

    `change` is the event of `acp_msgspec.state`; `session.snapshot` has the new value.
    """

    change: StateChange


class UnknownUpdate(Struct, frozen=True, kw_only=True):
    """An update that no schema here knows."""

    update: UnknownView


class Ended(Struct, Generic[S], frozen=True, kw_only=True):
    """The turn ended; this is the last change.

    `stop_reason` is None for a turn that failed, and for one of an agent that gives none. `failure` is why it failed:
    a `RequestError` for an agent that refused the prompt or reports an error, `ConnectionClosed`, `MessageError` for an
    unreadable answer, `NotAdvertised`, or `TimeoutError` for one that gave no sign of life.
    """

    stop_reason: S | None
    failure: Exception | None = None


AnyChange: TypeAlias = (
    Text
    | Thought
    | Content[B]
    | MessageUpdated
    | ToolBegun
    | ToolUpdated
    | ToolEnded
    | PlanUpdated
    | PermissionAsked[P]
    | TerminalUpdated
    | ModeUpdated
    | UsageUpdated
    | SessionUpdated
    | UnknownUpdate
    | Ended[S]
)
"""Any change; its parameters are the content blocks, the permission requests and the stop reasons of a schema."""
