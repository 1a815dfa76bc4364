"""The history of each tool call: the states that it entered, with lines and times, for the chart of the page."""

from typing import Any

from msgspec import UNSET, Struct

from .clock import Moment
from .formatting import shorten
from .log_message import LogMessage
from .pending import PendingRequest
from .tool_calls import tool_call_in

MAX_CALLS = 500
FINAL_STATES = ("completed", "failed", "cancelled")
PERMISSION = "permission"
"""The state of a call between a permission request and its response. The other states are those of the protocol."""


class StateChange(Struct):
    """A state that a call entered, with the line and the time of the message."""

    state: str
    line: int
    moment: Moment | None


class CallHistory(Struct):
    """The history of one tool call; `messages` is the number of messages about it."""

    id: str
    session: str
    title: str = ""
    kind: str = ""
    changes: list[StateChange] = []
    decision: str = ""
    """The answer to the latest permission request."""
    messages: int = 0

    @property
    def state(self) -> str:
        """The current state."""
        return self.changes[-1].state if self.changes else "pending"

    @property
    def is_done(self) -> bool:
        """Whether the current state is final."""
        return self.state in FINAL_STATES

    def enter(self, state: str, message: LogMessage) -> None:
        """Record a state, unless it is the current one."""
        if not self.changes or self.changes[-1].state != state:
            self.changes.append(StateChange(state, message.line, message.moment))


class CallHistories:
    """Records the history of the tool calls of a log."""

    def __init__(self) -> None:
        """Start with no calls."""
        self.calls: dict[tuple[int, str, str], CallHistory] = {}
        self.left_out = 0
        """Number of messages about calls beyond `MAX_CALLS`."""
        self.last: StateChange | None = None
        """The end of the log, as a state change of no call."""
        self._connection = 1
        self._permissions: dict[PendingRequest, tuple[CallHistory, str, dict[str, str]]] = {}
        """For each pending permission request: the call, its state before, and the kinds of the options by id."""

    def add(self, message: LogMessage) -> CallHistory | None:
        """Record a message about a call, and return the history of that call."""
        if message.moment is not None or self.last is None or self.last.moment is None:
            self.last = StateChange("", message.line, message.moment)
        if message.connection != self._connection:
            self._connection = message.connection
            self._permissions.clear()
        if message.is_answer:
            return self._answered(message)
        update = tool_call_in(message.decoded)
        if update is None:
            return None
        history = self._history(message, str(update.tool_call_id))
        if history is not None:
            self._record(history, message, update)
        return history

    def _record(self, history: CallHistory, message: LogMessage, update: Any) -> None:
        history.messages += 1
        if message.title:
            history.title = shorten(message.title, 120)
        if _says(update, "kind"):
            history.kind = shorten(str(update.kind), 120)
        if message.method == "session/request_permission":
            self._permission_requested(message, history)
        elif _says(update, "status"):
            history.enter(shorten(str(update.status), 40), message)
        elif not history.changes:
            history.enter("pending", message)

    def _history(self, message: LogMessage, call_id: str) -> CallHistory | None:
        key = (message.connection, message.session or "", call_id)
        history = self.calls.get(key)
        if history is None:
            if len(self.calls) >= MAX_CALLS:
                self.left_out += 1
                return None
            history = self.calls[key] = CallHistory(shorten(call_id, 80), shorten(message.session_name, 80))
        return history

    def _permission_requested(self, message: LogMessage, history: CallHistory) -> None:
        before = history.state
        history.enter(PERMISSION, message)
        options: dict[str, str] = {str(o.option_id): str(o.kind) for o in message.decoded.params.options}
        if len(self._permissions) < MAX_CALLS:
            method = message.method or ""
            request = PendingRequest(message.line, method, message.moment, message.session, message.sender, method)
            self._permissions[request] = (history, before, options)

    def _answered(self, message: LogMessage) -> CallHistory | None:
        found = self._permissions.pop(message.request, None) if message.request is not None else None
        if found is None:
            return None
        history, before, options = found
        outcome: Any = getattr(getattr(message.decoded, "result", None), "outcome", None)
        chosen = getattr(outcome, "option_id", None)
        if chosen is not None:
            decision = options.get(str(chosen), str(chosen))
        else:
            decision = "refused" if outcome is None else "cancelled"
        history.decision = shorten(decision.replace("_", " "), 40)
        if history.state == PERMISSION:
            history.enter(before if before != PERMISSION else "pending", message)
        return history


def _says(update: Any, name: str) -> bool:
    """Return whether an update has a value for a field, other than null."""
    value = getattr(update, name, None)
    return value is not None and value is not UNSET
