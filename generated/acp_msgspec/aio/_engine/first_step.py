"""Starts a task whose first step runs at once, in the caller's own iteration of the event loop.

The code of that step sees its own task as the current one, so timeouts, task groups and cancellation work in it.
"""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any


def start_now(work: Coroutine[Any, Any, None], name: str, context: Context) -> asyncio.Task[None]:
    """Return a task for a coroutine whose first step has run.

    Where that cannot be, the step runs in the next iteration: the loop has a task factory, which makes the task, or it
    is not one of asyncio's own on Python 3.11.
    """
    loop = asyncio.get_running_loop()
    if loop.get_task_factory() is not None:
        return loop.create_task(work, name=name, context=context)
    if sys.version_info >= (3, 12):
        return asyncio.Task(work, loop=loop, name=name, context=context, eager_start=True)
    if not hasattr(loop, "__dict__"):
        return loop.create_task(work, name=name, context=context)
    return _eager_task(work, name, context, loop)


def _eager_task(
    work: Coroutine[Any, Any, None], name: str, context: Context, loop: asyncio.AbstractEventLoop
) -> asyncio.Task[None]:
    """Do what an eager task does, for Python 3.11, whose tasks ask the loop to call their first step soon.

    This takes the loop's place for that one question and calls the step itself. asyncio documents how another task
    than the current one runs ("Task lifetime support").
    """
    steps: list[Callable[[], object]] = []

    def call_soon(step: Callable[[], object], *, context: Context | None = None) -> None:
        steps.append(step)

    own = vars(loop)
    replaced = own.get("call_soon")
    own["call_soon"] = call_soon
    try:
        task = asyncio.Task(work, loop=loop, name=name, context=context)
    finally:
        if replaced is None:
            del own["call_soon"]
        else:
            own["call_soon"] = replaced
    tasks: Any = asyncio.tasks
    outer = asyncio.current_task(loop)
    if outer is None:
        context.run(steps[0])
        return task
    tasks._leave_task(loop, outer)  # noqa: SLF001
    try:
        context.run(steps[0])
    finally:
        tasks._enter_task(loop, outer)  # noqa: SLF001
    return task
