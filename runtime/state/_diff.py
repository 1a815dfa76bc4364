"""Unified diffs of what tool calls change."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Any, TypeAlias

from .._types.printable import printable

_CONTEXT = 3
_STEPS = 64
"""How many comparisons each line may cost; beyond, all old lines are shown as gone and all new ones as added."""
_LINES = re.compile(r"[^\n]*+\n|[^\n]++")
_Step: TypeAlias = tuple[str, int, int, int, int]


def unified(path: str, old: str | None, new: str) -> str:
    """Make the unified diff of a file; `old` is None for a new one. It is empty where nothing differs.

    It takes time in proportion to the number of lines, whatever they are.
    """
    before, after = _LINES.findall(old or ""), _LINES.findall(new)
    name = printable(path)
    heads = [f"--- {name if old is not None else '/dev/null'}\n", f"+++ {name}\n"]
    lines = [*heads, *(line for hunk in _hunks(before, after) for line in _written(hunk, before, after))]
    whole = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return whole if len(lines) > len(heads) else ""


def diff_of(content: Any) -> str:
    """Give the diff that a tool call's content of the type `diff` holds, in the form of either version."""
    if hasattr(content, "new_text"):
        return unified(content.path, content.old_text, content.new_text)
    if (patch := getattr(content, "patch", None)) is not None:
        return str(patch.text)
    return "".join(f"{_change(change)}\n" for change in content.changes)


def _change(change: Any) -> str:
    places = [getattr(change, "old_path", None), getattr(change, "path", None)]
    operation = getattr(change, "operation", "change")
    return printable(f"{operation} {' -> '.join(str(place) for place in places if place is not None)}")


class _TooManySteps(Exception):
    """The lines repeat so much that comparing them takes too long."""


class _Matcher(SequenceMatcher[str]):
    """Compares lines as `difflib` does, and gives up where that is no longer in proportion to their number.

    A search costs as many steps as there are pairs of equal lines in its range, without the popular ones, which
    `difflib` leaves out of a search.
    """

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, before, after)
        most = len(after) // 100 + 1 if len(after) >= 200 else len(after)
        counts = {line: count for line, count in Counter(after).items() if count <= most}
        self._costs = list(accumulate((1 + counts.get(line, 0) for line in before), initial=0))
        self._length = len(before)
        self._left = _STEPS * (len(before) + len(after))

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Any:
        """Count the steps of a search, which is part of comparing."""
        self._left -= self._costs[self._length if ahi is None else ahi] - self._costs[alo]
        if self._left < 0:
            raise _TooManySteps
        return super().find_longest_match(alo, ahi, blo, bhi)


def _hunks(before: list[str], after: list[str]) -> list[list[_Step]]:
    if before == after:
        return []
    try:
        return [list(hunk) for hunk in _Matcher(before, after).get_grouped_opcodes(_CONTEXT)]
    except _TooManySteps:
        return [list(_one_hunk(before, after))]


def _one_hunk(before: list[str], after: list[str]) -> Iterator[_Step]:
    """Replace all lines between those that are the same at the start and at the end."""
    most = min(len(before), len(after))
    start = next((i for i in range(most) if before[i] != after[i]), most)
    end = next((i for i in range(most - start) if before[-1 - i] != after[-1 - i]), most - start)
    old, new = len(before) - end, len(after) - end
    shown, rest = max(start - _CONTEXT, 0), min(end, _CONTEXT)
    yield "equal", shown, start, shown, start
    yield "replace", start, old, start, new
    yield "equal", old, old + rest, new, new + rest


def _written(hunk: list[_Step], before: list[str], after: list[str]) -> Iterator[str]:
    first, last = hunk[0], hunk[-1]
    yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"
    for tag, old, old_end, new, new_end in hunk:
        if tag == "equal":
            yield from (f" {line}" for line in before[old:old_end])
            continue
        yield from (f"-{line}" for line in before[old:old_end])
        yield from (f"+{line}" for line in after[new:new_end])


def _range(start: int, end: int) -> str:
    """Write a range of lines as `diff` does: an empty one begins at the line before it."""
    length = end - start
    begin = start + 1 if length else start
    return str(begin) if length == 1 else f"{begin},{length}"
