"""Rebuilding the sessions of a transcript."""

import os
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from msgspec import UNSET, DecodeError, Raw, Struct

from .._rpc.batch import decode_batch
from .._rpc.frame import Frame, decode_frame
from .._types.printable import printable
from ._session import SessionState
from ._transcript import BrokenLine, Recorded, Sender, replay

_WITH_OPTIONS = frozenset(
    {"session/new", "session/load", "session/resume", "session/fork", "session/set_config_option"}
)
"""The requests whose responses carry modes and options."""
_CREATING = frozenset({"session/new", "session/fork"})
"""The requests that create a session, whose id is in the response."""
_CONTINUING = frozenset({"session/load", "session/resume"})
"""The requests that continue a session; the agent may send its history again."""
_CLIENT_METHODS = _WITH_OPTIONS | {"session/prompt", "session/set_mode"}
_AGENT_METHODS = frozenset({"session/update", "session/request_permission"})
_READ_ERRORS = (DecodeError, UnicodeError, RecursionError, ValueError, TypeError, OverflowError)


class Schema(Protocol):
    """A schema module of the package, such as `acp_msgspec.v1`."""

    @property
    def decode_client_message(self) -> Callable[..., Any]:
        """Decode a message from a client."""
        ...

    @property
    def decode_agent_message(self) -> Callable[..., Any]:
        """Decode a message from an agent."""
        ...


def replay_states(
    source: str | os.PathLike[str] | Iterable[bytes | str],
    schema: Schema,
    *,
    on_broken: Callable[[BrokenLine], object] | None = None,
) -> dict[str, SessionState]:
    """Read a transcript and return the state of each session in it, by id.

    `schema` is the module of the negotiated protocol version, such as `acp_msgspec.v1`. `on_broken` is called with each
    line that cannot be read, and with each line whose message about a session cannot be decoded; no content of a
    transcript raises. If several runs use the same id for different sessions, the result has the last one;
    `replay_runs` returns all.

    Raises `OSError` if the file cannot be read.
    """
    return {key: state for run in replay_runs(source, schema, on_broken=on_broken) for key, state in run.items()}


def replay_runs(
    source: str | os.PathLike[str] | Iterable[bytes | str],
    schema: Schema,
    *,
    on_broken: Callable[[BrokenLine], object] | None = None,
) -> list[dict[str, SessionState]]:
    """Read a transcript and return, for each run in it, the states of its sessions by id.

    Each `initialize` of the client begins a run; messages before the first one are a run, too. A session that a later
    run loads or resumes moves to that run. Otherwise, sessions of different runs are different ones, even with the same
    id. The parameters are those of `replay_states`.

    Raises `OSError` if the file cannot be read.
    """
    player = _Player(schema)
    for line in replay(source):
        broken = player.apply(line) if isinstance(line, Recorded) else line
        if broken is not None and on_broken is not None:
            on_broken(broken)
    return [run for run in player.runs if run]


class _PendingRequest(Struct, frozen=True):
    """A request of the client that waits for its response."""

    method: str
    number: int
    """Its number among the requests of the client, from 1."""
    session_id: str | None
    state: SessionState | None = None
    """The state of its session."""
    home: dict[str, SessionState] | None = None
    """The run that had the session before."""
    before: SessionState | None = None
    """The state in that run, which is restored if the request fails."""
    turn: int = 0
    mode: str | None = None


class _Player:
    """Follows the conversation of a client and an agent."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.runs: list[dict[str, SessionState]] = [{}]
        self.pending: dict[int | str, _PendingRequest] = {}
        """The pending requests of the client in this run."""
        self.requests = 0
        self.first_seen: dict[str, int] = {}
        """For each session of this run, the number of requests before its first message."""

    @property
    def states(self) -> dict[str, SessionState]:
        return self.runs[-1]

    def apply(self, line: Recorded) -> BrokenLine | None:
        """Apply a message or a batch; return what is wrong with the first message that cannot be read."""
        try:
            parts = decode_batch(line.message) if bytes(line.message).lstrip()[:1] == b"[" else [line.message]
        except _READ_ERRORS as why:
            return BrokenLine(number=line.number, problem=printable(str(why)))
        problems: list[str] = []
        for part in parts:
            try:
                self._message(line.sender, part)
            except _READ_ERRORS as why:
                problems.append(printable(str(why)))
        return BrokenLine(number=line.number, problem=problems[0]) if problems else None

    def _message(self, sender: Sender, raw: Raw) -> None:
        """Apply a message. Messages that cannot change the state of a session are not decoded."""
        frame = decode_frame(raw)
        if sender == "client" and isinstance(frame.method, str):
            self._client_request(frame, raw)
        elif sender == "agent" and isinstance(frame.method, str) and frame.method in _AGENT_METHODS:
            params = self.schema.decode_agent_message(bytes(raw), unknown="keep").params
            self._state(params.session_id).apply(params)
        elif sender == "agent" and frame.method is UNSET and (key := _key(frame)) is not None:
            self._response(self.pending.pop(key, None), frame, raw)

    def _client_request(self, frame: Frame, raw: Raw) -> None:
        if frame.method == "initialize":
            self.runs.append({})
            self.pending.clear()
            self.first_seen.clear()
        if frame.method not in _CLIENT_METHODS:
            return
        self.requests += 1
        params = self.schema.decode_client_message(bytes(raw), unknown="keep").params
        request = self._sent(frame.method, params)
        if (key := _key(frame)) is not None:
            self.pending[key] = request

    def _sent(self, method: str, params: Any) -> _PendingRequest:
        """Apply what a request does at once; return what its response needs."""
        session_id: str | None = getattr(params, "session_id", None)
        if session_id is None or method in _CREATING:
            return _PendingRequest(method, self.requests, None)
        home = self._home(session_id) if method in _CONTINUING else None
        before = None if home is None else home.get(session_id)
        if method == "session/load" or getattr(params, "replay_from", None) is not None:
            self.states[session_id] = SessionState(session_id)  # the agent sends the whole history again
        elif home is not None:
            self.states[session_id] = resumed = home.pop(session_id)
            if home is not self.states:
                _interrupt(resumed)
        state = self._state(session_id)
        if method == "session/prompt":
            state.user_prompt(params.prompt)
        mode: str | None = getattr(params, "mode_id", None)
        return _PendingRequest(method, self.requests, session_id, state, home, before, state.turn, mode)

    def _response(self, request: _PendingRequest | None, frame: Frame, raw: Raw) -> None:
        if request is None:
            return
        if frame.result is UNSET:
            self._failed(request)
            return

        def method_of(_: object) -> str:
            return request.method

        try:
            result = self.schema.decode_agent_message(bytes(raw), method_of=method_of, unknown="keep").result
        except _READ_ERRORS:
            self._failed(request)
            raise
        if request.method in _CREATING:
            self._created(request, result).adopt(result)
        elif request.state is not None:
            self._answered(request, request.state, result)

    def _created(self, request: _PendingRequest, result: Any) -> SessionState:
        """Return the state of a new session. Messages with its id before the request were about another session."""
        if self.first_seen.get(result.session_id, 0) < request.number:
            self.states.pop(result.session_id, None)
            self.first_seen.pop(result.session_id, None)
        return self._state(result.session_id)

    def _answered(self, request: _PendingRequest, state: SessionState, result: Any) -> None:
        if request.method in _WITH_OPTIONS:
            state.adopt(result)
        elif request.method == "session/set_mode" and request.mode is not None:
            state.mode_set(request.mode)
        elif hasattr(result, "stop_reason"):
            state.turn_ended(result.stop_reason, getattr(result, "usage", None), turn=request.turn)

    def _failed(self, request: _PendingRequest) -> None:
        if request.session_id is None or request.state is None:
            return
        if request.method == "session/prompt":
            request.state.turn_ended(None, turn=request.turn)
        elif request.home is not None and request.before is not None:
            self.states.pop(request.session_id, None)
            request.home[request.session_id] = request.before

    def _home(self, session_id: str) -> dict[str, SessionState] | None:
        """Return the last run with a session."""
        return next((run for run in reversed(self.runs) if session_id in run), None)

    def _state(self, session_id: str) -> SessionState:
        self.first_seen.setdefault(session_id, self.requests)
        return self.states.setdefault(session_id, SessionState(session_id))


def _interrupt(state: SessionState) -> None:
    """End the turns that were open when a run ended, since nothing continues them."""
    for turn in state.snapshot.turns:
        if not turn.ended:
            state.turn_ended(None, turn=turn.number)


def _key(frame: Frame) -> int | str | None:
    """Return the id of a message if it identifies a request; `true` is not 1."""
    return frame.id if isinstance(frame.id, int | str) and not isinstance(frame.id, bool) else None
