"""One rule: its conditions, all of which must hold, and what it decides."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

from msgspec import Struct

from ...._types.printable import printable
from ..permission_keys import LOCATED
from ..permissions import Decision
from .command_patterns import command_pattern, fits, fits_loosely
from .locations import Parts, Place, Root, matches_loosely, path_pattern
from .subject import EXECUTE, Subject
from .wildcards import text_matches

Decide = Decision | Literal["ask"]
"""What a rule decides; "ask" leaves it to whoever is asked where no rule decides."""
DECIDES: tuple[str, ...] = (*get_args(Decision), "ask")
KINDS = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other")
"""The kinds of tool calls; others begin with an underscore."""
_SHOWN = 120
"""How many characters of a text of the agent an explanation shows."""


class RulesError(ValueError):
    """A rule, or a file of rules, that cannot be used; the text is one line that says where and why."""


class Rule(Struct, frozen=True, kw_only=True):
    """A rule: what it decides, and on which requests.

    A request must fulfil each condition that is given, by one of the values. Without conditions, the rule decides on
    everything. `path` has patterns below the root, `command` patterns of one plain command, `tool` patterns of the
    tool's name. `outside` is for rules that reject or ask: a path leads out of the root. `why` is shown in
    explanations.
    """

    decide: Decide
    kind: str | Sequence[str] = ()
    tool: str | Sequence[str] = ()
    path: str | Sequence[str] = ()
    command: str | Sequence[str] = ()
    outside: bool = False
    why: str = ""


class Check(Struct, frozen=True):
    """Whether a condition holds, and why."""

    holds: bool
    why: str


class CompiledRule:
    """A rule with its patterns read."""

    def __init__(self, rule: Rule, root: Root | None) -> None:
        """Raise `ValueError` with the fault of a rule."""
        self.rule = rule
        self._root = root
        self._kinds, self._tools = (_texts(rule.kind, "kind"), _texts(rule.tool, "tool"))
        self._paths = [_read("path", text, path_pattern) for text in _texts(rule.path, "path")]
        self._commands = [_read("command", text, command_pattern) for text in _texts(rule.command, "command")]
        self._allows = str(rule.decide).startswith("allow")
        self._check()

    def _check(self) -> None:
        if self.rule.decide not in DECIDES:
            raise ValueError(f"`decide` is {self.rule.decide!r}: use one of {', '.join(DECIDES)}")
        for kind in self._kinds:
            if kind not in KINDS and not kind.startswith("_"):
                raise ValueError(f"unknown kind {kind!r}: use one of {', '.join(KINDS)}")
        if self._root is None and (self._paths or self.rule.outside):
            raise ValueError("`path` and `outside` need a root folder")
        if self.rule.outside and self._allows:
            raise ValueError("`outside` can only reject or ask")
        unlocated = [kind for kind in self._kinds if kind not in LOCATED]
        if self._allows and self._paths and unlocated and not (self._commands or self._tools):
            raise ValueError(f"`path` does not say what {unlocated[0]} does: add `command` or `tool`")

    def check(self, subject: Subject, places: Sequence[Place], inner: Sequence[Place]) -> Check:
        """Return whether all conditions hold; the first that does not is the reason."""
        reasons: list[str] = []
        checks: list[tuple[object, Callable[[], Check]]] = [
            (self._kinds, lambda: self._check_kind(subject)),
            (self._tools, lambda: self._check_tool(subject)),
            (self.rule.outside, lambda: _check_outside(subject, (*places, *inner))),
            (self._paths, lambda: self._check_paths(subject, places, inner)),
            (self._commands, lambda: self._check_command(subject)),
        ]
        for given, condition in checks:
            if given:
                found = condition()
                if not found.holds:
                    return found
                reasons.append(found.why)
        return Check(True, "; ".join(reasons) or "it has no conditions")

    def _check_kind(self, subject: Subject) -> Check:
        if subject.kind is None:
            return Check(False, "the request has no kind")
        return Check(subject.kind in self._kinds, f"the kind is {shown(subject.kind)}")

    def _check_tool(self, subject: Subject) -> Check:
        if subject.tool is None:
            return Check(False, "the request names no tool")
        fold = str if self._allows else str.casefold
        holds = any(text_matches(fold(pattern), fold(subject.tool)) for pattern in self._tools)
        return Check(holds, f"the tool is {shown(subject.tool)}")

    def _check_paths(self, subject: Subject, places: Sequence[Place], inner: Sequence[Place]) -> Check:
        if not self._allows:
            return self._check_any_path(subject, (*places, *inner))
        if subject.problem:
            return Check(False, subject.problem)
        if not places:
            return Check(False, "the request names no files")
        if subject.kind not in LOCATED and not (self._commands or self._tools):
            return Check(False, f"files do not say what a call of the kind {shown(subject.kind or 'none')} does")
        for place in (*places, *inner):
            if place.parts is None:
                return Check(False, f"{shown(place.path)} {place.problem}")
            if not self._matches(place.parts):
                return Check(False, f"{shown(place.path)} matches no path of the rule")
        return Check(True, f"the path {shown(places[0].path)}{_and_others(len(places) + len(inner))} matches")

    def _check_any_path(self, subject: Subject, places: Sequence[Place]) -> Check:
        for place in places:
            if any(matches_loosely(pattern, place) for pattern in self._paths):
                return Check(True, f"the path {shown(place.path)} matches")
        return Check(bool(subject.problem), subject.problem or "no path matches")

    def _matches(self, parts: Parts) -> bool:
        return any(self._root is not None and self._root.matches(pattern, parts) for pattern in self._paths)

    def _check_command(self, subject: Subject) -> Check:
        command = subject.command
        if command is None:
            return Check(False, "the request names no command")
        if self._allows:
            if subject.kind != EXECUTE:
                return Check(False, "the request is not of the kind execute")
            words = command.plain.words
            if words is None:
                return Check(False, f"the command is not one plain command: {command.plain.problem}")
            return Check(any(fits(p, words) for p in self._commands), f"the command is {shown(' '.join(words))}")
        for found in command.found:
            if any(fits_loosely(pattern, found) for pattern in self._commands):
                return Check(True, f"it has the command {shown(' '.join(found))}")
        return Check(not command.is_whole, "no command matches" if command.is_whole else "the command is too long")


def _check_outside(subject: Subject, places: Sequence[Place]) -> Check:
    for place in places:
        if place.parts is None:
            return Check(True, f"{shown(place.path)} {place.problem}")
    return Check(bool(subject.problem), subject.problem or "no path is outside of the root folder")


def _texts(given: Any, name: str) -> tuple[str, ...]:
    """Return the values of a condition. Raises `ValueError` for anything but texts that are not empty."""
    listed: Sequence[Any] = (given,) if isinstance(given, str) else given
    is_list = isinstance(listed, list | tuple)
    if not is_list or listed == [] or not all(isinstance(text, str) and text for text in listed):
        raise ValueError(f"`{name}` must be a text or a list of texts, none of them empty")
    return tuple(listed)


def _read(name: str, text: str, read: Callable[[str], Parts]) -> Parts:
    try:
        return read(text)
    except ValueError as why:
        raise ValueError(f"`{name}` {text!r} {why}") from None


def _and_others(number: int) -> str:
    return f" and {number - 1} more" if number > 1 else ""


def shown(text: str) -> str:
    """Return a text of the agent as an explanation shows it: on one line, and not too long."""
    cut = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return f"`{printable(cut)}`"
