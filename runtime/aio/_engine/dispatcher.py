"""Decodes what the peer sends, and puts each message where it is handled."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from msgspec import UNSET, Raw, UnsetType

from ..._decode.report import without_listener
from ..._rpc.codes import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from ..._rpc.errors import MessageError, MethodNotFound, RequestError
from ..._rpc.frame import frame_of
from .backpressure import Backpressure
from .batch_reply import BatchReply, send_from_reader
from .batches import Line, is_batch, texts_of
from .endpoint import Endpoint, Handler, HandlerTable, Hook
from .inbox import LOOP_EXITS
from .lifecycle import Lifecycle
from .pending_request import PendingRequest
from .problems import Problem, ProblemKind
from .protocol_version import INITIALIZE, other_version
from .queue_item import HookNotification, RequestStart
from .reports import class_name
from .result_check import accept_anything, result_check
from .unreadable import SHORTEST, Unreadable
from .weight import weight
from .writer import LONGEST

T = TypeVar("T")


class Dispatcher:
    """The dispatcher of one connection."""

    def __init__(
        self, lifecycle: Lifecycle, endpoint: Endpoint, handlers: HandlerTable, backpressure: Backpressure
    ) -> None:
        """Dispatch the messages that an endpoint may receive to its handlers."""
        self.unreadable = Unreadable(lifecycle, endpoint.versions)
        self._lifecycle = lifecycle
        self._endpoint = endpoint
        self._handlers = handlers
        self._backpressure = backpressure
        options = lifecycle.options
        self._decode_options: dict[str, Any] = {
            "method_of": lifecycle.calls.method_of,
            "unknown": options.unknown,
            "on_skip": lifecycle.reports.guarded_skip_hook(),
        }
        self.starts_now = False
        """Whether requests before which nothing waits start while they are dispatched."""
        self._accepted: list[PendingRequest] = []
        """The requests that were accepted since the inbox was last woken."""
        self._result_checks: dict[str, Callable[[Any], str | None]] = {}

    async def dispatch_all(self, messages: Sequence[bytes]) -> None:
        """Dispatch messages that came together."""
        decode, unreadable = self._endpoint.decode, self.unreadable
        options = self._decode_options
        method_of, unknown, on_skip = options["method_of"], options["unknown"], options["on_skip"]
        notifications, put = self._handlers.notifications, self._lifecycle.inbox.put
        for data in messages:
            if unreadable.reports_left <= 0 and len(data) < SHORTEST:
                unreadable.count()
                continue
            try:
                message = decode(data, method_of, unknown, on_skip)
            except MessageError as error:
                if is_batch(data):
                    await self._dispatch_batch(data)
                else:
                    await self._decode_failed(error, data)
                continue
            except LOOP_EXITS:
                raise
            except BaseException as error:
                message = await self._decode_again(error, data)
                if message is None:
                    continue
            if message.__class__ in notifications:
                put(message)
            else:
                await self._dispatch(message, None, data)

    def start_handling(self) -> None:
        """Have the inbox handle what was dispatched.

        The worker starts requests in their order among the notifications. If it meets a handler that waits for
        something, the requests behind it do not wait as well: they start right after the worker has run.
        """
        self._lifecycle.inbox.wake()
        if self._accepted:
            accepted, self._accepted = self._accepted, []
            asyncio.get_running_loop().call_soon(self._start, accepted)

    def _start(self, requests: list[PendingRequest]) -> None:
        if self._lifecycle.inbox.settling.is_under_way:  # those who await an answer that came before continue first
            asyncio.get_running_loop().call_soon(self._start, requests)
            return
        for request in requests:
            self._lifecycle.requests.start(request)

    async def _decode_again(self, error: BaseException, data: bytes) -> Any:
        """Decode a message for which the package's listener for repairs raised, without it; None if decoding fails."""
        try:
            return self._without_listener(error, lambda: self._endpoint.decode(data, **self._decode_options))
        except MessageError as failure:
            await self._decode_failed(failure, data)
        return None

    async def _dispatch_batch(self, data: bytes) -> None:
        try:
            parts = self._decode_batch(data)
        except MessageError as error:
            if error.batch is None:
                await self._decode_failed(error, data)
                return
            parts = error.batch
        lifecycle, line = self._lifecycle, Line(data)
        reply = BatchReply(lifecycle.outbox)
        for part, text in zip(parts, texts_of(data, parts), strict=False):
            if isinstance(part, MessageError):
                await self._decode_failed(part, b"" if part.part is None else bytes(part.part), reply, data)
            elif part.__class__ in self._handlers.notifications:
                lifecycle.inbox.put(part)
            else:
                await self._dispatch(part, reply, text, line)
        reply.finish_one()

    def _decode_batch(self, data: bytes) -> list[Any]:
        try:
            return self._endpoint.decode_batch(data, **self._decode_options)
        except (MessageError, *LOOP_EXITS):
            raise
        except BaseException as error:
            return self._without_listener(error, lambda: self._endpoint.decode_batch(data, **self._decode_options))

    def _without_listener(self, error: BaseException, decode: Callable[[], T]) -> T:
        """Report that the package's listener for repairs raised, and decode without it."""
        detail = f"The listener for repairs raised {class_name(error)}"
        self._lifecycle.reports.problem(Problem(kind=ProblemKind.HOOK, detail=detail, error=error))
        return without_listener(decode)

    async def _dispatch(self, message: Any, batch: BatchReply | None, text: bytes, line: Line | None = None) -> None:
        """Dispatch everything except protocol notifications that have a handler.

        `text` is that of the message, and `line` the batch that contains it, if any.
        """
        endpoint, lifecycle = self._endpoint, self._lifecycle
        envelope = message.__class__
        if envelope is endpoint.response:
            self._dispatch_answer(message.id, message.result)
        elif envelope is endpoint.error_response:
            self._dispatch_answer(message.id, RequestError.of(message.error))
        elif envelope is endpoint.cancel:
            lifecycle.requests.cancel(message.params.request_id)
        elif envelope in endpoint.requests:
            if not self._is_response(message, text, line):
                handler = self._handlers.requests.get(envelope)
                await self._dispatch_request(message.id, message.method, handler, message.params, batch, weight(text))
        elif envelope is endpoint.extension_request:
            if not self._is_response(message, text, line):
                hook = self._handlers.extension_request
                await self._dispatch_to_hook(message.id, message.method, hook, message.params, batch, len(text))
        elif envelope is endpoint.extension_notification and self._handlers.extension_notification is not None:
            hook = self._handlers.extension_notification
            lifecycle.inbox.put(HookNotification(hook, message.method, _raw(message.params)))

    async def _dispatch_to_hook(
        self, request_id: Any, method: str, hook: Hook | None, params: Any, batch: BatchReply | None, size: int
    ) -> None:
        """Dispatch a request of a method outside the schema, whose params stay raw."""
        handler = None if hook is None else partial(hook, method)
        await self._dispatch_request(request_id, method, handler, _raw(params), batch, size)

    async def _decode_failed(
        self, error: MessageError, data: bytes, batch: BatchReply | None = None, line: bytes = b""
    ) -> None:
        """Handle a message that could not be decoded: `data`, and the batch `line` that contains it.

        A message of a method outside the schema goes to the hook for those, and an `initialize` of another version of
        the protocol to its handler, which answers with a version that this side supports.
        """
        if error.method == INITIALIZE and error.code == INVALID_PARAMS and self._endpoint.initialize_of is not None:
            version = other_version(data, self._endpoint.versions)
            if version is not None:
                params = self._endpoint.initialize_of(version)
                handler = self._initialize_handler()
                await self._dispatch_request(error.id, INITIALIZE, handler, params, batch, weight(data))
                return
        if error.code == METHOD_NOT_FOUND and error.method and error.method not in self._endpoint.methods:
            frame = frame_of(data)
            params = frame.params if frame is not None else UNSET
            request_hook, hook = self._handlers.unknown_request, self._handlers.unknown_notification
            if error.reply is not None and request_hook is not None:
                await self._dispatch_to_hook(error.id, error.method, request_hook, params, batch, len(data))
                return
            if error.reply is None and hook is not None:
                self._lifecycle.inbox.put(HookNotification(hook, error.method, _raw(params)))
                return
        self.unreadable.failed(error, batch, data, line)

    def _initialize_handler(self) -> Handler | None:
        for envelope in self._endpoint.requests:
            if envelope.__struct_config__.tag == INITIALIZE:
                return self._handlers.requests.get(envelope)
        return None

    def _is_response(self, message: Any, text: bytes, line: Line | None) -> bool:
        """Return whether a decoded request also has a result and the id of a call; a pending call then fails."""
        calls = self._lifecycle.calls
        if not calls.any_known:
            return False
        call = calls.get(message.id)
        is_known = call is not None or calls.find_similar(message.id) is not None or calls.is_abandoned(message.id)
        if not is_known or message.id not in (line or Line(text)).response_ids():
            return False
        if call is not None:
            problem = "A response that names a method"
            error = MessageError(problem, id=call.id, method=call.method, code=INVALID_REQUEST)
            self.unreadable.failed(error, None, b"")
            return True
        return calls.drop_late(message.id) or self.unreadable.fail_similar_call(message.id)

    async def _dispatch_request(
        self, request_id: Any, method: str, handler: Handler | None, params: Any, batch: BatchReply | None, size: int
    ) -> None:
        lifecycle, requests = self._lifecycle, self._lifecycle.requests
        if handler is None:
            self._refuse(request_id, method, MethodNotFound(data=method), batch)
            return
        # A cancellation may come behind, so reading continues for long. While handlers wait for answers of the peer, it
        # must always continue, and requests beyond the bound are refused.
        while requests.is_full and not lifecycle.calls.any_pending:
            self.start_handling()
            lifecycle.calls.call_on_next(requests.release)
            if not await self._backpressure.wait(requests.wait_for_room):
                break
        mismatch = self._result_checks.get(method) or self._result_check(method)
        request = PendingRequest(request_id, method, handler, params, mismatch, size, batch)
        accepted = requests.accept(request)
        if isinstance(accepted, RequestError):
            self._refuse(request_id, method, accepted, batch)
            return
        if batch is not None:
            batch.expect()
        if accepted and self.starts_now and lifecycle.inbox.may_start:
            requests.start_now(request)
        elif accepted:
            self._accepted.append(request)
            lifecycle.inbox.put(RequestStart(request))

    def _refuse(self, request_id: Any, method: str, error: RequestError, batch: BatchReply | None) -> None:
        send_from_reader(self._lifecycle.outbox, self._lifecycle.writer.refusal(request_id, method, error), batch)

    def _result_check(self, method: str) -> Callable[[Any], str | None]:
        """Return a function that returns why a value is not a result of a method; None for a valid one."""
        known = self._endpoint.methods.get(method)
        if known is None or known.response is None:
            return accept_anything
        check = result_check(known.response, validates=self._lifecycle.options.validate)
        self._result_checks[method] = check
        return check

    def _dispatch_answer(self, request_id: Any, outcome: Any) -> None:
        calls = self._lifecycle.calls
        call = calls.take(request_id)
        if call is not None:
            self._lifecycle.inbox.deliver(call, outcome)
        elif request_id is None:
            text = str(outcome)
            text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
            detail = f"The peer could not read a message of this side: {text}"
            self.unreadable.report(Problem(kind=ProblemKind.REFUSED, detail=detail, error=outcome))
        elif not calls.drop_late(request_id) and not self.unreadable.fail_similar_call(request_id):
            detail = "A response whose id matches no pending call"
            self.unreadable.report(Problem(kind=ProblemKind.UNKNOWN_RESPONSE, detail=detail, id=request_id))


def _raw(params: Raw | UnsetType) -> Raw:
    """Return the params of a method outside the schema; null if they are absent."""
    return params if isinstance(params, Raw) else Raw(b"null")
