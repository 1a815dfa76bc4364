"""What the protocol asks of a connection beyond whole messages: the handshake, and turns that end early."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import UNSET, DecodeError, Raw, ValidationError

from .._classes import instance_check, why_unfit
from .._codec import decode_with_repairs, encode
from .._validate import validate
from ._core import Core, named
from ._handshake import Gate, Handshake
from ._problems import Problem, ProblemKind
from ._side import Side
from ._turns import AgentTurn, ClientTurn, Prompts, Questions
from ._wire import notification_head

INITIALIZE = "initialize"
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
        self._kinds = {name: m.request or m.notification for name, m in side.methods.items()}
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
        if handler is not None and wrappers:
            self.served = _Served(handler, wrappers)

    def typed(self, method: str, params: Any) -> Any:
        """Give the params of a method as its class, also where they are plain JSON.

        Raises `TypeError` for params of another class and for plain JSON that does not fit. Raw JSON goes out as it is,
        unless the rules have to know what it says. With the option `validate`, raises `ValidationError` for what a
        strict reader refuses.
        """
        kind = self._kinds.get(method)
        if kind is None:
            return params
        is_exact = params.__class__ is kind
        if not is_exact and isinstance(params, Raw) and method not in self.watched and method != self.cancels:
            return params
        if self._core.options.validate and not isinstance(params, Raw):
            validate({} if params is UNSET else params, type=kind)
        if is_exact:
            return params
        problem = None if isinstance(params, Raw) or params is UNSET else why_unfit(kind, params)
        if problem is not None:
            raise TypeError(f"These params are not those of {method}: {problem}")
        if instance_check(kind)(params) and not isinstance(params, Raw):
            return params
        try:
            plain = b"{}" if params is UNSET else encode(params)
            return decode_with_repairs(plain, type=kind, unknown="keep")[0]
        except (DecodeError, ValidationError, ValueError) as why:
            raise TypeError(f"These params are not those of {method}: {why}") from None

    async def watch(self, method: str, params: Any, answer: Awaitable[Any]) -> Any:
        """Wait for the answer to a call that matters here."""
        if method == INITIALIZE:
            result = await answer
            self._note(params, result)
            return result
        assert self._questions is not None
        if method == self._questions.turn.close:
            return await self._questions.closing(params.session_id, answer)
        return await self._questions.during(params.session_id, answer)

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
        cancel = self._kinds[questions.turn.cancel](session_id=session)
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
