"""Newline-delimited JSON, without any input or output of its own: bytes in, whole lines out."""

from collections.abc import Sequence

from ._portable import Portable

START = 256


class LineTooLong(Portable, ValueError):
    """A line outgrew the limit.

    `limit` is in bytes; `lines` are the other lines of the same chunk, in order. `starts` has the beginning of each
    line that outgrew the limit in this chunk, at most 256 bytes.
    """

    def __init__(self, limit: int, lines: list[bytes], starts: Sequence[bytes] = ()) -> None:
        """Keep the limit and what was fine."""
        super().__init__(f"A line is longer than {limit} bytes")
        self.limit = limit
        self.lines = lines
        self.starts = tuple(starts)


class LineSplitter:
    r"""Puts lines together from chunks of any size.

    Lines end with "\n" or "\r\n", which are taken off; empty lines are left out. `limit` is the greatest length of a
    line in bytes, its end not counted; None means no limit. Once a line has outgrown it, the rest of that line is
    skipped and the splitter goes on with the next one.
    """

    __slots__ = ("_parts", "_size", "_skipping", "limit")

    def __init__(self, limit: int | None = None) -> None:
        """Start with nothing."""
        self.limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes | bytearray | memoryview, /) -> list[bytes]:
        """Take the next bytes and give the lines that they complete; raise `LineTooLong` where one is."""
        chunk = bytes(data)  # whose length is in bytes, whatever items a memoryview has
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes] = []
        starts: list[bytes] = []
        # Only the first line of a chunk may have begun before it; what a chunk holds whole fits if the chunk does.
        fits = self.limit is None or len(chunk) <= self.limit
        for piece in ended[:1] if fits else ended:
            self._add(piece, starts)
            if not self._skipping:
                line = b"".join(self._parts).removesuffix(b"\r")
                if line:
                    lines.append(line)
            self._restart()
        if fits:
            lines += [line for p in ended[1:] if (line := p.removesuffix(b"\r"))]
        self._add(rest, starts)
        if starts and self.limit is not None:
            raise LineTooLong(self.limit, lines, starts)
        return lines

    @property
    def pending(self) -> int:
        """How many bytes of an unfinished line are held."""
        return self._size

    def close(self) -> bytes | None:
        """Give the last line if it has no end, and start anew."""
        last = None if self._skipping else b"".join(self._parts).removesuffix(b"\r")
        self._restart()
        return last or None

    def _add(self, piece: bytes, starts: list[bytes]) -> None:
        """Take a piece of the current line, or its start where the line has just become too long."""
        if self._skipping or not piece:
            return
        # The carriage return of the line's end does not count, and may come with the next chunk only.
        size = self._size + len(piece) - (1 if piece.endswith(b"\r") else 0)
        if self.limit is not None and size > self.limit:
            starts.append(b"".join((*self._parts, piece[:START]))[:START])
            self._parts, self._size, self._skipping = [], 0, True
            return
        self._parts.append(piece)
        self._size += len(piece)

    def _restart(self) -> None:
        self._parts, self._size, self._skipping = [], 0, False
