"""The life of a connection: its parts are created, its tasks start, and both are ended in order."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from contextvars import copy_context
from threading import get_ident
from typing import Any

from ..._types.printable import printable
from .._transports.transport import Transport
from .calls import Calls
from .endpoint import Handler
from .inbox import Inbox
from .options import Options
from .outbox import Outbox
from .problems import ConnectionClosed, Problem, ProblemKind
from .reports import Reports
from .requests import Requests
from .writer import Writer

AFTER_SECOND_CANCEL = 1.0
"""The seconds that a handler gets to end after a second cancellation."""
AFTER_WRITER_BROKE = 1.0
"""The seconds, at most, in which the rest of what the peer sent is read after the writer broke."""


class Lifecycle:
    """The parts of one connection, its tasks and its end."""

    def __init__(self, transport: Transport, options: Options) -> None:
        """Create the parts; nothing runs yet."""
        self.transport = transport
        self.options = options
        self.closed: ConnectionClosed | None = None
        """Why the connection closed; None while it is open."""
        self.reports = Reports(options, lambda: self.closed is not None)
        self.outbox = Outbox(transport, None if options.on_message is None else self._trace_out)
        self.writer = Writer(self.reports.problem)
        self.requests = Requests(self.outbox, self.writer, options.max_requests, self.reports.request_failed)
        self.inbox = Inbox(options.max_notifications, self.requests.start_and_wait, self.reports.notification_failed)
        self.calls = Calls(self.inbox)
        self.loop: asyncio.AbstractEventLoop | None = None
        """The event loop that the connection belongs to, once it was started."""
        self.thread = 0
        """The thread that the loop runs in."""
        self.done = asyncio.Event()
        """Set once the connection and everything that belongs to it has ended."""
        self._tasks: list[asyncio.Task[Any]] = []
        """Reader, writer and worker, in this order."""
        self._at_end: list[tuple[str, Callable[[], Awaitable[object]]]] = [("The transport's close", transport.close)]
        self._closer: asyncio.Task[None] | None = None

    @property
    def is_started(self) -> bool:
        """Whether the connection was started."""
        return bool(self._tasks)

    def call_at_end(self, name: str, hook: Callable[[], Awaitable[object]]) -> None:
        """Have a coroutine function awaited at the end of the connection; problems call it by this name."""
        self._at_end.append((name, hook))

    def start(self, reader: Coroutine[Any, Any, str], notification_handlers: Mapping[type[Any], Handler]) -> None:
        """Start the tasks; the reader returns the reason why the stream has ended."""
        self.loop, self.thread = asyncio.get_running_loop(), get_ident()
        self.requests.context = copy_context()
        create = self.loop.create_task
        self._tasks = [create(reader), create(self.outbox.run()), create(self.inbox.run(notification_handlers))]
        for task in self._tasks:
            task.add_done_callback(self._task_ended)

    def is_own(self, task: asyncio.Task[Any] | None) -> bool:
        """Return whether a task belongs to the connection, so that it cannot wait for the connection's end."""
        return task in self._tasks or task in self.requests.tasks

    def _task_ended(self, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            return
        error = task.exception()
        _, writer, worker = self._tasks
        if task is writer:
            self.end(f"the connection broke: {self.outbox.broken or error}", is_ours=False)
        elif task is worker:
            self.end(f"a handler raised {error!r}", is_ours=True)
        else:
            self.end(task.result() if error is None else f"reading failed: {error!r}", is_ours=False)

    def end(self, reason: str, *, is_ours: bool) -> None:
        """Begin the end, once: no more calls are made, and all tasks are ended.

        `is_ours` is True if this side ends the connection, False if the peer does.
        """
        if self._closer is None:
            self.closed = self._reason(reason, is_ours=is_ours)
            self._closer = asyncio.get_running_loop().create_task(self._close(is_ours=is_ours))
            if is_ours:
                self.inbox.stop()  # notifications that still wait there are not handled after the close

    def _reason(self, reason: str, *, is_ours: bool) -> ConnectionClosed:
        """Return the reason for the end; the transport may know a better one, possibly only later."""
        better: str | None = None if is_ours else getattr(self.transport, "reason", None)
        return ConnectionClosed(printable(better or reason), getattr(self.transport, "returncode", None))

    def failure(self) -> ConnectionClosed:
        """Return the error of a call that no longer gets an answer."""
        if self.closed is None:
            raise RuntimeError("The connection has not ended")
        return ConnectionClosed(self.closed.reason, self.closed.returncode)

    async def _close(self, *, is_ours: bool) -> None:
        try:
            if is_ours:
                self._tasks[0].cancel()
            await self._finish_work(is_ours=is_ours)
            self.calls.fail_all(self.failure)  # before handlers that may wait for these calls are cancelled
            self.inbox.stop()
            for task in self._tasks:
                task.cancel()
            await self._wait_for(self._tasks)
        finally:
            self.calls.fail_all(self.failure)
            for name, hook in self._at_end:
                try:
                    await hook()
                except Exception as error:
                    self.reports.hook_failed(name, error)
            self.closed = self._reason(self.failure().reason, is_ours=is_ours)
            self.done.set()

    async def _finish_work(self, *, is_ours: bool) -> None:
        if not is_ours:
            await self._within_grace(self._finish_reading())
            self.calls.fail_all(self.failure)  # handlers may take their time to end
        # A handler that only needed the event loop to run has answered by now.
        self.requests.close()
        await self._wait_for(self.requests.tasks)
        await self._within_grace(self.outbox.flush())  # a peer that stopped sending may still read

    async def _finish_reading(self) -> None:
        reader = self._tasks[0]
        if not reader.done():  # the writer broke; what the peer sent before may still arrive
            await asyncio.wait([reader], timeout=min(AFTER_WRITER_BROKE, self.options.grace))
            self.closed = self._reason(self.failure().reason, is_ours=False)
        # A handler that waits for an answer must not block the items behind it.
        self.calls.fail_those_of_running_handler(self.failure)
        await self.inbox.wait_until_idle()

    async def _within_grace(self, work: Coroutine[Any, Any, None]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self.options.grace):
                await work

    async def _wait_for(self, tasks: list[asyncio.Task[Any]]) -> None:
        if not tasks:
            return
        _, stuck = await asyncio.wait(tasks, timeout=self.options.grace)
        for task in stuck:
            detail = f"A handler does not end though it was cancelled: {task.get_coro()!r}"
            self.reports.problem(Problem(kind=ProblemKind.HANDLER, detail=detail))
            task.cancel()  # a handler that ignored the first cancellation may heed another
        if stuck:
            await asyncio.wait(stuck, timeout=AFTER_SECOND_CANCEL)

    def _trace_out(self, data: bytes) -> None:
        self.reports.trace("out", data)
