"""Prompt turns that `session/cancel` ends: an agent's prompts, and the permission requests that a client answers."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from msgspec import Struct

from .._engine.endpoint import AgentTurn, ClientTurn, Handler
from .handler_table import is_overridden

ReportFailure = Callable[[str, Exception], None]
"""Called with the name of a handler, and with what it raised in a cancelled turn."""

PATIENCE = 5.0
"""The seconds that the close of a session waits until its cancelled turn has ended."""


class _RunningHandler(Struct, eq=False):
    """A handler that runs in a prompt turn."""

    task: asyncio.Task[Any]
    is_cancelled: bool = False


class _RunningHandlers:
    """The running handlers, by session."""

    def __init__(self, cancelled: Callable[[], Any], report_failure: ReportFailure) -> None:
        self.cancelled = cancelled
        self._by_session: dict[Any, list[_RunningHandler]] = {}
        self._report_failure = report_failure

    def mark_cancelled(self, session: Any) -> list[_RunningHandler]:
        """Mark the handlers of a session as cancelled, and return them."""
        found = list(self._by_session.get(session, ()))
        for running in found:
            running.is_cancelled = True
        return found

    def cancel(self, session: Any, marked: list[_RunningHandler]) -> None:
        """Cancel the tasks of those handlers that still run."""
        wanted = set(marked)
        for running in self._by_session.get(session, ()):
            if running in wanted:
                running.task.cancel()

    async def run(self, handler: Handler, params: Any, *, keep_result: bool) -> Any:
        """Run a handler; in a cancelled turn whatever it raises is replaced by the answer of a cancelled turn.

        `keep_result`: what it returns is the answer even in a cancelled turn.
        """
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("Handlers run in tasks")
        running = _RunningHandler(task)
        session = params.session_id
        self._by_session.setdefault(session, []).append(running)
        try:
            awaitable = handler(params)
            result = await awaitable if awaitable is not None else None
            if keep_result or not running.is_cancelled:
                return result
        except asyncio.CancelledError:
            if not running.is_cancelled:
                raise
        except Exception as error:
            if not running.is_cancelled:
                raise
            self._report_failure(getattr(handler, "__name__", "a handler"), error)
        finally:
            left = self._by_session[session]
            left.remove(running)
            if not left:
                del self._by_session[session]
        return self.cancelled()


class RunningPrompts:
    """The prompts that an agent works on."""

    def __init__(self, turn: AgentTurn, handler: object, report_failure: ReportFailure) -> None:
        """Start without prompts."""
        self._running = _RunningHandlers(turn.cancelled, report_failure)
        self._cancels_tasks = bool(getattr(handler, "cancels_turns", True))
        self.wrappers = {turn.prompt: self._wrap_prompt, turn.cancel: self._wrap_cancel}
        """What to put around the handler's methods, by their names."""
        if turn.close and is_overridden(handler, turn.base, turn.close):
            self.wrappers[turn.close] = self._wrap_close

    def _wrap_prompt(self, handler: Handler | None) -> Handler | None:
        if handler is None:
            return None

        @wraps(handler)
        async def prompt(params: Any) -> Any:
            return await self._running.run(handler, params, keep_result=True)

        return prompt

    def _wrap_cancel(self, handler: Handler | None) -> Handler:
        async def session_cancel(params: Any) -> None:
            marked = self._running.mark_cancelled(params.session_id)
            try:
                awaitable = handler(params) if handler is not None else None
                if awaitable is not None:
                    await awaitable
            finally:
                if self._cancels_tasks:
                    self._running.cancel(params.session_id, marked)

        return session_cancel

    def _wrap_close(self, handler: Handler | None) -> Handler | None:
        if handler is None:
            return None

        @wraps(handler)
        async def session_close(params: Any) -> Any:
            # The turn ends before the handler frees what the turn works with.
            marked = self._running.mark_cancelled(params.session_id)
            if marked and self._cancels_tasks:
                self._running.cancel(params.session_id, marked)
                await asyncio.wait([running.task for running in marked], timeout=PATIENCE)
            awaitable = handler(params)
            return await awaitable if awaitable is not None else None

        return session_close


class PermissionRequests:
    """The permission requests that a client answers, and the turns that it has cancelled.

    In a cancelled turn, all permission requests are answered with `cancelled`, until the turn has ended.
    """

    def __init__(self, turn: ClientTurn, report_failure: ReportFailure) -> None:
        """Start without requests."""
        self.turn = turn
        self._running = _RunningHandlers(turn.cancelled, report_failure)
        self._prompts: Counter[Any] = Counter()
        """The prompts of each session that wait for their answers."""
        self._cancelled: set[Any] = set()
        """The sessions whose turn is cancelled and has not ended."""
        self._abandoned: Counter[Any] = Counter()
        """The prompts of each session that were given up and whose turns may still run at the agent."""
        self.wrappers = {turn.permission: self._wrap_permission}
        """What to put around the handler's methods, by their names."""
        if turn.idle:
            self.wrappers[turn.update] = self._wrap_update

    async def during_prompt(self, session: Any, answer: Awaitable[Any]) -> Any:
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
                if not self.turn.idle and session not in self._abandoned:
                    self._cancelled.discard(session)

    def prompt_abandoned(self, session: Any) -> None:
        """Cancel the turn of a prompt that was given up: its permission requests are answered until it has ended."""
        self._abandoned[session] += 1
        self.cancel(session)

    def abandoned_turn_ended(self, session: Any) -> None:
        """End the turn of a prompt that was given up, as its late answer has come."""
        if session in self._abandoned:
            self._abandoned[session] -= 1
            if self._abandoned[session] <= 0:
                del self._abandoned[session]
                if not self.turn.idle and session not in self._prompts:
                    self._cancelled.discard(session)

    def cancel(self, session: Any) -> None:
        """Answer the permission requests of a session's turn with `cancelled`, until the turn has ended."""
        if self.turn.idle or session in self._prompts:
            self._cancelled.add(session)
        self._running.cancel(session, self._running.mark_cancelled(session))

    async def during_close(self, session: Any, answer: Awaitable[Any]) -> Any:
        """Cancel a session's turn, and wait for the answer to the request that closes the session."""
        was_cancelled = session in self._cancelled
        self.cancel(session)
        try:
            return await answer
        finally:
            if not was_cancelled:  # the agent may have refused to close the session
                self._cancelled.discard(session)

    def _wrap_permission(self, handler: Handler | None) -> Handler | None:
        if handler is None:
            return None

        @wraps(handler)
        async def request_permission(params: Any) -> Any:
            if params.session_id in self._cancelled:
                return self._running.cancelled()
            return await self._running.run(handler, params, keep_result=False)

        return request_permission

    def _wrap_update(self, handler: Handler | None) -> Handler:
        def session_update(params: Any) -> Awaitable[Any] | None:
            if type(params.update) in self.turn.idle:
                self._cancelled.discard(params.session_id)
            return handler(params) if handler is not None else None

        return session_update
