"""Unified diffs of files, in time linear in the number of their lines."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Any, TypeAlias

from .._types.printable import printable

_CONTEXT = 3  # lines
_MAX_STEPS = 64
"""The greatest number of comparisons per line, on average. A diff that needs more replaces all lines."""
_LINES = re.compile(r"[^\n]*+\n|[^\n]++")
_Opcode: TypeAlias = tuple[str, int, int, int, int]
"""A step of `difflib`: its tag, and the ranges of old and of new lines."""


def unified_diff(path: str, old: str | None, new: str) -> str:
    r"""Compare two versions of a file and return a unified diff, as `diff -u` writes it; empty if nothing differs.

    `old` is None for a new file. Lines end with `\n` alone. Control characters and directional marks are escaped in
    `path`, and stay as they are in the lines.

    The time is linear in the number of lines. If the lines repeat so often that a comparison would take longer, the
    diff replaces everything between the equal lines at the start and at the end.
    """
    name = printable(path)
    hunks = hunks_text(old or "", new)
    return f"--- {name if old is not None else '/dev/null'}\n+++ {name}\n{hunks}" if hunks else ""


def hunks_text(old: str, new: str) -> str:
    """Return the hunks of a unified diff, without a header; empty if nothing differs."""
    before, after = _LINES.findall(old), _LINES.findall(new)
    lines = (line for hunk in _hunks(before, after) for line in _hunk_lines(hunk, before, after))
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


class _TooManySteps(Exception):
    """The lines repeat so often that comparing them takes too long."""


class _Matcher(SequenceMatcher[str]):
    """Compares lines as `difflib` does, but raises `_TooManySteps` once the time is not linear any more.

    A search takes as many steps as its range has pairs of equal lines. Popular lines do not count, since `difflib`
    leaves them out of a search.
    """

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, before, after)
        most = len(after) // 100 + 1 if len(after) >= 200 else len(after)
        counts = {line: count for line, count in Counter(after).items() if count <= most}
        self._costs = list(accumulate((1 + counts.get(line, 0) for line in before), initial=0))
        self._length = len(before)
        self._steps_left = _MAX_STEPS * (len(before) + len(after))

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Any:
        """Count the steps of a search, then search."""
        self._steps_left -= self._costs[self._length if ahi is None else ahi] - self._costs[alo]
        if self._steps_left < 0:
            raise _TooManySteps
        return super().find_longest_match(alo, ahi, blo, bhi)


def _hunks(before: list[str], after: list[str]) -> list[list[_Opcode]]:
    if before == after:
        return []
    try:
        return [list(hunk) for hunk in _Matcher(before, after).get_grouped_opcodes(_CONTEXT)]
    except _TooManySteps:
        return [list(_one_hunk(before, after))]


def _one_hunk(before: list[str], after: list[str]) -> Iterator[_Opcode]:
    """Replace all lines between the equal ones at the start and at the end."""
    most = min(len(before), len(after))
    start = next((i for i in range(most) if before[i] != after[i]), most)
    end = next((i for i in range(most - start) if before[-1 - i] != after[-1 - i]), most - start)
    old, new = len(before) - end, len(after) - end
    shown, rest = max(start - _CONTEXT, 0), min(end, _CONTEXT)
    yield "equal", shown, start, shown, start
    yield "replace", start, old, start, new
    yield "equal", old, old + rest, new, new + rest


def _hunk_lines(hunk: list[_Opcode], before: list[str], after: list[str]) -> Iterator[str]:
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
