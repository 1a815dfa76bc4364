"""Changes of files that tool calls report, line by line, as a unified diff."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any, Literal

from msgspec import Struct

from .conversation import Seen
from .tool_calls import tool_call_of
from .update_summaries import kind_of

Mark = Literal["+", "-", " ", "@"]

_CONTEXT = 3  # lines
_MOST_LINES = 400  # of one diff
_MOST_PAIRS = 2_000_000  # a comparison takes time with the product of both numbers of lines


class FileDiff(Struct):
    """The change of one file: its lines with their marks, and how many were added and removed.

    `left_out` is the number of lines beyond those that are listed.
    """

    path: str
    lines: list[tuple[Mark, str]]
    added: int
    removed: int
    left_out: int = 0


def diffs_of(seen: Seen) -> list[FileDiff]:
    """List the changes that a message reports."""
    return [diff for item in contents(seen) if (diff := _diff(item)) is not None]


def contents(seen: Seen) -> list[Any]:
    """List the content of the tool call that a message is about."""
    params = getattr(seen.message, "params", None)
    of_chunk = getattr(getattr(params, "update", None), "content", None)
    call = tool_call_of(seen.message)
    found = of_chunk if call is None else getattr(call, "content", None)
    return [*found] if isinstance(found, list) else [found] if found else []  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _diff(item: Any) -> FileDiff | None:
    if kind_of(item) != "diff":
        return None
    if hasattr(item, "new_text"):
        return compared(item.path, item.old_text or "", item.new_text)
    paths = [str(path) for change in item.changes if (path := getattr(change, "path", None)) is not None]
    text = item.patch.text if item.patch is not None else ""
    return _cut(", ".join(paths), [_of_patch(line) for line in text.splitlines()])


def compared(path: str, old: str, new: str) -> FileDiff:
    """Compare two texts of a file."""
    return _cut(path, list(_hunks(old.splitlines(), new.splitlines())))


def _cut(path: str, lines: list[tuple[Mark, str]]) -> FileDiff:
    marks = [mark for mark, _ in lines]
    left_out = max(len(lines) - _MOST_LINES, 0)
    return FileDiff(path, lines[:_MOST_LINES], marks.count("+"), marks.count("-"), left_out)


def _hunks(old: list[str], new: list[str]) -> Iterator[tuple[Mark, str]]:
    # What both have at their ends costs nothing, so that one changed line of a long file is found at once.
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    skipped, kept = max(start - _CONTEXT, 0), max(end - _CONTEXT, 0)
    before, after = old[skipped : len(old) - kept], new[skipped : len(new) - kept]
    if len(before) * len(after) > _MOST_PAIRS:
        yield "@", "too long to be compared: all old lines, then all new ones"
        yield from _all("-", before)
        yield from _all("+", after)
        return
    for group in SequenceMatcher(None, before, after).get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        sides = ((first[1], last[2]), (first[3], last[4]))
        (a, b) = (f"{skipped + at + (1 if to > at else 0)},{to - at}" for at, to in sides)
        yield "@", f"@@ -{a} +{b} @@"
        for operation, i, j, k, m in group:
            if operation == "equal":
                yield from _all(" ", before[i:j])
                continue
            yield from _all("-", before[i:j])
            yield from _all("+", after[k:m])


def _all(mark: Mark, lines: list[str]) -> Iterator[tuple[Mark, str]]:
    return ((mark, line) for line in lines)


def _common(a: list[str], b: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _of_patch(line: str) -> tuple[Mark, str]:
    if line.startswith(("+++", "---", "@@", "diff ", "index ")):
        return "@", line
    match line[:1]:
        case "+":
            return "+", line[1:]
        case "-":
            return "-", line[1:]
        case _:
            return " ", line[1:]
