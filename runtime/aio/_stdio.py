"""The transport of a program that was started by its peer: its own standard input and output."""

import asyncio
import errno
import os
import select
import selectors
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ._lines import Lines, write_lines
from ._transport import Flow, Transport

READ = 256 * 1024
GRACE = 5.0
"""So many seconds the end waits for a reader who is slow to take what was written."""
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
        self._blocking = [] if sys.platform == "win32" else [os.get_blocking(fd) for fd in (self.input, self.output)]
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
    """The transport over pipes, sockets and terminals."""

    def __init__(self, lines: Lines, streams: _Streams) -> None:
        self._lines = lines
        self._streams = streams
        self._flow = Flow()
        self._reader: Any = None
        self._writer: Any = None
        self._output: _Output | None = None
        self._closed = False

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        # The loop closes the descriptors that it gets; ours go back to their places at the end.
        if _is_pollable(self._streams.input):
            source = os.fdopen(os.dup(self._streams.input), "rb", buffering=0)
            self._reader, _ = await loop.connect_read_pipe(lambda: _Input(self._lines), source)
        if _is_pollable(self._streams.output):
            self._output = _Output(self._flow)
            output, target = self._output, os.fdopen(os.dup(self._streams.output), "wb", buffering=0)
            self._writer, _ = await loop.connect_write_pipe(lambda: output, target)

    @property
    def is_gone(self) -> bool:
        """Whether nobody can write any more."""
        if self._closed or not hasattr(select, "poll"):
            return self._closed
        poll = select.poll()
        poll.register(self._streams.input, 0)
        return any(event & select.POLLHUP for _, event in poll.poll(0))

    async def receive(self) -> Sequence[bytes]:
        while self._reader is None and not self._closed and not self._lines.is_ready:
            data = await asyncio.to_thread(os.read, self._streams.input, READ)
            if data:
                self._lines.feed(data)
            else:
                self._lines.end()
        return await self._lines.take()

    async def send(self, messages: Sequence[bytes]) -> None:
        await write_lines(self._write, self._flow, messages)

    def _write(self, data: bytes) -> None:
        if self._writer is not None:
            self._writer.write(data)
            return
        view = memoryview(data)  # a file takes everything at once, or nearly
        while view:
            view = view[os.write(self._streams.output, view) :]

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._lines.end()
        self._flow.lose(BrokenPipeError("The transport is closed"))
        if self._reader is not None:
            self._reader.close()
        if self._writer is not None and self._output is not None:
            self._writer.close()
            # What was written may still be on its way to a slow reader.
            await asyncio.wait([self._output.closed], timeout=GRACE)
            if not self._output.closed.done():
                self._writer.abort()
        await asyncio.sleep(0)
        self._streams.restore()


def _is_pollable(fd: int) -> bool:
    """Say whether the loop can wait for a descriptor: not for files and some devices."""
    mode = os.fstat(fd).st_mode
    if sys.platform == "win32" or not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)):
        return False
    with selectors.DefaultSelector() as selector:
        try:
            selector.register(fd, selectors.EVENT_READ)
        except OSError:
            return False
    return True


async def stdio(*, limit: int | None = None) -> Transport:
    """Give the transport over this program's standard input and output, one message on a line.

    `limit` is the greatest length of a line in bytes, None for no limit. Until the transport is closed, all else that
    writes to standard output, `print` included, comes out on standard error, and what reads from standard input finds
    it empty; so do the programs that are started meanwhile. There can be one such transport at a time.

    Raises `OSError` where the program was started without either.
    """
    made = _Stdio(Lines(limit), _Streams())
    try:
        await made.open()
    except BaseException:
        await made.close()
        raise
    return made
