"""Messages that were written over several lines, put together before they are read.

A printer breaks lines behind brackets and commas. So a line that ends in one of them, within an object that it has
begun, waits for the rest, as long as each further line may go on with it. Where one may not, or the value grows too
large, all of its lines are given one by one, as they came. A list over several lines is taken apart: its brackets say
nothing, and each message in it is read when it is there.
"""

import re

from .brackets import Brackets, may_follow, value_end
from .direction import LONGEST
from .lines import LIMIT, Line

MOST = 100_000
"""How many lines are held at most."""

_BREAKS = b"{[,"
_NAME = b'"jsonrpc"'
_BEGINNING = re.compile(rb'[{\[](?=\s*(?:"|\{\s*"|[{\[]?\s*\Z))')
"""An object or a list that begins with a string, or with nothing more on the line."""


class Assembly:
    """Takes lines one after the other and gives those that can be read."""

    def __init__(self, limit: int = LIMIT) -> None:
        """Start with no line; `limit` is the most bytes that are held."""
        self._limit = limit
        self._held: list[Line] = []
        self._parts: list[bytes] = []
        """What of each held line belongs to the value."""
        self._head = b""
        """What stands before the value, and maybe before each of its lines."""
        self._brackets = Brackets()
        self._size = 0
        self._last = 0
        """The last byte of what is held, without the white space behind it."""
        self._is_named = False
        self._is_list = False
        self._lists = False
        """Whether a list of messages is open, which is read message by message."""

    def add(self, line: Line) -> list[Line]:
        """Take a line; give the lines that can be read now."""
        data = line.data
        if self._held:
            return self._go_on(line)
        if data is None or not data or (data[-1] not in b"{[, \t]" and not self._lists):
            return [line]
        return self._begin(line, data.rstrip())

    def close(self) -> list[Line]:
        """Give the lines that are held, as they came: the rest will not follow."""
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
        found = _BEGINNING.search(data, data.find(b"{") if bare == b"[{" else 0, LONGEST * 2)
        if found is None:
            return [line]
        self._is_named, self._is_list = False, data[found.start()] == ord("[")
        self._head = data[: found.start()].strip()
        given = self._hold(line, data, found.start())
        return [line] if given is None else given

    def _hold(self, line: Line, data: bytes, start: int) -> list[Line] | None:
        """Keep a line; give the whole value where it ends here, None where the line is not a part of one."""
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

    def _go_on(self, line: Line) -> list[Line]:
        data = (line.data or b"").strip()
        data = data.removeprefix(self._head).lstrip() if self._head else data
        if not data and line.data is not None:
            self._held.append(line)
            self._size += line.size + 1
            return [] if len(self._held) < MOST else self.close()
        fits = (
            line.data is not None
            and len(self._held) < MOST
            and self._size + line.size <= self._limit
            and may_follow(self._last, data, in_array=self._brackets.in_array)
            # One message in another, and not in a list: the first was torn, and this is the next.
            and (self._is_list or not self._is_named or _NAME not in data)
        )
        if fits:
            given = self._hold(line, data, 0)
            if given is not None:
                return given
        return [*self.close(), *self.add(line)]
