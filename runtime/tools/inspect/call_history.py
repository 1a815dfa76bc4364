"""What became of each tool call: its states one after the other, with the lines and times where they were told."""

from typing import Any

from msgspec import UNSET, Struct

from .clock import Moment
from .conversation import Seen
from .formatting import brief
from .pending import Asked
from .tool_calls import tool_call_of

MOST = 500
"""How many calls are followed."""
ENDS = ("completed", "failed", "cancelled")
"""States that nothing follows."""
ASKING = "permission"


class Change(Struct):
    """A state that a call has entered: its name, and where and when that was told."""

    state: str
    line: int
    moment: Moment | None


class Call(Struct):
    """One tool call; `messages` is how many told of it."""

    id: str
    session: str
    title: str = ""
    kind: str = ""
    changes: list[Change] = []
    decision: str = ""
    """How the last question for permission was answered."""
    messages: int = 0

    @property
    def state(self) -> str:
        """The last state."""
        return self.changes[-1].state if self.changes else "pending"

    @property
    def is_done(self) -> bool:
        """Whether the last state is one that nothing follows."""
        return self.state in ENDS

    def enter(self, state: str, seen: Seen) -> None:
        """Note a state, unless it is the one that the call is in."""
        if not self.changes or self.changes[-1].state != state:
            self.changes.append(Change(state, seen.line, seen.moment))


class Calls:
    """Follows the tool calls of a log."""

    def __init__(self) -> None:
        """Start with none."""
        self.calls: dict[tuple[int, str, str], Call] = {}
        self.left_out = 0
        self.last: Change | None = None
        """Where the log ends, as a state that belongs to no call."""
        self._connection = 1
        self._asking: dict[Asked, tuple[Call, str, dict[str, str]]] = {}
        """Of each question for permission: the call, its state before, and the options by id."""

    def add(self, seen: Seen) -> Call | None:
        """Note what a message says of a call, and give the call."""
        if seen.moment is not None or self.last is None or self.last.moment is None:
            self.last = Change("", seen.line, seen.moment)
        if seen.connection != self._connection:
            self._connection = seen.connection
            self._asking.clear()
        if seen.is_answer:
            return self._answered(seen)
        told = tool_call_of(seen.message)
        if told is None:
            return None
        call = self._call(seen, str(told.tool_call_id))
        if call is None:
            return None
        call.messages += 1
        for name in ("title", "kind"):
            value = getattr(told, name, None) or (seen.title if name == "title" else None)
            if value is not None and value is not UNSET:
                setattr(call, name, brief(str(value), 120))
        status = getattr(told, "status", None)
        if seen.method == "session/request_permission":
            self._asks(seen, call)
        elif status is not None and status is not UNSET:
            call.enter(brief(str(status), 40), seen)
        elif not call.changes:
            call.enter("pending", seen)
        return call

    def _call(self, seen: Seen, name: str) -> Call | None:
        key = (seen.connection, seen.session or "", name)
        call = self.calls.get(key)
        if call is None:
            if len(self.calls) >= MOST:
                self.left_out += 1
                return None
            call = self.calls[key] = Call(brief(name, 80), brief(seen.session_name, 80))
        return call

    def _asks(self, seen: Seen, call: Call) -> None:
        before = call.state
        call.enter(ASKING, seen)
        options: dict[str, str] = {str(o.option_id): str(o.kind) for o in seen.message.params.options}
        if len(self._asking) < MOST:
            asked = Asked(seen.line, seen.method or "", seen.moment, seen.session, seen.sender)
            self._asking[asked] = (call, before, options)

    def _answered(self, seen: Seen) -> Call | None:
        found = self._asking.pop(seen.asked, None) if seen.asked is not None else None
        if found is None:
            return None
        call, before, options = found
        outcome: Any = getattr(getattr(seen.message, "result", None), "outcome", None)
        chosen = getattr(outcome, "option_id", None)
        named = (
            options.get(str(chosen), str(chosen))
            if chosen is not None
            else "refused"
            if outcome is None
            else "cancelled"
        )
        call.decision = brief(named.replace("_", " "), 40)
        if call.state == ASKING:
            call.enter(before if before != ASKING else "pending", seen)
        return call
