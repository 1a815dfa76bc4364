"""What comes for one session: it feeds the session's state, and the turn that runs."""

from time import monotonic
from typing import Any, Protocol

from ...state import SessionState
from .changes import PermissionAsked
from .translate import next_text, translate


class TurnSink(Protocol):
    """What a running turn takes."""

    def saw(self, update: Any) -> None:
        """Look at an update, which may end the turn."""
        ...

    def put(self, change: Any) -> None:
        """Take a change."""
        ...


class Feed:
    """The state of one session, and what is known of the life of its agent."""

    __slots__ = ("last_sign", "open_requests", "state", "turn")

    def __init__(self) -> None:
        """Start with an empty session."""
        self.state = SessionState()
        self.turn: TurnSink | None = None
        """The turn that runs, if one does."""
        self.open_requests = 0
        """The requests of the agent in this session that the client has not answered: time passes on its side."""
        self.last_sign = monotonic()
        """When the agent last sent something in this session."""

    def update(self, params: Any) -> None:
        """Take the params of a session update."""
        self.last_sign = monotonic()
        events = self.state.apply(params.update)
        turn = self.turn
        if turn is None:
            return
        text = next_text(events[0]) if len(events) == 1 else None
        if text is not None:  # almost all that comes
            turn.put(text)
            return
        for change in translate(self.state, events):
            turn.put(change)
        turn.saw(params.update)

    def request_started(self, params: Any, *, is_permission: bool) -> None:
        """Take a request of the agent, whose answer begins."""
        self.last_sign = monotonic()
        self.open_requests += 1
        if not is_permission:
            return
        events = self.state.apply(params)
        if self.turn is not None:
            for change in translate(self.state, events):
                self.turn.put(change)
            self.turn.put(PermissionAsked(request=params))

    def request_ended(self) -> None:
        """Note that a request of the agent was answered."""
        self.open_requests -= 1
        self.last_sign = monotonic()
