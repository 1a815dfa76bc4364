"""What the protocol asks of a connection beyond whole messages: the handshake, and turns and sessions that end."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import UNSET, DecodeError, Raw

from ..._codec import decode_with_repairs
from ..._decode.classes import instance_check, why_invalid
from ..._rpc.encoding import encode
from ..._validate import validate
from .._engine.endpoint import AgentTurn, ClientTurn, Endpoint
from .._engine.lifecycle import Lifecycle
from .._engine.problems import Problem, ProblemKind
from .._engine.protocol_version import INITIALIZE
from .._engine.reports import class_name
from .._engine.writer import notification_head
from .handshake import Gate, Handshake
from .turns import PermissionRequests, RunningPrompts

SESSION_ENDING = frozenset({"session/close", "session/delete"})
"""The calls that end a session, whether the agent agrees or not: at worst the user is asked again."""
SESSION_CREATING = frozenset({"session/new", "session/fork"})
"""The calls that create a session, which shares nothing with an earlier one of the same id."""
Wrapper = Callable[[Any], Any]


class SessionRules:
    """The rules of one connection."""

    def __init__(self, endpoint: Endpoint, handler: object, lifecycle: Lifecycle) -> None:
        """Start before the handshake: every method may be called."""
        self.handshake: Handshake[Any, Any] | None = None
        self.gate: Callable[[str, Any], object] | None = None
        self.handler: object = handler
        """The handler, with some of its methods wrapped."""
        self.followed = {INITIALIZE} if endpoint.peer == "agent" else set[str]()
        """The methods whose calls go through `follow_call`."""
        self.cancel_method = ""
        """The notification that ends a turn when it is sent."""
        self.request_params = {name: method.request for name, method in endpoint.methods.items()}
        """The classes of params, by method."""
        self.notification_params = {name: method.notification for name, method in endpoint.methods.items()}
        """The same for notifications."""
        self.validates = lifecycle.options.validate
        self._endpoint = endpoint
        self._lifecycle = lifecycle
        self._permissions: PermissionRequests | None = None
        wrappers = self._wrappers(handler)
        self._strict = frozenset(self.followed)
        """The methods whose params must be valid, as the rules read them."""
        self._session_ended = getattr(handler, "session_ended", None) if endpoint.peer == "agent" else None
        if self._session_ended is not None:
            self.followed |= (SESSION_ENDING | SESSION_CREATING) & endpoint.methods.keys()
        if handler is not None and wrappers:
            self.handler = _WrappedHandler(handler, wrappers)

    def _wrappers(self, handler: object) -> dict[str, Wrapper]:
        """Return the wrappers that the rules put around the handler's methods, by name."""
        endpoint = self._endpoint
        wrappers: dict[str, Wrapper] = {} if endpoint.peer == "agent" else {INITIALIZE: self._wrap_initialize}
        match endpoint.turn:
            case AgentTurn():
                wrappers |= RunningPrompts(endpoint.turn, handler, self._report_failure).wrappers
            case ClientTurn():
                self._permissions = PermissionRequests(endpoint.turn, self._report_failure)
                wrappers |= self._permissions.wrappers
                self.followed |= {endpoint.turn.prompt, endpoint.turn.close} - {""}
                self.cancel_method = endpoint.turn.cancel
            case None:
                pass
        return wrappers

    def typed_params(self, method: str, params: Any, *, is_request: bool) -> Any:
        """Return the params of a method as its class, also if they are given as plain JSON.

        Raises `TypeError` for params of another class, such as None or a number, and for invalid plain JSON if the
        rules must read the params; any other is sent unchanged. With the option `validate`, raises `ValidationError`
        for params that a strict reader refuses, and for those that break a sender constraint.
        """
        kind = (self.request_params if is_request else self.notification_params).get(method)
        if kind is None:
            return params
        if self.validates and not isinstance(params, Raw):
            validate({} if params is UNSET else params, type=kind)
        if params.__class__ is kind:
            return params
        is_raw = isinstance(params, Raw)
        if not is_raw:
            if instance_check(kind)(params):
                return params
            is_object = params.__class__ is dict
            problem = None if params is UNSET or is_object else why_invalid(kind, params)
            if problem is not None:
                raise TypeError(f"These params are not those of {method}: {problem}")
        is_strict = method in self._strict or method == self.cancel_method
        if is_raw and not is_strict and method not in self.followed:
            return params
        try:
            plain = b"{}" if params is UNSET else encode(params)
            return decode_with_repairs(plain, type=kind, unknown="keep")[0]
        except (DecodeError, ValueError) as error:
            if not is_strict:
                return params
            raise TypeError(f"These params are not those of {method}: {error}") from None

    async def follow_call(self, method: str, params: Any, answer: Awaitable[Any]) -> Any:
        """Wait for the answer to a call that the handshake, a turn or the life of a session depends on."""
        if method == INITIALIZE:
            result = await answer
            self._record_handshake(params, result)
            return result
        permissions = self._permissions
        if permissions is not None and method in self._strict:
            is_close = method == permissions.turn.close
            during = permissions.during_close if is_close else permissions.during_prompt
            answer = during(params.session_id, answer)
        if self._session_ended is None or method not in SESSION_ENDING | SESSION_CREATING:
            return await answer
        try:
            result = await answer
        finally:
            if method in SESSION_ENDING:
                self._end_session(_session_of(params))
        if method in SESSION_CREATING:
            self._end_session(_session_of(result))
        return result

    def wrap(self, wrappers: Mapping[str, Wrapper]) -> None:
        """Put more wrappers around the handlers: outside of those of the rules."""
        self.handler = _WrappedHandler(self.handler, wrappers)

    def _end_session(self, session: Any) -> None:
        """Call the handler's `session_ended`."""
        if self._session_ended is None or session is None:
            return
        self._lifecycle.reports.run_hook("session_ended", self._session_ended, session)

    def cancel_sent(self, params: Any) -> None:
        """Cancel a turn on this side, as its cancellation was sent."""
        if self._permissions is not None:
            self._permissions.cancel(params.session_id)

    def call_abandoned(self, method: str, params: Any) -> Callable[[], object] | None:
        """Cancel the turn of an abandoned prompt.

        Returns a function to call if the answer to the abandoned call still comes, or None.
        """
        permissions = self._permissions
        if permissions is None or method != permissions.turn.prompt:
            return None
        session, cancel = params.session_id, permissions.turn.cancel
        notification = self.notification_params[cancel](session_id=session)
        head = notification_head(cancel)
        self._lifecycle.outbox.put(self._lifecycle.writer.notification(head, cancel, notification))
        permissions.prompt_abandoned(session)
        return lambda: permissions.abandoned_turn_ended(session)

    def _wrap_initialize(self, handler: Any) -> Any:
        if handler is None:
            return None

        async def initialize(params: Any) -> Any:
            result = await handler(params)
            self._record_handshake(params, result)
            return result

        return initialize

    def _record_handshake(self, request: Any, response: Any) -> None:
        self.handshake = Handshake(request, response)
        self.gate = Gate(self._endpoint.needs, response if self._endpoint.peer == "agent" else request).check

    def _report_failure(self, name: str, error: Exception) -> None:
        detail = f"The handler {name} raised {class_name(error)} in a cancelled turn"
        self._lifecycle.reports.problem(Problem(kind=ProblemKind.HANDLER, detail=detail, error=error))


def _session_of(value: Any) -> Any:
    """Return the session id in params or a result, also if they are plain JSON."""
    return value.get("sessionId") if value.__class__ is dict else getattr(value, "session_id", None)


class _WrappedHandler:
    """A handler some of whose methods are wrapped."""

    def __init__(self, handler: object, wrappers: Mapping[str, Wrapper]) -> None:
        self._handler = handler
        self._wrappers = wrappers

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._handler, name, None)
        wrap = self._wrappers.get(name)
        found = method if wrap is None else wrap(method)
        if found is None:
            raise AttributeError(name)
        return found
