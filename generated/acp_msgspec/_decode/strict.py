"""The fast path: msgspec's own decoder of each type, without repairs."""

from collections.abc import Callable
from typing import Any

import msgspec

from .hook import dec_hook

DECODERS: dict[Any, Callable[[Any], Any]] = {}
"""The strict decoders that were built so far, by type."""


def strict_decoder(kind: Any) -> Callable[[Any], Any]:
    """Return the strict decoder of a type, built at the first call; raise `TypeError` if msgspec cannot decode it."""
    found = DECODERS.get(kind)
    if found is None:
        found = DECODERS[kind] = msgspec.json.Decoder(kind, dec_hook=dec_hook).decode
    return found
