"""Transports: what carries whole messages between two ends."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from ..._types.portable import Portable

LIMIT = 64 * 1024 * 1024
"""The greatest length of a message in bytes, unless another one is asked for."""


class MessageTooLong(Portable, ValueError):
    """The peer sent a message that outgrew the transport's limit; the message is lost, and the transport goes on.

    `limit` is in bytes; `start` is the message's beginning, as far as the transport kept it. `more` counts messages
    that came later and were too long as well, where there were too many to keep the beginning of each.
    """

    def __init__(self, limit: int, start: bytes = b"", more: int = 0) -> None:
        """Keep the limit and the beginning."""
        super().__init__(limit, start, more)
        self.limit = limit
        self.start = start
        self.more = more

    def __str__(self) -> str:
        """Tell of all of them."""
        text = f"A message is longer than {self.limit} bytes"
        return f"{text}, and so are {self.more} after it" if self.more else text


class Transport(Protocol):
    """What a connection needs of whatever carries its messages.

    A message is the UTF-8 text of one JSON value; what is sent has no line break in it. One task receives and another
    one sends.
    Three more attributes are read where a transport has them. `reason`, a text that says why the stream ended, and
    `returncode`, the exit status of the peer's process, are for `ConnectionClosed`. `is_gone` says whether the peer has
    ended and can send nothing more, even while messages wait to be received: while handlers are stuck nothing is
    received, and the end would not be seen.
    """

    async def receive(self) -> Sequence[bytes]:
        """Wait for messages and give what is there, at least one; nothing means that the stream has ended.

        Raises `MessageTooLong` for a message beyond the limit, after which receiving goes on, and `OSError` where the
        stream broke.
        """
        ...

    async def send(self, messages: Sequence[bytes]) -> None:
        """Send messages, and return once the peer takes more: this is how a slow reader slows a writer down.

        Raises `OSError` where the stream is broken or closed.
        """
        ...

    async def close(self) -> None:
        """Close both directions and free what the transport holds; closing again does nothing."""
        ...


class Flow:
    """Lets a writer wait while the other side of a transport takes nothing, and fails it once the stream is lost."""

    __slots__ = ("_open", "lost")

    def __init__(self) -> None:
        """Start with a free way."""
        self._open = asyncio.Event()
        self._open.set()
        self.lost: OSError | None = None

    def pause(self) -> None:
        """Make writers wait."""
        self._open.clear()

    def resume(self) -> None:
        """Let writers go on."""
        self._open.set()

    def lose(self, why: BaseException | None) -> None:
        """Fail writers from now on."""
        if self.lost is None:
            self.lost = why if isinstance(why, OSError) else BrokenPipeError(f"The stream is closed ({why})")
        self._open.set()

    def check(self) -> None:
        """Raise what the stream was lost for."""
        if self.lost is not None:
            raise type(self.lost)(*self.lost.args)

    async def wait(self) -> None:
        """Wait for a free way."""
        if not self._open.is_set():
            await self._open.wait()
        self.check()
