"""Finds the end of a JSON value within text, by brackets and quotes alone: any text may follow the value."""

import re

_PARTS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|["{}\[\]]', re.DOTALL)
"""A whole string, or a bracket. A single quote begins a string without an end."""
_SCALAR = re.compile(rb"[^\s\[\]{}\",:]+")
_PAIRS = {b"}": b"{", b"]": b"["}
_QUOTE = b'"'
_DEEPEST = 1000


class Brackets:
    """The open brackets of a JSON value that comes in pieces."""

    def __init__(self) -> None:
        """Start before the value."""
        self._open = bytearray()

    @property
    def in_array(self) -> bool:
        """Whether the innermost open bracket is `[`."""
        return self._open.endswith(b"[")

    def close_in(self, data: bytes, start: int = 0) -> int | None:
        """Read a piece from `start`; return the index after the bracket that closes the value, or None.

        Raises `ValueError` if the piece cannot be part of a JSON value: a string without an end, brackets that do not
        match, or more than 1,000 nested ones.
        """
        for part in _PARTS.finditer(data, start):
            what = part[0]
            if what in (b"{", b"["):
                self._open += what
                if len(self._open) > _DEEPEST:
                    raise ValueError("nested too deeply")
            elif what in _PAIRS:
                if not self._open.endswith(_PAIRS[what]):
                    raise ValueError("brackets that do not match")
                del self._open[-1]
                if not self._open:
                    return part.end()
            elif what == _QUOTE:
                raise ValueError("a string without an end")
        return None


def value_end(data: bytes, start: int = 0) -> int | None:
    """Return the index after the object or array that begins at `start`; None if it does not end."""
    try:
        return Brackets().close_in(data, start)
    except ValueError:
        return None


def may_follow(before: int, data: bytes, *, in_array: bool) -> bool:
    """Return whether a line may continue a value whose last byte was `before`, in JSON formatted over several lines."""
    first = data[:1]
    match before:
        case 0x7B:  # {
            return first in (_QUOTE, b"}")
        case 0x2C if not in_array:  # a comma
            return first == _QUOTE
        case 0x5B if first == b"]":  # [
            return True
        case 0x2C | 0x3A | 0x5B:  # before a value
            return first in (_QUOTE, b"{", b"[") or _SCALAR.match(data) is not None
        case _:
            return first in (b"}", b"]", b",")
