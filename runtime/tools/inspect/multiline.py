"""Joins the lines of a message that was formatted over several lines.

Formatted JSON has line breaks after brackets and commas. So a line that ends in one of them, within an object that it
began, is held until the object ends, as long as each further line may continue it. If a line may not, or the value
becomes too large, the held lines are returned one by one. A list over several lines is split: its brackets are dropped,
and each message in it is read as soon as it is complete.
"""

import re

from .brackets import Brackets, may_follow, value_end
from .direction import MAX_LABEL
from .lines import LIMIT, Line

MAX_HELD = 100_000
"""The greatest number of held lines."""

_BREAKS = b"{[,"
_NAME = b'"jsonrpc"'
_BEGINNING = re.compile(rb'[{\[](?=\s*(?:"|\{\s*"|[{\[]?\s*\Z))')
"""The start of an object or a list, before a string or the end of the line."""


class LineJoiner:
    """Takes lines one by one and returns those that can be read."""

    def __init__(self, limit: int = LIMIT) -> None:
        """Start with no lines; `limit` is the greatest number of bytes held."""
        self._limit = limit
        self._held: list[Line] = []
        self._parts: list[bytes] = []
        """The part of each held line that belongs to the value."""
        self._head = b""
        """The text before the value, which may stand before each of its lines, too."""
        self._brackets = Brackets()
        self._size = 0
        self._last = 0
        """The last held byte that is not white space."""
        self._is_named = False
        self._is_list = False
        self._lists = False
        """Whether a list of messages is open, whose messages are read one by one."""

    def add(self, line: Line) -> list[Line]:
        """Take a line; return the lines that can be read now."""
        data = line.data
        if self._held:
            return self._continue(line)
        if data is None or not data or (data[-1] not in b"{[, \t]" and not self._lists):
            return [line]
        return self._begin(line, data.rstrip())

    def close(self) -> list[Line]:
        """Return the held lines one by one, since no more will follow."""
        held, self._held, self._parts = self._held, [], []
        self._brackets, self._size = Brackets(), 0
        return held

    def _begin(self, line: Line, data: bytes) -> list[Line]:
        bare = data.lstrip()
        if bare in (b"[", b"[{") or (self._lists and bare in (b"]", b"],")):
            self._lists = bare[:1] == b"["
            if bare != b"[{":
                return []
        elif bare.startswith(b"[{") and bare.endswith(b"},") and value_end(bare, 1) == len(bare) - 1:
            self._lists = True
            return [line]
        elif not data or data[-1] not in _BREAKS:
            self._lists = self._lists and not data.endswith(b"]")
            return [line]
        found = _BEGINNING.search(data, data.find(b"{") if bare == b"[{" else 0, MAX_LABEL * 2)
        if found is None:
            return [line]
        self._is_named, self._is_list = False, data[found.start()] == ord("[")
        self._head = data[: found.start()].strip()
        given = self._hold(line, data, found.start())
        return [line] if given is None else given

    def _hold(self, line: Line, data: bytes, start: int) -> list[Line] | None:
        """Hold a line. Returns the joined lines if the value ends, nothing if it goes on, None if it is invalid."""
        try:
            end = self._brackets.close_in(data, start)
        except ValueError:
            self._brackets = Brackets()
            return None
        self._held.append(line)
        self._parts.append(data)
        self._size += line.size + 1
        self._last = data[-1] if data else self._last
        self._is_named = self._is_named or _NAME in data
        if end is None:
            return []
        whole = b"\n".join(self._parts)
        held = self.close()
        return [Line(held[0].number, whole, len(whole), line.ended)]

    def _continue(self, line: Line) -> list[Line]:
        data = (line.data or b"").strip()
        data = data.removeprefix(self._head).lstrip() if self._head else data
        if not data and line.data is not None:
            self._held.append(line)
            self._size += line.size + 1
            return [] if len(self._held) < MAX_HELD else self.close()
        fits = (
            line.data is not None
            and len(self._held) < MAX_HELD
            and self._size + line.size <= self._limit
            and may_follow(self._last, data, in_array=self._brackets.in_array)
            # A message within a message: the first one was cut off, and this line begins the next.
            and (self._is_list or not self._is_named or _NAME not in data)
        )
        if fits:
            given = self._hold(line, data, 0)
            if given is not None:
                return given
        return [*self.close(), *self.add(line)]
