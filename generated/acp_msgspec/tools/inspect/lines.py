"""Lines of a file with their numbers: empty ones count, overlong ones are never held, a growing file is waited for."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

LIMIT = 64 * 1024 * 1024
"""The greatest length of a line, in bytes."""
_CHUNK = 1024 * 1024
_PAUSE = 0.1  # seconds between two looks at a file that may grow


class Line(Struct, gc=False):
    """One line: its number, from 1, and its bytes without the end; None where it is longer than the limit.

    `size` is its length in bytes. `ended` is false for a last line that nothing ends.
    """

    number: int
    data: bytes | None
    size: int
    ended: bool = True


def numbered(stream: BinaryIO, limit: int = LIMIT) -> Iterator[Line]:
    """Read a stream to its end, one line at a time."""
    number = 0
    while True:
        data = stream.readline(limit + 2)  # with the two bytes that may end a line
        if not data:
            return
        number += 1
        yield _line(number, data, stream, limit)


def _line(number: int, data: bytes, stream: BinaryIO, limit: int) -> Line:
    ended = data.endswith(b"\n")
    stripped = data.rstrip(b"\r\n")
    if len(stripped) <= limit:
        return Line(number, stripped, len(stripped), ended)
    size = len(data)
    del data, stripped
    while not ended:
        more = stream.readline(_CHUNK)
        if not more:
            break
        size += len(more)
        ended = more.endswith(b"\n")
    return Line(number, None, size, ended)


class Following:
    """Reads a file that grows, as `tail -F` does, until it is interrupted.

    `idle` is called whenever there is nothing to read for now, and `changed` with what has happened where the file was
    made shorter or replaced by another: its lines are then counted from 1 again.
    """

    def __init__(self, path: Path, idle: Callable[[], object], changed: Callable[[str], object]) -> None:
        """Keep what to follow and whom to tell."""
        self._path = path
        self._idle = idle
        self._changed = changed
        self._parts: list[bytes] = []
        self._size = 0

    def lines(self, limit: int = LIMIT) -> Iterator[Line]:
        """Read the lines that are there and those that come; raise `OSError` where there is no file at the start."""
        stream = self._path.open("rb")
        number = 0
        try:
            while True:
                piece = stream.readline(_CHUNK)
                if piece:
                    self._add(piece, limit)
                    if not piece.endswith(b"\n"):
                        continue
                    number += 1
                    yield self._take(number, limit, ended=True)
                    continue
                self._idle()
                what = self._what_happened(stream)
                if what is None:
                    time.sleep(_PAUSE)
                    continue
                if self._size:
                    yield self._take(number + 1, limit, ended=False)
                with suppress(OSError):  # between the two names of a rotation; the next look will find it
                    fresh = self._path.open("rb")
                    stream.close()
                    stream, number = fresh, 0
                    self._changed(what)
        finally:
            stream.close()

    def rest(self, number: int, limit: int = LIMIT) -> Line | None:
        """Give the line that had no end yet when the reading was interrupted; `number` is that of the line before."""
        return self._take(number + 1, limit, ended=False) if self._size else None

    def _add(self, piece: bytes, limit: int) -> None:
        self._size += len(piece)
        if self._size <= limit + 2:
            self._parts.append(piece)
        else:
            self._parts.clear()

    def _take(self, number: int, limit: int, *, ended: bool) -> Line:
        data, size = b"".join(self._parts).rstrip(b"\r\n"), self._size
        self._parts, self._size = [], 0
        if size > limit + 2 or len(data) > limit:
            return Line(number, None, size, ended)
        return Line(number, data, len(data), ended)

    def _what_happened(self, stream: BinaryIO) -> str | None:
        try:
            there = self._path.stat()
        except OSError:
            return None
        here = os.fstat(stream.fileno())
        if (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino):
            return "the file was replaced"
        return "the file was made shorter" if there.st_size < stream.tell() else None
