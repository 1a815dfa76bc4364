"""From the events of a session's state, which name what changed, to changes that have the new values."""

from collections.abc import Iterable, Iterator
from typing import Any

from ...state import (
    ActivityChanged,
    Change,
    EmptyChunk,
    IllegalMove,
    MessageAppended,
    MessageReplaced,
    MessageView,
    ModeChanged,
    PlanRemoved,
    PlanReplaced,
    Role,
    SessionState,
    TerminalChanged,
    ToolCallChanged,
    ToolCallView,
    TurnEnded,
    TurnStarted,
    Unannounced,
    UnknownKept,
    UnknownView,
    UsageChanged,
)
from .changes import (
    Content,
    MessageUpdated,
    ModeUpdated,
    PlanUpdated,
    SessionUpdated,
    TerminalUpdated,
    Text,
    Thought,
    ToolBegun,
    ToolEnded,
    ToolUpdated,
    UnknownUpdate,
    UsageUpdated,
)

FINAL_STATUSES = frozenset({"completed", "failed", "cancelled"})


def translate(state: SessionState, events: Iterable[Change]) -> Iterator[Any]:
    """Return the changes that these events of `state` stand for; the state must not have changed since."""
    for event in events:
        match event:
            case MessageAppended():
                yield _appended(state, event)
            case MessageReplaced() | ToolCallChanged() | UnknownKept():
                yield from _entry_changed(state, event)
            case TurnStarted() | TurnEnded() | ActivityChanged(activity="running" | "idle"):
                pass  # the stream itself begins and ends with the turn
            case EmptyChunk() | IllegalMove() | Unannounced():
                pass  # for logs: the change itself has an event of its own
            case _:
                yield _session_changed(state, event)


def next_text(event: Change) -> Text | Thought | None:
    """Return the text that an event adds to what the agent says or thinks; None for any other event."""
    if type(event) is not MessageAppended or event.role is Role.USER:
        return None
    text = getattr(event.block, "text", None)
    if type(text) is not str or getattr(event.block, "type", "") != "text":
        return None
    return (Text if event.role is Role.AGENT else Thought)(text=text, message_id=event.message_id)


def _appended(state: SessionState, event: MessageAppended) -> Any:
    if event.role is Role.USER:
        return MessageUpdated(message=_message(state, event.index))
    return next_text(event) or Content(block=event.block, role=event.role, message_id=event.message_id)


def _message(state: SessionState, index: int) -> MessageView:
    entry = state.snapshot.timeline[index]
    if not isinstance(entry, MessageView):
        raise TypeError(f"The entry {index} is not a message")
    return entry


def _entry_changed(state: SessionState, event: MessageReplaced | ToolCallChanged | UnknownKept) -> Iterator[Any]:
    entry = state.snapshot.timeline[event.index]
    match event, entry:
        case ToolCallChanged(), ToolCallView():
            if entry.status in FINAL_STATUSES and event.before not in FINAL_STATUSES:
                yield ToolEnded(call=entry)
            else:
                yield (ToolBegun if event.before is None else ToolUpdated)(call=entry)
        case MessageReplaced(started=True), MessageView() if entry.role is not Role.USER:
            yield from _whole(entry)
        case _, MessageView():
            yield MessageUpdated(message=entry)
        case _, UnknownView():
            yield UnknownUpdate(update=entry)
        case _:
            yield SessionUpdated(change=event)


def _whole(message: MessageView) -> Iterator[Any]:
    """Return the pieces of a message that came at once."""
    for block in message.blocks:
        text = getattr(block, "text", None) if getattr(block, "type", "") == "text" else None
        if isinstance(text, str):
            kind = Text if message.role is Role.AGENT else Thought
            yield kind(text=text, message_id=message.message_id)
        else:
            yield Content(block=block, role=message.role, message_id=message.message_id)


def _session_changed(state: SessionState, event: Change) -> Any:
    snapshot = state.snapshot
    match event:
        case PlanReplaced(plan_id=plan_id):
            plan = next((p for p in snapshot.plans if p.plan_id == plan_id), None)
            return PlanUpdated(plan_id=plan_id, plan=plan)
        case PlanRemoved(plan_id=plan_id):
            return PlanUpdated(plan_id=plan_id, plan=None)
        case TerminalChanged(terminal_id=terminal_id):
            terminal = snapshot.terminal(terminal_id)
            return SessionUpdated(change=event) if terminal is None else TerminalUpdated(terminal=terminal)
        case ModeChanged(mode=mode):
            return ModeUpdated(mode=mode)
        case UsageChanged() if snapshot.usage is not None:
            return UsageUpdated(usage=snapshot.usage)
        case _:
            return SessionUpdated(change=event)
