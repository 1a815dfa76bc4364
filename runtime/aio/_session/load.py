"""Going on with an earlier conversation, whether the agent can load it or not."""

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


class Loads(Protocol[L_contra, A_co, N_contra, B_co]):
    """A client's connection of a schema with `session/load`."""

    def session_load(self, params: L_contra, /, *, timeout: float | None = None) -> Awaitable[A_co]:
        """Load a session."""
        ...

    def session_new(self, params: N_contra, /, *, timeout: float | None = None) -> Awaitable[B_co]:
        """Start a session."""
        ...


class Resumes(Protocol[L_contra, A_co, N_contra, B_co]):
    """A client's connection of a schema with `session/resume`."""

    def session_resume(self, params: L_contra, /, *, timeout: float | None = None) -> Awaitable[A_co]:
        """Resume a session."""
        ...

    def session_new(self, params: N_contra, /, *, timeout: float | None = None) -> Awaitable[B_co]:
        """Start a session."""
        ...


class Opened(Struct, Generic[A, T], frozen=True, kw_only=True):
    """A session to go on with.

    `response` is that to the request which opened it. `carried` are the blocks to put before the user's own in the
    first prompt; there are none where the agent has loaded the session. `problem` says why it has not, and is None
    also where it was not asked.
    """

    session_id: str
    response: A
    loaded: bool
    carried: list[T]
    problem: RequestError | NotAdvertised | None = None


@overload
async def load_or_new(
    conn: Loads[L, A_co, N, B_co],
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
    conn: Resumes[L, A_co, N, B_co],
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
    """Load a session, or start a new one that is told what was said in the old.

    `load` are the params of `session/load` or `session/resume`, `new` those of `session/new`. `snapshot` is what is
    known of the old session, and `text` the schema's class of text blocks, as for `transcript_prompt`, which `limit`
    is for, too. An agent that did not announce in `initialize` that it loads sessions is not asked; `can_load=False`
    says so for one whose `initialize` went another way. `timeout` is for each of the requests, in seconds.

    An agent that loads a session tells it anew: put a fresh `SessionState` in the place of the old before.

    An agent that refuses to load gets the new session. Raises `AuthenticationRequired` and `RequestCancelled` all the
    same, and whatever else the requests raise.
    """
    problem: RequestError | NotAdvertised | None = None
    if can_load:
        ask = conn.session_load if type(load).__name__.startswith("Load") else conn.session_resume
        try:
            response = await ask(load, timeout=timeout)
        except (AuthenticationRequired, RequestCancelled):
            raise
        except (RequestError, NotAdvertised) as why:
            problem = why
        else:
            return Opened(session_id=load.session_id, response=response, loaded=True, carried=[])
    response = await conn.session_new(new, timeout=timeout)
    carried = transcript_prompt(snapshot, text, limit=limit)
    return Opened(session_id=response.session_id, response=response, loaded=False, carried=carried, problem=problem)
