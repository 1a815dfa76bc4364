"""The transport of a program that was started by its peer: its own standard input and output."""

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
from .lines import Lines, write_lines
from .transport import LIMIT, Flow, Transport

GRACE = 5.0
"""How many seconds the end waits for a reader who is slow to take what was written."""
STDIN, STDOUT, STDERR = 0, 1, 2


class _Input(asyncio.Protocol):
    """Reads a pipe into lines."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines

    def connection_made(self, transport: Any) -> None:
        self.lines.pause = transport.pause_reading
        self.lines.resume = transport.resume_reading

    def data_received(self, data: bytes) -> None:
        self.lines.feed(data)

    def eof_received(self) -> None:
        self.lines.end()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lines.pause = self.lines.resume = None
        self.lines.end(exc)


class _Output(asyncio.BaseProtocol):
    """Hears when a pipe takes nothing more."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.closed = asyncio.get_running_loop().create_future()

    def pause_writing(self) -> None:
        self.flow.pause()

    def resume_writing(self) -> None:
        self.flow.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        self.flow.lose(exc or BrokenPipeError("The pipe is closed"))
        if not self.closed.done():
            self.closed.set_result(None)


class _Streams:
    """The two descriptors that the connection has for itself, and the places where they came from."""

    def __init__(self) -> None:
        if sys.__stdin__ is None or sys.__stdout__ is None:
            # They were closed when the program started, and something else has their numbers, most likely the loop.
            raise OSError(errno.EBADF, "There is no standard input or no standard output")
        with suppress(AttributeError, OSError, ValueError):  # there may be no `sys.stdout`, or a closed one
            sys.stdout.flush()
        self.input = os.dup(STDIN)
        self.output = os.dup(STDOUT)
        # The mode belongs to the open file, which whoever started this program may share.
        self._blocking = [] if platforms.is_windows() else [os.get_blocking(fd) for fd in (self.input, self.output)]
        # What else writes to standard output, or reads from standard input, must not meet the messages there, be it
        # this program or one that it starts.
        nothing = os.open(os.devnull, os.O_RDWR)
        try:
            os.dup2(STDERR, STDOUT)
        except OSError:  # there is no standard error
            os.dup2(nothing, STDOUT)
        os.dup2(nothing, STDIN)
        os.close(nothing)

    def restore(self) -> None:
        with suppress(AttributeError, OSError, ValueError):
            sys.stdout.flush()
        for fd, blocking in zip((self.input, self.output), self._blocking, strict=False):
            with suppress(OSError):
                os.set_blocking(fd, blocking)
        for fd, place in ((self.input, STDIN), (self.output, STDOUT)):
            os.dup2(fd, place)
            os.close(fd)


class _Stdio:
    """The transport over pipes, sockets, terminals and files."""

    def __init__(self, lines: Lines, streams: _Streams) -> None:
        self._lines = lines
        self._streams = streams
        self._flow = Flow()
        self._reader: Any = None
        self._writer: Any = None
        self._output: _Output | None = None
        self._closed = False

    async def open(self) -> None:
        loop, streams = asyncio.get_running_loop(), self._streams
        # The loop closes the descriptors that it gets; ours go back to their places at the end.
        if is_pollable(streams.input):
            source = os.fdopen(os.dup(streams.input), "rb", buffering=0)
            self._reader, _ = await loop.connect_read_pipe(lambda: _Input(self._lines), source)
        else:
            self._reader = BlockingReader(streams.input, self._lines)
        if is_pollable(streams.output):
            self._output = _Output(self._flow)
            output, target = self._output, os.fdopen(os.dup(streams.output), "wb", buffering=0)
            self._writer, _ = await loop.connect_write_pipe(lambda: output, target)
        else:
            self._writer = BlockingWriter(streams.output, self._flow)

    @property
    def is_gone(self) -> bool:
        """Whether nobody can write any more, or nobody reads."""
        if self._closed or self._lines.is_ended or self._flow.lost is not None:
            return True
        return is_hung_up(self._streams.input)

    async def receive(self) -> Sequence[bytes]:
        return await self._lines.take()

    async def send(self, messages: Sequence[bytes]) -> None:
        await write_lines(self._writer.write, self._flow, messages)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._lines.end()
        self._flow.lose(BrokenPipeError("The transport is closed"))
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
    """Give the transport over this program's standard input and output, one message on a line.

    `limit` is the greatest length of a line in bytes, 64 MiB by default, None for no limit. Until the transport is
    closed, all else that writes to standard output, `print` included, comes out on standard error, and what reads from
    standard input finds it empty; so do the programs that are started meanwhile. There can be one such transport at a
    time.

    Files, and everything on Windows, are read and written by threads that the end of the program does not wait for.

    Raises `OSError` where the program was started without either.
    """
    made = _Stdio(Lines(limit), _Streams())
    try:
        await made.open()
    except BaseException:
        await made.close()
        raise
    return made
