"""The peer's requests: a task for each, within a bound, and an answer for every one."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from ..._rpc.errors import InternalError, InvalidRequest, RequestCancelled, RequestError
from .._request_task import REQUEST_TASK
from .inbox import ENDS, Deed
from .outbox import HIGH, Outbox
from .writer import Writer

HELD = 1000
"""How many requests beyond those that run wait for their turn."""
BYTES = 32 * 1024 * 1024
"""Above this number of bytes of unanswered requests, no more are taken."""
ARRAY = 8 * 1024 * 1024
"""Above this number of bytes that wait in batches, answers go out as an array before the last one is there."""


class BatchReply(Struct, eq=False):
    """Where the answers to a batch meet, to go out as one array.

    Where the answers that are ready are very large, those of all batches together, a batch gets several arrays.
    """

    outbox: Outbox
    missing: int = 1
    """How many answers are still to come; the reader counts as one until it has read the whole batch."""
    parts: list[bytes] = field(default_factory=list[bytes])
    size: int = 0
    """The bytes of `parts`."""

    def expect(self) -> None:
        """Wait for one more answer."""
        self.missing += 1

    def add(self, answer: bytes) -> bool:
        """Take an answer; the last one sends all. Say whether to wait for room."""
        self.parts.append(answer)
        self.size += len(answer)
        self.outbox.gathered += len(answer)
        return self.done()

    def done(self) -> bool:
        """Count one as complete."""
        self.missing -= 1
        if not self.parts or (self.missing > 0 and self.outbox.gathered <= ARRAY):
            return False
        self.outbox.gathered -= self.size
        parts, self.parts, self.size = self.parts, [], 0
        return self.outbox.put(b"[%b]" % b",".join(parts))


class PendingRequest(Struct, eq=False):
    """One request of the peer that has no answer yet."""

    id: Any
    method: str
    handler: Deed
    params: Any
    mismatch: Callable[[Any], str | None]
    """Says why a result is not one that the method has."""
    size: int = 0
    """What the message counts for, in bytes."""
    batch: BatchReply | None = None
    task: asyncio.Task[None] | None = None
    is_started: bool = False
    is_cancelled: bool = False
    is_done: bool = False

    @property
    def key(self) -> Any:
        """What finds it again: its id with its type, or itself, as null may come any number of times."""
        return self if self.id is None else self.id


class Requests:
    """The requests under way and those that wait for one of them to end."""

    def __init__(
        self,
        outbox: Outbox,
        writer: Writer,
        bound: int,
        failed: Callable[[PendingRequest, BaseException], InternalError],
    ) -> None:
        """Start with none; `failed` makes the answer for a handler that raised."""
        self._outbox = outbox
        outbox.on_room = self._start_held
        self._writer = writer
        self._bound = bound
        self._failed = failed
        self._known: dict[Any, PendingRequest] = {}
        self._running = 0
        self._bytes = 0
        self._held: deque[PendingRequest] = deque()
        self._room: asyncio.Future[None] | None = None
        self._closing = False

    @property
    def is_full(self) -> bool:
        """Whether no request more can be held."""
        return len(self._held) >= HELD or self._bytes > BYTES

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """The tasks of all that run."""
        return [r.task for r in self._known.values() if r.task is not None]

    def release(self) -> None:
        """Let the waiting reader go on."""
        if self._room is not None and not self._room.done():
            self._room.set_result(None)

    async def room(self) -> None:
        """Wait until a request has ended, or `release`."""
        self._room = asyncio.get_running_loop().create_future()
        try:
            await self._room
        finally:
            self._room = None

    def accept(self, request: PendingRequest) -> RequestError | bool:
        """Take a request in; say whether it may be started, else it is held, or give the reason why it is refused."""
        if request.key in self._known:
            return InvalidRequest(data="A request with this id is under way")
        if self.is_full:
            return InternalError(data="Too many requests at once")
        self._known[request.key] = request
        self._bytes += request.size
        # While the peer does not take the answers that are there, no further results are made that would wait as well.
        if self._running < self._bound and not self._held and self._outbox.size <= HIGH:
            self._running += 1
            return True
        self._held.append(request)
        return False

    def start(self, request: PendingRequest) -> None:
        """Start a request, unless that was done."""
        if request.task is None and not self._closing:
            request.task = asyncio.get_running_loop().create_task(self._run(request), name=REQUEST_TASK)

    async def begin(self, request: PendingRequest) -> None:
        """Start a request and wait until its task has begun, so that no later notification is handled before."""
        self.start(request)
        while not request.is_started and request.task is not None and not request.task.done():
            await asyncio.sleep(0)

    def cancel(self, request_id: Any) -> None:
        """Cancel a request; one that is unknown or answered is left alone."""
        request = self._known.get(request_id) if request_id is not None else None
        if request is None or request.is_done:
            return
        request.is_cancelled = True
        if request.is_started and request.task is not None:
            request.task.cancel()
        elif request in self._held:
            self._held.remove(request)
            self._forget(request)
            data = self._writer.refusal(request.id, request.method, RequestCancelled())
            self.answer(request, data)
            self._outbox.owed += len(data)

    def close(self) -> None:
        """Cancel all of them, without answers."""
        self._closing = True
        self._held.clear()
        for task in self.tasks:
            task.cancel()

    def answer(self, request: PendingRequest, data: bytes) -> bool:
        """Send an answer, on its own or with those of its batch; say whether to wait for room."""
        return self._outbox.put(data) if request.batch is None else request.batch.add(data)

    async def _run(self, request: PendingRequest) -> None:
        try:
            request.is_started = True
            result, error = await self._outcome_of(request)
            request.is_done = True
            if self._outbox.size > HIGH:
                await self._vacancy()
            if self.answer(request, self._written(request, result, error)):
                await self._outbox.room()
        except asyncio.CancelledError:
            if not self._closing:
                raise
        finally:
            self._ended(request)

    async def _vacancy(self) -> None:
        """Wait until the answer may be written: many large results must not become as many texts that wait."""
        try:
            await self._outbox.vacancy()
        except asyncio.CancelledError:  # nobody else can answer this request
            if self._closing:
                raise

    async def _outcome_of(self, request: PendingRequest) -> tuple[Any, RequestError | None]:
        """Run the handler; give its result, or the error that answers the request."""
        try:
            if request.is_cancelled:
                return None, RequestCancelled()
            todo = request.handler(request.params)
            result = await todo if todo is not None else None
            problem = request.mismatch(result)
        except RequestError as why:
            return None, why
        except asyncio.CancelledError:
            if self._closing:
                raise
            return None, RequestCancelled()
        except BaseException as why:  # whatever it is, the request must be answered
            answer = self._failed(request, why)
            if isinstance(why, ENDS):
                self.answer(request, self._writer.refusal(request.id, request.method, answer))
                if request.task is not None:
                    request.task.add_done_callback(lambda task: task.exception())  # the loop raises it
                raise
            return None, answer
        return result, None if problem is None else self._failed(request, ResultMismatch(problem))

    def _written(self, request: PendingRequest, result: Any, error: RequestError | None) -> bytes:
        if error is None:
            try:
                return self._writer.response(request.id, request.method, result)
            except Exception as why:  # a result that is not JSON
                error = self._failed(request, why)
        return self._writer.refusal(request.id, request.method, error)

    def _ended(self, request: PendingRequest) -> None:
        self._forget(request)
        self._running -= 1
        if self._held:
            self._start_held()

    def _start_held(self) -> None:
        while self._held and self._running < self._bound and not self._outbox.is_full and not self._closing:
            self._running += 1
            self.start(self._held.popleft())

    def _forget(self, request: PendingRequest) -> None:
        self._known.pop(request.key, None)
        self._bytes -= request.size
        request.params = None
        self.release()


class ResultMismatch(TypeError):
    """A handler gave something else than a result of its method."""
