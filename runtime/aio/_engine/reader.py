"""Reads what the peer sends, until the stream ends."""

import asyncio
from collections.abc import Coroutine, Sequence
from contextvars import Context, copy_context
from typing import Any

from .._transports.transport import MessageTooLong, shortcut
from .backpressure import Backpressure, StuckError
from .batches import is_batch
from .dispatcher import Dispatcher
from .endpoint import Endpoint, HandlerTable
from .lifecycle import Lifecycle
from .weight import total_weight

MAX_AT_ONCE = 1000
"""The number of messages between which the event loop runs, if more have come together."""
MAX_AT_ONCE_DIRECTLY = 16
"""Up to this number of messages that have come together are handled in the very call that brought them."""
MAX_WITHOUT_LOOP = 100
"""The number of times that this may happen before the event loop runs, for a transport whose `receive` never waits."""


class Reader:
    """The reader of one connection."""

    def __init__(self, lifecycle: Lifecycle, endpoint: Endpoint, handlers: HandlerTable) -> None:
        """Read from the transport of a connection, for its handlers."""
        self._lifecycle = lifecycle
        self._backpressure = Backpressure(lifecycle)
        self._dispatcher = Dispatcher(lifecycle, endpoint, handlers, self._backpressure)
        self._context: Context = copy_context()
        self._is_taking = False

    async def run(self) -> str:
        """Read until the stream ends, and return the reason why it did."""
        transport, unreadable = self._lifecycle.transport, self._dispatcher.unreadable
        receive, deliver_to = transport.receive, shortcut(transport, "deliver_to", "receive")
        without_loop = 0
        if deliver_to is not None:
            self._context = copy_context()
            deliver_to(self._take)
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
                if not self._handle_now(messages):
                    await self._handle(messages)
                elif (without_loop := without_loop + 1) >= MAX_WITHOUT_LOOP:
                    without_loop = 0
                    await asyncio.sleep(0)
        except StuckError:
            return "the peer is gone, and its last messages wait behind a handler that does not end"
        finally:
            unreadable.close()

    def _take(self, messages: list[bytes]) -> bool:
        """Handle messages in the call of the transport that brought them, as if this task had received them."""
        if self._is_taking:  # the transport hands over an answer while it is given what this handling sends
            return False
        self._is_taking = True
        try:
            return self._context.run(self._handle_now, messages)
        finally:
            self._is_taking = False

    def _handle_now(self, messages: Sequence[bytes]) -> bool:
        """Handle messages without waiting; return False, and do nothing, if that cannot be.

        A request before which nothing waits is started, and all that is sent meanwhile is written together at the end.
        """
        lifecycle, dispatcher, outbox = self._lifecycle, self._dispatcher, self._lifecycle.outbox
        count, size = len(messages), total_weight(messages)
        if count > MAX_AT_ONCE_DIRECTLY or self._backpressure.must_look:
            return False
        if not lifecycle.requests.has_room_for(count, size):
            return False
        for data in messages:
            if data[:1] != b"{" and is_batch(data):
                return False
        if lifecycle.options.on_message is not None:
            for data in messages:
                lifecycle.reports.trace("in", data)
        outbox.hold()
        dispatcher.starts_now = count == 1  # a cancellation may be behind it
        try:
            _run(dispatcher.dispatch_all(messages))
        finally:
            dispatcher.starts_now = False
            outbox.release()
        if lifecycle.inbox.has_items:
            lifecycle.inbox.count_bytes(size)
            dispatcher.start_handling()
        return True

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


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that does not wait."""
    try:
        work.send(None)
    except StopIteration:
        return
    work.close()
    raise RuntimeError("Messages were to be dispatched without waiting")
