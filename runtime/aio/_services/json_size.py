"""How much memory a string takes while it waits to be sent."""

import sys

MAX_EXPANSION = 6
"""The most bytes that one byte of UTF-8 text takes as JSON."""
_TWO_BYTES = b'\b\t\n\f\r"\\'
"""Characters that JSON escapes with two bytes."""
_SIX_BYTES = bytes(n for n in range(32) if n not in _TWO_BYTES)
"""Characters that JSON escapes with six bytes."""
_CHUNK = 1 << 20


def memory_size(text: str) -> int:
    """Return the bytes that a string takes as an object or as JSON, whichever is more."""
    return max(json_size(text), sys.getsizeof(text))


def json_size(text: str) -> int:
    """Return the bytes that a string takes as JSON."""
    size = 2
    for start in range(0, len(text), _CHUNK):
        part = text[start : start + _CHUNK].encode()
        unescaped = len(part.translate(None, _TWO_BYTES))
        size += 2 * len(part) - unescaped + 5 * (len(part) - len(part.translate(None, _SIX_BYTES)))
    return size
