"""The reply to a batch of the peer."""

from msgspec import Struct, field

from .outbox import Outbox

MAX_HELD = 8 * 1024 * 1024
"""Above this number of bytes held for all batches, ready answers are sent early, as a separate array."""


class BatchReply(Struct, eq=False):
    """Collects the answers to a batch, to send them as one array.

    If the answers that are ready become too large, counting those of all batches, one batch gets several arrays.
    """

    outbox: Outbox
    missing: int = 1
    """How many answers are still to come; the reader counts as one until it has read the whole batch."""
    answers: list[bytes] = field(default_factory=list[bytes])
    size: int = 0
    """The bytes of `answers`."""

    def expect(self) -> None:
        """Expect one more answer."""
        self.missing += 1

    def add(self, answer: bytes) -> bool:
        """Add an answer; the last one sends them all. Return whether to wait for room in the outbox."""
        self.answers.append(answer)
        self.size += len(answer)
        self.outbox.count_held(len(answer))
        return self.finish_one()

    def finish_one(self) -> bool:
        """Expect one answer less; send them if none is missing. Return whether to wait for room in the outbox."""
        self.missing -= 1
        if not self.answers or (self.missing > 0 and self.outbox.held <= MAX_HELD):
            return False
        self.outbox.count_held(-self.size)
        answers, self.answers, self.size = self.answers, [], 0
        return self.outbox.put(b"[%b]" % b",".join(answers))


def send_from_reader(outbox: Outbox, answer: bytes, batch: BatchReply | None) -> None:
    """Send an answer of the reader itself, and count it: reading stops while the peer does not read such answers."""
    if batch is None:
        outbox.put(answer)
    else:
        batch.expect()
        batch.add(answer)
    outbox.count_from_reader(len(answer))
