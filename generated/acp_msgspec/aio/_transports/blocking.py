"""Descriptors that the loop cannot wait for: files, some devices, and everything on Windows.

Each is served by a thread that the end of the program does not wait for, since a read may never return.
"""

import asyncio
import os
import threading
from contextlib import suppress
from queue import SimpleQueue

from .lines import Lines
from .transport import Flow

READ = 256 * 1024
HIGH = 256 * 1024
"""Over this many bytes that wait to be written, writers wait."""


class BlockingReader:
    """Reads a descriptor into lines."""

    def __init__(self, fd: int, lines: Lines) -> None:
        """Start to read."""
        # A descriptor of its own: on Windows nobody else can close or copy one in which a read is under way.
        self._fd = os.dup(fd)
        self._lines = lines
        self._loop = asyncio.get_running_loop()
        self._wanted = threading.Event()
        self._closed = False
        lines.pause, lines.resume = self._wanted.clear, self._wanted.set
        threading.Thread(target=self._run, name="acp-msgspec-reader", daemon=True).start()

    def close(self) -> None:
        """Read no more. What a read that is under way still gets is lost."""
        self._closed = True
        self._wanted.set()

    def _run(self) -> None:
        error: OSError | None = None
        data = b"-"
        try:
            while data and not self._closed:
                try:
                    data = os.read(self._fd, READ)
                except OSError as why:
                    data, error = b"", why
                self._wanted.clear()
                self._loop.call_soon_threadsafe(self._take, data, error)
                self._wanted.wait()  # never more than one piece is under way
        except RuntimeError:  # the loop is closed
            pass
        finally:
            os.close(self._fd)

    def _take(self, data: bytes, error: OSError | None) -> None:
        if data and not self._closed:
            self._lines.feed(data)
        elif not data:
            self._lines.end(error)
        if not self._lines.is_paused or not data:
            self._wanted.set()


class BlockingWriter:
    """Writes to a descriptor what it is given."""

    def __init__(self, fd: int, flow: Flow) -> None:
        """Start to wait for something to write; `flow` hears when it is too much, and of the end."""
        self._fd = os.dup(fd)
        self._flow = flow
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[bytes] = SimpleQueue()
        self._size = 0
        self._done = asyncio.Event()
        self._aborted = False
        threading.Thread(target=self._run, name="acp-msgspec-writer", daemon=True).start()

    def write(self, data: bytes) -> None:
        """Have bytes written."""
        self._size += len(data)
        self._queue.put(data)
        if self._size > HIGH:
            self._flow.pause()

    async def close(self, grace: float) -> None:
        """Write no more than is under way, and wait for that; after `grace` seconds it is given up."""
        self._queue.put(b"")
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self._done.wait()
        self._aborted = True

    def _run(self) -> None:
        try:
            while data := self._queue.get():
                size, error = len(data), None
                view = memoryview(data)
                try:
                    while view and not self._aborted:
                        view = view[os.write(self._fd, view) :]
                except OSError as why:
                    error = why
                self._loop.call_soon_threadsafe(self._written, size, error)
                if error is not None:
                    break
            self._loop.call_soon_threadsafe(self._done.set)
        except RuntimeError:  # the loop is closed
            pass
        finally:
            os.close(self._fd)

    def _written(self, size: int, error: OSError | None) -> None:
        self._size -= size
        if error is not None:
            self._flow.lose(error)
        elif self._size <= HIGH:
            self._flow.resume()
