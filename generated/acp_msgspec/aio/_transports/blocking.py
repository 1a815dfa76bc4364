"""Reading and writing descriptors that the event loop cannot wait for: files, some devices, everything on Windows.

Each descriptor is served by a daemon thread, because a read may never return.
"""

import asyncio
import os
import threading
from contextlib import suppress
from queue import SimpleQueue

from .flow_control import FlowControl
from .lines import LineBuffer

READ_SIZE = 256 * 1024
HIGH = 256 * 1024
"""Writers wait while more than this many bytes are still to be written."""


class BlockingReader:
    """Reads a descriptor into a line buffer."""

    def __init__(self, fd: int, lines: LineBuffer) -> None:
        """Start reading."""
        # A copy: on Windows a descriptor cannot be closed or copied by others while a read is in progress.
        self._fd = os.dup(fd)
        self._lines = lines
        self._loop = asyncio.get_running_loop()
        self._may_read = threading.Event()
        self._closed = False
        lines.pause, lines.resume = self._may_read.clear, self._may_read.set
        threading.Thread(target=self._run, name="acp-msgspec-reader", daemon=True).start()

    def close(self) -> None:
        """Stop reading. Data of a read in progress is lost."""
        self._closed = True
        self._may_read.set()

    def _run(self) -> None:
        error: OSError | None = None
        data = b"-"
        try:
            while data and not self._closed:
                try:
                    data = os.read(self._fd, READ_SIZE)
                except OSError as why:
                    data, error = b"", why
                self._may_read.clear()
                self._loop.call_soon_threadsafe(self._received, data, error)
                self._may_read.wait()  # the loop holds at most one piece at a time
        except RuntimeError:  # the loop is closed
            pass
        finally:
            os.close(self._fd)

    def _received(self, data: bytes, error: OSError | None) -> None:
        if data and not self._closed:
            self._lines.feed(data)
        elif not data:
            self._lines.end(error)
        if not self._lines.is_paused or not data:
            self._may_read.set()


class BlockingWriter:
    """Writes to a descriptor."""

    def __init__(self, fd: int, flow: FlowControl) -> None:
        """Start the writing thread. `flow` is paused while too much is queued, and fails with the descriptor."""
        self._fd = os.dup(fd)
        self._flow = flow
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[bytes] = SimpleQueue()
        self._size = 0
        self._done = asyncio.Event()
        self._aborted = False
        threading.Thread(target=self._run, name="acp-msgspec-writer", daemon=True).start()

    def write(self, data: bytes) -> None:
        """Queue bytes."""
        self._size += len(data)
        self._queue.put(data)
        if self._size > HIGH:
            self._flow.pause()

    async def close(self, grace: float) -> None:
        """Wait until the queued bytes are written; give up after `grace` seconds."""
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
            self._flow.fail(error)
        elif self._size <= HIGH:
            self._flow.resume()
