"""The changes of one turn, for `async for`."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, Generic, Self, TypeVar

from .turn import RunningTurn

C = TypeVar("C")
S = TypeVar("S")


class PromptStream(Generic[C, S]):
    """The changes of a turn, in order, up to `Ended`. The prompt is sent when the loop begins.

    Leaving the loop early cancels the turn: the agent gets `session/cancel`. An exception or a cancellation of the task
    waits until the turn has ended, for the seconds of the session's `patience` at most. So does `break`, as soon as
    Python frees the loop's iterator: at once in CPython. To have it done at a known place, use the stream with `async
    with`: the turn is cancelled at the end of the block, and may be read by several loops until then.
    """

    def __init__(self, begin: Callable[[], Awaitable[RunningTurn]], every: float | None) -> None:
        """Keep how the turn is begun; a session makes streams."""
        self._begin = begin
        self._every = every
        self._turn: RunningTurn | None = None
        self._is_begun = self._is_entered = False

    @property
    def stop_reason(self) -> S | None:
        """Why the turn ended; None while it runs, and if it failed."""
        ended = self._turn.ended if self._turn is not None else None
        return ended.stop_reason if ended is not None else None

    @property
    def failure(self) -> Exception | None:
        """Why the turn failed, as in `Ended`; None if it did not, or not yet."""
        ended = self._turn.ended if self._turn is not None else None
        return ended.failure if ended is not None else None

    @property
    def turn(self) -> int:
        """The number of the turn in the snapshot; 0 before it has begun."""
        return self._turn.number if self._turn is not None else 0

    def cancel(self) -> None:
        """Ask the agent to end the turn; the remaining changes still come."""
        if self._turn is not None:
            self._turn.cancel()

    def __aiter__(self) -> AsyncGenerator[C]:
        """Begin the turn, and return its changes. Raises `RuntimeError` for a second loop outside of `async with`."""
        return self._changes()

    async def __aenter__(self) -> Self:
        """Begin the turn."""
        self._turn = await self._start()
        self._is_entered = True
        return self

    async def __aexit__(self, *_: object) -> None:
        """Cancel the turn if it still runs, and wait for its end."""
        if self._turn is not None:
            await _leave(self._turn)

    async def _start(self) -> RunningTurn:
        if self._is_begun:
            raise RuntimeError("A prompt is sent once only: call `prompt` again, or use the stream with `async with`")
        self._is_begun = True
        return await self._begin()

    async def _changes(self) -> AsyncGenerator[C]:
        turn = self._turn if self._turn is not None and self._is_entered else await self._start()
        self._turn = turn
        clock = asyncio.get_running_loop().time
        shown: float | None = None
        try:
            while turn.pending or turn.ended is None:
                await turn.wait()
                if self._every is not None and shown is not None:
                    left = shown + self._every - clock()
                    if left > 0:
                        await turn.wait_ended(left)
                shown = clock()
                while turn.pending:
                    change: Any = turn.pending.take()
                    yield change
        finally:
            if not self._is_entered:
                await _leave(turn)


async def _leave(turn: RunningTurn) -> None:
    turn.cancel()
    await turn.wait_ended()
