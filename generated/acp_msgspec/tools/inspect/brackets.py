"""Where a JSON value ends within text: by its brackets and quotes alone, so that anything may stand behind it."""

import re

_PARTS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|["{}\[\]]', re.DOTALL)
"""A whole string, or a bracket; a lone quote begins a string that does not end here."""
_SCALAR = re.compile(rb"[^\s\[\]{}\",:]+")
_PAIRS = {b"}": b"{", b"]": b"["}
_QUOTE = b'"'
_DEEPEST = 1000


class Brackets:
    """The brackets of a JSON value that are open, while the value comes in pieces."""

    def __init__(self) -> None:
        """Start before the value."""
        self._open = bytearray()

    @property
    def in_array(self) -> bool:
        """Whether the innermost open bracket is that of an array."""
        return self._open.endswith(b"[")

    def close_in(self, data: bytes, start: int = 0) -> int | None:
        """Read a piece from `start`; give the place behind the bracket that closes the value, None where none does.

        Raises `ValueError` where the piece cannot be part of a JSON value: a string without an end, brackets that do
        not match, or thousands of them within each other.
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
    """Give the place behind the object or array that begins at `start`; None where it does not end."""
    try:
        return Brackets().close_in(data, start)
    except ValueError:
        return None


def may_follow(before: int, data: bytes, *, in_array: bool) -> bool:
    """Say whether a line may go on with a value whose last byte was `before`, as printers lay JSON out."""
    first = data[:1]
    match before:
        case 0x7B:  # {
            return first in (_QUOTE, b"}")
        case 0x2C if not in_array:  # a comma
            return first == _QUOTE
        case 0x5B if first == b"]":  # [
            return True
        case 0x2C | 0x3A | 0x5B:  # with a value
            return first in (_QUOTE, b"{", b"[") or _SCALAR.match(data) is not None
        case _:
            return first in (b"}", b"]", b",")
