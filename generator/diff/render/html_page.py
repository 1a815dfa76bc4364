"""The report as one self-contained HTML page: counts, filters, and both sides of every change.

The template engine escapes all text. As a second line of defence, the page's content security policy allows only its
own script and style, by digest.
"""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from generator.diff.compare.change import Change
from generator.diff.compare.comparison import Comparison, figures
from generator.diff.compare.rules import EFFECTS, Effect
from generator.diff.render.head import head
from generator.diff.render.plain import places, printable
from generator.templates import environment

FEW = 12
"""Up to this number of changes, all are unfolded at first; of more, only types with breaking ones."""
LEGEND = {
    Effect.BREAKING: "working code fails, or silently changes its meaning",
    Effect.TIGHTENED: "a reader rejects or drops values that it accepted before, which asks for a major release, too; "
    "a writer must observe new constraints",
    Effect.LOOSENED: "a reader accepts values that it rejected before; a writer has fewer constraints",
    Effect.COMPATIBLE: "working code is not affected",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """An effect and the number of changes that have it."""

    effect: str
    number: int


@dataclass(frozen=True, slots=True)
class Row:
    """The counts for readers or for writers."""

    side: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of code, and whether it differs from the other side."""

    text: str
    differs: bool


@dataclass(frozen=True, slots=True)
class Side:
    """The code of one side; without parts there is none."""

    css: str
    caption: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A name with its text, such as a rule and what it means."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One change."""

    kind: str
    sentence: str
    reason: str
    reader: str
    writer: str
    sides: tuple[Side, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class TypeView:
    """The changes of one type."""

    name: str
    is_open: bool
    cells: tuple[Cell, ...]
    facts: tuple[Fact, ...]
    changes: tuple[ChangeView, ...]


@dataclass(frozen=True, slots=True)
class LabelView:
    """The changes of one module."""

    name: str
    number: int
    figures: str
    types: tuple[TypeView, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """The complete view for the template."""

    old: str
    new: str
    version: str
    why: str
    head: tuple[Fact, ...]
    """The lines of the head below the advice."""
    number: int
    counts: tuple[Row, ...]
    labels: tuple[LabelView, ...]
    legend: tuple[Fact, ...]
    style: str
    script: str
    style_hash: str
    script_hash: str


def render_html(comparison: Comparison) -> str:
    """Write the whole report."""
    templates = environment(autoescape=True)
    style, script = (templates.get_template(f"diff.{kind}.jinja").render() for kind in ("css", "js"))
    page = Page(
        old=printable(comparison.old),
        new=printable(comparison.new),
        version=comparison.version,
        why=f"{printable(comparison.why)}.",
        head=tuple(Fact(line.name, line.text) for line in head(comparison)[1:]),
        number=len(comparison.changes),
        counts=tuple(
            Row(side, tuple(Cell(e, comparison.count(side, e)) for e in EFFECTS)) for side in ("reader", "writer")
        ),
        labels=tuple(_label(n, comparison.of(n), is_short=len(comparison.changes) <= FEW) for n in comparison.labels),
        legend=tuple(Fact(effect, text) for effect, text in LEGEND.items()),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )
    return templates.get_template("diff.html.jinja").render(page=page)


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _label(label: str, changes: list[Change], *, is_short: bool) -> LabelView:
    by_owner: dict[str, list[Change]] = {}
    for change in changes:
        by_owner.setdefault(change.owner, []).append(change)
    types = tuple(_type(owner, found, is_short=is_short) for owner, found in by_owner.items())
    return LabelView(label, len(changes), figures(changes), types)


def _type(owner: str, changes: list[Change], *, is_short: bool) -> TypeView:
    # Uses of the type are listed once; the other uses of a change are the classes that repeat it.
    shared = [u for u in changes[0].used_in if all(u in c.used_in for c in changes)]
    counts = Counter(c.rule.severity for c in changes)
    return TypeView(
        name=printable(owner),
        is_open=is_short or Effect.BREAKING in counts,
        cells=tuple(Cell(e, counts[e]) for e in EFFECTS if counts[e]),
        facts=_facts(("used in", shared), ("methods", changes[0].methods)),
        changes=tuple(_change(c, frozenset(shared)) for c in changes),
    )


def _facts(*pairs: tuple[str, Iterable[str]]) -> tuple[Fact, ...]:
    found = ((name, ", ".join(printable(t) for t in texts if t)) for name, texts in pairs)
    return tuple(Fact(name, text) for name, text in found if text)


def _change(change: Change, shared: frozenset[str]) -> ChangeView:
    before, after = marked(change.before, change.after)
    facts = _facts(
        ("kind", [change.rule.kind]),
        ("place", [places(change)]),
        ("used in", [use for use in change.used_in if use not in shared]),
        ("also", change.also),
        ("known by", [change.evidence]),
    )
    return ChangeView(
        kind=change.rule.kind,
        sentence=printable(change.sentence),
        reason=change.rule.reason,
        reader=change.rule.reader,
        writer=change.rule.writer,
        sides=(Side("old", "before", before), Side("new", "after", after)),
        facts=facts,
    )


def marked(before: str, after: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Split the code of both sides into equal and different parts; where one side is empty, nothing is marked."""
    olds, news = (re.findall(r"\w+|\s+|[^\w\s]", text) for text in (before, after))
    if not olds or not news:
        return _parts([(before, False)]), _parts([(after, False)])
    left: list[tuple[str, bool]] = []
    right: list[tuple[str, bool]] = []
    for tag, a, b, c, d in SequenceMatcher(None, olds, news, autojunk=False).get_opcodes():
        left.append(("".join(olds[a:b]), tag != "equal"))
        right.append(("".join(news[c:d]), tag != "equal"))
    return _parts(left), _parts(right)


def _parts(pieces: list[tuple[str, bool]]) -> tuple[Part, ...]:
    # The line break is the only control character that is not escaped.
    return tuple(Part("\n".join(map(printable, text.split("\n"))), differs) for text, differs in pieces if text)
