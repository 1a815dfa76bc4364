"""Turns that `session/cancel` ends: the agent's prompts, and the client's questions to its user."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from msgspec import Struct

from .handshake import is_overridden

Handler = Callable[[Any], Awaitable[Any] | None]
Tell = Callable[[str, Exception], None]

PATIENCE = 5.0
"""So many seconds the close of a session waits for its cancelled turn to end."""


class AgentTurn(Struct, frozen=True):
    """How turns are cancelled at an agent: the coroutines of its handler, and the answer to a cancelled prompt."""

    prompt: str
    cancel: str
    cancelled: Callable[[], Any]
    close: str = ""
    """Closes a session and thereby cancels its turn, where the schema has it."""
    base: type[Any] | None = None
    """The class whose own methods only refuse."""


class ClientTurn(Struct, frozen=True):
    """How turns are cancelled at a client: methods that it calls, coroutines of its handler, and what they answer."""

    prompt: str
    cancel: str
    asked: str
    cancelled: Callable[[], Any]
    update: str = ""
    idle: type[Any] | None = None
    """The update that ends a turn, where the answer to the prompt does not."""
    close: str = ""
    """The method that closes a session and thereby cancels its turn, where the schema has it."""


class _Running(Struct, eq=False):
    """A handler under way."""

    task: asyncio.Task[Any]
    is_cancelled: bool = False


class _Sessions:
    """The handlers under way, by session."""

    def __init__(self, cancelled: Callable[[], Any], tell: Tell) -> None:
        self.open: dict[Any, list[_Running]] = {}
        self.cancelled = cancelled
        self.tell = tell

    def of(self, session: Any) -> list[_Running]:
        """List those of a session, and mark them as cancelled."""
        found = list(self.open.get(session, ()))
        for running in found:
            running.is_cancelled = True
        return found

    def cancel(self, session: Any, marked: list[_Running]) -> None:
        """Cancel the tasks of those that still run."""
        wanted = set(marked)
        for running in self.open.get(session, ()):
            if running in wanted:
                running.task.cancel()

    async def run(self, handler: Handler, params: Any, *, result_stands: bool) -> Any:
        """Run a handler; in a cancelled turn whatever it raises becomes the answer of a cancelled one.

        `result_stands`: what it returns is the answer even so.
        """
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("Handlers run in tasks")
        running = _Running(task)
        session = params.session_id
        self.open.setdefault(session, []).append(running)
        try:
            todo = handler(params)
            result = await todo if todo is not None else None
            if result_stands or not running.is_cancelled:
                return result
        except asyncio.CancelledError:
            if not running.is_cancelled:
                raise
        except Exception as why:
            if not running.is_cancelled:
                raise
            self.tell(getattr(handler, "__name__", "a handler"), why)
        finally:
            left = self.open[session]
            left.remove(running)
            if not left:
                del self.open[session]
        return self.cancelled()


class Prompts:
    """The prompts that an agent works on."""

    def __init__(self, turn: AgentTurn, handler: object, tell: Tell) -> None:
        """Start with none."""
        self._sessions = _Sessions(turn.cancelled, tell)
        self._cancels_tasks = bool(getattr(handler, "cancels_turns", True))
        self.wrappers = {turn.prompt: self._prompt, turn.cancel: self._cancel}
        if turn.close and is_overridden(handler, turn.base, turn.close):
            self.wrappers[turn.close] = self._close

    def _prompt(self, handler: Handler | None) -> Handler | None:
        if handler is None:
            return None

        @wraps(handler)
        async def prompt(params: Any) -> Any:
            return await self._sessions.run(handler, params, result_stands=True)

        return prompt

    def _cancel(self, handler: Handler | None) -> Handler:
        async def session_cancel(params: Any) -> None:
            marked = self._sessions.of(params.session_id)
            try:
                todo = handler(params) if handler is not None else None
                if todo is not None:
                    await todo
            finally:
                if self._cancels_tasks:
                    self._sessions.cancel(params.session_id, marked)

        return session_cancel

    def _close(self, handler: Handler | None) -> Handler | None:
        if handler is None:
            return None

        @wraps(handler)
        async def session_close(params: Any) -> Any:
            # The turn is over before the handler frees what the turn works with.
            marked = self._sessions.of(params.session_id)
            if marked and self._cancels_tasks:
                self._sessions.cancel(params.session_id, marked)
                await asyncio.wait([running.task for running in marked], timeout=PATIENCE)
            todo = handler(params)
            return await todo if todo is not None else None

        return session_close


class Questions:
    """The permissions that a client was asked for, and the turns that it has cancelled."""

    def __init__(self, turn: ClientTurn, tell: Tell) -> None:
        """Start with none."""
        self.turn = turn
        self._sessions = _Sessions(turn.cancelled, tell)
        self._prompts: Counter[Any] = Counter()
        self._cancelled: set[Any] = set()
        self._abandoned: Counter[Any] = Counter()
        """Of each session, the prompts that were given up and whose turns may still run at the agent."""
        self.wrappers = {turn.asked: self._asked}
        if turn.idle is not None:
            self.wrappers[turn.update] = self._updated

    async def during(self, session: Any, answer: Awaitable[Any]) -> Any:
        """Wait for the answer to a prompt."""
        self._cancelled.discard(session)
        self._abandoned.pop(session, None)
        self._prompts[session] += 1
        try:
            return await answer
        finally:
            self._prompts[session] -= 1
            if not self._prompts[session]:
                del self._prompts[session]
                if self.turn.idle is None and session not in self._abandoned:
                    self._cancelled.discard(session)

    def abandon(self, session: Any) -> None:
        """Cancel the turn of a prompt that was given up: its questions are answered until it has ended."""
        self._abandoned[session] += 1
        self.cancel(session)

    def ended(self, session: Any) -> None:
        """Hear that the turn of a prompt that was given up has ended."""
        if session in self._abandoned:
            self._abandoned[session] -= 1
            if self._abandoned[session] <= 0:
                del self._abandoned[session]
                if self.turn.idle is None and session not in self._prompts:
                    self._cancelled.discard(session)

    def cancel(self, session: Any) -> None:
        """Answer what a session's turn asks with `cancelled`, until the turn has ended."""
        if self.turn.idle is not None or session in self._prompts:
            self._cancelled.add(session)
        self._sessions.cancel(session, self._sessions.of(session))

    async def closing(self, session: Any, answer: Awaitable[Any]) -> Any:
        """Cancel a session's turn, and wait for the answer to the request that closes the session."""
        was_cancelled = session in self._cancelled
        self.cancel(session)
        try:
            return await answer
        finally:
            if not was_cancelled:  # the agent may have refused to close it
                self._cancelled.discard(session)

    def _asked(self, handler: Handler | None) -> Handler | None:
        if handler is None:
            return None

        @wraps(handler)
        async def asked(params: Any) -> Any:
            if params.session_id in self._cancelled:
                return self._sessions.cancelled()
            return await self._sessions.run(handler, params, result_stands=False)

        return asked

    def _updated(self, handler: Handler | None) -> Handler:
        def session_update(params: Any) -> Awaitable[Any] | None:
            if type(params.update) is self.turn.idle:
                self._cancelled.discard(params.session_id)
            return handler(params) if handler is not None else None

        return session_update
