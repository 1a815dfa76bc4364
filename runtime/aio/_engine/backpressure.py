"""When reading waits: while too much of what was read is not handled yet."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

from ..._rpc.errors import MessageError
from .call import Call
from .inbox import MAX_BYTES_WHILE_CALLING
from .lifecycle import Lifecycle

CHECK_INTERVAL = 1.0
"""The seconds between two checks whether a peer is gone, while nothing is read from it."""
MAX_LEFT_BEHIND = 8 * 1024 * 1024
"""How many bytes that a gone peer left behind are read even without room, as the end of the stream is behind them."""
MAX_FROM_READER = 1024 * 1024
"""Above this number of bytes of refusals that the peer does not take, nothing more is read from it."""
MAX_FROM_READER_WHILE_CALLING = 16 * 1024 * 1024
"""The same while this side has calls pending: the peer may itself wait until its refusals are read."""


class StuckError(Exception):
    """The peer is gone, and handlers that do not end leave no room to read what it left behind."""


class Backpressure:
    """Makes the reader of one connection wait for room."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        """Watch the inbox and the outbox of a connection."""
        self._lifecycle = lifecycle
        self.peer_is_gone = False
        """Whether the peer was found to be gone, though the stream has not ended."""
        self._left_behind = MAX_LEFT_BEHIND

    @property
    def must_look(self) -> bool:
        """Whether reading may have to wait."""
        return self._lifecycle.inbox.is_full or self._lifecycle.outbox.from_reader > 0 or self.peer_is_gone

    def count(self, messages: Sequence[bytes]) -> None:
        """Count what was read from a peer that is gone."""
        self._left_behind -= sum(map(len, messages))

    async def wait_for_outbox(self) -> None:
        """Wait until the peer reads the refusals that the reader has sent, if there are too many."""
        outbox, is_calling = self._lifecycle.outbox, self._lifecycle.calls.any_pending
        if outbox.from_reader > (MAX_FROM_READER_WHILE_CALLING if is_calling else MAX_FROM_READER):
            await outbox.wait_for_room()

    async def wait_for_inbox(self) -> None:
        """Wait until the inbox has room."""
        inbox, outbox = self._lifecycle.inbox, self._lifecycle.outbox
        is_first = True
        while inbox.must_wait:
            if inbox.is_deadlocked:
                if is_first:
                    outbox.release_all()
                # Each of the handlers that wait here may make a call, and the peer may read none of them.
                if is_first or outbox.size <= MAX_BYTES_WHILE_CALLING:
                    self._lifecycle.calls.abandon_those_of_running_handler(_unread_answer)
            is_first = False
            if not await self.wait(inbox.wait_for_room):
                return

    async def wait(self, room: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Wait for room; False if there is none, but the peer is gone and what it left behind must be read.

        A handler that is stuck must not hide the end of the connection: raises `StuckError` once as much as allowed was
        read of that, and no handler has ended for the seconds of `grace`.
        """
        lifecycle = self._lifecycle
        clock = asyncio.get_running_loop().time
        run, since = lifecycle.inbox.handler_run, clock()
        while not self.peer_is_gone or self._left_behind <= 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_INTERVAL):
                    await room()
                    return True
            self.peer_is_gone = bool(getattr(lifecycle.transport, "is_gone", False))
            if lifecycle.inbox.handler_run != run:
                run, since = lifecycle.inbox.handler_run, clock()
            elif self.peer_is_gone and self._left_behind <= 0 and clock() - since >= lifecycle.options.grace:
                raise StuckError
        return False


def _unread_answer(call: Call) -> MessageError:
    problem = "The response may be behind more notifications than can wait for the handler that made the call"
    return MessageError(problem, id=call.id, method=call.method)
