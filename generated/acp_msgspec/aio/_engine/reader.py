"""Reads what the peer sends, until the stream ends."""

import asyncio
from collections.abc import Sequence

from .._transports.transport import MessageTooLong
from .backpressure import Backpressure, StuckError
from .dispatcher import Dispatcher
from .endpoint import Endpoint, HandlerTable
from .lifecycle import Lifecycle
from .weight import total_weight

MAX_AT_ONCE = 1000
"""The number of messages between which the event loop runs, if more have come together."""


class Reader:
    """The reader of one connection."""

    def __init__(self, lifecycle: Lifecycle, endpoint: Endpoint, handlers: HandlerTable) -> None:
        """Read from the transport of a connection, for its handlers."""
        self._lifecycle = lifecycle
        self._backpressure = Backpressure(lifecycle)
        self._dispatcher = Dispatcher(lifecycle, endpoint, handlers, self._backpressure)

    async def run(self) -> str:
        """Read until the stream ends, and return the reason why it did."""
        receive, unreadable = self._lifecycle.transport.receive, self._dispatcher.unreadable
        try:
            while True:
                try:
                    messages = await receive()
                except MessageTooLong as error:
                    unreadable.too_long(error)
                    continue
                except OSError as error:
                    return f"the connection broke: {error}"
                if not messages:
                    return "the peer closed the connection"
                await self._handle(messages)
        except StuckError:
            return "the peer is gone, and its last messages wait behind a handler that does not end"
        finally:
            unreadable.close()

    async def _handle(self, messages: Sequence[bytes]) -> None:
        """Dispatch messages, and wait if there is no room for more."""
        lifecycle, inbox = self._lifecycle, self._lifecycle.inbox
        if lifecycle.options.on_message is not None:
            for data in messages:
                lifecycle.reports.trace("in", data)
        if len(messages) <= MAX_AT_ONCE:
            await self._dispatcher.dispatch_all(messages)
        else:
            await self._dispatch_in_parts(messages)
        inbox.count_bytes(total_weight(messages))
        if self._backpressure.peer_is_gone:
            self._backpressure.count(messages)
        self._dispatcher.start_handling()
        if inbox.is_full:
            await self._backpressure.wait_for_inbox()
        if lifecycle.outbox.from_reader:
            await self._backpressure.wait_for_outbox()

    async def _dispatch_in_parts(self, messages: Sequence[bytes]) -> None:
        """Dispatch many messages, and let the event loop run in between."""
        for start in range(0, len(messages), MAX_AT_ONCE):
            await self._dispatcher.dispatch_all(messages[start : start + MAX_AT_ONCE])
            self._dispatcher.start_handling()
            await asyncio.sleep(0)
