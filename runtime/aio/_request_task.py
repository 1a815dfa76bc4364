"""The task that answers one request of the peer, and how services recognise it."""

import asyncio
from typing import Any

REQUEST_TASK = "acp_msgspec: answering a request"
"""The name of such a task, set by the engine. The task ends once the answer is on its way."""


def current_request_task() -> asyncio.Task[Any] | None:
    """Return the current task if it answers a request of the peer."""
    task = asyncio.current_task()
    return task if task is not None and task.get_name() == REQUEST_TASK else None
