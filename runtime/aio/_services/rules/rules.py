"""Rules in order, as the policy of `Permissions`: the first that matches decides, and says why."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Generic, TypeVar, get_args

from msgspec import Struct

from ..permissions import Answer, Decision, Policy
from .locations import Place, Root
from .rule import DECIDES, CompiledRule, Decide, Rule, RulesError
from .rules_file import read_rules
from .subject import Subject, subject_of

P = TypeVar("P")


class Verdict(Struct, frozen=True, kw_only=True):
    """What the rules say on a request.

    `why` says which rule decided and by which conditions; `passed` says of each rule before it why it did not match.
    """

    decision: Decide
    why: str
    number: int | None = None
    """The rule that decided, counted from 1; None if none did."""
    rule: Rule | None = None
    passed: tuple[str, ...] = ()


class Rules(Generic[P]):
    """A policy for `Permissions`: the first rule that matches decides.

    - `root`: the folder in which the patterns of paths begin, such as that of the session.
    - `otherwise`: the decision where no rule matches; by default "ask".
    - `ask`: the policy or decision for "ask", such as a function that asks the user. By default such a request is
      answered with `cancelled`.
    - `call_of`: returns the whole tool call of a request. In version 1, a request may leave out what the agent has
      reported before, such as the kind; without it, a rule on what is missing does not match.
    - `on_verdict`: called with each request and its verdict, for example to log it.

    As a policy, it looks through paths and commands in a thread. `judge` does it at once, which can block.
    """

    def __init__(
        self,
        rules: Iterable[Rule],
        *,
        root: str | os.PathLike[str] | None = None,
        otherwise: Decide = "ask",
        ask: Decision | Policy[P] | None = None,
        call_of: Callable[[P], Any] | None = None,
        on_verdict: Callable[[P, Verdict], object] | None = None,
    ) -> None:
        """Raise `RulesError` for a rule that cannot be used, and `ValueError` for an `ask` that is no decision."""
        if otherwise not in DECIDES:
            raise RulesError(f"`otherwise` is {otherwise!r}: use one of {', '.join(DECIDES)}")
        if not (ask is None or callable(ask) or ask in get_args(Decision)):
            raise ValueError(f"{ask!r} is not a decision: use one of {', '.join(get_args(Decision))}")
        self._root = None if root is None else Root(root)
        self._rules = [_compiled(number, rule, self._root) for number, rule in enumerate(rules, 1)]
        self._otherwise: Decide = otherwise
        self._ask: Policy[P] = ask if callable(ask) else lambda _: ask
        self._call_of = call_of
        self._on_verdict = on_verdict

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        root: str | os.PathLike[str] | None = None,
        ask: Decision | Policy[P] | None = None,
        call_of: Callable[[P], Any] | None = None,
        on_verdict: Callable[[P, Verdict], object] | None = None,
    ) -> "Rules[P]":
        """Read the rules of a TOML file. `root` replaces the one that the file names, relative to its own folder.

        Raises `RulesError`, a line with the file and the fault, for whatever is wrong with the file.
        """
        found = read_rules(path)
        try:
            return cls(
                found.rules,
                root=found.root if root is None else root,
                otherwise=found.otherwise,
                ask=ask,
                call_of=call_of,
                on_verdict=on_verdict,
            )
        except RulesError as why:
            raise RulesError(f"{os.fspath(path)}: {why}") from None

    def judge(self, request: P) -> Verdict:
        """Return what the rules say on a request, without asking anyone."""
        return self._judge(self._subject(request))

    def _subject(self, request: P) -> Subject:
        return subject_of(request, None if self._call_of is None else self._call_of(request))

    def _places(self, subject: Subject) -> tuple[list[Place], list[Place]]:
        """Find where the paths of a request lead: its locations, and all others."""
        root = self._root
        if root is None:
            return [], []
        inner = [root.place(path, relative=True) for path in subject.inner_paths]
        return [root.place(path) for path in subject.locations], inner

    def _judge(self, subject: Subject) -> Verdict:
        places, inner = self._places(subject)
        passed: list[str] = []
        for number, compiled in enumerate(self._rules, 1):
            check, rule = compiled.check(subject, places, inner), compiled.rule
            if check.holds:
                note = f" ({rule.why})" if rule.why else ""
                why = f"rule {number}: {check.why}{note}"
                return Verdict(decision=rule.decide, why=why, number=number, rule=rule, passed=tuple(passed))
            passed.append(f"rule {number}: {check.why}")
        return Verdict(decision=self._otherwise, why="no rule matches", passed=tuple(passed))

    def __call__(self, request: P) -> Answer | Awaitable[Answer]:
        """Decide on a request, as a policy of `Permissions`; paths and commands are looked through in a thread."""
        subject = self._subject(request)
        if subject.locations or subject.inner_paths or subject.command is not None:
            return self._decide_later(request, subject)
        return self._answer(request, self._judge(subject))

    async def _decide_later(self, request: P, subject: Subject) -> Answer:
        answer = self._answer(request, await asyncio.to_thread(self._judge, subject))
        return await answer if isinstance(answer, Awaitable) else answer

    def _answer(self, request: P, verdict: Verdict) -> Answer | Awaitable[Answer]:
        if self._on_verdict is not None:
            self._on_verdict(request, verdict)
        if verdict.decision != "ask":
            return verdict.decision
        return self._ask(request)


def _compiled(number: int, rule: Rule, root: Root | None) -> CompiledRule:
    try:
        return CompiledRule(rule, root)
    except ValueError as why:
        raise RulesError(f"rule {number}: {why}") from None
