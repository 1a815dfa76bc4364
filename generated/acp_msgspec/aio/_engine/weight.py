"""What a message that waits counts for: more than its bytes if it consists of many tiny values."""

from collections.abc import Sequence

SMALL = 1024
"""Messages up to this number of bytes count as their bytes: their number is bounded anyway."""
OBJECT_BYTES, ITEM_BYTES = 80, 32
"""The fewest bytes of memory that an object or an array takes, and that an item of one takes in a dense message."""


def weight(message: bytes) -> int:
    """Return the number of bytes to count for a message that is held decoded; an ordinary one counts as its bytes."""
    size = len(message)
    if size <= SMALL:
        return size
    return max(size, OBJECT_BYTES * (message.count(b"{") + message.count(b"[")), ITEM_BYTES * message.count(b","))


def total_weight(messages: Sequence[bytes]) -> int:
    """Return the number of bytes to count for several messages."""
    if len(messages) == 1:
        return weight(messages[0])
    size = sum(map(len, messages))
    return size if size <= SMALL or max(map(len, messages)) <= SMALL else sum(map(weight, messages))
