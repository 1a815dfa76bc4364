"""The interface between a connection and whatever carries its messages."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..._types.portable import Portable

LIMIT = 64 * 1024 * 1024
"""Default maximum length of a message, in bytes."""


class MessageTooLong(Portable, ValueError):
    """The peer sent a message longer than the transport's limit. The message is lost; the transport goes on.

    `limit` is in bytes. `start` is the beginning of the message, as far as the transport kept it. `more` counts the
    later messages over the limit whose beginnings were not kept because there were too many.
    """

    def __init__(self, limit: int, start: bytes = b"", more: int = 0) -> None:
        """Store the limit, the beginning and the count."""
        super().__init__(limit, start, more)
        self.limit = limit
        self.start = start
        self.more = more

    def __str__(self) -> str:
        """Name the limit, and how many messages exceeded it."""
        text = f"A message is longer than {self.limit} bytes"
        return f"{text}, and so are {self.more} after it" if self.more else text


Take = Callable[[list[bytes]], bool]
"""Handles messages at once and returns True, or leaves them to `receive`."""


class Transport(Protocol):
    """What a connection needs from the object that carries its messages.

    A message is the UTF-8 text of one JSON value; a message to send contains no line break. One task receives and one
    task sends.

    A transport may have three more attributes. `reason` (str) says why the stream ended, and `returncode` is the exit
    status of the peer's process; both go into `ConnectionClosed`. `is_gone` is true once the peer has ended and can
    send nothing more, even while messages wait to be received: a connection whose handlers are stuck receives nothing
    and would not notice the end otherwise.

    It may also have two shortcuts, which save iterations of the event loop:

    - `deliver_to(take)`: while `receive` waits, `take` is called with messages as they come, from the loop's own
      callback. It returns whether it has handled them; if not, `receive` returns them.
    - `send_now(messages)`: sends them without waiting and returns True, or does nothing and returns False.

    A class that overrides `receive` or `send` alone is used without the shortcut that it inherits.
    """

    async def receive(self) -> Sequence[bytes]:
        """Wait for messages and return the available ones, at least one. An empty sequence means end of stream.

        Raises `MessageTooLong` for a message over the limit, after which receiving continues, and `OSError` for a
        broken stream.
        """
        ...

    async def send(self, messages: Sequence[bytes]) -> None:
        """Send messages and return once the peer accepts more, so that a slow reader slows the writer down.

        Raises `OSError` if the stream is broken or closed.
        """
        ...

    async def close(self) -> None:
        """Close both directions and release all resources. Closing again does nothing."""
        ...


def shortcut(transport: Transport, name: str, method: str) -> Any:
    """Return a transport's shortcut for a method; None if it has none, or one of another class than the method."""
    for cls in type(transport).__mro__:
        if method in vars(cls):
            is_own = name in vars(cls) and method not in getattr(transport, "__dict__", ())
            return getattr(transport, name) if is_own else None
    return None
