"""The report as plain text, for terminals and pipes: aligned, without colour."""

from collections.abc import Iterable
from difflib import SequenceMatcher

from generator.diff.compare.change import Change
from generator.diff.compare.comparison import Comparison, count_of, severities

WIDTH = 140
CONTEXT = 30
"""The number of characters shown before the first difference of two long lines."""
LISTED = 6
"""The number of uses that are listed by name."""


def printable(text: str) -> str:
    """Escape characters that could move the cursor or hide text."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def excerpts(before: str, after: str) -> tuple[str, str]:
    """Return one line for each side: the first that differs, or the first of a declaration without counterpart."""
    if before == after:
        return "", ""
    if not before or not after:
        return _first(before.split("\n")), _first(after.split("\n"))
    olds, news = before.split("\n"), after.split("\n")
    found = SequenceMatcher(None, olds, news, autojunk=False).get_opcodes()
    left = _first([line for tag, a, b, _, _ in found if tag != "equal" for line in olds[a:b]])
    right = _first([line for tag, _, _, a, b in found if tag != "equal" for line in news[a:b]])
    same = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
    if max(len(left), len(right)) > WIDTH and same > CONTEXT:
        left, right = (f"… {text[same - CONTEXT :]}" for text in (left, right))
    return _cut(left), _cut(right)


def _first(lines: list[str]) -> str:
    if not lines:
        return ""
    more = f" … {count_of(len(lines) - 1, 'line')} more" if len(lines) > 1 else ""
    return f"{printable(lines[0].strip())}{more}"


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 2]} …"


def shortened(names: Iterable[str]) -> str:
    """List a few names and count the others."""
    known = [printable(n) for n in names]
    rest = len(known) - LISTED
    # "and 1 more" is no shorter than the name itself.
    return ", ".join(known) if rest <= 1 else f"{', '.join(known[:LISTED])} and {rest} more"


def places(change: Change) -> str:
    """Write the pointer of a change, or both pointers where the sides differ."""
    old, new = (None if p is None else f"#{printable(p)}" for p in (change.old_pointer, change.new_pointer))
    if old is None or new is None or old == new:
        return (new or old or "").removesuffix("#")
    return f"{old} -> {new}"


def render_text(comparison: Comparison) -> str:
    """Write the whole report."""
    lines = [f"{printable(comparison.old)} -> {printable(comparison.new)}", ""]
    for label in comparison.labels:
        changes = comparison.of(label)
        groups = severities(changes)
        figures = ", ".join(f"{len(found)} {effect}" for effect, found in groups) or "no change"
        lines += [f"{label}: {figures}", ""]
        for effect, found in groups:
            lines += [f"  {effect}", ""]
            width = max(len(c.rule.kind) for c in found)
            for change in found:
                lines += _change(change, width)
    lines.append(f"version advice: {comparison.version} - {comparison.why}")
    return "\n".join(lines) + "\n"


def _change(change: Change, width: int) -> list[str]:
    rule = change.rule
    head = f"    {rule.kind:<{width}}  reader {rule.reader:<10}  writer {rule.writer:<10}  {printable(change.sentence)}"
    before, after = excerpts(change.before, change.after)
    rows = [
        ("-", before),
        ("+", after),
        ("at", places(change)),
        ("used in", shortened(change.used_in)),
        ("methods", shortened(change.methods)),
        ("also", shortened(change.also)),
        ("known by", change.evidence),
    ]
    return [head.rstrip(), *(f"      {name:<8}  {text}".rstrip() for name, text in rows if text), ""]
