"""Short forms for people: sizes, quotes of long texts, and text of any origin made safe to show."""

import re
from html import escape
from typing import Any

from msgspec import UNSET

# Control characters move the cursor and colour a terminal; directional marks reorder what is read; lone surrogates
# cannot be written. All are shown as escapes. U+200C and U+200D, which emoji and some scripts need, are not among them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
QUOTE = 60
"""Longer quotes are cut, in characters."""


def safe(text: str) -> str:
    """Escape what must not reach a terminal or a page."""
    return text if text.isascii() and text.isprintable() else _UNSAFE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


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
    return escape(safe(text))


def markup_lines(text: str) -> str:
    """Make text of several lines part of a page."""
    return "\n".join(map(markup, text.replace("\r\n", "\n").expandtabs(4).split("\n")))
