"""What the protocol asks of a connection beyond whole messages: the handshake, and turns that end early."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import UNSET, DecodeError, Raw

from ..._codec import decode_with_repairs
from ..._decode.classes import instance_check, why_invalid
from ..._rpc.encoding import encode
from ..._validate import validate
from .._engine.lifecycle import Core, named
from .._engine.problems import Problem, ProblemKind
from .._engine.writer import notification_head
from .endpoint import Side
from .handshake import INITIALIZE, Gate, Handshake
from .turns import AgentTurn, ClientTurn, Prompts, Questions

ENDS = frozenset({"session/close", "session/delete"})
"""The calls that end a session, whether the agent agrees or not: at worst the user is asked again."""
BEGINS = frozenset({"session/new", "session/fork"})
"""The calls whose answer names a session that has nothing of an earlier one with the same id."""
Wrapper = Callable[[Any], Any]


class Rules:
    """The rules of one connection."""

    def __init__(self, side: Side, handler: object, core: Core) -> None:
        """Start before the handshake: anything may be called."""
        self.handshake: Handshake[Any, Any] | None = None
        self.gate: Callable[[str, Any], object] | None = None
        self.served: object = handler
        """The handler with what the rules put around its methods."""
        self.watched = {INITIALIZE} if side.peer == "agent" else set[str]()
        """The methods whose calls go through `watch`."""
        self.cancels = ""
        """The notification that ends a turn when it is sent."""
        self._side = side
        self._core = core
        self.request_kinds = {name: method.request for name, method in side.methods.items()}
        self.notification_kinds = {name: method.notification for name, method in side.methods.items()}
        self.validates = core.options.validate
        self._questions: Questions | None = None
        wrappers: dict[str, Wrapper] = {} if side.peer == "agent" else {INITIALIZE: self._initialize}
        match side.turn:
            case AgentTurn():
                wrappers |= Prompts(side.turn, handler, self._tell).wrappers
            case ClientTurn():
                self._questions = Questions(side.turn, self._tell)
                wrappers |= self._questions.wrappers
                self.watched |= {side.turn.prompt, side.turn.close} - {""}
                self.cancels = side.turn.cancel
            case None:
                pass
        self._strict = frozenset(self.watched)
        """The methods whose params have to fit."""
        self._session_ended = getattr(handler, "session_ended", None) if side.peer == "agent" else None
        if self._session_ended is not None:
            self.watched |= (ENDS | BEGINS) & side.methods.keys()
        if handler is not None and wrappers:
            self.served = _Served(handler, wrappers)

    def typed(self, method: str, params: Any, *, is_request: bool) -> Any:
        """Give the params of a method as its class, also where they are plain JSON.

        Raises `TypeError` for params of another class, such as None or a number, and for plain objects and raw JSON
        that do not fit where the rules have to know what they say; any other goes out as it is. With the option
        `validate`, raises `ValidationError` for params that a strict reader refuses, and for those that do not keep the
        limits of a sender.
        """
        kind = (self.request_kinds if is_request else self.notification_kinds).get(method)
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
        is_strict = method in self._strict or method == self.cancels
        if is_raw and not is_strict and method not in self.watched:
            return params
        try:
            plain = b"{}" if params is UNSET else encode(params)
            return decode_with_repairs(plain, type=kind, unknown="keep")[0]
        except (DecodeError, ValueError) as why:
            if not is_strict:
                return params
            raise TypeError(f"These params are not those of {method}: {why}") from None

    async def watch(self, method: str, params: Any, answer: Awaitable[Any]) -> Any:
        """Wait for the answer to a call that matters here."""
        if method == INITIALIZE:
            result = await answer
            self._note(params, result)
            return result
        if self._questions is not None and method in self._strict:
            is_close = method == self._questions.turn.close
            waiting = self._questions.closing if is_close else self._questions.during
            answer = waiting(params.session_id, answer)
        if self._session_ended is None or method not in ENDS | BEGINS:
            return await answer
        try:
            result = await answer
        finally:
            if method in ENDS:
                self._end(_session_of(params))
        if method in BEGINS:
            self._end(_session_of(result))
        return result

    def _end(self, session: Any) -> None:
        """Tell the handler that a session has ended."""
        if self._session_ended is None or session is None:
            return
        self._core.run_hook("session_ended", self._session_ended, session)

    def cancelled(self, params: Any) -> None:
        """Hear that this side has cancelled a turn."""
        if self._questions is not None:
            self._questions.cancel(params.session_id)

    def abandoned(self, method: str, params: Any) -> Callable[[], object] | None:
        """Hear that this side gave a call up: the turn of an abandoned prompt is cancelled.

        Gives what is to be called should the answer come yet, if anything.
        """
        questions = self._questions
        if questions is None or method != questions.turn.prompt:
            return None
        session = params.session_id
        head = notification_head(questions.turn.cancel)
        cancel = self.notification_kinds[questions.turn.cancel](session_id=session)
        self._core.outbox.put(self._core.writer.notification(head, questions.turn.cancel, cancel))
        questions.abandon(session)
        return lambda: questions.ended(session)

    def _initialize(self, handler: Any) -> Any:
        if handler is None:
            return None

        async def initialize(params: Any) -> Any:
            result = await handler(params)
            self._note(params, result)
            return result

        return initialize

    def _note(self, request: Any, response: Any) -> None:
        self.handshake = Handshake(request, response)
        self.gate = Gate(self._side.needs, response if self._side.peer == "agent" else request).check

    def _tell(self, name: str, why: Exception) -> None:
        detail = f"The handler {name} raised {named(why)} in a cancelled turn"
        self._core.tell(Problem(kind=ProblemKind.HANDLER, detail=detail, error=why))


def _session_of(value: Any) -> Any:
    """Give the session that params or a result name, also as plain JSON."""
    return value.get("sessionId") if value.__class__ is dict else getattr(value, "session_id", None)


class _Served:
    """A handler some of whose methods are wrapped."""

    def __init__(self, handler: object, wrappers: dict[str, Wrapper]) -> None:
        self._handler = handler
        self._wrappers = wrappers

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._handler, name, None)
        wrap = self._wrappers.get(name)
        found = method if wrap is None else wrap(method)
        if found is None:
            raise AttributeError(name)
        return found
