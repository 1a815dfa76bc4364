"""The parts of a batch: their texts, and the responses among them."""

from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

from msgspec import Raw

from ..._decode.malformed import BOM
from ..._rpc.batch import messages_of
from ..._rpc.errors import MessageError
from ..._rpc.frame import frame_of


def is_batch(data: bytes) -> bool:
    """Return whether a line holds an array of messages."""
    return data.removeprefix(BOM).lstrip()[:1] == b"["


def texts_of(data: bytes, parts: list[Any]) -> Iterator[bytes]:
    """Iterate over the texts of a batch's messages; the whole batch for each if it is unknown which were refused."""
    last = parts[-1]
    if isinstance(last, MessageError) and last.part is None and last.count:
        return repeat(data)
    return chain(map(bytes, messages_of(data)[0]), repeat(b""))


class Line:
    """A line of the peer: one message or a batch."""

    __slots__ = ("_data", "_response_ids")

    def __init__(self, data: bytes) -> None:
        """Store the text of the line."""
        self._data = data
        self._response_ids: set[Any] | None = None

    def response_ids(self) -> set[Any]:
        """Find the ids of messages with a result or an error, even if they also have a method.

        They are found once, and only for a request with the id of a call of this side.
        """
        if self._response_ids is None:
            self._response_ids = set()
            if b'"result"' in self._data or b'"error"' in self._data:
                parts = messages_of(self._data)[0] if is_batch(self._data) else [Raw(self._data)]
                frames = filter(None, (frame_of(bytes(part)) for part in parts))
                self._response_ids = {f.id for f in frames if type(f.id) in (int, str) and not f.has_usable_method}
        return self._response_ids
