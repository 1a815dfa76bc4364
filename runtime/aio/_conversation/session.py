"""A session of a client, in which prompts are sent and their turns are followed."""

from collections.abc import Sequence
from contextlib import suppress
from os import PathLike
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar

from msgspec import Struct

from ..._rpc.errors import AuthenticationRequired, MessageError, RequestCancelled, RequestError
from ...state import MessageView, Role, SessionState, Snapshot, transcript_prompt
from .._engine.problems import ConnectionClosed
from .._session.handshake import NotAdvertised
from .changes import AnyChange, Ended
from .feed import Feed
from .line import Line
from .prompt_parts import blocks_of
from .stream import PromptStream
from .turn import PATIENCE, RunningTurn, TurnOptions

B = TypeVar("B")
S = TypeVar("S")
P = TypeVar("P")
WhenBusy: TypeAlias = Literal["wait", "cancel"]
"""What a prompt does while an earlier turn runs: wait for its end, or cancel it before."""
CLOSE_TIMEOUT = 5.0
"""The seconds that the agent gets to answer `session/close` when a session is left."""


class SessionOptions(Struct, frozen=True, kw_only=True):
    """What a session is opened with, and how its turns are followed."""

    params: dict[str, Any]
    """The params that all ways to open a session share."""
    idle_timeout: float | None = None
    patience: float = PATIENCE
    timeout: float | None = None
    session_id: str | None = None
    """The earlier session to open; None for a new one."""
    snapshot: Snapshot | None = None
    """What is known of the earlier session."""
    limit: int | None = None
    """The most characters of the earlier conversation that are carried into a new session."""


class Session(Generic[B, S, P]):
    """A session with an agent: the base of each schema's `ClientSession`. Open it with `async with`.

    One turn runs at a time. When the block ends, a running turn is cancelled, and the agent is told that the session is
    no longer used (`session/close`), if it has advertised that it wants to know.
    """

    def __init__(self, line: Line, options: SessionOptions) -> None:
        """Prepare the session; an agent makes sessions."""
        self._line = line
        self._options = options
        self._feed = Feed()
        self._turn: RunningTurn | None = None
        self._is_open = self._is_left = False
        self._carried: list[Any] = []
        """The blocks that carry an earlier conversation into the next prompt."""
        self._carrying: RunningTurn | None = None
        """The turn whose prompt has them."""
        self.loaded = False
        """Whether the agent has opened the earlier session that was asked for."""
        self.problem: RequestError | NotAdvertised | None = None
        """Why it has not; None as well if it was not asked to."""

    @property
    def id(self) -> str:
        """The id of the session. Raises `RuntimeError` before it is open."""
        if self._feed.state.session_id is None:
            raise RuntimeError("The session is not open: use it within `async with`")
        return self._feed.state.session_id

    @property
    def state(self) -> SessionState:
        """The state of the session, which is kept up to date; `subscribe` to it for what comes between turns."""
        return self._feed.state

    @property
    def snapshot(self) -> Snapshot:
        """The session as it is now."""
        return self._feed.state.snapshot

    @property
    def stop_reason(self) -> S | None:
        """Why the latest turn ended; None while it runs, before the first one, and if it failed."""
        ended: Ended[S] | None = self._turn.ended if self._turn is not None else None
        return ended.stop_reason if ended is not None else None

    @property
    def failure(self) -> Exception | None:
        """Why the latest turn failed, as in `Ended`; None if it did not, or not yet."""
        return self._turn.failure if self._turn is not None else None

    def prompt(
        self,
        *parts: str | PathLike[str] | B | Sequence[B],
        every: float | None = None,
        idle_timeout: float | None = None,
        when_busy: WhenBusy = "wait",
    ) -> PromptStream[AnyChange[B, P, S], S]:
        """Return the changes of a turn, for `async for`; the prompt is sent when the loop begins.

        A string is text, a path is a link to a file (below the session's `cwd` if it is relative), and blocks of the
        schema are sent as they are. `every` merges what comes within that number of seconds, for slow displays: text is
        joined, and of a tool call the latest value is shown. Without it, changes are merged only while more than a
        thousand wait.

        `idle_timeout` cancels the turn after that number of seconds without a sign of life; time in which the agent
        waits for this side, such as for a permission, does not count. `when_busy` says what happens while an earlier
        turn runs.

        The loop ends with `Ended` in any case: a refusal is a stop reason, and a failure is a value.

        Raises `ValueError` for an empty prompt and an interval that is not positive, and, when the loop begins,
        `RuntimeError` for a session that is not open.
        """
        if (every is not None and every <= 0) or (idle_timeout is not None and idle_timeout <= 0):
            raise ValueError("The interval and the timeout must be positive")
        options = TurnOptions(
            merges=every is not None,
            idle_timeout=self._options.idle_timeout if idle_timeout is None else idle_timeout,
            patience=self._options.patience,
        )
        blocks: list[Any] = blocks_of(parts, self._line.outline, str(self._options.params["cwd"]))
        return PromptStream(lambda: self._begin(blocks, options, when_busy), every)

    async def ask(
        self,
        *parts: str | PathLike[str] | B | Sequence[B],
        idle_timeout: float | None = None,
        when_busy: WhenBusy = "wait",
    ) -> str:
        """Send a prompt, and return the text of the answer, its messages separated by an empty line.

        `stop_reason` says whether the answer is whole. Raises the failure of a turn that failed.
        """
        async with self.prompt(*parts, idle_timeout=idle_timeout, when_busy=when_busy) as changes:
            async for _ in changes:
                pass
        if changes.failure is not None:
            raise changes.failure
        return self._text_of(changes.turn)

    def cancel(self) -> None:
        """Ask the agent to end the turn that runs, if one does; its remaining changes still come."""
        if self._turn is not None:
            self._turn.cancel()

    async def __aenter__(self) -> Self:
        """Open the session.

        Raises what `Connection.call` raises, and `RuntimeError` if it was opened before.
        """
        if self._is_open:
            raise RuntimeError("A session is opened once only")
        self._is_open = True
        await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Cancel a running turn, and leave the session."""
        self._is_left = True
        turn = self._turn
        try:
            if turn is not None and turn.ended is None:
                turn.cancel()
                await turn.wait_ended()
            await self._close()
        finally:
            self._line.router.remove(self.id, self._feed)

    async def _open(self) -> None:
        line, options = self._line, self._options
        line.router.opening_began()
        try:
            if options.session_id is not None and await self._reopen(options.session_id):
                return
            params = line.outline.params_of(line.outline.new, **options.params)
            response = await line.call(line.outline.new, params, timeout=options.timeout)
            line.router.add(response.session_id, self._feed)
            self._feed.state.adopt(response)
        finally:
            line.router.opening_ended()

    async def _reopen(self, session_id: str) -> bool:
        """Open an earlier session, and return whether that is done: what the agent sends of it feeds the state."""
        line, options = self._line, self._options
        self._carried = transcript_prompt(options.snapshot or Snapshot(), line.outline.text_block, limit=options.limit)
        way = self._way_to_reopen(session_id)
        if way is None:
            return False
        line.router.add(session_id, self._feed)
        try:
            response = await line.call(*way, timeout=options.timeout)
        except BaseException as why:
            line.router.remove(session_id, self._feed)
            if not isinstance(why, RequestError) or isinstance(why, AuthenticationRequired | RequestCancelled):
                raise
            self.problem = why
            self._feed = Feed()  # of what was sent before the refusal, nothing counts
            return False
        self._feed.state.adopt(response)
        self._carried, self.loaded = [], True
        return True

    def _way_to_reopen(self, session_id: str) -> tuple[str, Any] | None:
        """Return the method and the params that open an earlier session, if the agent has advertised such a method."""
        outline, gate = self._line.outline, self._line.connection.gate
        for method in filter(None, (outline.load, outline.resume)):
            params = outline.reopening_params(method, session_id, self._options.params)
            try:
                if gate is not None:
                    gate(method, params)
            except NotAdvertised as why:
                self.problem = self.problem or why
            else:
                self.problem = None
                return method, params
        return None

    async def _close(self) -> None:
        connection, method = self._line.connection, self._line.outline.turn.close
        if not method or connection.closed is not None:
            return
        params = self._line.outline.params_of(method, session_id=self.id)
        with suppress(NotAdvertised, RequestError, MessageError, TimeoutError, ConnectionClosed):
            await connection.call(method, params, timeout=CLOSE_TIMEOUT)

    async def _begin(self, blocks: list[Any], options: TurnOptions, when_busy: WhenBusy) -> RunningTurn:
        line, session_id = self._line, self.id
        while self._turn is not None and not self._turn.task.done():
            if when_busy == "cancel":
                self._turn.cancel()
            await self._turn.wait_ended()
        if self._is_left:  # nothing that comes for it would be heard
            raise RuntimeError("The session was left")
        if self._carrying is not None and self._carrying.ended is not None and self._carrying.failure is None:
            self._carried = []  # it has arrived
        prompt = [*self._carried, *blocks]
        params = line.outline.params_of(line.outline.turn.prompt, session_id=session_id, prompt=prompt)
        self._turn = RunningTurn(line, self._feed, params, blocks, options)
        if self._carried:
            self._carrying = self._turn
        return self._turn

    def _text_of(self, number: int) -> str:
        texts: list[str] = []
        for entry in reversed(self.snapshot.timeline):
            if 0 < entry.turn < number:
                break
            if isinstance(entry, MessageView) and entry.role is Role.AGENT and entry.turn == number:
                texts.append(entry.text)
        return "\n\n".join(filter(None, reversed(texts)))
