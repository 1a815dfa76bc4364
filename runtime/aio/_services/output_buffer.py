"""The end of a stream of output, within a limit."""


class Tail:
    """Keeps the last `limit` bytes."""

    __slots__ = ("_data", "_limit", "is_cut")

    def __init__(self, limit: int) -> None:
        """Start empty."""
        self._limit = limit
        self._data = bytearray()
        self.is_cut = False
        """Whether the beginning is gone."""

    @property
    def size(self) -> int:
        """The number of bytes that are kept."""
        return len(self._data)

    def add(self, data: bytes) -> None:
        """Take more."""
        self._data += data
        # Cutting moves what is kept, so it waits until there is something to throw away.
        if len(self._data) > self._limit + self._limit // 4:
            self.cut(self._limit)

    def cut(self, size: int) -> None:
        """Keep the last `size` bytes at most."""
        if len(self._data) > size:
            del self._data[: len(self._data) - size]
            self.is_cut = True

    def text(self, *, is_whole: bool) -> tuple[str, bool]:
        """Give the text, and whether its beginning was cut off.

        Bytes that are no UTF-8 become U+FFFD; the first bytes of a character whose rest may still come wait for it,
        unless the stream `is_whole`. The text takes at most `limit` bytes, and begins with a whole character.
        """
        data = bytes(self._data)
        if self.is_cut or len(data) > self._limit:
            data = _from_character(data[max(0, len(data) - self._limit) :])
            self.is_cut = True
        if not is_whole:
            data = data[: len(data) - _unfinished(data)]
        text = data.decode("utf-8", errors="replace")
        written = text.encode()
        if len(written) <= self._limit:
            return text, self.is_cut
        self.is_cut = True
        return _from_character(written[len(written) - self._limit :]).decode(), True


def _from_character(data: bytes) -> bytes:
    """Leave the rest of a character at the beginning out."""
    for start in range(min(4, len(data))):
        if data[start] & 0xC0 != 0x80:
            return data[start:]
    return b"" if len(data) < 4 else data  # it is no UTF-8 at all


def _unfinished(data: bytes) -> int:
    """Count the bytes of an unfinished character at the end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        wanted = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return back if wanted > back else 0
    return 0
