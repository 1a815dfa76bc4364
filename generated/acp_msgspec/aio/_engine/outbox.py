"""Messages that wait to be sent: the one writer task takes all of them at once."""

import asyncio
from collections import deque
from collections.abc import Callable

from .._transports.transport import Transport, shortcut

HIGH = 256 * 1024
"""Above this number of waiting bytes, senders wait before they put another message."""


class Outbox:
    """Collects messages for one writer task, so that many of them are sent in one write."""

    __slots__ = (
        "_idle",
        "_is_held",
        "_is_over",
        "_line",
        "_on_room",
        "_queue",
        "_room",
        "_send_now",
        "_trace",
        "_transport",
        "_wake",
        "broken",
        "from_reader",
        "held",
        "size",
    )

    def __init__(self, transport: Transport, trace: Callable[[bytes], None] | None = None) -> None:
        """Start with nothing to send; `trace` is called with each message."""
        self.size = 0
        """The bytes that wait."""
        self.from_reader = 0
        """The bytes among them that the reader put, which does not wait for room before each message."""
        self.held = 0
        """The bytes of answers that wait for the others of their batch before they are put."""
        self.broken: OSError | None = None
        """Why the transport can no longer send."""
        self._transport = transport
        self._trace = trace
        self._queue: list[bytes] = []
        self._wake: asyncio.Future[None] | None = None
        self._line: deque[asyncio.Future[None]] = deque()
        """Those who wait in line."""
        self._room = asyncio.Event()
        self._room.set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._is_over = False
        self._is_held = False
        self._send_now: Callable[[list[bytes]], bool] | None = None
        """Sends messages without waiting, if the transport can."""
        self._on_room: Callable[[], None] | None = None

    @property
    def is_full(self) -> bool:
        """Whether so much waits that nothing more should be made that will wait, too."""
        return self.size > HIGH

    def put(self, message: bytes) -> bool:
        """Take a message; return whether the caller should `wait_for_room` before the next one."""
        if self._is_over:
            return False
        if self._trace is not None:
            self._trace(message)
        self._queue.append(message)
        self.size += len(message)
        if self._wake is not None and not self._is_held:
            self._wake_writer(self._wake)
        if self.size > HIGH:
            self._room.clear()
            return True
        return False

    def put_now(self, message: bytes) -> None:
        """Take a message, and write it in this iteration of the event loop if the transport need not wait."""
        if self._is_held:
            self.put(message)
            return
        self.hold()
        try:
            self.put(message)
        finally:
            self.release()

    def hold(self) -> None:
        """Collect messages until `release`, which writes them together and at once."""
        self._is_held = True

    def release(self) -> None:
        """Write what was collected at once if the transport need not wait, or leave it to the writer."""
        self._is_held = False
        if self._wake is not None and self._queue and not self._write_now():
            self._wake_writer(self._wake)

    def _write_now(self) -> bool:
        """Write what waits; return whether the transport took it. The writer does all that takes more."""
        if self._send_now is None or self._line or self.size > HIGH or not self._send_now(self._queue):
            return False
        self._queue = []
        self.size = self.from_reader = 0
        return True

    def _wake_writer(self, wake: asyncio.Future[None]) -> None:
        self._wake = None
        self._idle.clear()
        if not wake.done():
            wake.set_result(None)

    def count_from_reader(self, size: int) -> None:
        """Count bytes that the reader has put."""
        self.from_reader += size

    def count_held(self, size: int) -> None:
        """Count bytes of an answer that waits for the others of its batch; a negative number once they are put."""
        self.held += size

    def call_on_room(self, callback: Callable[[], None]) -> None:
        """Have a function called each time the writer takes messages from a full outbox."""
        self._on_room = callback

    async def wait_for_room(self) -> None:
        """Wait until the writer has taken what waits."""
        await self._room.wait()

    def release_all(self) -> None:
        """Let those who wait for room now continue without it."""
        self._room.set()
        if self.is_full:
            self._room.clear()

    async def wait_in_line(self) -> None:
        """Wait until the outbox is not full, and for those who wait here longer; then at most one message is added.

        Others put messages without waiting in line, possibly each time the writer takes some. So one of the line
        continues each time all the same.
        """
        if self._is_over or not (self.is_full or self._line):
            return
        loop = asyncio.get_running_loop()
        place: asyncio.Future[None] = loop.create_future()
        self._line.append(place)
        try:
            await place
        finally:
            loop.call_soon(self._release_next_if_room)  # once this one has put its message

    def _release_next_if_room(self) -> None:
        if not self.is_full:
            self._release_next()

    def _release_next(self) -> None:
        while self._line:
            place = self._line.popleft()
            if not place.done():
                place.set_result(None)
                return

    async def flush(self) -> None:
        """Wait until everything was handed to the transport."""
        await self._idle.wait()

    async def run(self) -> None:
        """Write until the stream breaks; `broken` is then the reason."""
        loop = asyncio.get_running_loop()
        self._idle.clear()
        self._send_now = shortcut(self._transport, "send_now", "send")
        try:
            while True:
                if not self._queue:
                    self._idle.set()
                    self._wake = loop.create_future()
                    await self._wake
                messages, self._queue = self._queue, []
                was_full = self.size > HIGH
                self.size = self.from_reader = 0
                self._room.set()
                self._release_next()
                if was_full and self._on_room is not None:
                    self._on_room()
                await self._transport.send(messages)
        except OSError as error:
            self.broken = error
        finally:
            self._is_over = True
            self._queue.clear()
            self.size = self.from_reader = 0
            self._room.set()
            self._idle.set()
            self._release_next()
