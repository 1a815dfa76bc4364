"""Batches: an array of messages, of which a bounded number is read."""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET, DecodeError, Raw, ValidationError

from .._decode.malformed import BOM, without_byte_order_mark

BATCH_LIMIT = 10_000
"""Maximum number of messages of a batch that are read; one refusal covers all beyond."""
REFUSALS = 100
"""Refusals without an id per batch; one more counts the others."""

_BLANK = b" \t\r\n"
decode_batch: Callable[[Any], list[Raw]] = msgspec.json.Decoder(list[Raw]).decode
"""Split a batch of any length. Raises what a msgspec decoder raises; `messages_of` is for input with a limit."""


@cache
def _first_messages() -> msgspec.json.Decoder[Any]:
    # A Struct as an array: msgspec skips the items beyond its fields without making an object for each.
    fields = [(f"m{index}", Raw, UNSET) for index in range(BATCH_LIMIT + 1)]
    return msgspec.json.Decoder(msgspec.defstruct("First", fields, array_like=True))


def messages_of(buf: Any) -> tuple[list[Raw], int | None]:
    """Split a batch into its messages; also return where those beyond the limit begin, None if there are none.

    The place is in bytes of `buf` as UTF-8. A byte order mark is skipped. Raises as a decoder of `list[Raw]` does.
    """
    try:
        return _split(buf)
    except ValidationError:
        raise
    except (DecodeError, UnicodeEncodeError):
        rest = without_byte_order_mark(buf)
        if rest is None:
            raise
    parts, unread = _split(rest)
    return parts, None if unread is None else unread + len(BOM)


def _split(buf: Any) -> tuple[list[Raw], int | None]:
    # Messages are separated by commas, so fewer commas than the limit mean fewer messages.
    if (buf.count(",") if isinstance(buf, str) else bytes(buf).count(b",")) < BATCH_LIMIT:
        return decode_batch(buf), None
    parts: list[Any] = [p for p in msgspec.structs.astuple(_first_messages().decode(buf)) if p is not UNSET]
    if len(parts) <= BATCH_LIMIT:
        return parts, None
    del parts[BATCH_LIMIT:]
    return parts, _end_of(parts, buf.encode() if isinstance(buf, str) else memoryview(buf).cast("B"))


def _end_of(parts: list[Raw], data: bytes | memoryview) -> int:
    """Find the byte at which the next part begins."""
    at = _skip_blank(data, 0) + 1
    for part in parts:
        at = _skip_blank(data, at) + len(memoryview(part))
        at = _skip_blank(data, at) + 1
    return _skip_blank(data, at)


def _skip_blank(data: bytes | memoryview, at: int) -> int:
    while data[at] in _BLANK:
        at += 1
    return at
