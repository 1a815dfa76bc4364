"""Whether those who await an answer have seen it: what comes behind it is handled only then."""

import asyncio

ITERATIONS = 10
"""The iterations of the event loop between the delivery of an answer and the handling of what follows it.

A task sees the answer in the first iteration, whoever awaits that task in the third, and `gather`, `wait_for` and
`TaskGroup` around it take two more each.
"""
QUIET = 0.05
"""The seconds without an answer after which those iterations are counted even if nothing follows."""


class Settling:
    """Counts the iterations after the delivery of answers.

    To count after each answer would keep the loop busy while it waits for the peer, so a timer looks now and then
    whether answers still come.
    """

    __slots__ = ("_handle", "_is_recent", "is_under_way")

    def __init__(self) -> None:
        """Start settled."""
        self.is_under_way = False
        """Whether an answer was delivered that those who await it may not have seen yet."""
        self._is_recent = False
        """Whether an answer was delivered since the last look."""
        self._handle: asyncio.Handle | None = None

    def begin(self) -> None:
        """Note that an answer was delivered."""
        self.is_under_way = self._is_recent = True
        if self._handle is None:
            self._handle = asyncio.get_running_loop().call_later(QUIET, self._look)

    async def wait(self) -> None:
        """Let those who await the answer continue."""
        for _ in range(ITERATIONS):
            await asyncio.sleep(0)
        self.is_under_way = False

    def stop(self) -> None:
        """Stop the timer."""
        if self._handle is not None:
            self._handle.cancel()

    def _look(self, left: int = ITERATIONS) -> None:
        loop = asyncio.get_running_loop()
        if self._is_recent:
            self._is_recent = False
            self._handle = loop.call_later(QUIET, self._look)
        elif self.is_under_way and left:
            self._handle = loop.call_soon(self._look, left - 1)
        else:
            self.is_under_way = False
            self._handle = None
