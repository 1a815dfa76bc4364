"""Answers to permission requests, chosen by their kind."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Generic, Literal, TypeVar, get_args

P = TypeVar("P")

Decision = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
"""What a user may decide."""
Policy = Callable[[P], "Decision | None | Awaitable[Decision | None]"]
"""Decides on a request; None lets it be answered with `cancelled`."""
_ONCE: dict[str, str] = {"allow_always": "allow_once", "reject_always": "reject_once"}
REMEMBERED = 1000
"""So many answers of one session are remembered; the oldest go first."""


def choose(options: Iterable[tuple[Any, str]], decision: str | None) -> Any:
    """Give the id of the option that a decision stands for, of pairs of id and kind; None where none does.

    It is the first one of that kind. For want of an "always" the "once" that says the same is taken; never "always" for
    "once", and never a refusal for a consent or the other way round.
    """
    known: dict[str, Any] = {}
    for option, kind in options:
        known.setdefault(str(kind), option)
    if decision is None:
        return None
    return known.get(decision, known.get(_ONCE.get(decision, "")))


def subject_of(request: Any) -> tuple[Any, ...] | None:
    """Give what an "always" holds for: the tool call's kind and title, or the command and its folder.

    None where the request does not say, so that there is nothing to recognize it by.
    """
    subject = getattr(request, "subject", None)
    call = getattr(request, "tool_call", None) or getattr(subject, "tool_call", None)
    if call is not None:
        kind, title = getattr(call, "kind", None), getattr(call, "title", None)
        return ("tool", kind, title) if isinstance(title, str) and title else None
    command = getattr(subject, "command", None)
    return ("command", command, getattr(subject, "cwd", None)) if isinstance(command, str) else None


class Permissions(Generic[P]):
    """Decides on permission requests by a fixed decision or a policy, a function that may be async.

    A decision is a kind of option: "allow_once", "allow_always", "reject_once", "reject_always". `choose` tells which
    option is taken for it; where none fits, or the policy gives None, the answer is `cancelled`.

    With `remember`, an "always" holds for the rest of the session: requests about the same thing are answered
    without asking the policy again, also where the agent forgets. `key` says what the same thing is; by default it is
    `subject_of`: a call with the same kind and title, so that leave for one command is no leave for another one.
    """

    def __init__(
        self,
        policy: Decision | Policy[P],
        *,
        remember: bool = False,
        key: Callable[[P], object] = subject_of,
    ) -> None:
        """Take the policy; raise `ValueError` for a decision that is none."""
        if not callable(policy) and policy not in get_args(Decision):
            raise ValueError(f"{policy!r} is no decision: use one of {', '.join(get_args(Decision))}")
        self._policy: Policy[P] = policy if callable(policy) else lambda _: policy
        self._key = key
        self._remember = remember
        self._remembered: dict[Any, dict[object, Decision]] = {}

    async def decide(self, request: P, session: Any) -> Decision | None:
        """Decide on a request of a session."""
        key = self._key(request) if self._remember else None
        known = self._remembered.get(session, {}).get(key) if key is not None else None
        if known is not None:
            return known
        decision = await self._ask(request)
        if decision is not None and decision not in get_args(Decision):
            raise ValueError(f"The policy gave {decision!r}, which is no decision")
        if key is not None and decision in _ONCE:
            answers = self._remembered.setdefault(session, {})
            answers[key] = decision
            if len(answers) > REMEMBERED:
                del answers[next(iter(answers))]
        return decision

    def forget(self, session: Any = None) -> None:
        """Forget the answers of a session, or of all."""
        if session is None:
            self._remembered.clear()
        else:
            self._remembered.pop(session, None)

    async def _ask(self, request: P) -> Decision | None:
        answer = self._policy(request)
        return await answer if isinstance(answer, Awaitable) else answer
