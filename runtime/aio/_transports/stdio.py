"""The transport over this program's own standard input and output, for a program that its peer has started."""

import asyncio
import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from . import platforms
from .blocking import BlockingReader, BlockingWriter
from .descriptors import is_hung_up, is_pollable
from .flow_control import FlowControl
from .lines import LineBuffer, read_small, write_lines, write_lines_now
from .transport import LIMIT, Take, Transport

GRACE = 5.0
"""How many seconds `close` waits for a slow reader to take what was written."""
STDIN, STDOUT, STDERR = 0, 1, 2


class _InputProtocol(asyncio.Protocol):
    """Reads a pipe into a line buffer."""

    def __init__(self, lines: LineBuffer) -> None:
        self.lines = lines

    def connection_made(self, transport: Any) -> None:
        read_small(transport)
        self.lines.pause = transport.pause_reading
        self.lines.resume = transport.resume_reading

    def data_received(self, data: bytes) -> None:
        self.lines.feed(data)

    def eof_received(self) -> None:
        self.lines.end()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lines.pause = self.lines.resume = None
        self.lines.end(exc)


class _OutputProtocol(asyncio.BaseProtocol):
    """Passes the state of the output pipe on to flow control."""

    def __init__(self, flow: FlowControl) -> None:
        self.flow = flow
        self.closed = asyncio.get_running_loop().create_future()

    def pause_writing(self) -> None:
        self.flow.pause()

    def resume_writing(self) -> None:
        self.flow.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        self.flow.fail(exc or BrokenPipeError("The pipe is closed"))
        if not self.closed.done():
            self.closed.set_result(None)


class _TakenStreams:
    """Private copies of standard input and output, whose numbers are redirected until `restore`."""

    def __init__(self) -> None:
        if sys.__stdin__ is None or sys.__stdout__ is None:
            # They were closed when the program started, and other files, such as the loop's, may have their numbers.
            raise OSError(errno.EBADF, "There is no standard input or no standard output")
        with suppress(AttributeError, OSError, ValueError):  # `sys.stdout` may be None or closed
            sys.stdout.flush()
        self.input = os.dup(STDIN)
        self.output = os.dup(STDOUT)
        # Blocking mode belongs to the open file, which the program that started this one may share.
        self._blocking = [] if platforms.is_windows() else [os.get_blocking(fd) for fd in (self.input, self.output)]
        # Other code that uses standard input or output must not read or write messages. That includes `print` and
        # child processes.
        null = os.open(os.devnull, os.O_RDWR)
        try:
            os.dup2(STDERR, STDOUT)
        except OSError:  # there is no standard error
            os.dup2(null, STDOUT)
        os.dup2(null, STDIN)
        os.close(null)

    def restore(self) -> None:
        with suppress(AttributeError, OSError, ValueError):
            sys.stdout.flush()
        for fd, blocking in zip((self.input, self.output), self._blocking, strict=False):
            with suppress(OSError):
                os.set_blocking(fd, blocking)
        for fd, number in ((self.input, STDIN), (self.output, STDOUT)):
            os.dup2(fd, number)
            os.close(fd)


class _StdioTransport:
    """The transport over pipes, sockets, terminals and files."""

    def __init__(self, lines: LineBuffer, streams: _TakenStreams) -> None:
        self._lines = lines
        self._streams = streams
        self._flow = FlowControl()
        self._reader: Any = None
        self._writer: Any = None
        self._output: _OutputProtocol | None = None
        self._closed = False

    async def open(self) -> None:
        loop, streams = asyncio.get_running_loop(), self._streams
        # The loop closes the descriptors that it gets, so it gets copies; ours are put back at the end.
        if is_pollable(streams.input):
            source = os.fdopen(os.dup(streams.input), "rb", buffering=0)
            self._reader, _ = await loop.connect_read_pipe(lambda: _InputProtocol(self._lines), source)
        else:
            self._reader = BlockingReader(streams.input, self._lines)
        if is_pollable(streams.output):
            self._output = _OutputProtocol(self._flow)
            output, target = self._output, os.fdopen(os.dup(streams.output), "wb", buffering=0)
            self._writer, _ = await loop.connect_write_pipe(lambda: output, target)
        else:
            self._writer = BlockingWriter(streams.output, self._flow)

    @property
    def is_gone(self) -> bool:
        """Whether the peer has closed either direction."""
        if self._closed or self._lines.is_ended or self._flow.error is not None:
            return True
        return is_hung_up(self._streams.input)

    async def receive(self) -> Sequence[bytes]:
        return await self._lines.take()

    def deliver_to(self, take: Take) -> None:
        self._lines.deliver_to = take

    async def send(self, messages: Sequence[bytes]) -> None:
        await write_lines(self._writer.write, self._flow, messages)

    def send_now(self, messages: Sequence[bytes]) -> bool:
        return write_lines_now(self._writer.write, self._flow, messages)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._lines.end()
        self._flow.fail(BrokenPipeError("The transport is closed"))
        if self._reader is not None:
            self._reader.close()
        # What was written may still be on its way to a slow reader.
        if isinstance(self._writer, BlockingWriter):
            await self._writer.close(GRACE)
        elif self._writer is not None and self._output is not None:
            self._writer.close()
            await asyncio.wait([self._output.closed], timeout=GRACE)
            if not self._output.closed.done():
                self._writer.abort()
        await asyncio.sleep(0)
        self._streams.restore()


async def stdio(*, limit: int | None = LIMIT) -> Transport:
    """Return the transport over this program's standard input and output, one message per line.

    `limit` is the maximum length of a line in bytes, 64 MiB by default, None for no limit. Until the transport is
    closed, anything else that writes to standard output, such as `print` or a child process, writes to standard error
    instead, and anything else that reads standard input finds it empty. There can be one such transport at a time.

    Files, and all streams on Windows, are read and written by daemon threads.

    Raises `OSError` if the program was started without standard input or output.
    """
    made = _StdioTransport(LineBuffer(limit), _TakenStreams())
    try:
        await made.open()
    except BaseException:
        await made.close()
        raise
    return made
