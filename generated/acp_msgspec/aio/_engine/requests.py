"""The peer's requests: a task for each, within a bound, and an answer for every one."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

from ..._rpc.errors import InternalError, InvalidRequest, RequestCancelled, RequestError
from .._request_task import REQUEST_TASK
from .first_step import start_now
from .inbox import LOOP_EXITS
from .outbox import HIGH, Outbox
from .pending_request import PendingRequest
from .result_check import ResultMismatch
from .writer import Writer

MAX_WAITING = 1000
"""How many requests beyond those that run wait until one of them has ended."""
MAX_BYTES = 32 * 1024 * 1024
"""Above this number of bytes of pending requests, no more are accepted."""


class Requests:
    """The pending requests of the peer: those that run, and those that wait until one of them has ended."""

    def __init__(
        self,
        outbox: Outbox,
        writer: Writer,
        bound: int,
        on_failure: Callable[[PendingRequest, BaseException], InternalError],
    ) -> None:
        """Start without requests; `on_failure` makes the answer to a request whose handler raised."""
        self._outbox = outbox
        outbox.call_on_room(self._start_waiting)
        self._writer = writer
        self._bound = bound
        self._on_failure = on_failure
        self._pending: dict[Any, PendingRequest] = {}
        self._running = 0
        self._bytes = 0
        self._waiting: deque[PendingRequest] = deque()
        self._room: asyncio.Future[None] | None = None
        self._closing = False
        self.context = copy_context()
        """What handlers that start at once see of the context in which the connection was started."""

    @property
    def is_full(self) -> bool:
        """Whether no further request can be accepted."""
        return len(self._waiting) >= MAX_WAITING or self._bytes > MAX_BYTES

    def has_room_for(self, count: int, size: int) -> bool:
        """Return whether `count` requests with `size` bytes in all can be accepted without waiting."""
        return len(self._waiting) + count <= MAX_WAITING and self._bytes + size <= MAX_BYTES

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """The tasks of the requests that run."""
        return [r.task for r in self._pending.values() if r.task is not None]

    def release(self) -> None:
        """Let the waiting reader continue."""
        if self._room is not None and not self._room.done():
            self._room.set_result(None)

    async def wait_for_room(self) -> None:
        """Wait until a request has ended, or for `release`."""
        self._room = asyncio.get_running_loop().create_future()
        try:
            await self._room
        finally:
            self._room = None

    def accept(self, request: PendingRequest) -> RequestError | bool:
        """Accept a request: True if it may be started, False if it waits, or the error with which it is refused."""
        if request.key in self._pending:
            return InvalidRequest(data="A request with this id is under way")
        if self.is_full:
            return InternalError(data="Too many requests at once")
        self._pending[request.key] = request
        self._bytes += request.size
        # While the peer does not read the ready answers, no request is started: its answer would have to wait, too.
        if self._running < self._bound and not self._waiting and self._outbox.size <= HIGH:
            self._running += 1
            return True
        self._waiting.append(request)
        return False

    def start(self, request: PendingRequest) -> None:
        """Start the task of a request, unless it was started before."""
        if request.task is None and not self._closing:
            request.task = asyncio.get_running_loop().create_task(self._run(request), name=REQUEST_TASK)

    def start_now(self, request: PendingRequest) -> None:
        """Start a request and run the first step of its handler at once."""
        if not self._closing:
            request.task = start_now(self._run(request), REQUEST_TASK, self.context.copy())

    async def start_and_wait(self, request: PendingRequest) -> None:
        """Start a request and wait until its task has begun, so that no later notification is handled before."""
        self.start(request)
        while not request.is_started and request.task is not None and not request.task.done():
            await asyncio.sleep(0)

    def cancel(self, request_id: Any) -> None:
        """Cancel a request; nothing happens if it is unknown or answered."""
        request = self._pending.get(request_id) if request_id is not None else None
        if request is None or request.is_done:
            return
        request.is_cancelled = True
        if request.is_started and request.task is not None:
            request.task.cancel()
        elif request in self._waiting:
            self._waiting.remove(request)
            self._forget(request)
            data = self._writer.refusal(request.id, request.method, RequestCancelled())
            self._answer(request, data)
            self._outbox.count_from_reader(len(data))

    def close(self) -> None:
        """Cancel all requests, without answers."""
        self._closing = True
        self._waiting.clear()
        for task in self.tasks:
            task.cancel()

    def _answer(self, request: PendingRequest, data: bytes) -> bool:
        """Send an answer, on its own or with those of its batch; return whether to wait for room in the outbox."""
        return self._outbox.put(data) if request.batch is None else request.batch.add(data)

    async def _run(self, request: PendingRequest) -> None:
        try:
            request.is_started = True
            if request.task is None:  # the first step runs before the task is known elsewhere
                request.task = asyncio.current_task()
            result, error = await self._outcome_of(request)
            request.is_done = True
            if self._outbox.size > HIGH:
                await self._wait_in_line()
            if self._answer(request, self._written(request, result, error)):
                await self._outbox.wait_for_room()
        except asyncio.CancelledError:
            if not self._closing:
                raise
        finally:
            self._ended(request)

    async def _wait_in_line(self) -> None:
        """Wait until the answer may be written: many large results must not become as many texts that wait."""
        try:
            await self._outbox.wait_in_line()
        except asyncio.CancelledError:  # nothing else can answer this request
            if self._closing:
                raise

    async def _outcome_of(self, request: PendingRequest) -> tuple[Any, RequestError | None]:
        """Run the handler; return its result, or the error that answers the request."""
        try:
            if request.is_cancelled:
                return None, RequestCancelled()
            awaitable = request.handler(request.params)
            result = await awaitable if awaitable is not None else None
            problem = request.mismatch(result)
        except RequestError as error:
            return None, error
        except asyncio.CancelledError:
            if self._closing:
                raise
            return None, RequestCancelled()
        except BaseException as error:  # whatever it is, the request must be answered
            answer = self._on_failure(request, error)
            if isinstance(error, LOOP_EXITS):
                self._answer(request, self._writer.refusal(request.id, request.method, answer))
                if request.task is not None:
                    request.task.add_done_callback(lambda task: task.exception())  # the loop raises it
                raise
            return None, answer
        return result, None if problem is None else self._on_failure(request, ResultMismatch(problem))

    def _written(self, request: PendingRequest, result: Any, error: RequestError | None) -> bytes:
        if error is None:
            try:
                return self._writer.response(request.id, request.method, result)
            except Exception as failure:  # a result that cannot be encoded as JSON
                error = self._on_failure(request, failure)
        return self._writer.refusal(request.id, request.method, error)

    def _ended(self, request: PendingRequest) -> None:
        self._forget(request)
        self._running -= 1
        if self._waiting:
            self._start_waiting()

    def _start_waiting(self) -> None:
        while self._waiting and self._running < self._bound and not self._outbox.is_full and not self._closing:
            self._running += 1
            self.start(self._waiting.popleft())

    def _forget(self, request: PendingRequest) -> None:
        self._pending.pop(request.key, None)
        self._bytes -= request.size
        request.params = None
        self.release()
