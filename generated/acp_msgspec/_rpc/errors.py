"""Errors between peers: a message that cannot be read, and a request that is refused."""

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import msgspec

from .._types.portable import Portable
from .._types.printable import printable
from .codes import (
    AUTHENTICATION_REQUIRED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    RESOURCE_NOT_FOUND,
)
from .salvage import Head

LONG = 300
"""Characters of an error's data in its text; longer data is cut."""


class MessageError(Portable, msgspec.ValidationError):
    """A message could not be read.

    `message` says what is wrong, without the path. `id` and `method` are those of the message, None if they could not
    be read. `code` is the JSON-RPC code: -32700 for malformed JSON, -32600 for an invalid message, -32601 for an
    unknown method, -32602 for invalid params; None for a response whose result or error is invalid. `path` is the JSON
    path of the mismatch. `reply` is the error response to send, None for notifications and responses, which must not
    be answered.

    `part` is the message itself if it is part of a batch. `heads` lists what can still be read of the messages in a
    line of malformed JSON.

    For a batch, `batch` lists the outcome of its messages, in order: each message, or its own `MessageError`. Messages
    without an id are refused one by one up to a bound. One more `MessageError`, the last in `batch`, represents those
    beyond the bound and beyond the greatest number of messages: `count` is the number of refused ones, and `unread` the
    place in the batch (in bytes of its UTF-8) where the unread ones begin, None if all were read.
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
        """Keep the details of the error."""
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
        """Return this error of the message at `index` as the error of its batch; None means several messages."""
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
    """A request was refused. Handlers raise it to refuse one; callers get it when the peer refused theirs.

    `code`, `message` and `data` are those of the JSON-RPC error object; `data` is free JSON, None for none.
    """

    code: int = INTERNAL_ERROR
    default_message: ClassVar[str] = "Internal error"
    _known: ClassVar[dict[int, type["RequestError"]]] = {}

    def __init__(self, message: str | None = None, data: Any = None, *, code: int | None = None) -> None:
        """Build the error with the message and code of the class, or with others."""
        self.code = type(self).code if code is None else code
        self.message = self.default_message if message is None else message
        self.data = data
        super().__init__(f"{self.message} ({self.code})")

    def __str__(self) -> str:
        """Return message, code and data on one line that is safe to print; long data is cut."""
        text = str(self.args[0])
        return printable(text if self.data is None else f"{text}: {_shown(self.data)}")

    def __init_subclass__(cls) -> None:
        """Register the class for its code."""
        cls._known.setdefault(cls.code, cls)

    @classmethod
    def of(cls, error: Any) -> "RequestError":
        """Return the exception for an error object of any schema; the base class for an unknown code.

        A schema without an error type leaves errors plain JSON. Any value that is not an error object becomes the
        `data` of the exception.
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
    """The peer received malformed JSON."""

    code = PARSE_ERROR
    default_message = "Parse error"


class InvalidRequest(RequestError):
    """The JSON is not a valid message."""

    code = INVALID_REQUEST
    default_message = "Invalid request"


class MethodNotFound(RequestError):
    """The method is unknown."""

    code = METHOD_NOT_FOUND
    default_message = "Method not found"


class InvalidParams(RequestError):
    """The params are invalid for the method."""

    code = INVALID_PARAMS
    default_message = "Invalid params"


class InternalError(RequestError):
    """The handler of the request failed."""

    code = INTERNAL_ERROR
    default_message = "Internal error"


class RequestCancelled(RequestError):
    """The request was cancelled before it was answered."""

    code = REQUEST_CANCELLED
    default_message = "Request cancelled"


class AuthenticationRequired(RequestError):
    """The client must authenticate first."""

    code = AUTHENTICATION_REQUIRED
    default_message = "Authentication required"


class ResourceNotFound(RequestError):
    """The resource that the request names does not exist."""

    code = RESOURCE_NOT_FOUND
    default_message = "Resource not found"
