"""The last bytes of a command's output, as text."""


class OutputBuffer:
    """Keeps the last `limit` bytes of a stream."""

    __slots__ = ("_data", "_limit", "is_truncated")

    def __init__(self, limit: int) -> None:
        """Start empty."""
        self._limit = limit
        self._data = bytearray()
        self.is_truncated = False
        """Whether the beginning was dropped."""

    @property
    def size(self) -> int:
        """The number of bytes kept."""
        return len(self._data)

    def add(self, data: bytes) -> None:
        """Append bytes."""
        self._data += data
        # Truncating moves the rest, so it is done once in a while and not for each small piece.
        if len(self._data) > self._limit + self._limit // 4:
            self.truncate(self._limit)

    def truncate(self, size: int) -> None:
        """Keep the last `size` bytes at most."""
        if len(self._data) > size:
            del self._data[: len(self._data) - size]
            self.is_truncated = True

    def text(self, *, is_complete: bool) -> tuple[str, bool]:
        """Return the text, and whether its beginning was dropped.

        Invalid UTF-8 becomes U+FFFD. Unless the stream `is_complete`, an unfinished character at the end is left out.
        The text takes at most `limit` bytes of UTF-8 and begins with a whole character.
        """
        data = bytes(self._data)
        if self.is_truncated or len(data) > self._limit:
            data = _skip_partial_character(data[max(0, len(data) - self._limit) :])
            self.is_truncated = True
        if not is_complete:
            data = data[: len(data) - _unfinished_size(data)]
        text = data.decode("utf-8", errors="replace")
        encoded = text.encode()
        if len(encoded) <= self._limit:
            return text, self.is_truncated
        self.is_truncated = True
        return _skip_partial_character(encoded[len(encoded) - self._limit :]).decode(), True


def _skip_partial_character(data: bytes) -> bytes:
    """Drop the remaining bytes of a character whose first byte is missing."""
    for start in range(min(4, len(data))):
        if data[start] & 0xC0 != 0x80:
            return data[start:]
    return b"" if len(data) < 4 else data  # not UTF-8 at all


def _unfinished_size(data: bytes) -> int:
    """Return the number of bytes of an unfinished character at the end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return back if length > back else 0
    return 0
