"""A progress bar on the terminal, for large files."""

import time
from typing import TextIO

LEAST = 8 * 1024 * 1024
"""The least size of a file with a progress bar, in bytes."""
_PAUSE = 0.1  # seconds
_WIDTH = 30
_LINES = 500  # lines between two checks of the clock


class Progress:
    """Shows how much of a file has been read."""

    def __init__(self, stream: TextIO, total: int) -> None:
        """Start at 0 of `total` bytes."""
        self._stream = stream
        self._total = total
        self._done = self._lines = 0
        self._start = self._last = time.monotonic()
        self._shown = False

    def add(self, size: int) -> None:
        """Count a line."""
        self._done += size + 1
        self._lines += 1
        if self._lines % _LINES and size < LEAST:
            return
        now = time.monotonic()
        if now - self._last >= _PAUSE:
            self._last = now
            self._draw(now - self._start)

    def close(self) -> None:
        """Remove the bar."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _draw(self, seconds: float) -> None:
        part = min(self._done / self._total, 1.0)
        bar = "#" * int(part * _WIDTH)
        speed = self._done / seconds / 1e6
        self._stream.write(f"\r[{bar:{_WIDTH}}] {part:4.0%}  {self._lines:,} lines, {speed:.0f} MB/s\x1b[K")
        self._stream.flush()
        self._shown = True
