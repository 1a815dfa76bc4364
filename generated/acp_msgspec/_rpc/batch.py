"""Batches within bounds: the parts of an array of messages, however many a peer puts there."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, DecodeError, Raw, ValidationError

from .._decode.malformed import BOM, after_mark

BATCH_LIMIT = 10_000
"""So many messages of a batch are read; one refusal stands for those beyond."""
REFUSALS = 100
"""So many refusals without an id are made for one batch, and one more that counts the others."""

_BLANK = b" \t\r\n"
decode_batch: Callable[[Any], list[Raw]] = msgspec.json.Decoder(list[Raw]).decode
"""Split a batch of any length. Raises what a msgspec decoder raises; `messages_of` is for input with a limit."""


class _Late:
    """Makes the decoder of the first messages at its first use."""

    decoder: msgspec.json.Decoder[Any] | None = None


def messages_of(buf: Any) -> tuple[list[Raw], int | None]:
    """Split a batch into its messages, and say where those begin that are beyond the limit, if any.

    The place counts the bytes of `buf` as UTF-8. A byte order mark is skipped. Raises as a decoder of `list[Raw]` does.
    """
    try:
        return _split(buf)
    except ValidationError:
        raise
    except (DecodeError, UnicodeEncodeError):
        rest = after_mark(buf)
        if rest is None:
            raise
    parts, unread = _split(rest)
    return parts, None if unread is None else unread + len(BOM)


def _split(buf: Any) -> tuple[list[Raw], int | None]:
    # The messages have at least one comma between each two.
    if (buf.count(",") if isinstance(buf, str) else bytes(buf).count(b",")) < BATCH_LIMIT:
        return decode_batch(buf), None
    if _Late.decoder is None:
        # msgspec skips what an array has beyond the fields of a Struct, without an object for each.
        fields = [(f"m{index}", Raw, UNSET) for index in range(BATCH_LIMIT + 1)]
        _Late.decoder = msgspec.json.Decoder(msgspec.defstruct("First", fields, array_like=True))
    parts: list[Any] = [p for p in msgspec.structs.astuple(_Late.decoder.decode(buf)) if p is not UNSET]
    if len(parts) <= BATCH_LIMIT:
        return parts, None
    del parts[BATCH_LIMIT:]
    return parts, _end_of(parts, buf.encode() if isinstance(buf, str) else memoryview(buf).cast("B"))


def _end_of(parts: list[Raw], data: bytes | memoryview) -> int:
    """Find where the part behind these begins."""
    at = _visible(data, 0) + 1
    for part in parts:
        at = _visible(data, at) + len(memoryview(part))
        at = _visible(data, at) + 1
    return _visible(data, at)


def _visible(data: bytes | memoryview, at: int) -> int:
    while data[at] in _BLANK:
        at += 1
    return at
