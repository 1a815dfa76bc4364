"""Reads numbered lines: empty ones count, overlong ones are never in memory, a growing file can be followed."""

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
_PAUSE = 0.1  # seconds between two checks of a file that may grow


class Line(Struct, gc=False):
    """One line: its number, from 1, and its bytes without the line end; None if it is longer than the limit.

    `size` is its length in bytes. `ended` is False for a last line without a line end.
    """

    number: int
    data: bytes | None
    size: int
    ended: bool = True


def numbered(stream: BinaryIO, limit: int = LIMIT) -> Iterator[Line]:
    """Yield the lines of a stream up to its end."""
    number = 0
    while True:
        data = stream.readline(limit + 2)  # with a line end of two bytes
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


class FileFollower:
    """Reads a file that grows, as `tail -F` does, until it is interrupted.

    `idle` is called whenever there is nothing to read for now. If the file was truncated or replaced, `changed` is
    called with a text that says so, and the line numbers start from 1 again.
    """

    def __init__(self, path: Path, idle: Callable[[], object], changed: Callable[[str], object]) -> None:
        """Store the arguments; `lines` opens the file."""
        self._path = path
        self._idle = idle
        self._changed = changed
        self._parts: list[bytes] = []
        self._size = 0

    def lines(self, limit: int = LIMIT) -> Iterator[Line]:
        """Yield the present lines and all later ones; raise `OSError` if there is no file at the start."""
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
                what = self._file_change(stream)
                if what is None:
                    time.sleep(_PAUSE)
                    continue
                if self._size:
                    yield self._take(number + 1, limit, ended=False)
                with suppress(OSError):  # in the middle of a rotation; the next check will find the file
                    fresh = self._path.open("rb")
                    stream.close()
                    stream, number = fresh, 0
                    self._changed(what)
        finally:
            stream.close()

    def rest(self, number: int, limit: int = LIMIT) -> Line | None:
        """Return the unfinished line after an interruption; `number` is that of the line before it."""
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

    def _file_change(self, stream: BinaryIO) -> str | None:
        try:
            there = self._path.stat()
        except OSError:
            return None
        here = os.fstat(stream.fileno())
        if (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino):
            return "the file was replaced"
        return "the file was truncated" if there.st_size < stream.tell() else None
