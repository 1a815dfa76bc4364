"""The file changes that tool calls report, as the lines of a unified diff."""

import re
from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct

from ..._build.unified_diff import unified_diff
from .log_message import LogMessage
from .tool_calls import tool_call_in
from .update_summaries import shown_tag

LineType = Literal["+", "-", " ", "@"]
"""Added, removed, unchanged; `@` is a line of the diff that is not part of the file."""

_MAX_LINES = 400  # of one diff
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_HEADERS = ("+++", "---", "@@", "diff ", "index ")


class FileDiff(Struct):
    """The change of one file: its lines, and how many were added and removed.

    `left_out` is the number of lines beyond those that are listed.
    """

    path: str
    lines: list[tuple[LineType, str]]
    added: int
    removed: int
    left_out: int = 0


def diffs_of(message: LogMessage) -> list[FileDiff]:
    """List the file changes that a message reports."""
    return [diff for item in contents(message) if (diff := _diff(item)) is not None]


def contents(message: LogMessage) -> list[Any]:
    """List the content of the tool call that a message is about."""
    params = getattr(message.decoded, "params", None)
    of_chunk = getattr(getattr(params, "update", None), "content", None)
    call = tool_call_in(message.decoded)
    found = of_chunk if call is None else getattr(call, "content", None)
    return [*found] if isinstance(found, list) else [found] if found else []  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _diff(item: Any) -> FileDiff | None:
    if shown_tag(item) != "diff":
        return None
    if hasattr(item, "new_text"):
        return file_diff(item.path, item.old_text or "", item.new_text)
    paths = [str(path) for change in item.changes if (path := getattr(change, "path", None)) is not None]
    return _limited(", ".join(paths), list(_parsed(item.patch.text if item.patch is not None else "")))


def file_diff(path: str, old: str, new: str) -> FileDiff:
    """Compare two versions of a file. How their lines end makes no difference."""
    text = unified_diff(path, *("".join(f"{line}\n" for line in version.splitlines()) for version in (old, new)))
    return _limited(path, list(_parsed(text))[2:])  # the path is shown above the diff


def _limited(path: str, lines: list[tuple[LineType, str]]) -> FileDiff:
    types = [line_type for line_type, _ in lines]
    left_out = max(len(lines) - _MAX_LINES, 0)
    return FileDiff(path, lines[:_MAX_LINES], types.count("+"), types.count("-"), left_out)


def _parsed(diff: str) -> Iterator[tuple[LineType, str]]:
    """Read the lines of a unified diff, which may be malformed."""
    old = new = 0  # lines of the current hunk that are still missing
    for line in diff.splitlines():
        first = line[:1]
        if (hunk := _HUNK.match(line)) is not None:
            old, new = (int(count) if count is not None else 1 for count in hunk.groups())
            yield "@", line
        elif first == "+" and (new > 0 or not line.startswith(_HEADERS)):
            new -= 1
            yield "+", line[1:]
        elif first == "-" and (old > 0 or not line.startswith(_HEADERS)):
            old -= 1
            yield "-", line[1:]
        elif line.startswith(_HEADERS):
            yield "@", line
        else:
            if first != "\\":  # "\ No newline at end of file" is not a line of the file
                old, new = old - 1, new - 1
            yield " ", line[1:]
