"""Short forms for people: sizes, quotes of long texts, and text of any origin made safe to show."""

from html import escape
from typing import Any

from msgspec import UNSET

from ..._types.printable import printable

QUOTE = 60
"""Longer quotes are cut, in characters."""


def brief(text: Any, most: int = QUOTE) -> str:
    """Put a text on one line and cut it."""
    text = str(text)
    line = " ".join(text[: most * 4].split())
    return f"{line[: most - 1]}…" if len(line) > most or len(text) > most * 4 else line


def quoted(text: Any, most: int = QUOTE) -> str:
    """Quote a text on one line."""
    return f'"{brief(text, most)}"'


def sized(size: int) -> str:
    """Show a number of bytes."""
    if size < 1000:
        return f"{size} B"
    number = float(size)
    for unit in ("kB", "MB"):
        number /= 1000
        if number < 999.95:
            return f"{number:.1f} {unit}"
    return f"{number / 1000:.1f} GB"


def many(number: int, what: str, plural: str = "") -> str:
    """Count things: `1 file`, `2 files`."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def joined(*parts: Any) -> str:
    """Join what there is with commas."""
    return ", ".join(str(part) for part in parts if part not in ("", None, UNSET))


def identified(request_id: Any) -> str:
    """Show the id of a request: `#3`, or `#"a"` where it is text."""
    return f"#{quoted(request_id, 20)}" if isinstance(request_id, str) else f"#{request_id}"


def markup(text: str) -> str:
    """Make text of any origin part of a page, on one line."""
    return escape(printable(text))


def markup_lines(text: str) -> str:
    """Make text of several lines part of a page."""
    return "\n".join(map(markup, text.replace("\r\n", "\n").expandtabs(4).split("\n")))
