"""Short texts for people: sizes, counts, shortened quotes, and untrusted text escaped for HTML."""

from html import escape
from typing import Any

from msgspec import UNSET

from ..._types.printable import printable

QUOTE = 60
"""The greatest length of a quote, in characters."""


def shorten(text: Any, most: int = QUOTE) -> str:
    """Return a text on one line, cut to a length."""
    text = str(text)
    line = " ".join(text[: most * 4].split())
    return f"{line[: most - 1]}…" if len(line) > most or len(text) > most * 4 else line


def quoted(text: Any, most: int = QUOTE) -> str:
    """Quote a text on one line."""
    return f'"{shorten(text, most)}"'


def format_size(size: int) -> str:
    """Format a number of bytes."""
    if size < 1000:
        return f"{size} B"
    number = float(size)
    for unit in ("kB", "MB"):
        number /= 1000
        if number < 999.95:
            return f"{number:.1f} {unit}"
    return f"{number / 1000:.1f} GB"


def count_of(number: int, what: str, plural: str = "") -> str:
    """Format a count: `1 file`, `2 files`."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def join_present(*parts: Any) -> str:
    """Join the parts that are not empty with commas."""
    return ", ".join(str(part) for part in parts if part not in ("", None, UNSET))


def format_id(request_id: Any) -> str:
    """Format the id of a request: `#3`, or `#"a"` for a text."""
    return f"#{quoted(request_id, 20)}" if isinstance(request_id, str) else f"#{request_id}"


def escape_line(text: str) -> str:
    """Escape untrusted text of one line for HTML."""
    return escape(printable(text))


def escape_lines(text: str) -> str:
    """Escape untrusted text of several lines for HTML."""
    return "\n".join(map(escape_line, text.replace("\r\n", "\n").expandtabs(4).split("\n")))
