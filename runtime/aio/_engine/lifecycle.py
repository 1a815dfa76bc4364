"""What the parts of a connection share, and its life: the start of its tasks and their end."""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from threading import get_ident
from typing import Any, Literal

from msgspec import Raw, Struct, ValidationError, structs

from ..._codec import decode_strict
from ..._decode.classes import expected, instance_check, why_invalid
from ..._decode.report import OnSkip
from ..._rpc.errors import InternalError
from ..._types.inputs import Unknown
from ..._types.printable import printable
from ..._validate import validate
from .._transports.transport import Transport
from .calls import Calls
from .inbox import ENDS, Deed, Inbox
from .outbox import Outbox
from .problems import ConnectionClosed, OnProblem, Problem, ProblemKind
from .requests import BatchReply, PendingRequest, Requests, ResultMismatch
from .writer import Writer

Direction = Literal["in", "out"]
OnMessage = Callable[[Direction, bytes], object]
AGAIN = 1.0
"""The seconds that a handler gets after a second cancellation."""
_LOG = logging.getLogger(__name__.rsplit(".", 2)[0])


class Options(Struct, frozen=True, kw_only=True):
    """What the owner of a connection may choose; `Connection` tells what each means."""

    max_requests: int
    max_notifications: int
    unknown: Unknown
    on_skip: OnSkip | None
    on_problem: OnProblem | None
    on_message: OnMessage | None
    grace: float
    debug: bool
    validate: bool


class Core:
    """The parts of one connection."""

    def __init__(self, transport: Transport, options: Options) -> None:
        """Put the parts together; nothing runs yet."""
        self.transport = transport
        self.options = options
        self.outbox = Outbox(transport, None if options.on_message is None else self._trace_out)
        self.inbox = Inbox(options.max_notifications, self._notification_failed)
        self.calls = Calls(self.inbox)
        self.writer = Writer(self.tell)
        self.requests = Requests(self.outbox, self.writer, options.max_requests, self._request_failed)
        self.loop: asyncio.AbstractEventLoop | None = None
        """The loop that the connection belongs to, from its start on."""
        self.thread = 0
        """The thread that the loop runs in."""
        self.closed: ConnectionClosed | None = None
        """Why no more calls are made."""
        self.done = asyncio.Event()
        self.tasks: list[asyncio.Task[Any]] = []
        """Reader, writer and worker, in this order."""
        self.at_end: list[tuple[str, Callable[[], Awaitable[object]]]] = [("The transport's close", transport.close)]
        """What the end of the connection waits for, and its names."""
        self._closer: asyncio.Task[None] | None = None

    def start(self, reading: Coroutine[Any, Any, str]) -> None:
        """Start the tasks; the reader gives the reason why the stream has ended."""
        self.loop, self.thread = asyncio.get_running_loop(), get_ident()
        create = self.loop.create_task
        self.tasks = [create(reading), create(self.outbox.run()), create(self.inbox.run())]
        for task in self.tasks:
            task.add_done_callback(self._stream_ended)

    def is_own(self, task: asyncio.Task[Any] | None) -> bool:
        """Say whether a task belongs to the connection, so that its end cannot wait for it."""
        return task in self.tasks or task in self.requests.tasks

    def _stream_ended(self, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            return
        why = task.exception()
        if task is self.tasks[1]:
            self.end(f"the connection broke: {self.outbox.broken or why}", is_ours=False)
        elif task is self.tasks[2]:
            self.end(f"a handler raised {why!r}", is_ours=True)
        else:
            self.end(task.result() if why is None else f"reading failed: {why!r}", is_ours=False)

    def end(self, reason: str, *, is_ours: bool) -> None:
        """Begin the end, once: no more calls, and everything that runs is brought to an end."""
        if self._closer is None:
            self.closed = self._why(reason, is_ours=is_ours)
            self._closer = asyncio.get_running_loop().create_task(self._close(is_ours=is_ours))
            if is_ours:
                self.inbox.stop()  # what still waits there is not handled after the close

    def _why(self, reason: str, *, is_ours: bool) -> ConnectionClosed:
        """Put into words why it ended: the transport may know more, in the end if not at once."""
        said: str | None = None if is_ours else getattr(self.transport, "reason", None)
        return ConnectionClosed(printable(said or reason), getattr(self.transport, "returncode", None))

    def failure(self) -> ConnectionClosed:
        """Make the error of a call that gets no answer any more."""
        if self.closed is None:
            raise RuntimeError("The connection has not ended")
        return ConnectionClosed(self.closed.reason, self.closed.returncode)

    async def _close(self, *, is_ours: bool) -> None:
        try:
            if is_ours:
                self.tasks[0].cancel()
            await self._finish_work(is_ours=is_ours)
            self.calls.fail_all(self.failure)  # before the handlers that may be waiting for them are told to end
            self.inbox.stop()
            for task in self.tasks:
                task.cancel()
            await self._wait_for(self.tasks)
        finally:
            self.calls.fail_all(self.failure)
            for name, deed in self.at_end:
                try:
                    await deed()
                except Exception as why:
                    self.tell(Problem(kind=ProblemKind.HOOK, detail=f"{name} raised {named(why)}", error=why))
            self.closed = self._why(self.failure().reason, is_ours=is_ours)
            self.done.set()

    async def _finish_work(self, *, is_ours: bool) -> None:
        if not is_ours:
            await self._within_grace(self._finish_reading())
            self.calls.fail_all(self.failure)  # handlers may take their time to end
        # A handler that needed nothing more than its turn has answered by now.
        self.requests.close()
        await self._wait_for(self.requests.tasks)
        await self._within_grace(self.outbox.flush())  # a peer that closed its own side may still listen

    async def _finish_reading(self) -> None:
        if not self.tasks[0].done():  # the writer broke; what the peer said before may still be there
            await asyncio.wait(self.tasks[:1], timeout=min(1.0, self.options.grace))
            self.closed = self._why(self.failure().reason, is_ours=False)
        # A handler that waits for an answer must not keep those behind it waiting.
        self.calls.fail_all(self.failure, turn=self.inbox.turn or -1)
        await self.inbox.drained()

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
            self.tell(Problem(kind=ProblemKind.HANDLER, detail=detail))
            task.cancel()  # one that swallowed a first cancellation may heed another
        if stuck:
            await asyncio.wait(stuck, timeout=AGAIN)

    def tell(self, problem: Problem) -> None:
        """Report a problem to the owner, or else log it."""
        detail = printable(problem.detail)
        if detail != problem.detail:
            problem = structs.replace(problem, detail=detail)
        if self.options.on_problem is None:
            self._log(problem)
            return
        try:
            self.options.on_problem(problem)
        except ENDS:
            raise
        except BaseException:
            _LOG.exception("on_problem raised")

    def _log(self, problem: Problem) -> None:
        # What a peer did wrong has no place in this program that a traceback could show.
        is_local = problem.kind in (ProblemKind.HANDLER, ProblemKind.HOOK)
        # Many handlers may fail for the end of the connection, which the owner knows of.
        is_end = self.closed is not None and isinstance(problem.error, ConnectionClosed)
        error = problem.error if is_local and not is_end else None
        _LOG.log(
            logging.DEBUG if is_end else logging.WARNING, "%s: %s", problem.kind.value, problem.detail, exc_info=error
        )

    def run_hook(self, name: str, hook: Callable[..., object], *arguments: object) -> None:
        """Call a hook of the owner; what it raises is told, and neither ends the connection nor loses a message."""
        try:
            hook(*arguments)
        except ENDS:
            raise
        except BaseException as why:
            self.tell(Problem(kind=ProblemKind.HOOK, detail=f"{name} raised {named(why)}", error=why))

    def trace(self, direction: Direction, data: bytes) -> None:
        """Show a message to the owner's hook."""
        if self.options.on_message is not None:
            self.run_hook("on_message", self.options.on_message, direction, data)

    def guarded_skip_hook(self) -> OnSkip | None:
        """Give the owner's hook for repairs, made so that what it raises loses no message."""
        hook = self.options.on_skip
        return None if hook is None else partial(self.run_hook, "on_skip", hook)

    def owe(self, data: bytes, batch: BatchReply | None, *, is_expected: bool = False) -> None:
        """Send what the reader answers itself, and count it: the reader stops where the peer does not take it.

        `is_expected` says that the batch waits for this answer already.
        """
        if batch is None:
            self.outbox.put(data)
        else:
            if not is_expected:
                batch.expect()
            batch.add(data)
        self.outbox.owed += len(data)

    def checking(self, kind: Any) -> Callable[[Any], str | None]:
        """Make what says why a value is not of a type that is about to be sent, by its class at least."""
        fits, validates = instance_check(kind), self.options.validate

        def mismatch(value: Any) -> str | None:
            problem = None
            if value.__class__ is not kind and not fits(value):
                problem = expected(kind, value) if value is None else why_invalid(kind, value)
            return _invalid(kind, value) if validates and problem is None else problem

        return mismatch

    def _trace_out(self, data: bytes) -> None:
        self.trace("out", data)

    def _notification_failed(self, deed: Deed, why: BaseException) -> None:
        name = getattr(deed, "__name__", "of a notification")
        detail = f"The handler {name} raised {named(why)}"
        self.tell(Problem(kind=ProblemKind.HANDLER, detail=detail, error=why))

    def _request_failed(self, request: PendingRequest, why: BaseException) -> InternalError:
        if isinstance(why, ResultMismatch):
            detail, data = f"The handler of {request.method} gave a wrong result: {why}", {"detail": "Wrong result"}
        else:
            detail, data = f"The handler of {request.method} raised {named(why)}", {"detail": named(why)}
        self.tell(Problem(kind=ProblemKind.HANDLER, detail=detail, id=request.id, method=request.method, error=why))
        if self.options.debug:
            data["traceback"] = "".join(traceback.format_exception(why))
        return InternalError(data=data)


def _invalid(kind: Any, value: Any) -> str | None:
    try:
        validate(decode_strict(bytes(value), type=kind) if isinstance(value, Raw) else value, type=kind)
    except (ValidationError, ValueError) as why:
        return str(why)
    return None


def named(why: BaseException) -> str:
    """Name an exception without what it says, which may be long or private."""
    return type(why).__name__
