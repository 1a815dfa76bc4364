"""Plain words for all formats: escaped characters, excerpts of code, short lists of names, pointers."""

from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher

from generator.diff.compare.change import Change
from generator.diff.compare.comparison import count_of
from generator.diff.compare.folding import FoldedChange

WIDTH = 140
CONTEXT = 30
"""The number of characters shown before the first difference of two long lines."""
LISTED = 6
"""The number of uses that are listed by name."""


def printable(text: str) -> str:
    """Escape characters that could move the cursor or hide text."""
    if text.isprintable():
        return text
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
    return cut(left, WIDTH), cut(right, WIDTH)


def _first(lines: list[str]) -> str:
    if not lines:
        return ""
    more = f" … {count_of(len(lines) - 1, 'line')} more" if len(lines) > 1 else ""
    return f"{printable(lines[0].strip())}{more}"


def cut(text: str, width: int) -> str:
    """Shorten a line that is longer than `width`."""
    return text if len(text) <= width else f"{text[: width - 2]} …"


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


def repeated(label: str, folded: Iterable[FoldedChange]) -> str:
    """Say how many changes of a module are shown in others; begins with a semicolon, or is empty."""
    homes = Counter(f.change.label for f in folded for r in f.repeats if r.label == label)
    shares = ", ".join(f"{number} the same as in {home}" for home, number in homes.items())
    return f"; of these {shares}, and shown there" if shares else ""
