"""Answering permission requests by a fixed decision or a policy, with decisions remembered for a session."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Generic, Literal, Protocol, TypeVar, get_args

from msgspec import Struct

from .permission_keys import action_key, compact_key, digest
from .remembered_answers import RememberedAnswers

P = TypeVar("P")

Decision = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
"""What a user may decide."""


class Chosen(Struct, frozen=True):
    """The chosen option of a permission request, by its id."""

    option_id: str


class Option(Protocol):
    """An option of a permission request, or `Chosen`."""

    @property
    def option_id(self) -> Any:
        """The option's id, unique within its request."""


Answer = Decision | Option | None
Policy = Callable[[P], Answer | Awaitable[Answer]]
"""Returns a decision on a request, one of its options, or None to have it answered with `cancelled`."""
_ONCE: dict[str, str] = {"allow_always": "allow_once", "reject_always": "reject_once"}


def choose(options: Iterable[tuple[Any, str]], decision: str | Chosen | None) -> Any:
    """Return the id of the option for a decision, given pairs of id and kind; None if there is none.

    That is the first option of that kind. If there is no "always" option, the "once" option of the same meaning is
    chosen; never "always" for "once", and never "reject" for "allow" or the other way round. A `Chosen` option is
    returned if it is among the options.
    """
    by_kind: dict[str, Any] = {}
    for option, kind in options:
        if isinstance(decision, Chosen) and option == decision.option_id:
            return option
        by_kind.setdefault(str(kind), option)
    if decision is None or isinstance(decision, Chosen):
        return None
    return by_kind.get(decision, by_kind.get(_ONCE.get(decision, "")))


class _Remembered(Struct, frozen=True):
    """An "always" decision, with the digest of the option if the policy chose one."""

    decision: Decision | Chosen
    option: bytes | None = None


class Permissions(Generic[P]):
    """Decides on permission requests by a fixed decision or a policy, a function that may be async.

    A decision is a kind of option: "allow_once", "allow_always", "reject_once", "reject_always". `choose` says which
    option is selected for it. If there is none, or the policy returns None, the answer is `cancelled`. A policy may
    also return one of the request's options, or its id as `Chosen(option_id)`, for example if two options are of the
    same kind.

    With `remember`, an "always" decision holds for the rest of the session: the same request is answered without
    calling the policy again, even if the agent asks again. `key` returns what makes two requests the same, any JSON or
    hashable value, or None for a request to ask about each time. By default it covers everything that the request says
    will be done: a tool call's kind, title, raw input, locations, content and metadata, or the command and its folder.
    An option that the policy chose is remembered if its kind is an "always", and selected again if the same option is
    offered.

    `DecidesPermissions` forgets the decisions when its client closes or deletes the session, and when the connection
    ends.
    """

    def __init__(
        self,
        policy: Decision | Policy[P],
        *,
        remember: bool = False,
        key: Callable[[P], object] = action_key,
    ) -> None:
        """Raise `ValueError` if `policy` is neither callable nor a decision."""
        if not callable(policy) and policy not in get_args(Decision):
            raise ValueError(f"{policy!r} is not a decision: use one of {', '.join(get_args(Decision))}")
        self._policy: Policy[P] = policy if callable(policy) else lambda _: policy
        self._key = key
        self._remember = remember
        self._remembered = RememberedAnswers[_Remembered]()

    async def decide(self, request: P, session: Any, *, scope: object = None) -> Decision | Chosen | None:
        """Decide on a request of a session; decisions are remembered per `scope`, such as the client.

        Raises `ValueError` if the policy returns anything but a decision or an option of the request.
        """
        raw_key = self._key(request) if self._remember else None
        if raw_key is None:
            return _check_answer(request, await self._ask_policy(request)).decision
        key = compact_key(raw_key)
        known = self._remembered.get(scope, session, key)
        if known is not None and (known.option is None or known.option in _option_digests(request)):
            return known.decision
        epoch = self._remembered.epoch
        answer = _check_answer(request, await self._ask_policy(request))
        is_always = answer.option is not None or (answer.decision in _ONCE and _is_offered(request, answer.decision))
        # The session may have ended while the user was thinking.
        if is_always and answer.decision is not None and epoch == self._remembered.epoch:
            self._remembered.put(scope, session, key, _Remembered(answer.decision, answer.option))
        return answer.decision

    def forget(self, session: Any = None, *, scope: object = None) -> None:
        """Forget the decisions of a session, or of all sessions; with `scope`, only those of this scope."""
        self._remembered.forget(session, scope)

    async def _ask_policy(self, request: P) -> Answer:
        answer = self._policy(request)
        return await answer if isinstance(answer, Awaitable) else answer


class _CheckedAnswer(Struct, frozen=True):
    """A valid answer of the policy, with the digest of the option if it chose one of an "always" kind."""

    decision: Decision | Chosen | None
    option: bytes | None = None


def _check_answer(request: Any, answer: Any) -> _CheckedAnswer:
    if answer is None or answer in get_args(Decision):
        return _CheckedAnswer(answer)
    if not hasattr(answer, "option_id"):
        raise ValueError(f"The policy returned {answer!r}, which is not a decision")
    option_id = answer.option_id
    found = [option for option in request.options if option.option_id == option_id]
    if not found:
        raise ValueError(f"The policy chose the option {option_id!r}, which the request does not have")
    # If two options have the same id, the agent may take it for either.
    is_always = len(found) == 1 and str(found[0].kind) in _ONCE
    return _CheckedAnswer(Chosen(option_id), _option_digest(found[0]) if is_always else None)


def _is_offered(request: Any, decision: Decision | Chosen | None) -> bool:
    """Return whether the request has an option for a decision: one that the agent never gets is not remembered."""
    return choose(((option.option_id, option.kind) for option in request.options), decision) is not None


def _option_digests(request: Any) -> list[bytes]:
    """Return the digests of a request's options; empty if two options have the same id."""
    options = list(request.options)
    has_unique_ids = len({option.option_id for option in options}) == len(options)
    return [_option_digest(option) for option in options] if has_unique_ids else []


def _option_digest(option: Any) -> bytes:
    """Return the digest of id, kind and name; the id alone does not identify an option, as the agent chooses it."""
    return digest([option.option_id, str(option.kind), getattr(option, "name", None)])
