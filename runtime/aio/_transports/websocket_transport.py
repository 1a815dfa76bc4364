"""The transport over one WebSocket."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from ..._types.printable import printable
from .descriptors import is_hung_up
from .receive_buffer import ReceiveBuffer
from .transport import Take

HIGH = 4 * 1024 * 1024
"""Reading pauses while more than this many bytes wait to be received."""
READ_SIZE = 16 * 1024
"""How many bytes are read at once. The library is slow per frame, and this can be 8192 frames."""
PONGS = 1024 * 1024
"""How many bytes of pongs may wait to be sent, beyond a message that is being sent."""
PROBE_INTERVAL = 1.0
"""While reading is paused, seconds between two checks that the peer still exists."""
CLOSE_TIMEOUT = 2.0
"""How many seconds the peer has to answer a close frame."""
TEXT = 1
"""The opcode of a frame that is a text message or begins one."""
UNSUPPORTED_DATA, TOO_BIG, INTERNAL_ERROR = 1003, 1009, 1011
DELIVERED = 16
"""How many messages of one piece that was read are handed over at once."""
SENT_NOW = 64 * 1024
"""Up to this many bytes are written without waiting."""
READ_WITHOUT_LOOP = 100
"""How many messages are taken from the library before the event loop runs, as each may be handled at once."""
FRAGMENTS = 4096
"""How many fragments a message may have; each costs more memory than its bytes."""
TOO_MANY = "too many fragments"
"""The close reason that newer versions of the library send for more fragments."""


@cache
def bounded_connection(connection: Any) -> Any:
    """Return a subclass of the library's connection class whose memory a hostile peer cannot exhaust.

    It reads less at once, and aborts when a peer sends pings without reading the pongs; the library bounds neither. Its
    `deliver`, if set, is given whole text messages before which the library has none, and says whether it took one.
    """

    def connection_made(self: Any, transport: Any) -> None:
        if hasattr(transport, "max_size"):  # asyncio's socket transport reads sixteen times as much by default
            transport.max_size = READ_SIZE
        connection.connection_made(self, transport)

    def data_received(self: Any, data: bytes) -> None:
        self.may_deliver = DELIVERED
        connection.data_received(self, data)
        if self.transport.get_write_buffer_size() > self.sending + PONGS:
            self.is_overrun = True
            self.transport.abort()

    def process_event(self: Any, event: Any) -> None:
        if self.deliver is not None and self.may_deliver > 0 and not len(self.recv_messages.frames):
            self.may_deliver -= 1
            if event.fin and event.opcode == TEXT and self.deliver(event.data):
                return
        connection.process_event(self, event)

    members: dict[str, Any] = {f.__name__: f for f in (connection_made, data_received, process_event)}
    members |= {"sending": 0, "is_overrun": False, "deliver": None, "may_deliver": 0}
    return type("Connection", (connection,), members)


class WebSocketTransport:
    """A transport over an open WebSocket, of a client or of a server.

    The library limits waiting messages by the number of frames, whose sizes differ a thousandfold. So a task takes each
    message from the library at once, and reading pauses when too many bytes wait here.
    """

    def __init__(
        self,
        socket: Any,
        closed: type[Exception],
        limit: int | None,
        interval: float | None,
        timeout: float | None,
        *,
        counts_fragments: bool,
    ) -> None:
        """Take over an open connection of the library; `closed` is the exception it raises for a closed one.

        A ping is sent every `interval` seconds and must be answered within `timeout`. `counts_fragments` says whether
        the library itself limits the fragments of a message.
        """
        self._socket = socket
        self._closed = closed
        self._limit = limit
        self._timeout = timeout
        self._pong_deadline: asyncio.Timeout | None = None
        """The deadline of the ping that waits for its pong."""
        self._paused = asyncio.Event()
        self._received = ReceiveBuffer(HIGH)
        self._received.pause, self._received.resume = self._pause_reading, self._resume_reading
        self.reason: str | None = None
        """Why the connection ended."""
        self._receive = socket.recv if counts_fragments else self._receive_counting_fragments
        create = asyncio.get_running_loop().create_task
        self._tasks = [create(self._read()), create(self._probe_while_paused())]
        if interval is not None:
            self._tasks.append(create(self._keep_alive(interval)))

    @property
    def is_gone(self) -> bool:
        """Whether the peer has closed the connection or disappeared, though messages may be left to receive."""
        return self._received.is_ended or self._socket.state.name != "OPEN" or is_hung_up(self._descriptor())

    def _descriptor(self) -> int:
        socket = self._socket.transport.get_extra_info("socket")
        return -1 if socket is None else int(socket.fileno())

    async def receive(self) -> Sequence[bytes]:
        return await self._received.take()

    def deliver_to(self, take: Take) -> None:
        self._received.deliver_to = take
        self._socket.deliver = self._deliver

    def _deliver(self, data: Any) -> bool:
        """Hand a message over in the callback that has read it; text that is not valid is left to the library."""
        message = bytes(data)
        try:
            message.decode()
        except UnicodeDecodeError:
            return False
        return self._received.deliver([message])

    def send_now(self, messages: Sequence[bytes]) -> bool:
        socket, size = self._socket, sum(map(len, messages))
        if size > SENT_NOW or socket.state.name != "OPEN" or socket.transport.get_write_buffer_size():
            return False
        socket.sending = size
        for message in messages:
            socket.protocol.send_text(message)
        # The library would write each frame by itself. While the connection is open, it has nothing but frames to send.
        socket.transport.write(b"".join(socket.protocol.data_to_send()))
        return True

    async def send(self, messages: Sequence[bytes]) -> None:
        try:
            for group in _groups(messages):
                if not self.send_now(group):
                    for message in group:
                        self._socket.sending = len(message)
                        await self._socket.send(message, text=True)
        except self._closed as why:
            self._set_reason(why)
            raise BrokenPipeError(self.reason) from None

    async def close(self) -> None:
        self._received.end()
        await self._close()
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)

    async def _close(self, code: int = 1000, reason: str = "") -> None:
        """Close the connection; abort it if the peer does not respond, as even the close frame may not fit."""
        self._socket.transport.resume_reading()  # the peer's close frame comes after everything else it has sent
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT + 1):
                await self._socket.close(code, reason)
        except TimeoutError:
            self._socket.transport.abort()
            await self._socket.wait_closed()

    async def _read(self) -> None:
        """Take each message from the library at once."""
        receive, put, number = self._receive, self._received.put, 0
        try:
            while isinstance(message := await receive(), str):
                put([message.encode()])
                number += 1
                if number % READ_WITHOUT_LOOP == 0:
                    await asyncio.sleep(0)
            self._received.end()
            if message is None:
                self.reason = "a message has too many fragments"
                await self._close(TOO_BIG, TOO_MANY)
            else:
                self.reason = "the peer sent a binary frame"
                await self._close(UNSUPPORTED_DATA, "messages are text frames")
        except self._closed as why:
            self._set_reason(why)
        finally:
            self._received.end()

    async def _receive_counting_fragments(self) -> str | bytes | None:
        """Receive a message; None for one with too many fragments."""
        parts: list[str] = []
        async for part in self._socket.recv_streaming():
            if not isinstance(part, str):
                return bytes(part)
            parts.append(part)
            if len(parts) > FRAGMENTS:
                return None
        return "".join(parts)

    def _pause_reading(self) -> None:
        """Pause reading, unless the peer has closed: then only the end of the connection is left to read."""
        if self._socket.state.name == "OPEN":
            self._paused.set()
            self._socket.transport.pause_reading()
            self._set_pong_deadline(None)

    def _resume_reading(self) -> None:
        self._paused.clear()
        self._socket.transport.resume_reading()
        if self._timeout is not None:
            self._set_pong_deadline(asyncio.get_running_loop().time() + self._timeout)

    def _set_pong_deadline(self, when: float | None) -> None:
        if self._pong_deadline is not None:
            with suppress(RuntimeError):  # it has just expired
                self._pong_deadline.reschedule(when)

    async def _probe_while_paused(self) -> None:
        """While reading is paused, send an unsolicited pong now and then.

        If the peer is gone, its system refuses the pong and the connection breaks at once. Otherwise its end would only
        be noticed after reading everything it had sent, which may be more than the buffers of the system hold.
        """
        with suppress(self._closed):
            while True:
                await self._paused.wait()
                await asyncio.sleep(PROBE_INTERVAL)
                if self._paused.is_set() and not self._socket.transport.get_write_buffer_size():
                    await self._socket.pong()

    async def _keep_alive(self, interval: float) -> None:
        """Send pings, and close if the peer does not answer in time. Time in which reading is paused does not count."""
        with suppress(self._closed):
            while True:
                await asyncio.sleep(interval)
                try:
                    async with asyncio.timeout(None if self._paused.is_set() else self._timeout) as self._pong_deadline:
                        pong = await self._socket.ping()
                        if self._timeout is not None:
                            await pong
                except TimeoutError:
                    await self._close(INTERNAL_ERROR, "keepalive ping timeout")
                    return
                finally:
                    self._pong_deadline = None

    def _set_reason(self, why: Any) -> None:
        """Describe why the connection ended; the first reason is kept."""
        if self.reason is not None:
            return
        received: Any = why.rcvd
        sent: Any = why.sent
        if received is not None and (sent is None or why.rcvd_then_sent):
            self.reason = f"the peer closed the connection: {printable(received.reason) or received.code}"
        elif self._socket.is_overrun:
            self.reason = "the peer does not take the answers to its pings"
        elif sent is None:
            self.reason = "the connection broke"
        elif sent.code == TOO_BIG and sent.reason == TOO_MANY:
            self.reason = "a message has too many fragments"
        elif sent.code == TOO_BIG:
            self.reason = f"a message is longer than {self._limit} bytes"
        else:
            self.reason = f"this side closed the connection: {sent.reason or sent.code}"


def _groups(messages: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Divide messages into groups that may be written without waiting; a larger message is a group by itself."""
    start = size = 0
    for number, message in enumerate(messages):
        size += len(message)
        if size > SENT_NOW and number > start:
            yield messages[start:number]
            start, size = number, len(message)
    yield messages[start:]
