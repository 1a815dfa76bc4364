"""Newline-delimited JSON, without any I/O: bytes in, whole lines out."""

from collections.abc import Sequence

from .._types.portable import Portable

START = 256


class LineTooLong(Portable, ValueError):
    """A line is longer than the limit.

    `limit` is in bytes; `lines` are the other lines of the same chunk, in order. `starts` has the beginning of each
    line that became too long in this chunk, at most 256 bytes, and `places` how many of `lines` came before each.
    """

    def __init__(
        self, limit: int, lines: list[bytes], starts: Sequence[bytes] = (), places: Sequence[int] = ()
    ) -> None:
        """Keep the limit and the valid lines."""
        super().__init__(f"A line is longer than {limit} bytes")
        self.limit = limit
        self.lines = lines
        self.starts = tuple(starts)
        self.places = tuple(places)


class LineSplitter:
    r"""Joins chunks of any size and splits them into lines.

    Lines end with "\n" or "\r\n", which are removed; empty lines are left out. `limit` is the greatest length of a line
    in bytes, without its end; None means no limit. The rest of a longer line is skipped, and the splitter continues
    with the next one.
    """

    __slots__ = ("_rest", "_skipping", "limit")

    def __init__(self, limit: int | None = None) -> None:
        """Start with an empty buffer."""
        self.limit = limit
        # One buffer, not a list of pieces: a peer may send a long line byte by byte.
        self._rest = bytearray()
        self._skipping = False

    def feed(self, data: bytes | bytearray | memoryview, /) -> list[bytes]:
        """Add the next bytes and return the lines that they complete; raise `LineTooLong` if one is too long."""
        chunk = bytes(data)  # of a memoryview, `len` may count larger items than bytes
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes] = []
        starts: list[bytes] = []
        places: list[int] = []
        if ended:  # only the first line of a chunk may have begun before it
            if self._fits(ended[0], starts, places, 0) and (line := self._completed(ended[0]).removesuffix(b"\r")):
                lines.append(line)
            self._skipping = False
        limit = self.limit
        if limit is None or len(chunk) <= limit:  # then all whole lines in the chunk fit as well
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
        """Number of buffered bytes of an unfinished line."""
        return len(self._rest)

    def close(self) -> bytes | None:
        """Return the last line if it has no end, and reset the splitter."""
        last = self._completed(b"").removesuffix(b"\r")
        self._skipping = False
        return last or None

    def _fits(self, piece: bytes, starts: list[bytes], places: list[int], place: int) -> bool:
        """Return whether the current line may grow by `piece`; if it has just become too long, record its start."""
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
        """Return the current line, completed by `piece`."""
        if not self._rest:
            return piece
        self._rest += piece
        line = bytes(self._rest)
        self._rest = bytearray()
        return line
