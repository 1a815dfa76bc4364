"""One call to the peer."""

import asyncio
from typing import Any

from msgspec import Struct


class Call(Struct, eq=False):
    """A request that this side has sent and that has no answer yet."""

    id: int
    method: str
    future: asyncio.Future[Any]
    handler_run: int
    """The handler run that made the call, 0 if it was made outside of notification handlers."""

    def complete(self, outcome: Any) -> None:
        """Set the result, or the exception that the caller gets."""
        if self.future.done():
            return
        if isinstance(outcome, Exception):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)
