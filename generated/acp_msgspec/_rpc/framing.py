"""Newline-delimited JSON, without any input or output of its own: bytes in, whole lines out."""

from collections.abc import Sequence

from .._types.portable import Portable

START = 256


class LineTooLong(Portable, ValueError):
    """A line outgrew the limit.

    `limit` is in bytes; `lines` are the other lines of the same chunk, in order. `starts` has the beginning of each
    line that outgrew the limit in this chunk, at most 256 bytes, and `places` how many of `lines` came before each.
    """

    def __init__(
        self, limit: int, lines: list[bytes], starts: Sequence[bytes] = (), places: Sequence[int] = ()
    ) -> None:
        """Keep the limit and what was fine."""
        super().__init__(f"A line is longer than {limit} bytes")
        self.limit = limit
        self.lines = lines
        self.starts = tuple(starts)
        self.places = tuple(places)


class LineSplitter:
    r"""Puts lines together from chunks of any size.

    Lines end with "\n" or "\r\n", which are taken off; empty lines are left out. `limit` is the greatest length of a
    line in bytes, its end not counted; None means no limit. Once a line has outgrown it, the rest of that line is
    skipped and the splitter goes on with the next one.
    """

    __slots__ = ("_rest", "_skipping", "limit")

    def __init__(self, limit: int | None = None) -> None:
        """Start with nothing."""
        self.limit = limit
        # One buffer, not a list of pieces: a peer may send a long line byte by byte.
        self._rest = bytearray()
        self._skipping = False

    def feed(self, data: bytes | bytearray | memoryview, /) -> list[bytes]:
        """Take the next bytes and give the lines that they complete; raise `LineTooLong` where one is."""
        chunk = bytes(data)  # whose length is in bytes, whatever items a memoryview has
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes] = []
        starts: list[bytes] = []
        places: list[int] = []
        if ended:  # only the first line of a chunk may have begun before it
            if self._fits(ended[0], starts, places, 0) and (line := self._completed(ended[0]).removesuffix(b"\r")):
                lines.append(line)
            self._skipping = False
        limit = self.limit
        if limit is None or len(chunk) <= limit:  # then what the chunk holds whole fits as well
            lines += [line for piece in ended[1:] if (line := piece.removesuffix(b"\r"))]
        else:
            for piece in ended[1:]:
                is_fine = len(piece) <= limit or self._fits(piece, starts, places, len(lines))
                if is_fine and piece and (line := piece.removesuffix(b"\r")):
                    lines.append(line)
        if rest and self._fits(rest, starts, places, len(lines)):
            self._rest += rest
        else:
            self._skipping = self._skipping or bool(rest)
        if limit is not None and starts:
            raise LineTooLong(limit, lines, starts, places)
        return lines

    @property
    def pending(self) -> int:
        """How many bytes of an unfinished line are held."""
        return len(self._rest)

    def close(self) -> bytes | None:
        """Give the last line if it has no end, and start anew."""
        last = self._completed(b"").removesuffix(b"\r")
        self._skipping = False
        return last or None

    def _fits(self, piece: bytes, starts: list[bytes], places: list[int], place: int) -> bool:
        """Say whether the current line may grow by this; where it has just become too long, take note of that."""
        if self._skipping:
            return False
        if self.limit is None:
            return True
        # The carriage return of the line's end does not count, and may come with the next chunk only.
        size = len(self._rest) + len(piece)
        if size <= self.limit or (size == self.limit + 1 and (piece or self._rest).endswith(b"\r")):
            return True
        starts.append((bytes(self._rest[:START]) + piece[:START])[:START])
        places.append(place)
        self._rest = bytearray()
        return False

    def _completed(self, piece: bytes) -> bytes:
        """Give the current line, whose last piece this is."""
        if not self._rest:
            return piece
        self._rest += piece
        line = bytes(self._rest)
        self._rest = bytearray()
        return line
