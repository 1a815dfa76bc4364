"""Expectations: what came with second choices is likely to come with them again, and is read in the wide form at once.

The fast path fails at a second choice, which costs more than reading the message. So after a message with one, the next
messages of its class are read in the wide form first, which reads both; after a message without one, as before. What is
read does not depend on it. What such a change needs is built once, so changing costs little.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from .._decode.hook import second_choices

MOST_DECODERS = 64
"""Decoders that are kept for sets of classes; more are built anew."""


class Expectations(Struct):
    """The wide classes and the decoders that were built so far."""

    classes: dict[Any, tuple[Any, Any]] = field(default_factory=dict[Any, tuple[Any, Any]])
    """The places that a wide class has, and the class."""
    decoders: dict[Any, Callable[[Any], Any]] = field(default_factory=dict[Any, Callable[[Any], Any]])

    def wide(self, kind: Any, forget: Callable[[], object]) -> Any:
        """Return the class to read in place of `kind`; `forget` is called when a message has no second choice."""
        wide = second_choices()
        places = wide.places_of(kind)
        known = self.classes.get(kind)
        if known is None or known[0] != places:
            known = self.classes[kind] = places, wide.expecting(kind, forget)
        return known[1]

    def decoder(self, key: Any, build: Callable[[], Callable[[Any], Any]]) -> Callable[[Any], Any]:
        """Return the decoder for a key, built at its first use."""
        found = self.decoders.get(key)
        if found is None:
            if len(self.decoders) >= MOST_DECODERS:
                self.decoders.clear()
            found = self.decoders[key] = build()
        return found
