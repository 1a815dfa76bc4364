"""The transport over one WebSocket."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ..._types.printable import printable
from .descriptors import is_hung_up
from .receive_buffer import Received

HIGH = 4 * 1024 * 1024
"""Over this many bytes that nobody took, nothing more is read."""
READ = 16 * 1024
"""How many bytes are read at once: the library takes its time for each frame, and this may be 8192 of them."""
PONGS = 1024 * 1024
"""How many bytes of pongs may wait beside a message that is being sent."""
LOOK = 1.0
"""How many seconds pass between two looks for the peer's end while nothing is read."""
CLOSE_TIMEOUT = 2.0
"""How many seconds the peer has to answer a close."""
UNSUPPORTED_DATA, TOO_BIG, INTERNAL_ERROR = 1003, 1009, 1011
FRAGMENTS = 4096
"""How many fragments a message may have; each costs more than its bytes."""
TOO_MANY = "too many fragments"
"""What newer versions of the library tell a peer that sends more."""


def careful(connection: Any) -> Any:
    """Give a connection class of the library for peers that mean ill.

    It reads less at once, and breaks off where a peer pings without taking the pongs, which nothing else would bound.
    """

    def connection_made(self: Any, transport: Any) -> None:
        if hasattr(transport, "max_size"):  # that of asyncio's sockets is sixteen times as much
            transport.max_size = READ
        connection.connection_made(self, transport)

    def data_received(self: Any, data: bytes) -> None:
        connection.data_received(self, data)
        if self.transport.get_write_buffer_size() > self.sending + PONGS:
            self.is_overrun = True
            self.transport.abort()

    members = {"connection_made": connection_made, "data_received": data_received, "sending": 0, "is_overrun": False}
    return type("Connection", (connection,), members)


class WebSocketTransport:
    """One WebSocket, of either side.

    The library counts the frames that wait, whose size differs a thousandfold. So it waits with none: a task takes each
    message at once, and stops reading when too many bytes wait here.
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
        """Take over an open connection of the library, whose exception for a closed one is `closed`.

        `counts_fragments` says whether the library bounds the fragments of a message by itself.
        """
        self._socket = socket
        self._closed = closed
        self._limit = limit
        self._timeout = timeout
        self._pong: asyncio.Timeout | None = None
        """The time limit of the ping that is under way."""
        self._stopped = asyncio.Event()
        self._received = Received(HIGH)
        self._received.pause, self._received.resume = self._stop, self._go_on
        self.reason: str | None = None
        self._receive = socket.recv if counts_fragments else self._counted
        create = asyncio.get_running_loop().create_task
        self._tasks = [create(self._read()), create(self._look())]
        if interval is not None:
            self._tasks.append(create(self._keep_alive(interval)))

    @property
    def is_gone(self) -> bool:
        """Whether the peer has closed, or its end of the connection is gone, though something may be left."""
        return self._received.is_ended or self._socket.state.name != "OPEN" or is_hung_up(self._descriptor())

    def _descriptor(self) -> int:
        socket = self._socket.transport.get_extra_info("socket")
        return -1 if socket is None else int(socket.fileno())

    async def receive(self) -> Sequence[bytes]:
        return await self._received.take()

    async def send(self, messages: Sequence[bytes]) -> None:
        try:
            for message in messages:
                self._socket.sending = len(message)
                await self._socket.send(message, text=True)
        except self._closed as why:
            self._ended(why)
            raise BrokenPipeError(self.reason) from None

    async def close(self) -> None:
        self._received.end()
        await self._close()
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)

    async def _close(self, code: int = 1000, reason: str = "") -> None:
        """Close, or break off where the peer does not take its part: the last frame may find no room either."""
        self._socket.transport.resume_reading()  # the peer's answer is behind all that it has sent
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT + 1):
                await self._socket.close(code, reason)
        except TimeoutError:
            self._socket.transport.abort()
            await self._socket.wait_closed()

    async def _read(self) -> None:
        """Take each message at once."""
        receive, put = self._receive, self._received.put
        try:
            while isinstance(message := await receive(), str):
                put([message.encode()])
            self._received.end()
            if message is None:
                self.reason = "a message has too many fragments"
                await self._close(TOO_BIG, TOO_MANY)
            else:
                self.reason = "the peer sent a binary frame"
                await self._close(UNSUPPORTED_DATA, "messages are text frames")
        except self._closed as why:
            self._ended(why)
        finally:
            self._received.end()

    async def _counted(self) -> str | bytes | None:
        """Receive a message; None for one that has too many fragments."""
        parts: list[str] = []
        async for part in self._socket.recv_streaming():
            if not isinstance(part, str):
                return bytes(part)
            parts.append(part)
            if len(parts) > FRAGMENTS:
                return None
        return "".join(parts)

    def _stop(self) -> None:
        """Read nothing more, unless the peer has closed and nothing more can come but its end."""
        if self._socket.state.name == "OPEN":
            self._stopped.set()
            self._socket.transport.pause_reading()
            self._reschedule(None)

    def _go_on(self) -> None:
        self._stopped.clear()
        self._socket.transport.resume_reading()
        if self._timeout is not None:
            self._reschedule(asyncio.get_running_loop().time() + self._timeout)

    def _reschedule(self, when: float | None) -> None:
        if self._pong is not None:
            with suppress(RuntimeError):  # it has just expired
                self._pong.reschedule(when)

    async def _look(self) -> None:
        """While nothing is read, send a pong that nobody asked for now and then.

        The system of a peer that is gone refuses it, which shows at once. Otherwise the end would show behind all that
        the peer had sent, which may be more than fits into the system's buffers.
        """
        with suppress(self._closed):
            while True:
                await self._stopped.wait()
                await asyncio.sleep(LOOK)
                if self._stopped.is_set() and not self._socket.transport.get_write_buffer_size():
                    await self._socket.pong()

    async def _keep_alive(self, interval: float) -> None:
        """Ping, and give up a peer that does not answer while its messages are read."""
        with suppress(self._closed):
            while True:
                await asyncio.sleep(interval)
                try:
                    async with asyncio.timeout(None if self._stopped.is_set() else self._timeout) as self._pong:
                        answered = await self._socket.ping()
                        if self._timeout is not None:
                            await answered
                except TimeoutError:
                    await self._close(INTERNAL_ERROR, "keepalive ping timeout")
                    return
                finally:
                    self._pong = None

    def _ended(self, why: Any) -> None:
        """Put into words why it ended; the first reason is the true one."""
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
