"""What a connection reports to its owner: why it ended, and problems that did not end it."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from msgspec import Struct

from ..._types.portable import Portable


class ConnectionClosed(Portable, ConnectionError):
    """The connection has ended, so no answer will come.

    `reason` is one line that says why. `returncode` is the exit status of the peer if it was a process that this side
    started: negative for a signal, None if it is unknown or there was no process.
    """

    def __init__(self, reason: str, returncode: int | None = None) -> None:
        """Store the reason and the exit status."""
        super().__init__(reason)
        self.reason = reason
        self.returncode = returncode


class ProblemKind(StrEnum):
    """What went wrong while the connection stays open."""

    UNREADABLE = "unreadable"
    """The peer sent something that is not a valid message. It got an error reply if the protocol allows one."""
    UNKNOWN_METHOD = "unknown_method"
    """The peer sent a request of an unknown method, answered with -32601, or a notification, which was ignored."""
    MISMATCH = "mismatch"
    """The params or the result of a message do not match its method."""
    UNFIT = MISMATCH
    """Deprecated name of `MISMATCH`."""
    UNKNOWN_RESPONSE = "unknown_response"
    """A response has an id that no pending call has: never used, or answered before."""
    REFUSED = "refused"
    """The peer sent an error without an id: it could not read something that this side sent."""
    HANDLER = "handler"
    """A handler raised something other than `RequestError`, returned a value that is not a result of its method,
    raised an error that could not be sent unchanged, or still runs after it was cancelled."""
    HOOK = "hook"
    """A hook of the connection's owner, such as `on_message`, or the transport's `close` raised."""
    REPLACED = "replaced"
    """Text that this side sent contained lone surrogates, which JSON cannot express; U+FFFD was sent instead."""


class Problem(Struct, frozen=True, kw_only=True):
    """Something that went wrong and did not end the connection.

    `detail` is one line without the message's content, safe to print: control characters and the like are escaped.
    `id` and `method` are those of the message as far as they are known, `error` is the exception behind the problem.
    """

    kind: ProblemKind
    detail: str
    id: Any = None
    method: str | None = None
    error: BaseException | None = None


OnProblem = Callable[[Problem], object]
