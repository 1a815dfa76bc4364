"""Answers to permission requests, chosen by their kind or by the option itself."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Generic, Literal, Protocol, TypeVar, get_args

from msgspec import Struct

from .remembered_answers import Consents, digest, recognizable, subject_of

P = TypeVar("P")

Decision = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
"""What a user may decide."""


class Chosen(Struct, frozen=True):
    """The option of a permission request that was chosen, by its id."""

    option_id: str


class Option(Protocol):
    """An option as a request has it, or `Chosen`."""

    @property
    def option_id(self) -> Any:
        """The option's id, unique within its request."""


Answer = Decision | Option | None
Policy = Callable[[P], Answer | Awaitable[Answer]]
"""Decides on a request, or chooses one of its options; None lets it be answered with `cancelled`."""
_ONCE: dict[str, str] = {"allow_always": "allow_once", "reject_always": "reject_once"}


def choose(options: Iterable[tuple[Any, str]], decision: str | Chosen | None) -> Any:
    """Give the id of the option that a decision stands for, of pairs of id and kind; None where none does.

    It is the first one of that kind. For want of an "always" the "once" that says the same is taken; never "always" for
    "once", and never a refusal for a consent or the other way round. An option that was `Chosen` is itself, if it is
    among them.
    """
    known: dict[str, Any] = {}
    for option, kind in options:
        if isinstance(decision, Chosen) and option == decision.option_id:
            return option
        known.setdefault(str(kind), option)
    if decision is None or isinstance(decision, Chosen):
        return None
    return known.get(decision, known.get(_ONCE.get(decision, "")))


class _Remembered(Struct, frozen=True):
    """A decision for always; with the option that was chosen for it, where one was."""

    decision: Decision | Chosen
    option: bytes | None = None


class Permissions(Generic[P]):
    """Decides on permission requests by a fixed decision or a policy, a function that may be async.

    A decision is a kind of option: "allow_once", "allow_always", "reject_once", "reject_always". `choose` tells which
    option is taken for it; where none fits, or the policy gives None, the answer is `cancelled`. A policy may also
    return one of the request's options, or its id as `Chosen(option_id)`, as where two options are of one kind.

    With `remember`, an "always" holds for the rest of the session: requests for exactly the same are answered without
    asking the policy again, also where the agent forgets. `key` gives what makes them the same, any JSON or hashable
    value, or None for a request to ask about each time. By default it holds all that the request says will be done: a
    tool call's kind, title, raw input, locations, content and metadata, or the command and its folder. An option that
    the policy chose is remembered if its kind is an "always", and taken again where the same one is offered.

    `DecidesPermissions` forgets when its client closes or deletes the session, and at the connection's end.
    """

    def __init__(
        self,
        policy: Decision | Policy[P],
        *,
        remember: bool = False,
        key: Callable[[P], object] = subject_of,
    ) -> None:
        """Take the policy; raise `ValueError` for any other text than a decision."""
        if not callable(policy) and policy not in get_args(Decision):
            raise ValueError(f"{policy!r} is no decision: use one of {', '.join(get_args(Decision))}")
        self._policy: Policy[P] = policy if callable(policy) else lambda _: policy
        self._key = key
        self._remember = remember
        self._consents = Consents[_Remembered]()

    async def decide(self, request: P, session: Any, *, scope: object = None) -> Decision | Chosen | None:
        """Decide on a request of a session; what is remembered holds within its `scope`, such as the client.

        Raises `ValueError` where the policy gives anything but a decision or an option of the request.
        """
        said = self._key(request) if self._remember else None
        if said is None:
            return _checked(request, await self._ask(request)).decision
        key = recognizable(said)
        known = self._consents.get(scope, session, key)
        if known is not None and (known.option is None or known.option in _offered(request)):
            return known.decision
        epoch = self._consents.epoch
        made = _checked(request, await self._ask(request))
        is_always = made.option is not None or (made.decision in _ONCE and _has_option(request, made.decision))
        # The session may have ended while the user was thinking.
        if is_always and made.decision is not None and epoch == self._consents.epoch:
            self._consents.put(scope, session, key, _Remembered(made.decision, made.option))
        return made.decision

    def forget(self, session: Any = None, *, scope: object = None) -> None:
        """Forget the answers of a session, or of all; only those of a scope where one is given."""
        self._consents.forget(session, scope)

    async def _ask(self, request: P) -> Answer:
        answer = self._policy(request)
        return await answer if isinstance(answer, Awaitable) else answer


class _Made(Struct, frozen=True):
    """What the policy has decided; `option` where it chose one that is for always."""

    decision: Decision | Chosen | None
    option: bytes | None = None


def _checked(request: Any, answer: Any) -> _Made:
    if answer is None or answer in get_args(Decision):
        return _Made(answer)
    if not hasattr(answer, "option_id"):
        raise ValueError(f"The policy gave {answer!r}, which is no decision")
    option_id = answer.option_id
    found = [option for option in request.options if option.option_id == option_id]
    if not found:
        raise ValueError(f"The policy chose the option {option_id!r}, which the request does not have")
    # Where two options share an id, nobody knows which of them the agent will take it for.
    is_always = len(found) == 1 and str(found[0].kind) in _ONCE
    return _Made(Chosen(option_id), _identity(found[0]) if is_always else None)


def _has_option(request: Any, decision: Decision | Chosen | None) -> bool:
    """Say whether the agent is told what was decided; what it could not be told is asked again."""
    return choose(((option.option_id, option.kind) for option in request.options), decision) is not None


def _offered(request: Any) -> list[bytes]:
    """Give the identities of a request's options; none where two of them share an id."""
    options = list(request.options)
    is_clear = len({option.option_id for option in options}) == len(options)
    return [_identity(option) for option in options] if is_clear else []


def _identity(option: Any) -> bytes:
    """An option is the same one only if its words are: the agent chooses the ids."""
    return digest([option.option_id, str(option.kind), getattr(option, "name", None)])
