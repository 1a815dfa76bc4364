"""Starts a task whose first step runs at once, in the caller's own iteration of the event loop.

The code of that step sees its own task as the current one, so timeouts, task groups and cancellation work in it.
"""

import asyncio
import sys
from collections.abc import Coroutine
from contextvars import Context
from typing import Any

from .inbox import LOOP_EXITS


def start_now(work: Coroutine[Any, Any, None], name: str, context: Context) -> asyncio.Task[None]:
    """Return a task for a coroutine whose first step has run.

    The loop's task factory, if there is one, makes the task; then the first step runs in the next iteration.
    """
    loop = asyncio.get_running_loop()
    if loop.get_task_factory() is not None:
        return loop.create_task(work, name=name, context=context)
    if sys.version_info >= (3, 12):
        return asyncio.Task(work, loop=loop, name=name, context=context, eager_start=True)
    return _begun_task(work, name, context, loop)


def _begun_task(
    work: Coroutine[Any, Any, None], name: str, context: Context, loop: asyncio.AbstractEventLoop
) -> asyncio.Task[None]:
    """Do what an eager task does, for Python 3.11, whose tasks always start in the next iteration.

    asyncio documents how code that runs a step of a task makes it the current one ("Task lifetime support").
    """
    begun = _Begun(work)
    task = asyncio.Task(begun, loop=loop, name=name, context=context)
    tasks: Any = asyncio.tasks
    outer = asyncio.current_task(loop)
    if outer is not None:
        tasks._leave_task(loop, outer)  # noqa: SLF001
    tasks._enter_task(loop, task)  # noqa: SLF001
    try:
        context.run(begun.begin)
    finally:
        tasks._leave_task(loop, task)  # noqa: SLF001
        if outer is not None:
            tasks._enter_task(loop, outer)  # noqa: SLF001
    return task


class _Begun(Coroutine[Any, Any, None]):
    """A coroutine whose first step runs before its task does: the task continues it where that step has ended."""

    def __init__(self, work: Coroutine[Any, Any, None]) -> None:
        self._work = work
        self._is_continued = False
        """Whether the task itself has run."""
        self._awaited: Any = None
        """The future that the first step waits for; None if it only let the loop run."""
        self._end: BaseException | None = None
        """How the first step ended, if it was the last one."""

    def begin(self) -> None:
        """Run the first step."""
        try:
            self._awaited = self._work.send(None)
        except BaseException as error:
            is_exit = isinstance(error, LOOP_EXITS)
            self._end = StopIteration() if is_exit else error
            if is_exit:
                raise

    def send(self, value: Any) -> Any:
        if self._is_continued:
            return self._work.send(value)
        self._is_continued = True
        if self._end is not None:
            raise self._end
        # The iteration of the loop that a coroutine without a future waits for has just passed.
        return self._work.send(None) if self._awaited is None else self._awaited

    def throw(self, kind: Any, value: Any = None, traceback: Any = None) -> Any:
        if not self._is_continued:
            self._is_continued = True
            if self._end is not None:
                raise self._end
            # A task that is cancelled cancels what it waits for, and this one only learns now what that is.
            if self._awaited is not None and self._awaited.cancel():
                return self._awaited
        return self._work.throw(kind, value, traceback) if value is not None else self._work.throw(kind)

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> Any:
        raise TypeError("Only a task runs this coroutine")

    def __getattr__(self, name: str) -> Any:
        """Show the coroutine itself to what prints tasks: `cr_frame` and the like."""
        return getattr(self._work, name)

    def __repr__(self) -> str:
        return repr(self._work)
