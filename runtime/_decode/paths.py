"""Mismatches: the JSON path of a value, the name of its type, and how a message quotes it.

A path begins at the outermost value: `$` is the message if a whole one is decoded, as in `$.params.sessionId`.
"""

import re
from typing import Any

from .._types.portable import Portable

Step = str | int
"""One step of a JSON path: the key of an object or the index of an array."""

TOO_DEEP = "The value is nested too deeply"

_KINDS: dict[Any, str] = {
    type(None): "null",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    list: "array",
    tuple: "array",
    dict: "object",
}


def kind_of(value: Any) -> str:
    """Name the JSON type of a plain value, as msgspec's messages do."""
    name = _KINDS.get(value.__class__)
    return name or next((n for k, n in _KINDS.items() if isinstance(value, k)), type(value).__name__)


LONG = 100
"""Characters of a text that messages and paths quote; longer texts are cut."""


def cut(text: str) -> str:
    """Shorten a long text."""
    return text if len(text) <= LONG else text[:LONG] + "…"


def shown(value: Any) -> str:
    """Quote a value in a message: text and numbers as they are, anything else by its type."""
    if isinstance(value, str):
        return repr(cut(value))
    small = value is None or isinstance(value, float) or (isinstance(value, int) and value.bit_length() <= 64)
    return repr(value) if small else f"of the type `{kind_of(value)}`"


def json_path(path: list[Step] | tuple[Step, ...]) -> str:
    """Write a path as `$.a.b[0]`. Keys that are not identifiers stand in brackets; long keys are cut."""
    out = "$"
    for step in path:
        if isinstance(step, int):
            out += f"[{step}]"
        else:
            out += f".{step}" if len(step) <= LONG and step.isidentifier() else f"[{cut(step)!r}]"
    return out


def mismatch_path(why: Exception) -> list[str]:
    """Parse the path at the end of an error of msgspec: its steps, beginning with `$`, the whole value."""
    _, _, path = str(why).rpartition(" - at `")
    return path[:-1].replace("[", ".").replace("]", "").split(".") if path.startswith("$") else ["$"]


def pattern_of(why: Exception) -> str:
    """Return the path at the end of an error of msgspec, without the root and with `[]` for each index or key."""
    _, _, path = str(why).rpartition(" - at `$")
    return re.sub(r"\[[0-9.]+\]", "[]", path[:-1]) if "[" in path else path[:-1]


class Mismatch(Portable, Exception):
    """A value does not match its type. Internal: callers get a `msgspec.ValidationError`."""

    def __init__(self, message: str, path: tuple[Step, ...]) -> None:
        super().__init__(message)
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return f"{self.message} - at `{json_path(self.path)}`" if self.path else self.message
