"""Reads what the peer sends and puts each message in its place."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from itertools import chain, repeat
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Raw

from ..._decode.malformed import BOM
from ..._decode.report import without_listener
from ..._rpc.batch import messages_of
from ..._rpc.errors import MessageError, MethodNotFound, RequestError
from ..._rpc.frame import frame_of
from .._session.endpoint import Side, given, handlers_of
from .._session.handshake import INITIALIZE, other_version
from .._transports.transport import MessageTooLong
from .calls import Call
from .inbox import ENDS, MOST_BYTES
from .lifecycle import Core, named
from .problems import Problem, ProblemKind
from .requests import BatchReply, PendingRequest
from .unreadable import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, SHORTEST, Unreadable
from .weight import total_weight, weight
from .writer import LONGEST

T = TypeVar("T")

LOOK = 1.0
"""The seconds between two looks whether a peer is gone, while nothing is read from it."""
LEFT = 8 * 1024 * 1024
"""How many bytes that a peer left behind are read even where there is no room, as the end is behind them."""
AT_ONCE = 1000
"""The messages between which the loop turns, where more have come together."""
OWED = 1024 * 1024
"""Above this number of bytes of refusals that the peer does not take, nothing more is read from it."""
MOST_OWED = 16 * 1024 * 1024
"""The same while calls of this side wait: a peer that refuses as many of those may itself wait to be read from."""


class _Stuck(Exception):
    """The peer is gone, and handlers that do not end leave no room to read what it left."""


class Reading:
    """The reader of one connection."""

    def __init__(self, core: Core, side: Side, handler: object) -> None:
        """Look the handler's methods up."""
        self._core = core
        self._side = side
        self._handlers = handlers_of(handler, side)
        self._unreadable = Unreadable(core, side.versions)
        self._on_skip = core.guarded_skip_hook()
        self._fresh: list[PendingRequest] = []
        self._mismatches: dict[str, Callable[[Any], str | None]] = {}
        self._is_gone = False
        self._left = LEFT

    async def run(self) -> str:
        """Read until the stream ends, and say why it did."""
        receive = self._core.transport.receive
        try:
            while True:
                try:
                    messages = await receive()
                except MessageTooLong as why:
                    self._unreadable.too_long(why)
                    continue
                except OSError as why:
                    return f"the connection broke: {why}"
                if not messages:
                    return "the peer closed the connection"
                await self._take(messages)
        except _Stuck:
            return "the peer is gone, and its last messages wait behind a handler that does not end"
        finally:
            self._unreadable.close()

    async def _take(self, messages: Sequence[bytes]) -> None:
        """Read messages, have them handled, and wait for room where there is none for more."""
        core, inbox = self._core, self._core.inbox
        if core.options.on_message is not None:
            for data in messages:
                core.trace("in", data)
        if len(messages) <= AT_ONCE:
            await self._read_all(messages)
        else:
            await self._read_in_parts(messages)
        inbox.bytes += total_weight(messages)
        if self._is_gone:
            self._left -= sum(map(len, messages))
        self._go_on()
        if inbox.is_full:
            await self._wait_for_inbox()
        if core.outbox.owed > (MOST_OWED if core.calls.pending else OWED):
            await core.outbox.room()

    async def _wait_for_inbox(self) -> None:
        inbox, outbox = self._core.inbox, self._core.outbox
        is_first = True
        while inbox.must_wait:
            if inbox.wanted and inbox.is_flooded:
                if is_first:
                    outbox.let_go_on()
                # Each of the handlers that wait here may make a call, and the peer may take none of them.
                if is_first or outbox.size <= MOST_BYTES:
                    self._core.calls.give_up_running(_lost)
            is_first = False
            if not await self._wait_for(inbox.room):
                return

    async def _wait_for(self, room: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Wait for room; False where there is none, but the peer is gone and what it left is still to be read.

        A handler that is stuck must not hide the end of the connection: raises `_Stuck` once that was read as far as
        it may be, and for as long as `grace` no handler has ended.
        """
        core = self._core
        clock = asyncio.get_running_loop().time
        turn, since = core.inbox.turn, clock()
        while not self._is_gone or self._left <= 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await room()
                    return True
            self._is_gone = bool(getattr(core.transport, "is_gone", False))
            if core.inbox.turn != turn:
                turn, since = core.inbox.turn, clock()
            elif self._is_gone and self._left <= 0 and clock() - since >= core.options.grace:
                raise _Stuck
        return False

    async def _read_in_parts(self, messages: Sequence[bytes]) -> None:
        """Read many messages that came together, and let the loop turn in between."""
        for start in range(0, len(messages), AT_ONCE):
            await self._read_all(messages[start : start + AT_ONCE])
            self._go_on()
            await asyncio.sleep(0)

    async def _read_all(self, messages: Any) -> None:
        core, side = self._core, self._side
        decode, method_of = side.decode, core.calls.method_of
        unknown, on_skip = core.options.unknown, self._on_skip
        unreadable = self._unreadable
        notified, put = self._handlers.notifications.get, core.inbox.queue.append
        for data in messages:
            if unreadable.left <= 0 and len(data) < SHORTEST:
                unreadable.count()
                continue
            try:
                message = decode(data, method_of=method_of, unknown=unknown, on_skip=on_skip)
            except MessageError as why:
                if _is_batch(data):
                    await self._batch(data)
                else:
                    await self._failed(why, None, data)
                continue
            except ENDS:
                raise
            except BaseException as why:
                message = await self._decoded_again(why, data)
                if message is None:
                    continue
            handler = notified(message.__class__)
            if handler is not None:
                put((handler, message.params))
            else:
                await self._dispatch(message, None, data, data)

    async def _decoded_again(self, why: BaseException, data: bytes) -> Any:
        """Decode a message once more, whose repairs the listener of the package did not take; None where it failed."""
        core = self._core
        options = {"method_of": core.calls.method_of, "unknown": core.options.unknown, "on_skip": self._on_skip}
        try:
            return self._without_listener(why, lambda: self._side.decode(data, **options))
        except MessageError as failed:
            await self._failed(failed, None, data)
        return None

    async def _batch(self, data: bytes) -> None:
        core = self._core
        try:
            parts = self._decoded_batch(data)
        except MessageError as why:
            if why.batch is None:
                await self._failed(why, None, data)
                return
            parts = why.batch
        self._unreadable.line = data
        answers = _Answers(data)
        reply = BatchReply(core.outbox)
        for part, text in zip(parts, _texts(data, parts), strict=False):
            handler = self._handlers.notifications.get(part.__class__)
            if isinstance(part, MessageError):
                await self._failed(part, reply, b"" if part.part is None else bytes(part.part))
            elif handler is not None:
                core.inbox.queue.append((handler, part.params))
            else:
                await self._dispatch(part, reply, text, answers)
        reply.done()
        self._unreadable.line = b""

    def _decoded_batch(self, data: bytes) -> list[Any]:
        core = self._core
        options = {"method_of": core.calls.method_of, "unknown": core.options.unknown, "on_skip": self._on_skip}
        try:
            return self._side.decode_batch(data, **options)
        except (MessageError, *ENDS):
            raise
        except BaseException as why:
            return self._without_listener(why, lambda: self._side.decode_batch(data, **options))

    def _without_listener(self, why: BaseException, decode: Callable[[], T]) -> T:
        """Tell that the listener of the package raised, and decode without it."""
        detail = f"The listener for repairs raised {named(why)}"
        self._core.tell(Problem(kind=ProblemKind.HOOK, detail=detail, error=why))
        return without_listener(decode)

    async def _dispatch(self, message: Any, batch: BatchReply | None, text: bytes, line: "bytes | _Answers") -> None:
        """Take everything except protocol notifications that the handler takes.

        `text` is that of the message, and `line` what it came in, or what was found out of that already.
        """
        side, core = self._side, self._core
        kind = message.__class__
        if kind is side.response:
            self._answered(message.id, message.result)
        elif kind is side.error_response:
            self._answered(message.id, RequestError.of(message.error))
        elif kind is side.cancel:
            core.requests.cancel(message.params.request_id)
        elif kind in side.requests:
            if not self._is_response(message, line):
                handler = self._handlers.requests.get(kind)
                await self._request(message.id, message.method, handler, message.params, batch, weight(text))
        elif kind is side.extension_request:
            if not self._is_response(message, line):
                hook = self._handlers.extension_request
                await self._hooked(message.id, message.method, hook, message.params, batch, len(text))
        elif kind is side.extension_notification and self._handlers.extension_notification is not None:
            deed = _spread(self._handlers.extension_notification)
            core.inbox.queue.append((deed, (message.method, given(message.params))))

    async def _hooked(
        self, request_id: Any, method: str, hook: Any, params: Any, batch: BatchReply | None, size: int
    ) -> None:
        """Take a request whose params stay raw."""
        handler = None if hook is None else _spread(hook)
        await self._request(request_id, method, handler, (method, given(params)), batch, size)

    async def _failed(self, why: MessageError, batch: BatchReply | None, data: bytes) -> None:
        """Settle a message that could not be read, unless this side can make something of it all the same.

        A message of a method outside the schema goes to the hook for those, and an `initialize` of another version of
        the protocol to its handler, which answers with a version that this side speaks.
        """
        if why.method == INITIALIZE and why.code == INVALID_PARAMS and self._side.initialize_of is not None:
            version = other_version(data, self._side.versions)
            if version is not None:
                await self._initialize(why.id, self._side.initialize_of(version), batch, weight(data))
                return
        if why.code == METHOD_NOT_FOUND and why.method and why.method not in self._side.methods:
            frame = frame_of(data)
            params = frame.params if frame is not None else UNSET
            if why.reply is not None and self._handlers.unknown_request is not None:
                await self._hooked(why.id, why.method, self._handlers.unknown_request, params, batch, len(data))
                return
            if why.reply is None and self._handlers.unknown_notification is not None:
                deed = _spread(self._handlers.unknown_notification)
                self._core.inbox.queue.append((deed, (why.method, given(params))))
                return
        self._unreadable.failed(why, batch, data)

    async def _initialize(self, request_id: Any, params: Any, batch: BatchReply | None, size: int) -> None:
        handlers, requests = self._handlers.requests, self._side.requests
        kind = next(kind for kind in requests if kind.__struct_config__.tag == INITIALIZE)
        await self._request(request_id, INITIALIZE, handlers.get(kind), params, batch, size)

    def _is_response(self, message: Any, line: "bytes | _Answers") -> bool:
        """Whether what reads as a request also has a result, and the id of a call, which fails if it still waits."""
        calls = self._core.calls
        call = calls.pending.get(message.id)
        is_known = call is not None or calls.alike(message.id) is not None or calls.is_abandoned(message.id)
        if not is_known:
            return False
        answers = _Answers(line) if isinstance(line, bytes) else line
        if message.id not in answers.ids():
            return False
        if call is not None:
            problem = "A response that names a method"
            why = MessageError(problem, id=call.id, method=call.method, code=INVALID_REQUEST)
            self._unreadable.failed(why, None, b"")
            return True
        return calls.was_abandoned(message.id) or self._unreadable.answered_alike(message.id)

    async def _request(
        self, request_id: Any, method: str, handler: Any, params: Any, batch: BatchReply | None, size: int
    ) -> None:
        core = self._core
        if batch is not None:
            batch.expect()
        if handler is None:
            core.owe(core.writer.refusal(request_id, method, MethodNotFound(data=method)), batch, is_expected=True)
            return
        # A cancellation may come behind, so reading goes on for long. While handlers wait for answers of the peer, it
        # has to go on for ever, and what cannot be held is refused.
        while core.requests.is_full and not core.calls.pending:
            self._go_on()
            core.calls.added = core.requests.release
            if not await self._wait_for(core.requests.room):
                break
        mismatch = self._mismatches.get(method) or self._mismatch(method)
        request = PendingRequest(request_id, method, handler, params, mismatch, size, batch)
        accepted = core.requests.accept(request)
        if isinstance(accepted, RequestError):
            core.owe(core.writer.refusal(request_id, method, accepted), batch, is_expected=True)
        elif accepted:
            self._fresh.append(request)
            core.inbox.queue.append((core.requests.begin, request))

    def _mismatch(self, method: str) -> Callable[[Any], str | None]:
        """Make what says why a value is not a result of a method."""
        known = self._side.methods.get(method)
        kind = None if known is None else known.response
        if kind is None:
            return _anything
        found = self._mismatches[method] = self._core.checking(kind)
        return found

    def _go_on(self) -> None:
        """Have what was read handled.

        The worker starts requests in their order among the notifications. Where it comes to a handler that waits for
        something, the requests behind it do not wait as well: they start right after the worker's turn.
        """
        self._core.inbox.wake()
        if self._fresh:
            fresh, self._fresh = self._fresh, []
            asyncio.get_running_loop().call_soon(self._start, fresh)

    def _start(self, requests: list[PendingRequest]) -> None:
        if self._core.inbox.is_settling:  # those who wait for an answer that came before come first
            asyncio.get_running_loop().call_soon(self._start, requests)
            return
        for request in requests:
            self._core.requests.start(request)

    def _answered(self, request_id: Any, result: Any) -> None:
        core = self._core
        call = core.calls.take(request_id)
        if call is not None:
            core.calls.deliver(call, result)
        elif request_id is None:
            said = str(result)
            said = said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
            detail = f"The peer could not read a message of this side: {said}"
            self._unreadable.tell(Problem(kind=ProblemKind.REFUSED, detail=detail, error=result))
        elif not core.calls.was_abandoned(request_id) and not self._unreadable.answered_alike(request_id):
            detail = "A response to no call that is under way"
            self._unreadable.tell(Problem(kind=ProblemKind.UNKNOWN_RESPONSE, detail=detail, id=request_id))


class _Answers:
    """The ids of those messages of a line that have a method and, beside it, a result or an error."""

    __slots__ = ("_data", "_ids")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._ids: set[Any] | None = None

    def ids(self) -> set[Any]:
        """Find them, once: only a request with the id of a call under way asks."""
        if self._ids is None:
            self._ids = set()
            if b'"result"' in self._data or b'"error"' in self._data:
                parts = messages_of(self._data)[0] if _is_batch(self._data) else [Raw(self._data)]
                frames = filter(None, (frame_of(bytes(part)) for part in parts))
                self._ids = {f.id for f in frames if type(f.id) in (int, str) and not f.has_usable_method}
        return self._ids


def _lost(call: Call) -> MessageError:
    """Make the error of a call that nothing more is read for."""
    problem = "The response may be behind more notifications than can wait for the handler that made the call"
    return MessageError(problem, id=call.id, method=call.method)


def _texts(data: bytes, parts: list[Any]) -> Iterator[bytes]:
    """Give the text of each message of a batch; all of it for each where it is not known which were refused."""
    last = parts[-1]
    if isinstance(last, MessageError) and last.part is None and last.count:
        return repeat(data)
    return chain(map(bytes, messages_of(data)[0]), repeat(b""))


def _is_batch(data: bytes) -> bool:
    return data.removeprefix(BOM).lstrip()[:1] == b"["


def _anything(_: Any) -> None:
    return None


def _spread(hook: Callable[..., Any]) -> Callable[[Any], Any]:
    """Make a handler of one argument of a hook that takes method and params."""

    def handler(pair: tuple[str, msgspec.Raw]) -> Any:
        return hook(*pair)

    handler.__name__ = getattr(hook, "__name__", handler.__name__)  # for whoever is told of it
    return handler
