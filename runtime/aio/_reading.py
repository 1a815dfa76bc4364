"""Reads what the peer sends and puts each message in its place."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import msgspec

from .._codec import encode
from .._errors import InvalidRequest, MessageError, MethodNotFound, RequestError
from . import _wire
from ._core import Core, named
from ._problems import Problem, ProblemKind
from ._requests import Incoming, Sink
from ._side import Side, given, handlers_of
from ._transport import MessageTooLong

_ID = re.compile(rb'"id"\s*:\s*(-?[0-9]{1,18}|"[^"\\\x00-\x1f\x80-\xff]*")')
PARSE_ERROR, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32601, -32602
BEGIN = 60
"""So many bytes of what is no message are told."""
LOOK = 1.0
"""So many seconds pass between two looks whether a peer is gone, while nothing is read from it."""
LEFT = 8 * 1024 * 1024
"""So many bytes that a peer left behind are read even where there is no room, as the end is behind them."""
OWED = 1024 * 1024
"""Over so many bytes of refusals that the peer does not take, nothing more is read from it."""


class Reading:
    """The reader of one connection."""

    def __init__(self, core: Core, side: Side, handler: object) -> None:
        """Look the handler's methods up."""
        self._core = core
        self._side = side
        self._handlers = handlers_of(handler, side)
        self._fresh: list[Incoming] = []
        self._is_gone = False
        self._left = LEFT

    async def run(self) -> str:
        """Read until the stream ends, and say why it did."""
        core = self._core
        receive = core.transport.receive
        inbox = core.inbox
        while True:
            try:
                messages = await receive()
            except MessageTooLong as why:
                self._too_long(why)
                continue
            except OSError as why:
                return f"the connection broke: {why}"
            if not messages:
                return "the peer closed the connection"
            if core.options.on_message is not None:
                for data in messages:
                    core.trace("in", data)
            await self._read_all(messages)
            size = sum(map(len, messages))
            inbox.bytes += size
            if self._is_gone:
                self._left -= size
            self._go_on()
            if inbox.is_full:
                await self._wait_for(inbox.room)
            if core.outbox.owed > OWED:
                await core.outbox.room()

    async def _wait_for(self, room: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Wait for room; say whether there is some, or else the peer is gone and what it left has to be read first.

        A handler that is stuck must not hide the end of the connection.
        """
        while not self._is_gone or self._left <= 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await room()
                    return True
            self._is_gone = bool(getattr(self._core.transport, "is_gone", False))
        return False

    async def _read_all(self, messages: Any) -> None:
        core, side = self._core, self._side
        decode, method_of = side.decode, core.calls.method_of
        unknown, on_skip = core.options.unknown, core.options.on_skip
        notified, put = self._handlers.notifications.get, core.inbox.queue.append
        for data in messages:
            try:
                message = decode(data, method_of=method_of, unknown=unknown, on_skip=on_skip)
            except MessageError as why:
                if data.lstrip()[:1] == b"[":
                    await self._batch(data)
                else:
                    self._misfit(why, None, data)
                continue
            except Exception as why:
                self._core.tell(Problem(kind=ProblemKind.HOOK, detail=f"on_skip raised {named(why)}", error=why))
                continue
            handler = notified(message.__class__)
            if handler is not None:
                put((handler, message.params))
            else:
                await self._other(message, None)

    async def _batch(self, data: bytes) -> None:
        core, side = self._core, self._side
        options = core.options
        try:
            parts = side.decode_batch(
                data, method_of=core.calls.method_of, unknown=options.unknown, on_skip=options.on_skip
            )
        except MessageError as why:
            if why.batch is None:
                self._misfit(why, None, data)
                return
            parts = why.batch
        answered = (*self._handlers.requests, *side.requests, side.extension_request)
        due = sum(isinstance(p, answered) or (isinstance(p, MessageError) and p.reply is not None) for p in parts)
        sink = Sink(core.outbox, due, [])
        for part in parts:
            handler = self._handlers.notifications.get(part.__class__)
            if isinstance(part, MessageError):
                self._misfit(part, sink)
            elif handler is not None:
                core.inbox.queue.append((handler, part.params))
            else:
                await self._other(part, sink)

    async def _other(self, message: Any, sink: Sink | None) -> None:
        """Take what is no notification of the protocol."""
        side, core = self._side, self._core
        kind = message.__class__
        if kind is side.response:
            self._answered(message.id, message.result)
        elif kind is side.error_response:
            self._answered(message.id, RequestError.of(message.error))
        elif kind is side.cancel:
            core.requests.cancel(message.params.request_id)
        elif kind in side.requests:
            await self._request(message, self._handlers.requests.get(kind), message.params, sink)
        elif kind is side.extension_request:
            hook = self._handlers.extension_request
            handler = None if hook is None else _spread(hook)
            await self._request(message, handler, (message.method, given(message.params)), sink)
        elif kind is side.extension_notification and self._handlers.extension_notification is not None:
            deed = _spread(self._handlers.extension_notification)
            core.inbox.queue.append((deed, (message.method, given(message.params))))

    async def _request(self, message: Any, handler: Any, params: Any, sink: Sink | None) -> None:
        core = self._core
        if handler is None:
            self._refuse(message.id, MethodNotFound(data=message.method), sink)
            return
        # A cancellation may come behind, so reading goes on for long. While handlers wait for answers of the peer, it
        # has to go on for ever, and what cannot be held is refused.
        while core.requests.is_full and not core.calls.pending:
            self._go_on()
            core.calls.added = core.requests.release
            if not await self._wait_for(core.requests.room):
                break
        request = Incoming(message.id, message.method, handler, params, sink)
        if core.requests.accept(request):
            self._fresh.append(request)
            core.inbox.queue.append((core.requests.begin, request))

    def _go_on(self) -> None:
        """Have what was read handled.

        The worker starts requests in their order among the notifications. Where it comes to a handler that waits for
        something, the requests behind it do not wait as well: they start right after the worker's turn.
        """
        self._core.inbox.wake()
        if self._fresh:
            fresh, self._fresh = self._fresh, []
            asyncio.get_running_loop().call_soon(self._start, fresh)

    def _start(self, requests: list[Incoming]) -> None:
        for request in requests:
            self._core.requests.start(request)

    def _answered(self, request_id: Any, result: Any) -> None:
        core = self._core
        call = core.calls.take(request_id)
        if call is not None:
            core.calls.deliver(call, result)
        elif request_id is None:
            detail = f"The peer could not read a message of this side: {result}"
            core.tell(Problem(kind=ProblemKind.REFUSED, detail=detail, error=result))
        elif not core.calls.was_abandoned(request_id):
            detail = "A response to no call that is under way"
            core.tell(Problem(kind=ProblemKind.UNKNOWN_RESPONSE, detail=detail, id=request_id))

    def _misfit(self, why: MessageError, sink: Sink | None, data: bytes = b"") -> None:
        """Give a message that could not be read its answer; noise is told with its beginning."""
        core = self._core
        if why.reply is not None:
            self._reply(encode(why.reply), sink)
        elif why.id is not None:  # only a response has an id and no answer
            call = core.calls.take(why.id)
            if call is not None:
                core.calls.deliver(call, why)
            elif core.calls.was_abandoned(why.id):
                return
        kind = ProblemKind.UNREADABLE
        if why.code in (None, INVALID_PARAMS):
            kind = ProblemKind.UNFIT
        elif why.code == METHOD_NOT_FOUND:
            kind = ProblemKind.UNKNOWN_METHOD
        detail = str(why)
        if why.code == PARSE_ERROR and data:
            begin = data[:BEGIN].decode("utf-8", errors="replace")
            detail += f", in {begin!r}{'…' * (len(data) > BEGIN)}"
        core.tell(Problem(kind=kind, detail=detail, id=why.id, method=why.method, error=why))

    def _too_long(self, why: MessageTooLong) -> None:
        """Refuse a message that was too long, or fail the call that it answers, as far as its beginning tells."""
        core = self._core
        head = why.start[: why.start.find(b"{", 1) + 1 or None]  # only its own keys, not those of its parts
        found = _ID.search(head)
        request_id = msgspec.json.decode(found[1]) if found is not None else None
        if b'"method"' in head or b'"params"' in head or found is None:
            # What has no id may be a notification, but whoever sent that should know, too.
            self._refuse(request_id, InvalidRequest(data=str(why)), None)
        else:
            call = core.calls.take(request_id)
            if call is not None:
                core.calls.deliver(call, MessageError(str(why), id=request_id, method=call.method))
        core.tell(Problem(kind=ProblemKind.UNREADABLE, detail=str(why), id=request_id, error=why))

    def _refuse(self, request_id: Any, error: RequestError, sink: Sink | None) -> None:
        self._reply(_wire.refusal(request_id, error), sink)

    def _reply(self, data: bytes, sink: Sink | None) -> None:
        outbox = self._core.outbox
        if sink is None:
            outbox.put(data)
        else:
            sink.add(data)
        outbox.owed += len(data)


def _spread(hook: Callable[..., Any]) -> Callable[[Any], Any]:
    """Make a handler of one argument of a hook that takes method and params."""

    def handler(pair: tuple[str, msgspec.Raw]) -> Any:
        return hook(*pair)

    handler.__name__ = getattr(hook, "__name__", handler.__name__)  # for whoever is told of it
    return handler
