"""Encoding: objects of the package, or plain JSON values, to JSON text."""

from typing import Any

import msgspec

from .._decode.outgoing import why_not_encoded
from .._types.variants import enc_hook

ENCODER = msgspec.json.Encoder(enc_hook=enc_hook)
_encode = ENCODER.encode
NEWLINE, RETURN = b"\n\r"  # as numbers: searching bytes for a number is much faster than for bytes


def encode(obj: Any, /) -> bytes:
    """Encode an object of this package (or plain JSON values) as compact UTF-8 JSON.

    Fields that equal their defaults are left out, except those that the protocol always writes; UNSET is never written.
    Raises `TypeError` for objects that JSON cannot carry, and `ValueError` with the JSON path for text with a lone
    surrogate.
    """
    try:
        return _encode(obj)
    except ValueError as why:
        raise why_not_encoded(obj, why) from None


def encode_line(obj: Any, /) -> bytes:
    r"""Encode an object as one line of newline-delimited JSON: it ends with "\n" and contains no other line break.

    Raises as `encode` does.
    """
    data = encode(obj)
    if NEWLINE in data or RETURN in data:
        data = one_line(data)
    return data + b"\n"


def one_line(data: bytes) -> bytes:
    """Remove line breaks from JSON. Only raw parts from a peer can contain them: within text they are escaped."""
    return msgspec.json.format(data, indent=-1)


def encode_into(obj: Any, buffer: bytearray, offset: int = 0, /) -> None:
    """Encode an object into `buffer` from `offset` on; the buffer then ends with the JSON.

    Raises `ValueError` for an offset outside of the buffer, and as `encode` does; in the second case the buffer is
    partly overwritten.
    """
    if not 0 <= offset <= len(buffer):
        raise ValueError(f"The offset {offset} lies outside the buffer of {len(buffer)} bytes")
    try:
        ENCODER.encode_into(obj, buffer, offset)
    except ValueError as why:
        raise why_not_encoded(obj, why) from None


def to_builtins(obj: Any, /) -> Any:
    """Turn an object of this package into plain JSON values, with the keys that `encode` writes."""
    return msgspec.to_builtins(obj, enc_hook=enc_hook)
