"""Newline-delimited JSON, without any input or output of its own: bytes in, whole lines out."""


class LineTooLong(ValueError):
    """A line outgrew the limit.

    `limit` is in bytes; `lines` are the other lines of the same chunk, in order.
    """

    def __init__(self, limit: int, lines: list[bytes]) -> None:
        """Keep the limit and what was fine."""
        super().__init__(f"A line is longer than {limit} bytes")
        self.limit = limit
        self.lines = lines


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
        *ended, rest = bytes(data).split(b"\n")
        lines: list[bytes] = []
        too_long = False
        # Only the first line of a chunk may have begun before it; what a chunk holds whole fits if the chunk does.
        fits = self.limit is None or len(data) <= self.limit
        for piece in ended[:1] if fits else ended:
            too_long |= self._add(piece)
            if not self._skipping:
                line = b"".join(self._parts).removesuffix(b"\r")
                if line:
                    lines.append(line)
            self._restart()
        if fits:
            lines += [line for p in ended[1:] if (line := p.removesuffix(b"\r"))]
        too_long |= self._add(rest)
        if too_long and self.limit is not None:
            raise LineTooLong(self.limit, lines)
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

    def _add(self, piece: bytes) -> bool:
        """Take a piece of the current line; say whether the line has just become too long."""
        if self._skipping or not piece:
            return False
        # The carriage return of the line's end does not count, and may come with the next chunk only.
        size = self._size + len(piece) - (1 if piece.endswith(b"\r") else 0)
        if self.limit is not None and size > self.limit:
            self._parts, self._size, self._skipping = [], 0, True
            return True
        self._parts.append(piece)
        self._size += len(piece)
        return False

    def _restart(self) -> None:
        self._parts, self._size, self._skipping = [], 0, False
