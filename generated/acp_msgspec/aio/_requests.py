"""The peer's requests: a task for each, within a bound, and an answer for every one."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from .._errors import InternalError, InvalidRequest, RequestCancelled, RequestError
from . import _wire
from ._inbox import ENDS, Deed
from ._outbox import Outbox

HELD = 1000
"""So many requests beyond those that run wait for their turn."""

ANSWERING = "acp_msgspec: answering a request"
"""The name of a task that answers a request and ends once the answer is on its way."""


class Sink(Struct, eq=False):
    """Where the answers to a batch meet, to go out as one array."""

    outbox: Outbox
    missing: int
    parts: list[bytes]

    def add(self, answer: bytes) -> bool:
        """Take an answer; the last one sends all."""
        self.parts.append(answer)
        self.missing -= 1
        return self.missing <= 0 and self.outbox.put(b"[%b]" % b",".join(self.parts))


class Incoming(Struct, eq=False):
    """One request of the peer."""

    id: Any
    method: str
    handler: Deed
    params: Any
    sink: Sink | None = None
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

    def __init__(self, outbox: Outbox, bound: int, failed: Callable[[Incoming, BaseException], InternalError]) -> None:
        """Start with none; `failed` makes the answer for a handler that raised."""
        self._outbox = outbox
        self._bound = bound
        self._failed = failed
        self._known: dict[Any, Incoming] = {}
        self._running = 0
        self._held: deque[Incoming] = deque()
        self._room: asyncio.Future[None] | None = None
        self._closing = False

    @property
    def is_full(self) -> bool:
        """Whether no request more can be held."""
        return len(self._held) >= HELD

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
        await self._room
        self._room = None

    def accept(self, request: Incoming) -> bool:
        """Take a request in; say whether it may be started, or else it is held or was refused."""
        if request.key in self._known:
            self.answer(request, _wire.refusal(request.id, InvalidRequest(data="A request with this id is under way")))
        elif self._running < self._bound:
            self._known[request.key] = request
            self._running += 1
            return True
        elif not self.is_full:
            self._known[request.key] = request
            self._held.append(request)
        else:
            self.answer(request, _wire.refusal(request.id, InternalError(data="Too many requests at once")))
        return False

    def start(self, request: Incoming) -> None:
        """Start a request, unless that was done."""
        if request.task is None and not self._closing:
            request.task = asyncio.get_running_loop().create_task(self._run(request), name=ANSWERING)

    async def begin(self, request: Incoming) -> None:
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
            del self._known[request.key]
            self.answer(request, _wire.refusal(request.id, RequestCancelled()))

    def close(self) -> None:
        """Cancel all of them, without answers."""
        self._closing = True
        self._held.clear()
        for task in self.tasks:
            task.cancel()

    def answer(self, request: Incoming, data: bytes) -> bool:
        """Send an answer, on its own or with those of its batch; say whether to wait for room."""
        return self._outbox.put(data) if request.sink is None else request.sink.add(data)

    async def _run(self, request: Incoming) -> None:
        try:
            request.is_started = True
            data = await self._answer_to(request)
            request.is_done = True
            if self.answer(request, data):
                await self._outbox.room()
        except asyncio.CancelledError:
            if not self._closing:
                raise
        finally:
            self._ended(request)

    async def _answer_to(self, request: Incoming) -> bytes:
        try:
            if request.is_cancelled:
                return _wire.refusal(request.id, RequestCancelled())
            todo = request.handler(request.params)
            return _wire.response(request.id, await todo if todo is not None else None)
        except RequestError as why:
            return _wire.refusal(request.id, why)
        except asyncio.CancelledError:
            if self._closing:
                raise
            return _wire.refusal(request.id, RequestCancelled())
        except BaseException as why:  # whatever it is, the request must be answered
            answer = _wire.refusal(request.id, self._failed(request, why))
            if isinstance(why, ENDS):
                self.answer(request, answer)
                if request.task is not None:
                    request.task.add_done_callback(lambda task: task.exception())  # the loop raises it
                raise
            return answer

    def _ended(self, request: Incoming) -> None:
        self._known.pop(request.key, None)
        self._running -= 1
        if self._held and not self._closing:
            self._running += 1
            self.start(self._held.popleft())
        self.release()
