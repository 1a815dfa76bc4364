"""One end of a connection, as its owner sees it."""

import asyncio
from collections.abc import Callable
from threading import get_ident
from typing import Any, ClassVar, Generic, Self, TypeVar

from msgspec import UNSET, Raw

from .._decode.report import OnSkip
from .._rpc.schema import extension_method
from .._types.inputs import Unknown
from ._engine.dispatcher import Reading
from ._engine.lifecycle import Core, OnMessage, Options
from ._engine.problems import ConnectionClosed, OnProblem
from ._engine.writer import notification_head, request_tail
from ._session.connection_arguments import check_arguments, check_options
from ._session.endpoint import Side
from ._session.handler_objects import resolve_handler
from ._session.rules import Rules
from ._transports.transport import Transport

H = TypeVar("H")

CANCEL = notification_head("$/cancel_request")


class Connection(Generic[H]):
    """One end of a connection; the ends of a schema, `AgentConnection` and `ClientConnection`, are made of it.

    `handler` is an object with a coroutine for each method that this end handles, or a function that makes one, given
    this connection (whatever else can be called is taken for such a function); None handles nothing. A missing method
    answers -32601, and one that could not be called as it is raises `TypeError` here. The connection works within
    `async with`, or `serve`, in one event loop and thread: what is called from another one raises `RuntimeError`.

    What comes in is handled in this order:

    - Notifications one after the other, each after the start of all requests that came before it.
    - A request in a task of its own, together with others. It starts after the notifications that came before it,
      unless one of their handlers waits for something.
    - The answer to a call after the handlers of all notifications that came before it, so that whoever awaits a call
      has seen them. The handler of a notification may itself make a call: that answer does not wait for this handler.
    - What came behind an answer once those who await the call have seen it, also through a task, `asyncio.wait_for`,
      `asyncio.gather` or a `TaskGroup`: the loop turns ten times in between.

    Choices:

    - `max_requests`: so many of the peer's requests run at once, and a thousand more wait for their turn. Beyond that
      nothing is read until one has ended; while calls of this side are under way, their answers have to be read, and
      requests beyond that are refused with -32603.
    - `max_notifications`: over so many unhandled notifications (or 8 MiB) nothing is read.
    - `unknown`, `on_skip`: as for `decode`.
    - `on_problem`: told of everything that goes wrong and does not end the connection; by default it is logged.
    - `on_message`: called with "in" or "out" and each message, for transcripts.
    - `grace`: for so many seconds the end of the connection waits for handlers and for what is still to be sent.
    - `debug`: sends the traceback of a failed handler to the peer, in the error's data.
    - `validate`: checks all params and results that this side sends as `acp_msgspec.validate` does. Without it, their
      classes alone are checked.
    """

    side: ClassVar[Side]

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

        Raises `TypeError` for what is no transport, for a handler whose methods cannot be called as they are, and for a
        hook that cannot be called or has to be awaited; `ValueError` for other options that make no sense.
        """
        check_arguments(self, transport, handler)
        options = Options(
            max_requests=max_requests,
            max_notifications=max_notifications,
            unknown=unknown,
            on_skip=on_skip,
            on_problem=on_problem,
            on_message=on_message,
            grace=grace,
            debug=debug,
            validate=validate,
        )
        check_options(options)
        self.transport = transport
        self._core = Core(transport, options)
        self._outbox = self._core.outbox
        self._heads: dict[str, bytes] = {}
        self._tails: dict[str, bytes] = {}
        made = resolve_handler(self, handler)
        self.handler = made
        """The object whose methods handle what the peer sends."""
        self._rules = Rules(self.side, made, self._core)
        closed = getattr(made, "connection_closed", None)
        if closed is not None:
            self._core.at_end.append(("connection_closed", closed))

    @property
    def closed(self) -> ConnectionClosed | None:
        """Why the connection has ended; None while it has not."""
        return self._core.closed

    @property
    def gate(self) -> Callable[[str, Any], object] | None:
        """Called with method and params of what is to be sent and not forced; what it raises keeps it from being sent.

        The handshake sets one that raises `NotAdvertised`.
        """
        return self._rules.gate

    @gate.setter
    def gate(self, gate: Callable[[str, Any], object] | None) -> None:
        self._rules.gate = gate

    async def __aenter__(self) -> Self:
        """Start to read and to write."""
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connection."""
        await self.close()

    def start(self) -> None:
        """Start to read and to write, as `async with` does; `close` ends it.

        Raises `RuntimeError` for a connection that was started before.
        """
        if self._core.tasks:
            raise RuntimeError("A connection starts once only")
        self._core.start(Reading(self._core, self.side, self._rules.served).run())

    async def serve(self) -> None:
        """Start, and return once the peer has closed the connection."""
        async with self:
            await self.wait_closed()

    async def wait_closed(self) -> None:
        """Wait until the connection has ended, whoever ends it, and everything that belongs to it with it."""
        self._check_loop()
        await self._core.done.wait()

    async def close(self) -> None:
        """Send what waits, cancel the handlers that run, fail the calls under way, and close the transport.

        Calls fail with `ConnectionClosed`. Notifications that still wait are not handled. From within a handler this
        only begins, as the handler is cancelled, too.
        """
        if not self._core.tasks:
            await self.transport.close()
            return
        self._check_loop()
        self._core.end("this side closed the connection", is_ours=True)
        if not self._core.is_own(asyncio.current_task()):
            await self.wait_closed()

    async def call(self, method: str, params: Any, *, timeout: float | None = None, force: bool = False) -> Any:
        """Call a method of the peer and wait for its result, for at most `timeout` seconds.

        `force` calls what the peer did not advertise in `initialize`, too. A call that is cancelled or out of time is
        cancelled at the peer as well, and its late answer is dropped.

        `params` may be plain JSON. The result of a method that the schema does not know is raw JSON.

        A `session/prompt` that is cancelled or out of time also sends `session/cancel`, and until that turn has ended
        the agent's permission requests are answered with `cancelled`.

        Raises `RequestError` for an error of the peer, `MessageError` for an answer that does not fit, `TimeoutError`,
        `NotAdvertised` for what the peer does not support, `TypeError` for params of another class, `ConnectionClosed`
        where the connection ended, and `RuntimeError` in another event loop. Plain JSON is for the peer to refuse, but
        for the params of `initialize`, `session/prompt` and `session/close`: the connection itself has to understand
        them, so that those raise `TypeError` if they do not fit.
        """
        rules = self._rules
        typed = params
        if rules.validates or params.__class__ is not rules.request_kinds.get(method):
            typed = rules.typed(method, params, is_request=True)
        if rules.gate is not None and not force:
            rules.gate(method, typed)
        tail = self._tails.get(method)
        if tail is None:
            tail = self._tails[method] = request_tail(method)
        if method in rules.watched:
            return await rules.watch(method, typed, self._call(method, tail, params, timeout, typed))
        return await self._call(method, tail, params, timeout)

    async def extension_call(self, method: str, params: Any = UNSET, *, timeout: float | None = None) -> Raw:
        """Call a method outside the protocol, whose name begins with `_`; `params` is any JSON.

        Raises `ValueError` for another name, and what `call` raises.
        """
        tail = request_tail(extension_method(method))
        result: Raw = await self._call(method, tail, params, timeout)
        return result

    async def notify(self, params: Any, *, force: bool = False) -> None:
        """Send the notification whose params these are; `force` sends what the peer did not advertise, too.

        Raises `TypeError` where no notification has such params, `NotAdvertised` for what the peer does not support,
        and `ConnectionClosed` where the connection ended.
        """
        envelope_of = self.side.notification_of
        if envelope_of is None:
            raise TypeError("This schema has no notifications")
        await self._notify(envelope_of(params).method, params, force)

    async def extension_notify(self, method: str, params: Any = UNSET) -> None:
        """Send a notification outside the protocol, whose name begins with `_`; `params` is any JSON.

        Raises `ValueError` for another name, and `ConnectionClosed` where the connection ended.
        """
        head = notification_head(extension_method(method))
        self._check_open()
        if self._outbox.put(self._core.writer.notification(head, method, params)):
            await self._core.inbox.wait_for(self._outbox)

    async def _notify(self, method: str, params: Any, force: bool = False) -> None:
        rules = self._rules
        typed = params
        if rules.validates or params.__class__ is not rules.notification_kinds.get(method):
            typed = rules.typed(method, params, is_request=False)
        if rules.gate is not None and not force:
            rules.gate(method, typed)
        head = self._heads.get(method)
        if head is None:
            head = self._heads[method] = notification_head(method)
        self._check_open()
        data = self._core.writer.notification(head, method, params)
        is_over = self._outbox.put(data)
        if method == rules.cancels:
            rules.cancelled(typed)
        if is_over:
            await self._core.inbox.wait_for(self._outbox)

    async def _call(self, method: str, tail: bytes, params: Any, timeout: float | None, typed: Any = None) -> Any:
        self._check_open()
        calls = self._core.calls
        request_id, call = calls.add(method)
        try:
            self._outbox.put(self._core.writer.request(request_id, tail, method, params))
            if timeout is None:
                return await call.future
            async with asyncio.timeout(timeout):
                return await call.future
        except (asyncio.CancelledError, TimeoutError):
            if request_id in calls.pending and self._core.closed is None:
                self._abandon(request_id, method, typed)
            raise
        except BaseException:  # params that are not JSON: nothing was sent
            calls.take(request_id)
            raise

    def _abandon(self, request_id: int, method: str, typed: Any) -> None:
        core, cancelling = self._core, self.side.cancel_params
        if cancelling is not None:
            self._outbox.put(core.writer.notification(CANCEL, "$/cancel_request", cancelling(request_id=request_id)))
        core.calls.abandon(request_id, self._rules.abandoned(method, typed))

    def _check_open(self) -> None:
        core = self._core
        # A loop that runs in this thread is the running one; to ask for that one takes longer on some Pythons.
        if core.thread == get_ident() and core.closed is None and core.loop is not None and core.loop.is_running():
            return
        self._check_loop()
        if core.closed is not None:
            raise core.failure()
        raise RuntimeError("The connection has not been started: use it within `async with`")

    def _check_loop(self) -> None:
        loop = self._core.loop
        if loop is not None and loop is not asyncio.get_running_loop():
            raise RuntimeError(
                "The connection belongs to another event loop: call it there, from another thread with "
                "`asyncio.run_coroutine_threadsafe`"
            )
