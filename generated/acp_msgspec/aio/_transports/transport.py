"""The interface between a connection and whatever carries its messages."""

from collections.abc import Sequence
from typing import Protocol

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


class Transport(Protocol):
    """What a connection needs from the object that carries its messages.

    A message is the UTF-8 text of one JSON value; a message to send contains no line break. One task receives and one
    task sends.

    A transport may have three more attributes. `reason` (str) says why the stream ended, and `returncode` is the exit
    status of the peer's process; both go into `ConnectionClosed`. `is_gone` is true once the peer has ended and can
    send nothing more, even while messages wait to be received: a connection whose handlers are stuck receives nothing
    and would not notice the end otherwise.
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
