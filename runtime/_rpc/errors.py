"""What goes wrong between peers: a message that cannot be read, and a request that is refused."""

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import msgspec

from .._types.portable import Portable
from .._types.printable import printable
from .salvage import Head

LONG = 300
"""Longer data of an error is cut where the error is shown."""


class MessageError(Portable, msgspec.ValidationError):
    """A message could not be read.

    `message` says what is wrong, without the path. `id` and `method` are those of the message as far as they could be
    read, else None. `code` is the JSON-RPC code: -32700 no JSON, -32600 no message, -32601 unknown method, -32602 unfit
    params; None for a response whose result or error does not fit. `path` is the JSON path of the misfit, and `reply`
    the error response to send, or None where nothing may be answered (to a notification or a response).

    `part` is the message itself where it is one of a batch. `heads` is what a line that is not JSON still tells of each
    of its messages.

    For a batch, `batch` lists what became of its messages, in order: the message, or its own `MessageError`. Messages
    without an id are refused one by one up to a bound. What is beyond it, or beyond the greatest number of messages,
    has one `MessageError` together, the last in `batch`: `count` says how many were refused, and `unread` where in the
    batch (in bytes of its UTF-8) those begin that were not read, None where all were.
    """

    def __init__(
        self,
        message: str,
        *,
        id: Any = None,
        method: str | None = None,
        code: int | None = None,
        path: str = "$",
        reply: Any = None,
        batch: list[Any] | None = None,
        count: int = 1,
        unread: int | None = None,
        part: msgspec.Raw | None = None,
        heads: Sequence[Head] = (),
    ) -> None:
        """Keep what is known of the message."""
        super().__init__(message if path == "$" else f"{message} - at `{path}`")
        self.message = message
        self.id = id
        self.method = method
        self.code = code
        self.path = path
        self.reply = reply
        self.batch = batch
        self.count = count
        self.unread = unread
        self.part = part
        self.heads = heads

    def in_batch(self, index: int | None, batch: list[Any]) -> "MessageError":
        """Give the error of a batch whose message at `index` this is the error of; None for several messages."""
        return MessageError(
            self.message,
            id=self.id,
            method=self.method,
            code=self.code,
            path=self.path if index is None else f"$[{index}]{self.path[1:]}",
            reply=self.reply,
            batch=batch,
            count=self.count,
            unread=self.unread,
        )


class RequestError(Portable, Exception):
    """A request is refused: raise it in a handler, or make it of an error that a peer sent.

    `code`, `message` and `data` are those of the JSON-RPC error object; `data` is free JSON, None for none.
    """

    code: int = -32603
    default_message: ClassVar[str] = "Internal error"
    _known: ClassVar[dict[int, type["RequestError"]]] = {}

    def __init__(self, message: str | None = None, data: Any = None, *, code: int | None = None) -> None:
        """Refuse with the class's own message and code, or with others."""
        self.code = type(self).code if code is None else code
        self.message = self.default_message if message is None else message
        self.data = data
        super().__init__(f"{self.message} ({self.code})")

    def __str__(self) -> str:
        """Say what was refused and why, on one line that is safe to print; long data is cut."""
        text = str(self.args[0])
        return printable(text if self.data is None else f"{text}: {_shown(self.data)}")

    def __init_subclass__(cls) -> None:
        """Remember which class stands for which code."""
        cls._known.setdefault(cls.code, cls)

    @classmethod
    def of(cls, error: Any) -> "RequestError":
        """Make the exception that stands for an error object of any schema; unknown codes give the base class.

        A schema without errors leaves them plain JSON. What is not an error object becomes the `data` of the exception.
        """
        code, message, data = (_part(error, name) for name in ("code", "message", "data"))
        if not isinstance(code, int) or not isinstance(message, str):
            return RequestError(data=error)
        return cls._known.get(int(code), RequestError)(message, None if data is msgspec.UNSET else data, code=int(code))


def _part(error: Any, name: str) -> Any:
    return cast("dict[str, Any]", error).get(name) if isinstance(error, dict) else getattr(error, name, None)


def _shown(data: Any) -> str:
    text = data if isinstance(data, str) else repr(data)
    return text if len(text) <= LONG else f"{text[:LONG]}…"


class ParseError(RequestError):
    """The peer sent no JSON."""

    code = -32700
    default_message = "Parse error"


class InvalidRequest(RequestError):
    """The JSON is no message."""

    code = -32600
    default_message = "Invalid request"


class MethodNotFound(RequestError):
    """There is no such method here."""

    code = -32601
    default_message = "Method not found"


class InvalidParams(RequestError):
    """The params do not fit the method."""

    code = -32602
    default_message = "Invalid params"


class InternalError(RequestError):
    """Something broke while the request was handled."""

    code = -32603
    default_message = "Internal error"


class RequestCancelled(RequestError):
    """The request was cancelled before it was done."""

    code = -32800
    default_message = "Request cancelled"


class AuthenticationRequired(RequestError):
    """The client must authenticate first."""

    code = -32000
    default_message = "Authentication required"


class ResourceNotFound(RequestError):
    """What the request names does not exist."""

    code = -32002
    default_message = "Resource not found"
