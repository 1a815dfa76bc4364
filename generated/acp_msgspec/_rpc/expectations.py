"""Expectations: what came with second choices is likely to come with them again, and is read in the wide form at once.

The fast path fails at a second choice, which costs more than reading the message. So after a message with one, the next
messages of its class are read in the wide form first, which reads both; after a message without one, as before. What is
read does not depend on it. Whoever alternates gains nothing by it, so that ends after a number of changes.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from .._decode.hook import second_choices

MOST_CHANGES = 16
"""How many times a class of messages may be expected to have second choices and soon have none."""
MANY = 32
"""So many messages with second choices in a row justify the change."""


class Expectations(Struct):
    """How often each class was expected to have second choices without much gain."""

    changes: dict[Any, int] = field(default_factory=dict[Any, int])

    def wide(self, kind: Any, forget: Callable[[], object]) -> Any:
        """Return the class to read in place of `kind`, None if it has changed too often.

        `forget` is called when a message has no second choice.
        """
        count = self.changes.get(kind, 0)
        if count >= MOST_CHANGES:
            return None
        self.changes[kind] = count + 1

        def end(messages: int) -> None:
            if messages >= MANY:
                self.changes[kind] -= 1
            forget()

        return second_choices().expecting(kind, end)
