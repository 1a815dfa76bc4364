"""One request of the peer."""

import asyncio
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from .batch_reply import BatchReply
from .endpoint import Handler


class PendingRequest(Struct, eq=False):
    """A request of the peer that has no answer yet."""

    id: Any
    method: str
    handler: Handler
    params: Any
    mismatch: Callable[[Any], str | None]
    """Returns why a value is not a result of the method; None if it is one."""
    size: int = 0
    """What the message counts for, in bytes."""
    batch: BatchReply | None = None
    task: asyncio.Task[None] | None = None
    is_started: bool = False
    is_cancelled: bool = False
    is_done: bool = False

    @property
    def key(self) -> Any:
        """The id, which must be unique among pending requests; the request itself if its id is null, which need not."""
        return self if self.id is None else self.id
