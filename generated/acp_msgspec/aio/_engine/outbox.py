"""The way out: messages wait here until the one writer takes all of them at once."""

import asyncio
from collections import deque
from collections.abc import Callable

from .._transports.transport import Transport

HIGH = 256 * 1024
"""Above this number of waiting bytes, those who put messages wait, too."""


class Outbox:
    """Collects messages for one writer task, so that many of them go out in one write."""

    __slots__ = (
        "_idle",
        "_is_over",
        "_queue",
        "_room",
        "_trace",
        "_transport",
        "_turns",
        "_wake",
        "broken",
        "gathered",
        "on_room",
        "owed",
        "size",
    )

    def __init__(self, transport: Transport, trace: Callable[[bytes], None] | None = None) -> None:
        """Start with nothing to send; `trace` sees each message."""
        self._transport = transport
        self._trace = trace
        self._queue: list[bytes] = []
        self.size = 0
        """The bytes that wait."""
        self._wake: asyncio.Future[None] | None = None
        self._turns: deque[asyncio.Future[None]] = deque()
        """Those who wait for a vacancy."""
        self._room = asyncio.Event()
        self._room.set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._is_over = False
        self.on_room: Callable[[], None] | None = None
        """Called when the writer has taken what was too much."""
        self.broken: OSError | None = None
        self.owed = 0
        """The waiting bytes that the reader put, which must not wait for room in the ordinary way."""
        self.gathered = 0
        """The bytes of answers that wait for the others of their batch before they are put."""

    @property
    def is_full(self) -> bool:
        """Whether so much waits that nothing more should be made that will wait, too."""
        return self.size > HIGH

    def put(self, message: bytes) -> bool:
        """Take a message; say whether the caller should wait for `room` before the next one."""
        if self._is_over:
            return False
        if self._trace is not None:
            self._trace(message)
        self._queue.append(message)
        self.size += len(message)
        wake = self._wake
        if wake is not None:
            self._wake = None
            self._idle.clear()
            if not wake.done():
                wake.set_result(None)
        if self.size > HIGH:
            self._room.clear()
            return True
        return False

    async def room(self) -> None:
        """Wait until the writer has taken what waits."""
        await self._room.wait()

    def let_go_on(self) -> None:
        """Let those who wait for room now go on without it."""
        self._room.set()
        if self.is_full:
            self._room.clear()

    async def vacancy(self) -> None:
        """Wait until little enough waits, and for those who wait here longer; at most one large message is then added.

        Others put without waiting here, as often as the writer takes something. So each time one goes on all the same.
        """
        if self._is_over or not (self.is_full or self._turns):
            return
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._turns.append(turn)
        try:
            await turn
        finally:
            loop.call_soon(self._let_next)  # once this one has put its message

    def _let_next(self) -> None:
        if not self.is_full:
            self._let_one()

    def _let_one(self) -> None:
        while self._turns:
            turn = self._turns.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    async def flush(self) -> None:
        """Wait until everything was handed to the transport."""
        await self._idle.wait()

    async def run(self) -> None:
        """Write until the stream breaks; `broken` then says why."""
        loop = asyncio.get_running_loop()
        self._idle.clear()
        try:
            while True:
                if not self._queue:
                    self._idle.set()
                    self._wake = loop.create_future()
                    await self._wake
                batch, self._queue = self._queue, []
                was_full = self.size > HIGH
                self.size = self.owed = 0
                self._room.set()
                self._let_one()
                if was_full and self.on_room is not None:
                    self.on_room()
                await self._transport.send(batch)
        except OSError as why:
            self.broken = why
        finally:
            self._is_over = True
            self._queue.clear()
            self.size = self.owed = 0
            self._room.set()
            self._idle.set()
            self._let_one()
