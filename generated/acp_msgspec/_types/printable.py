"""Makes text from a peer safe to show in logs, problems, terminals and pages."""

import re

# Control characters move the cursor and colour a terminal, directional marks reorder text, lone surrogates cannot be
# written. All are escaped. U+200C and U+200D are not among them: emoji and some scripts need them.
_MARKS = "\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
_UNSAFE = f"[\x00-\x1f{_MARKS}]+"
_UNSAFE_IN_LINES = f"[\x00-\x08\x0b-\x1f{_MARKS}]+"


def printable(text: str) -> str:
    r"""Escape control characters, line breaks, directional marks and lone surrogates, as in `\x1b` and `\u202e`."""
    return text if text.isascii() and text.isprintable() else re.compile(_UNSAFE).sub(_escaped, text)


def printable_lines(text: str) -> str:
    r"""Escape like `printable`, but keep the line breaks and tabs of a text of several lines.

    A line ends with `\n`, and `\r\n` becomes that; a lone `\r`, which would let one line overwrite another, is escaped.
    """
    if text.isascii() and text.isprintable():
        return text
    return re.compile(_UNSAFE_IN_LINES).sub(_escaped, text.replace("\r\n", "\n"))


class _Escapes(dict[int, str]):
    """The escape of each character, by its code."""

    def __missing__(self, code: int) -> str:
        """Write the escape of a character in hexadecimal digits."""
        self[code] = escape = f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
        return escape


_ESCAPES = _Escapes()


def _escaped(match: re.Match[str]) -> str:
    return match[0].translate(_ESCAPES)
