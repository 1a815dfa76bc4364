"""Text of a peer made safe to show: in logs, problems, terminals and pages."""

import re

# Control characters move the cursor and colour a terminal; directional marks reorder what is read; lone surrogates
# cannot be written. All are shown as escapes. U+200C and U+200D, which emoji and some scripts need, are not among them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]"
)


def printable(text: str) -> str:
    r"""Escape control characters, line breaks, directional marks and lone surrogates, as in `\x1b` and `\u202e`."""
    return text if text.isascii() and text.isprintable() else _UNSAFE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
