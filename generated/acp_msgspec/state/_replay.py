"""From a transcript to the sessions in it."""

import os
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct

from .._rpc.frame import Frame
from .._types.printable import printable
from ._session import SessionState
from ._transcript import BrokenLine, Recorded, Sender, replay

_FRAMES = msgspec.json.Decoder(Frame)
_BATCHES = msgspec.json.Decoder(list[Raw])
_OPENERS = frozenset({"session/new", "session/load", "session/resume", "session/fork", "session/set_config_option"})
"""The requests whose responses tell of modes and options."""
_MAKERS = frozenset({"session/new", "session/fork"})
"""The requests that make a session, whose id is in the response."""
_REPLAYS = frozenset({"session/load", "session/resume"})
"""The requests that go on with a session, and may have the agent tell it anew."""
_ASKS = _OPENERS | {"session/prompt", "session/set_mode"}
_TELLS = frozenset({"session/update", "session/request_permission"})
_UNREADABLE = (DecodeError, UnicodeError, RecursionError, ValueError, TypeError, OverflowError)


class Schema(Protocol):
    """A module of the package, such as `acp_msgspec.v1`."""

    @property
    def decode_client_message(self) -> Callable[..., Any]:
        """Read what a client sends."""
        ...

    @property
    def decode_agent_message(self) -> Callable[..., Any]:
        """Read what an agent sends."""
        ...


def replay_states(
    source: str | os.PathLike[str] | Iterable[bytes | str],
    schema: Schema,
    *,
    on_broken: Callable[[BrokenLine], object] | None = None,
) -> dict[str, SessionState]:
    """Read a transcript and give the state of each session in it, by id.

    `schema` is the module of the version that the two sides spoke, such as `acp_msgspec.v1`. `on_broken` is told of
    each line that cannot be read, and of each that holds a message about a session that cannot; nothing in a transcript
    raises. Where several runs are recorded in it and use the same id for sessions of their own, the last one counts:
    `replay_runs` gives all.

    Raises `OSError` where the file cannot be read.
    """
    return {key: state for run in replay_runs(source, schema, on_broken=on_broken) for key, state in run.items()}


def replay_runs(
    source: str | os.PathLike[str] | Iterable[bytes | str],
    schema: Schema,
    *,
    on_broken: Callable[[BrokenLine], object] | None = None,
) -> list[dict[str, SessionState]]:
    """Read a transcript and give the states of each run in it, by the ids of their sessions.

    A run begins with each `initialize` of the client; what is recorded before the first one is a run, too. A session
    that a later run loads or resumes goes on in that run, and is no longer in the earlier one. Other sessions of the
    same id are different ones. The parameters are those of `replay_states`.

    Raises `OSError` where the file cannot be read.
    """
    player = _Player(schema)
    for line in replay(source):
        broken = player.tried(line) if isinstance(line, Recorded) else line
        if broken is not None and on_broken is not None:
            on_broken(broken)
    return [run for run in player.runs if run]


class _Asked(Struct, frozen=True):
    """A request of the client that waits for its response."""

    method: str
    number: int
    """How many requests came before it."""
    session_id: str | None
    state: SessionState | None = None
    """What it is about."""
    home: dict[str, SessionState] | None = None
    before: SessionState | None = None
    """What to go back to where it fails, and the run in which that was."""
    turn: int = 0
    mode: str | None = None


class _Player:
    """Follows a conversation of a client and an agent."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.runs: list[dict[str, SessionState]] = [{}]
        self.asked: dict[int | str, _Asked] = {}
        """What the client has asked in this run."""
        self.requests = 0
        self.born: dict[str, int] = {}
        """How many requests had come when a session of this run began."""

    @property
    def states(self) -> dict[str, SessionState]:
        return self.runs[-1]

    def tried(self, line: Recorded) -> BrokenLine | None:
        """Take a message or a batch; say what is wrong with the first part that cannot be read."""
        try:
            parts = _BATCHES.decode(line.message) if bytes(line.message).lstrip()[:1] == b"[" else [line.message]
        except _UNREADABLE as why:
            return BrokenLine(number=line.number, problem=printable(str(why)))
        problems: list[str] = []
        for part in parts:
            try:
                self.take(line.sender, part)
            except _UNREADABLE as why:
                problems.append(printable(str(why)))
        return BrokenLine(number=line.number, problem=problems[0]) if problems else None

    def take(self, sender: Sender, raw: Raw) -> None:
        """Take a message; what is not about the state of a session is not read."""
        frame = _FRAMES.decode(raw)
        if sender == "client" and isinstance(frame.method, str):
            self._client_call(frame, raw)
        elif sender == "agent" and isinstance(frame.method, str) and frame.method in _TELLS:
            params = self.schema.decode_agent_message(bytes(raw), unknown="keep").params
            self._state(params.session_id).apply(params)
        elif sender == "agent" and frame.method is UNSET and (key := _key(frame)) is not None:
            self._response(self.asked.pop(key, None), frame, raw)

    def _client_call(self, frame: Frame, raw: Raw) -> None:
        if frame.method == "initialize":
            self.runs.append({})
            self.asked.clear()
            self.born.clear()
        if frame.method not in _ASKS:
            return
        self.requests += 1
        params = self.schema.decode_client_message(bytes(raw), unknown="keep").params
        asked = self._asked(frame.method, params)
        if (key := _key(frame)) is not None:
            self.asked[key] = asked

    def _asked(self, method: str, params: Any) -> _Asked:
        """Do what a request does at once, and note what its response will do."""
        session_id: str | None = getattr(params, "session_id", None)
        if session_id is None or method in _MAKERS:
            return _Asked(method, self.requests, None)
        home = self._home(session_id) if method in _REPLAYS else None
        before = None if home is None else home.get(session_id)
        if method == "session/load" or getattr(params, "replay_from", None) is not None:
            self.states[session_id] = SessionState(session_id)  # the agent tells it all again
        elif home is not None:
            self.states[session_id] = resumed = home.pop(session_id)
            if home is not self.states:
                _interrupt(resumed)
        state = self._state(session_id)
        if method == "session/prompt":
            state.user_prompt(params.prompt)
        mode: str | None = getattr(params, "mode_id", None)
        return _Asked(method, self.requests, session_id, state, home, before, state.turn, mode)

    def _response(self, asked: _Asked | None, frame: Frame, raw: Raw) -> None:
        if asked is None:
            return
        if frame.result is UNSET:
            self._failed(asked)
            return

        def method_of(_: object) -> str:
            return asked.method

        try:
            result = self.schema.decode_agent_message(bytes(raw), method_of=method_of, unknown="keep").result
        except _UNREADABLE:
            self._failed(asked)
            raise
        if asked.method in _MAKERS:
            self._made(asked, result).adopt(result)
        elif asked.state is not None:
            self._answered(asked, asked.state, result)

    def _made(self, asked: _Asked, result: Any) -> SessionState:
        """Give the state of a new session: what was told of one of its id before it was asked for is another's."""
        if self.born.get(result.session_id, 0) < asked.number:
            self.states.pop(result.session_id, None)
            self.born.pop(result.session_id, None)
        return self._state(result.session_id)

    def _answered(self, asked: _Asked, state: SessionState, result: Any) -> None:
        if asked.method in _OPENERS:
            state.adopt(result)
        elif asked.method == "session/set_mode" and asked.mode is not None:
            state.mode_set(asked.mode)
        elif hasattr(result, "stop_reason"):
            state.turn_ended(result.stop_reason, getattr(result, "usage", None), turn=asked.turn)

    def _failed(self, asked: _Asked) -> None:
        if asked.session_id is None or asked.state is None:
            return
        if asked.method == "session/prompt":
            asked.state.turn_ended(None, turn=asked.turn)
        elif asked.home is not None and asked.before is not None:
            self.states.pop(asked.session_id, None)
            asked.home[asked.session_id] = asked.before

    def _home(self, session_id: str) -> dict[str, SessionState] | None:
        """Find the last run with a session."""
        return next((run for run in reversed(self.runs) if session_id in run), None)

    def _state(self, session_id: str) -> SessionState:
        self.born.setdefault(session_id, self.requests)
        return self.states.setdefault(session_id, SessionState(session_id))


def _interrupt(state: SessionState) -> None:
    """End the turns that were on when a run ended: nobody goes on with them."""
    for turn in state.snapshot.turns:
        if not turn.ended:
            state.turn_ended(None, turn=turn.number)


def _key(frame: Frame) -> int | str | None:
    """Give the id of a message as far as it tells requests apart; true is not 1."""
    return frame.id if isinstance(frame.id, int | str) and not isinstance(frame.id, bool) else None
