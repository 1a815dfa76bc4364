"""The head of a report: at most ten lines that say which release it asks for, what breaks whom, and what to do.

All formats show the same lines. Their length is bounded, whatever the names of a schema are.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from generator.diff.compare.comparison import Comparison, figures
from generator.diff.compare.groups import GROUPS, GroupedChanges, grouped
from generator.diff.render.plain import cut, printable

LINES = 2 + len(GROUPS)
"""The advice, the figures of the modules, and each group that has changes."""
NAMED = 100
"""How many characters the names of a line may take."""
LONGEST = 480
"""The length of a line; only the names of many or hostile modules would make it longer."""


@dataclass(frozen=True, slots=True)
class HeadLine:
    """One line: what it is about, and its text, without control characters."""

    name: str
    text: str


def head(comparison: Comparison) -> list[HeadLine]:
    """Write the lines of the head; the first is the advice."""
    modules = "; ".join(f"{label}: {figures(comparison.of(label))}" for label in comparison.labels)
    lines = [("advice", f"{comparison.version} - {comparison.why}."), ("modules", f"{modules}.")]
    lines += [(g.group.name, _said(g)) for g in grouped(comparison.changes, comparison.labels)]
    return [HeadLine(name, cut(printable(text), LONGEST)) for name, text in lines]


def _said(found: GroupedChanges) -> str:
    group = found.group
    what = f"{len(found.names)} in {', '.join(found.labels)}: {_named(found.names)}."
    return " ".join(filter(None, (what, group.affects, group.todo)))


def _named(names: Iterable[str]) -> str:
    """List as many names as fit, at least the first, and count the others."""
    known = [cut(printable(name), NAMED) for name in names]
    shown = known[:1]
    for name in known[1:]:
        if len(", ".join([*shown, name])) > NAMED:
            break
        shown.append(name)
    rest = len(known) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
