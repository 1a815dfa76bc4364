"""One turn: the prompt that is sent, what ends it, and what it leaves to read."""

import asyncio
from contextlib import suppress
from time import monotonic
from typing import Any

from msgspec import Struct

from ..._rpc.errors import RequestError
from .._connection import Connection
from .._engine.problems import ConnectionClosed
from .changes import Ended
from .feed import Feed
from .line import Line
from .pending import PendingChanges
from .translate import translate

PATIENCE = 5.0
"""The seconds that a cancelled turn gets to end; after them the prompt is given up."""


class TurnOptions(Struct, frozen=True, kw_only=True):
    """How a turn is followed."""

    merges: bool = False
    idle_timeout: float | None = None
    patience: float = PATIENCE


class RunningTurn:
    """A turn from its prompt to its end. It goes on whether or not its changes are read."""

    def __init__(
        self,
        line: Line,
        feed: Feed,
        params: Any,
        shown: list[Any],
        options: TurnOptions,
    ) -> None:
        """Begin the turn; the prompt is sent as soon as the event loop runs. `shown` is what the user said of it."""
        self._line = line
        self._connection = line.connection
        self._turn = line.outline.turn
        self._feed = feed
        self._params = params
        self._options = options
        self._loop = asyncio.get_running_loop()
        self._wake: asyncio.Future[None] | None = None
        self._idle: asyncio.Future[Any] = self._loop.create_future()
        """The update that reports the end of the turn, where one does."""
        self._overdue: asyncio.Future[None] = self._loop.create_future()
        """Done when the turn is given up."""
        self._silence_timer: asyncio.TimerHandle | None = None
        self._patience_timer: asyncio.TimerHandle | None = None
        self._cancelling: asyncio.Task[None] | None = None
        self._silence: TimeoutError | None = None
        self._is_accepted = False
        self.pending = PendingChanges(merges=options.merges)
        self.ended: Ended[Any] | None = None
        """How the turn ended; None while it runs."""
        feed.state.user_prompt(shown)
        self.number = feed.state.turn
        feed.turn = self
        feed.last_sign = monotonic()
        if options.idle_timeout is not None:
            seconds = options.idle_timeout
            self._silence_timer = self._loop.call_later(seconds, self._check_silence, seconds)
        self.task = self._loop.create_task(self._run())

    @property
    def failure(self) -> Exception | None:
        """Why the turn failed; None if it did not, or not yet."""
        return self.ended.failure if self.ended is not None else None

    def saw(self, update: Any) -> None:
        """Look at an update: it may say that the turn has begun or ended."""
        turn = self._turn
        if not turn.idle or self._idle.done():
            return
        if not isinstance(update, turn.idle):
            self._is_accepted = self._is_accepted or getattr(update, "state", None) == "running"
        elif self._is_accepted:  # an earlier one ends an earlier turn
            self._idle.set_result(update)

    def put(self, change: Any) -> None:
        """Add a change for the reader."""
        self.pending.put(change)
        self._notify()

    async def wait(self) -> None:
        """Wait until there is a change to read or the turn has ended."""
        while not self.pending and self.ended is None:
            self._wake = self._loop.create_future()
            await self._wake

    async def wait_ended(self, seconds: float | None = None) -> None:
        """Wait until the turn has ended, for at most `seconds`; a waiter that is cancelled does not end it."""
        await asyncio.wait({self.task}, timeout=seconds)

    def cancel(self) -> None:
        """Ask the agent to end the turn, and give it up if it does not in time."""
        if self.ended is not None or self._cancelling is not None:
            return
        self._cancelling = self._loop.create_task(self._send_cancel())
        self._patience_timer = self._loop.call_later(self._options.patience, self._give_up)

    async def _send_cancel(self) -> None:
        kind: Any = self._connection.side.methods[self._turn.cancel].notification
        with suppress(ConnectionClosed):
            await self._connection.notify(kind(session_id=self._params.session_id), force=True)

    def _give_up(self) -> None:
        if not self._overdue.done():
            self._overdue.set_result(None)

    def _check_silence(self, seconds: float) -> None:
        """Cancel the turn if the agent was silent for so long while nothing was asked of this side."""
        is_ours = self._feed.open_requests or self._line.is_signing_in
        left = seconds if is_ours else self._feed.last_sign + seconds - monotonic()
        if left > 0:
            self._silence_timer = self._loop.call_later(left, self._check_silence, seconds)
            return
        if self._cancelling is not None:
            return
        self._silence = TimeoutError(f"The agent gave no sign of life for {seconds:g} seconds")
        self.cancel()

    async def _run(self) -> None:
        ended: Any = None
        failure: Exception | None = ConnectionClosed("the turn was abandoned")
        try:
            ended = await self._end()
            failure = None
        except Exception as why:
            failure = why
        finally:
            for timer in filter(None, (self._silence_timer, self._patience_timer)):
                timer.cancel()
            self._finish(ended, failure)
        if self._cancelling is not None:
            await asyncio.wait({self._cancelling})

    async def _end(self) -> Any:
        """Return what ended the turn: the answer to the prompt, or the update that reports an idle agent."""
        answer = self._loop.create_task(self._answer())
        closed = self._loop.create_task(self._connection.wait_closed())
        watched = (answer, closed, self._overdue)
        try:
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            if closed.done():
                raise _closed_as(self._connection)
            raise TimeoutError(
                f"The agent did not end the turn within {self._options.patience:g} seconds of its cancel"
            )
        finally:
            answer.cancel()  # which also withdraws the prompt
            closed.cancel()
            await asyncio.gather(answer, closed, return_exceptions=True)

    async def _answer(self) -> Any:
        turn = self._turn
        response = await self._line.call(turn.prompt, self._params)
        if not turn.idle:
            return response
        self._is_accepted = True
        return await self._idle

    def _finish(self, ended: Any, failure: Exception | None) -> None:
        """Tell the state and the reader how the turn ended."""
        feed, turn = self._feed, self._turn
        reason = getattr(ended, "stop_reason", None)
        error = getattr(ended, "error", None)
        if failure is None and error is not None:
            failure = RequestError.of(error)
        if ended is None or not turn.idle:  # otherwise the update has told the state
            events = feed.state.turn_ended(reason, getattr(ended, "usage", None), turn=self.number)
            for change in translate(feed.state, events):
                self.pending.put(change)
        feed.turn = None
        self.ended = Ended(stop_reason=reason, failure=self._silence or failure)
        self.pending.put(self.ended)
        self._notify()

    def _notify(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)


def _closed_as(connection: Connection[Any]) -> ConnectionClosed:
    why = connection.closed
    return ConnectionClosed("the connection has ended") if why is None else ConnectionClosed(why.reason, why.returncode)
