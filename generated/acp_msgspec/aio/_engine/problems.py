"""What a connection tells its owner: the end of the connection, and problems that did not end it."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from msgspec import Struct

from ..._types.portable import Portable


class ConnectionClosed(Portable, ConnectionError):
    """The connection has ended, so that no answer will come.

    `reason` says why in a line. `returncode` is the exit status of the peer where it was a process of ours: negative
    for a signal, None where it is not known or there was no process.
    """

    def __init__(self, reason: str, returncode: int | None = None) -> None:
        """Keep why it ended."""
        super().__init__(reason)
        self.reason = reason
        self.returncode = returncode


class ProblemKind(StrEnum):
    """What went wrong, while the connection lives on."""

    UNREADABLE = "unreadable"
    """The peer sent what is no message; it got an error as the reply where the protocol has one."""
    UNKNOWN_METHOD = "unknown_method"
    """The peer sent a request of an unknown method, answered with -32601, or a notification, which was ignored."""
    UNFIT = "unfit"
    """A request, a notification or a response does not fit its method."""
    UNKNOWN_RESPONSE = "unknown_response"
    """A response has an id that no pending call has: never used, or answered before."""
    REFUSED = "refused"
    """The peer answered with an error without an id: it could not read something that this side sent."""
    HANDLER = "handler"
    """A handler raised another exception than `RequestError`, gave something else than a result of its method, or an
    error that could not be sent as it was, or does not end though the connection did."""
    HOOK = "hook"
    """A hook of the connection's owner, such as `on_message`, or the transport's `close` raised."""
    REPLACED = "replaced"
    """Text that this side sent held lone surrogates, which no JSON can hold; U+FFFD was sent instead."""


class Problem(Struct, frozen=True, kw_only=True):
    """Something that went wrong and did not end the connection.

    `detail` is one line without the message's content, made safe to print: control characters and the like stand in it
    as escapes. `id` and `method` are those of the message as far as they are known, `error` the exception behind it.
    """

    kind: ProblemKind
    detail: str
    id: Any = None
    method: str | None = None
    error: BaseException | None = None


OnProblem = Callable[[Problem], object]
