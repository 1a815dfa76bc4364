"""One end of a connection, as its owner uses it."""

import asyncio
from collections.abc import Callable, Mapping
from threading import get_ident
from typing import Any, ClassVar, Generic, Self, TypeVar

from msgspec import UNSET, Raw

from .._decode.report import OnSkip
from .._rpc.schema import extension_method
from .._types.inputs import Unknown
from ._engine.endpoint import Endpoint
from ._engine.lifecycle import Lifecycle
from ._engine.options import OnMessage, Options
from ._engine.problems import ConnectionClosed, OnProblem
from ._engine.reader import Reader
from ._engine.writer import notification_head, request_tail
from ._session.connection_arguments import check_arguments, check_options
from ._session.handler_objects import resolve_handler
from ._session.handler_table import handler_table
from ._session.rules import SessionRules
from ._transports.transport import Transport

H = TypeVar("H")

CANCEL = notification_head("$/cancel_request")


class Connection(Generic[H]):
    """One end of a connection: the base of each schema's `AgentConnection` and `ClientConnection`.

    `handler` is an object with a coroutine for each method that this end handles, or a function that makes one from
    this connection (any other callable is taken for such a function); None handles nothing. A missing method answers
    -32601. A method whose signature does not match raises `TypeError` here. The connection works within `async with`,
    or `serve`, in one event loop and thread: using it from another one raises `RuntimeError`.

    Messages of the peer are handled in this order:

    - Notifications run one after the other, each after the start of all requests that came before it.
    - A request runs in a task of its own, beside others. It starts after the notifications that came before it, unless
      one of their handlers waits for something.
    - The answer to a call is delivered after the handlers of all notifications that came before it, so whoever awaits
      a call has seen them. If the handler of a notification makes a call, the answer does not wait for this handler.
    - What came behind an answer is handled once those who await the call have seen the answer, also through a task,
      `asyncio.wait_for`, `asyncio.gather` or a `TaskGroup`: the event loop runs ten iterations in between.

    Options:

    - `max_requests`: how many of the peer's requests run at once; a thousand more wait until one has ended. Beyond that
      nothing is read. While this side has calls pending, their answers must be read, so further requests are refused
      with -32603 instead.
    - `max_notifications`: nothing is read while more notifications than this, or more than 8 MiB, are unhandled.
    - `unknown`, `on_skip`: as for `decode`.
    - `on_problem`: called with every `Problem` that does not end the connection; by default problems are logged.
    - `on_message`: called with "in" or "out" and each message, for transcripts.
    - `grace`: the seconds that the end of the connection waits for handlers and for messages still to be sent.
    - `debug`: sends the traceback of a failed handler to the peer, in the error's data.
    - `validate`: checks all params and results that this side sends as `acp_msgspec.validate` does. Without it, only
      their classes are checked.
    """

    side: ClassVar[Endpoint]

    def __init__(
        self,
        transport: Transport,
        handler: H | Callable[[Self], H] | None = None,
        *,
        max_requests: int = 1000,
        max_notifications: int = 1000,
        unknown: Unknown = "keep",
        on_skip: OnSkip | None = None,
        on_problem: OnProblem | None = None,
        on_message: OnMessage | None = None,
        grace: float = 5.0,
        debug: bool = False,
        validate: bool = False,
    ) -> None:
        """Prepare the connection; nothing is read or sent before `async with`.

        Raises `TypeError` for an argument that is not a transport, for a handler whose methods cannot be called with
        what they are given, and for a hook that cannot be called or must be awaited; `ValueError` for invalid options.
        """
        check_arguments(self, transport, handler)
        options = Options(
            max_requests, max_notifications, unknown, on_skip, on_problem, on_message, grace, debug, validate
        )
        check_options(options)
        self.transport = transport
        self._lifecycle = Lifecycle(transport, options)
        self._outbox = self._lifecycle.outbox
        self._heads: dict[str, bytes] = {}
        self._tails: dict[str, bytes] = {}
        self.handler = resolve_handler(self, handler)
        """The object whose methods handle what the peer sends."""
        self._rules = SessionRules(self.side, self.handler, self._lifecycle)
        closed = getattr(self.handler, "connection_closed", None)
        if closed is not None:
            self._lifecycle.call_at_end("connection_closed", closed)

    @property
    def closed(self) -> ConnectionClosed | None:
        """Why the connection closed; None while it is open."""
        return self._lifecycle.closed

    @property
    def gate(self) -> Callable[[str, Any], object] | None:
        """Called with the method and params of each message before it is sent, unless it is forced.

        An exception keeps the message from being sent. The handshake sets a gate that raises `NotAdvertised`.
        """
        return self._rules.gate

    @gate.setter
    def gate(self, gate: Callable[[str, Any], object] | None) -> None:
        self._rules.gate = gate

    def wrap_handlers(self, wrappers: Mapping[str, Callable[[Any], Any]]) -> None:
        """Put functions around handlers, by the names of these, before the connection starts.

        It is for what stands on a connection and has to see what comes in. A wrapper gets the handler, None if there is
        none, and returns the function to call in its place, or None. It is outside of whatever the connection itself
        does around a handler.

        Raises `RuntimeError` for a connection that was started before.
        """
        if self._lifecycle.is_started:
            raise RuntimeError("Handlers are wrapped before the connection starts")
        self._rules.wrap(wrappers)

    async def __aenter__(self) -> Self:
        """Start reading and writing."""
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connection."""
        await self.close()

    def start(self) -> None:
        """Start reading and writing, as `async with` does; `close` ends it.

        Raises `RuntimeError` for a connection that was started before.
        """
        if self._lifecycle.is_started:
            raise RuntimeError("A connection starts once only")
        handlers = handler_table(self._rules.handler, self.side)
        self._lifecycle.start(Reader(self._lifecycle, self.side, handlers).run(), handlers.notifications)

    async def serve(self) -> None:
        """Start, and return once the peer has closed the connection."""
        async with self:
            await self.wait_closed()

    async def wait_closed(self) -> None:
        """Wait until either side has ended the connection, and all of its tasks have ended."""
        self._check_loop()
        await self._lifecycle.done.wait()

    async def close(self) -> None:
        """Send waiting messages, cancel running handlers, fail pending calls, and close the transport.

        Calls fail with `ConnectionClosed`. Notifications that still wait are not handled. Within a handler, the close
        only begins before this returns, as the handler is cancelled, too.
        """
        if not self._lifecycle.is_started:
            await self.transport.close()
            return
        self._check_loop()
        self._lifecycle.end("this side closed the connection", is_ours=True)
        if not self._lifecycle.is_own(asyncio.current_task()):
            await self.wait_closed()

    async def call(self, method: str, params: Any, *, timeout: float | None = None, force: bool = False) -> Any:
        """Call a method of the peer and wait for its result, for at most `timeout` seconds.

        `force` makes the call even if the peer did not advertise the method in `initialize`. A call that is cancelled
        or times out is also cancelled at the peer, and its late answer is dropped.

        `params` may be plain JSON. The result of a method that the schema does not know is raw JSON.

        A `session/prompt` that is cancelled or times out also sends `session/cancel`, and until that turn has ended the
        agent's permission requests are answered with `cancelled`.

        Raises `RequestError` for an error of the peer, `MessageError` for an invalid answer, `TimeoutError`,
        `NotAdvertised` for what the peer does not support, `TypeError` for params of another class, `ConnectionClosed`
        if the connection ends, and `RuntimeError` in another event loop. Invalid plain JSON is sent, for the peer to
        refuse, except in the params of `initialize`, `session/prompt` and `session/close`: the connection itself reads
        those, so they raise `TypeError`.
        """
        rules = self._rules
        typed = params
        if rules.validates or params.__class__ is not rules.request_params.get(method):
            typed = rules.typed_params(method, params, is_request=True)
        if rules.gate is not None and not force:
            rules.gate(method, typed)
        tail = self._tails.get(method)
        if tail is None:
            tail = self._tails[method] = request_tail(method)
        if method in rules.followed:
            return await rules.follow_call(method, typed, self._call(method, tail, params, timeout, typed))
        return await self._call(method, tail, params, timeout)

    async def extension_call(self, method: str, params: Any = UNSET, *, timeout: float | None = None) -> Raw:
        """Call a method outside the protocol, whose name begins with `_`; `params` is any JSON.

        Raises `ValueError` for another name, and what `call` raises.
        """
        tail = request_tail(extension_method(method))
        result: Raw = await self._call(method, tail, params, timeout)
        return result

    async def notify(self, params: Any, *, force: bool = False) -> None:
        """Send the notification that has these params; `force` sends it even if the peer did not advertise the method.

        Raises `TypeError` for params that no notification has, `NotAdvertised` for what the peer does not support, and
        `ConnectionClosed` if the connection has ended.
        """
        envelope_of = self.side.notification_of
        if envelope_of is None:
            raise TypeError("This schema has no notifications")
        await self._notify(envelope_of(params).method, params, force)

    async def extension_notify(self, method: str, params: Any = UNSET) -> None:
        """Send a notification outside the protocol, whose name begins with `_`; `params` is any JSON.

        Raises `ValueError` for another name, and `ConnectionClosed` if the connection has ended.
        """
        head = notification_head(extension_method(method))
        self._check_open()
        if self._outbox.put(self._lifecycle.writer.notification(head, method, params)):
            await self._lifecycle.inbox.wait_for_outbox(self._outbox)

    async def _notify(self, method: str, params: Any, force: bool = False) -> None:
        rules = self._rules
        typed = params
        if rules.validates or params.__class__ is not rules.notification_params.get(method):
            typed = rules.typed_params(method, params, is_request=False)
        if rules.gate is not None and not force:
            rules.gate(method, typed)
        head = self._heads.get(method)
        if head is None:
            head = self._heads[method] = notification_head(method)
        self._check_open()
        data = self._lifecycle.writer.notification(head, method, params)
        is_full = self._outbox.put(data)
        if method == rules.cancel_method:
            rules.cancel_sent(typed)
        if is_full:
            await self._lifecycle.inbox.wait_for_outbox(self._outbox)

    async def _call(self, method: str, tail: bytes, params: Any, timeout: float | None, typed: Any = None) -> Any:
        self._check_open()
        calls = self._lifecycle.calls
        call = calls.add(method)
        try:
            data = self._lifecycle.writer.request(call.id, tail, method, params)
            if calls.are_few:
                self._outbox.put_now(data)
            else:
                self._outbox.put(data)
            if timeout is None:
                return await call.future
            async with asyncio.timeout(timeout):
                return await call.future
        except (asyncio.CancelledError, TimeoutError):
            if calls.get(call.id) is not None and self._lifecycle.closed is None:
                self._abandon(call.id, method, typed)
            raise
        except BaseException:  # params that cannot be encoded: nothing was sent
            calls.take(call.id)
            raise

    def _abandon(self, request_id: int, method: str, typed: Any) -> None:
        lifecycle, cancel_params = self._lifecycle, self.side.cancel_params
        if cancel_params is not None:
            params = cancel_params(request_id=request_id)
            self._outbox.put(lifecycle.writer.notification(CANCEL, "$/cancel_request", params))
        lifecycle.calls.abandon(request_id, self._rules.call_abandoned(method, typed))

    def _check_open(self) -> None:
        life = self._lifecycle
        # A loop that runs in this thread is the running one; to ask asyncio for it takes longer on some Pythons.
        if life.thread == get_ident() and life.closed is None and life.loop is not None and life.loop.is_running():
            return
        self._check_loop()
        if life.closed is not None:
            raise life.failure()
        raise RuntimeError("The connection has not been started: use it within `async with`")

    def _check_loop(self) -> None:
        loop = self._lifecycle.loop
        if loop is not None and loop is not asyncio.get_running_loop():
            raise RuntimeError(
                "The connection belongs to another event loop: call it there, from another thread with "
                "`asyncio.run_coroutine_threadsafe`"
            )
