"""From a transcript to the sessions in it."""

import os
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct

from .._frames import Frame
from ._session import SessionState
from ._transcript import BrokenLine, Recorded, Sender, replay

_FRAMES = msgspec.json.Decoder(Frame)
_BATCHES = msgspec.json.Decoder(list[Raw])
_OPENERS = frozenset({"session/new", "session/load", "session/resume", "session/fork", "session/set_config_option"})
"""The requests whose responses tell of modes and options."""
_REPLAYS = frozenset({"session/load", "session/resume"})
"""The requests that may have the agent tell a session anew."""


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
    each line that cannot be read, and of each that holds a message about a session that cannot.

    Raises `OSError` where the file cannot be read.
    """
    player = _Player(schema)
    for line in replay(source):
        broken = player.tried(line) if isinstance(line, Recorded) else line
        if broken is not None and on_broken is not None:
            on_broken(broken)
    return player.states


class _Asked(Struct, frozen=True):
    """A request that waits for its response."""

    method: str
    session_id: str | None
    before: SessionState | None = None
    """What to go back to where the request fails."""


class _Player:
    """Follows a conversation of a client and an agent."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.states: dict[str, SessionState] = {}
        self.asked: dict[int | str, _Asked] = {}
        """What the client has asked."""

    def tried(self, line: Recorded) -> BrokenLine | None:
        """Take a message; say what is wrong with one that cannot be read."""
        try:
            self.take(line.sender, line.message)
        except (DecodeError, UnicodeError, RecursionError, ValueError) as why:
            return BrokenLine(number=line.number, problem=str(why))
        return None

    def take(self, sender: Sender, raw: Raw) -> None:
        """Take a message; what is not about the state of a session is not read."""
        if bytes(raw).lstrip()[:1] == b"[":
            for part in _BATCHES.decode(raw):
                self.take(sender, part)
            return
        frame = _FRAMES.decode(raw)
        if sender == "client" and isinstance(frame.method, str):
            self._client_call(frame, raw)
        elif sender == "agent" and frame.method == "session/update":
            params = self.schema.decode_agent_message(bytes(raw), unknown="keep").params
            self._state(params.session_id).apply(params)
        elif sender == "agent" and frame.method is UNSET and isinstance(frame.id, int | str):
            self._response(self.asked.pop(frame.id, None), frame, raw)

    def _client_call(self, frame: Frame, raw: Raw) -> None:
        if frame.method not in _OPENERS and frame.method != "session/prompt":
            return
        params = self.schema.decode_client_message(bytes(raw), unknown="keep").params
        session_id: str | None = getattr(params, "session_id", None)
        before = None if session_id is None else self.states.get(session_id)
        if isinstance(frame.id, int | str):
            self.asked[frame.id] = _Asked(frame.method, session_id if frame.method != "session/fork" else None, before)
        if session_id is None:
            return
        if frame.method == "session/prompt":
            self._state(session_id).user_prompt(params.prompt)
        elif frame.method == "session/load" or getattr(params, "replay_from", None) is not None:
            self.states[session_id] = SessionState(session_id)  # the agent tells it all again

    def _response(self, asked: _Asked | None, frame: Frame, raw: Raw) -> None:
        if asked is None:
            return
        if frame.result is UNSET:
            self._failed(asked)
            return

        def method_of(_: object) -> str:
            return asked.method

        result = self.schema.decode_agent_message(bytes(raw), method_of=method_of, unknown="keep").result
        if asked.method in _OPENERS:
            session_id = asked.session_id or getattr(result, "session_id", None)
            if session_id is not None:
                self._state(session_id).adopt(result)
        elif asked.session_id is not None and hasattr(result, "stop_reason"):
            self._state(asked.session_id).turn_ended(result.stop_reason, getattr(result, "usage", None))

    def _failed(self, asked: _Asked) -> None:
        if asked.session_id is None:
            return
        if asked.method == "session/prompt":
            self._state(asked.session_id).turn_ended(None)
        elif asked.method in _REPLAYS and asked.before is not None:
            self.states[asked.session_id] = asked.before

    def _state(self, session_id: str) -> SessionState:
        return self.states.setdefault(session_id, SessionState(session_id))
