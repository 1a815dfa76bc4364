"""Continuing an earlier conversation, whether or not the agent can load its session."""

from collections.abc import Awaitable
from typing import Any, Generic, Protocol, TypeVar, overload

from msgspec import Struct

from ..._rpc.errors import AuthenticationRequired, RequestCancelled, RequestError
from ...state import Snapshot, TextBlock, transcript_prompt
from .handshake import NotAdvertised

T = TypeVar("T")
L_contra = TypeVar("L_contra", contravariant=True)
N_contra = TypeVar("N_contra", contravariant=True)
A_co = TypeVar("A_co", covariant=True)
B_co = TypeVar("B_co", covariant=True)
A = TypeVar("A")
L = TypeVar("L", bound=Struct)
N = TypeVar("N", bound=Struct)


class LoadConnection(Protocol[L_contra, A_co, N_contra, B_co]):
    """A client connection of a schema that has `session/load`."""

    def session_load(self, params: L_contra, /, *, timeout: float | None = None) -> Awaitable[A_co]:
        """Load a session."""
        ...

    def session_new(self, params: N_contra, /, *, timeout: float | None = None) -> Awaitable[B_co]:
        """Start a session."""
        ...


class ResumeConnection(Protocol[L_contra, A_co, N_contra, B_co]):
    """A client connection of a schema that has `session/resume`."""

    def session_resume(self, params: L_contra, /, *, timeout: float | None = None) -> Awaitable[A_co]:
        """Resume a session."""
        ...

    def session_new(self, params: N_contra, /, *, timeout: float | None = None) -> Awaitable[B_co]:
        """Start a session."""
        ...


class Opened(Struct, Generic[A, T], frozen=True, kw_only=True):
    """The session in which the conversation continues.

    `response` is the response to the request that opened it. `carried` holds the blocks to put before the user's own in
    the first prompt; it is empty if the agent has loaded the session. `problem` says why the agent did not load it; it
    is also None if the agent was not asked to.
    """

    session_id: str
    response: A
    loaded: bool
    carried: list[T]
    problem: RequestError | NotAdvertised | None = None


@overload
async def load_or_new(
    conn: LoadConnection[L, A_co, N, B_co],
    load: L,
    new: N,
    /,
    *,
    snapshot: Snapshot,
    text: TextBlock[T],
    can_load: bool = True,
    limit: int | None = None,
    timeout: float | None = None,
) -> Opened[A_co | B_co, T]: ...
@overload
async def load_or_new(
    conn: ResumeConnection[L, A_co, N, B_co],
    load: L,
    new: N,
    /,
    *,
    snapshot: Snapshot,
    text: TextBlock[T],
    can_load: bool = True,
    limit: int | None = None,
    timeout: float | None = None,
) -> Opened[A_co | B_co, T]: ...
async def load_or_new(
    conn: Any,
    load: Any,
    new: Any,
    /,
    *,
    snapshot: Snapshot,
    text: TextBlock[T],
    can_load: bool = True,
    limit: int | None = None,
    timeout: float | None = None,
) -> Opened[Any, T]:
    """Load a session, or start a new one and carry the text of the old conversation over to it.

    `load` holds the params of `session/load` or `session/resume`, `new` those of `session/new`. `snapshot` is the state
    of the old session. `text` is the schema's class of text blocks; it and `limit` are passed to `transcript_prompt`.
    An agent that did not advertise in `initialize` that it loads sessions is not asked to. If `initialize` did not go
    through this connection, `can_load=False` says the same. `timeout` applies to each request, in seconds.

    An agent that loads a session, or resumes it with `replay_from`, sends its conversation again: replace the old
    `SessionState` with a new one before. In version 2 the update `replay_complete` ends the replay. Agents send it
    before the response, so all of the replay has been handled when this returns.

    If the agent refuses to load, a new session is started. `AuthenticationRequired` and `RequestCancelled` are raised
    in any case, as is any other exception of the requests.
    """
    problem: RequestError | NotAdvertised | None = None
    if can_load:
        request = conn.session_load if type(load).__name__.startswith("Load") else conn.session_resume
        try:
            response = await request(load, timeout=timeout)
        except (AuthenticationRequired, RequestCancelled):
            raise
        except (RequestError, NotAdvertised) as why:
            problem = why
        else:
            return Opened(session_id=load.session_id, response=response, loaded=True, carried=[])
    response = await conn.session_new(new, timeout=timeout)
    carried = transcript_prompt(snapshot, text, limit=limit)
    return Opened(session_id=response.session_id, response=response, loaded=False, carried=carried, problem=problem)
