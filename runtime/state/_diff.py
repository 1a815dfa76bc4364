"""Unified diffs of what tool calls change."""

import difflib
import re
from collections.abc import Iterator
from typing import Any

_CONTEXT = 3
_MOST = 1_000_000
"""How many pairs of lines are compared at most; beyond, all old lines are shown as gone and all new ones as added."""
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_UNFIT = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")


def unified(path: str, old: str | None, new: str) -> str:
    """Make the unified diff of a file; `old` is None for a new one. It is empty where nothing differs."""
    before, after = _LINES.findall(old or ""), _LINES.findall(new)
    name = one_line(path)
    heads = [f"--- {name if old is not None else '/dev/null'}\n", f"+++ {name}\n"]
    start, end = _same_ends(before, after)
    if (len(before) - start - end) * (len(after) - start - end) > _MOST:
        lines = [*heads, *_one_hunk(before, after, start, end)]
    else:
        lines = [*heads, *list(difflib.unified_diff(before, after, n=_CONTEXT))[2:]]
    whole = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return whole if len(lines) > len(heads) else ""


def diff_of(content: Any) -> str:
    """Give the diff that a tool call's content of the type `diff` holds, in the form of either version."""
    if hasattr(content, "new_text"):
        return unified(content.path, content.old_text, content.new_text)
    if (patch := getattr(content, "patch", None)) is not None:
        return str(patch.text)
    return "".join(f"{_change(change)}\n" for change in content.changes)


def one_line(text: str) -> str:
    """Put text on one line."""
    return _UNFIT.sub(" ", text)


def _change(change: Any) -> str:
    places = [getattr(change, "old_path", None), getattr(change, "path", None)]
    operation = getattr(change, "operation", "change")
    return one_line(f"{operation} {' -> '.join(str(place) for place in places if place is not None)}")


def _same_ends(before: list[str], after: list[str]) -> tuple[int, int]:
    """Count the lines that are the same at the start and at the end."""
    most = min(len(before), len(after))
    start = next((i for i in range(most) if before[i] != after[i]), most)
    end = next((i for i in range(most - start) if before[-1 - i] != after[-1 - i]), most - start)
    return start, end


def _one_hunk(before: list[str], after: list[str], start: int, end: int) -> Iterator[str]:
    first, last = max(start - _CONTEXT, 0), max(end - _CONTEXT, 0)
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    yield f"@@ -{first + 1},{len(old)} +{first + 1},{len(new)} @@\n"
    yield from (f" {line}" for line in before[first:start])
    yield from (f"-{line}" for line in before[start : len(before) - end])
    yield from (f"+{line}" for line in after[start : len(after) - end])
    yield from (f" {line}" for line in before[len(before) - end : len(before) - last])
