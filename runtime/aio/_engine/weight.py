"""What a message that waits costs: more than its bytes where it is made of many tiny values."""

from collections.abc import Sequence

SMALL = 1024
"""Messages up to this number of bytes count as their bytes: what bounds these is their number."""
NESTED, LISTED = 80, 32
"""The fewest bytes of memory that an object or an array takes, and what an item of one does in a dense message."""


def weight(message: bytes) -> int:
    """Say how many bytes to count for a message that is held decoded; an ordinary one counts as its own bytes."""
    size = len(message)
    if size <= SMALL:
        return size
    return max(size, NESTED * (message.count(b"{") + message.count(b"[")), LISTED * message.count(b","))


def total_weight(messages: Sequence[bytes]) -> int:
    """Add up what messages count for."""
    size = sum(map(len, messages))
    return size if size <= SMALL or max(map(len, messages)) <= SMALL else sum(map(weight, messages))
