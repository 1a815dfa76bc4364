"""Explanations of malformed JSON that are more exact than msgspec's own.

Nothing here runs for valid input. msgspec stops at the first problem; its own text is kept where it names that problem.
"""

import re
import sys
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any

import msgspec
from msgspec import DecodeError, ValidationError

from .paths import TOO_DEEP, Mismatch, Step

BOM = BOM_UTF8
_OTHER_MARKS = {BOM_UTF32_LE: "UTF-32", BOM_UTF32_BE: "UTF-32", BOM_UTF16_LE: "UTF-16", BOM_UTF16_BE: "UTF-16"}
OUT_OF_RANGE = "Number out of range"

_PLAIN = msgspec.json.Decoder()
# The patterns are compiled at their first use, by `re`, which keeps them: valid messages need none.
# Wrong escapes of the form \uXXXX. Valid pairs of surrogates match first, so that they are skipped. An even number of
# backslashes may precede each: these are escapes themselves.
_ESCAPES = (
    rb"(?<!\\)(?:\\\\)*(?:"
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|(?P<short>\\u(?![0-9a-fA-F]{4})))"
)
_CUT_PAIR = rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?\Z"
_CUT_ESCAPE = rb"\\u[0-9a-fA-F]{0,3}\Z"
_BEGIN = rb"[ \t\r\n]*([^ \t\r\n]?)[0-9.eE]*"
_BYTE = r"\(byte (\d+)\)"


class _OutOfRange:
    """Stands for a number that no float holds, or for an integer with more digits than Python converts."""


_MARK = _OutOfRange()


def without_byte_order_mark(buf: Any) -> Any:
    """Return `buf` without its byte order mark; None if it does not begin with exactly one."""
    if isinstance(buf, str):
        return buf[1:] if buf.startswith("\ufeff") and not buf.startswith("\ufeff", 1) else None
    data = buf if isinstance(buf, bytes) else memoryview(buf).cast("B")  # its slices are not copies
    return data[3:] if bytes(data[:3]) == BOM and bytes(data[3:6]) != BOM else None


def reason(why: Exception, buf: Any) -> str:
    """Explain why `buf` is not JSON; `why` is msgspec's error for it, or for a part of it."""
    if isinstance(why, RecursionError):
        return TOO_DEEP
    if isinstance(why, UnicodeEncodeError):
        return f"JSON is malformed: lone surrogate \\u{ord(why.object[why.start]):04x} (character {why.start})"
    text = str(why)
    data = _bytes(buf)
    if text.startswith("Invalid UTF-8"):
        return _not_utf8(data) or text
    if any(word in text for word in ("truncated", "surrogate", "hex escape")):
        return _wrong_escape(data) or text
    at = re.compile(_BYTE).search(text)
    return (at and _wrong_character(data, int(at[1]))) or text


def plain_values(buf: Any, path: tuple[Step, ...] = ()) -> Any:
    """Decode to plain values after a strict decode has failed.

    Raises `msgspec.DecodeError`, with the reason, for malformed JSON, and `Mismatch` for a number out of range or too
    many levels. `path` is the path of the whole value.
    """
    try:
        return _PLAIN.decode(buf)
    except ValidationError:
        raise Mismatch(OUT_OF_RANGE, (*path, *_path_to_marker(_with_markers(buf)))) from None
    except RecursionError:
        raise Mismatch(TOO_DEEP, path) from None
    except (DecodeError, UnicodeEncodeError) as why:
        raise DecodeError(reason(why, buf)) from None


def kind_of_json(buf: Any) -> str:
    """Name the type of the JSON value in `buf`, by its first character, as the error messages of msgspec do."""
    first = re.compile(_BEGIN).match(_bytes(buf))
    kinds = {b"{": "object", b"[": "array", b'"': "str", b"t": "bool", b"f": "bool", b"n": "null"}
    if first is not None and first[1] in kinds:
        return kinds[first[1]]
    return "float" if first is not None and re.search(rb"[.eE]", first[0]) else "int"


def check_json(buf: Any) -> None:
    """Raise `msgspec.DecodeError`, with the reason, for malformed JSON; numbers may have any size."""
    try:
        _PLAIN.decode(buf)
    except ValidationError:
        _with_markers(buf)
    except (DecodeError, RecursionError, UnicodeEncodeError) as why:
        raise DecodeError(reason(why, buf)) from None


def _with_markers(buf: Any) -> Any:
    """Decode to plain values, with a marker for each number out of range."""
    try:
        try:
            return _MARKING.decode(buf)
        except ValidationError:  # an integer: msgspec has no hook for these
            return _MARKING.decode(_without_long_integers(_bytes(buf)))
    except (DecodeError, RecursionError) as why:
        raise DecodeError(reason(why, buf)) from None


def _number(text: str) -> Any:
    number = float(text)
    return number if isfinite(number) else _MARK


_MARKING = msgspec.json.Decoder(float_hook=_number)


def _without_long_integers(data: bytes) -> bytes:
    # Digits within texts may be replaced too: only the places of the numbers are needed.
    digits = sys.get_int_max_str_digits() + 1
    return re.sub(rb"(?<![0-9.eE+-])(-?)[0-9]{%d,}(?![0-9.eE])" % digits, rb"\g<1>1e999", data)


def _path_to_marker(value: Any) -> tuple[Step, ...]:
    """Find the path of the first marker in a plain value."""
    keys: list[Step] = []
    stack: list[Iterator[tuple[Step, Any]]] = [iter(((-1, value),))]
    while stack:
        for key, entry in stack[-1]:
            if entry is _MARK:
                return (*keys, key)[1:]
            kind = entry.__class__
            if entry and (kind is list or kind is dict):
                keys.append(key)
                stack.append(_inside(entry))
                break
        else:
            stack.pop()
            if keys:
                keys.pop()
    return ()


def _inside(value: Any) -> Iterator[tuple[Step, Any]]:
    if value.__class__ is dict:
        return iter(value.items())
    items: Iterable[Any] = value
    return enumerate(items)


def _bytes(buf: Any) -> bytes:
    if isinstance(buf, str):
        return buf.encode("utf-8", "surrogatepass")
    return bytes(buf)


def _not_utf8(data: bytes) -> str | None:
    try:
        data.decode()
    except UnicodeDecodeError as why:
        return f"Invalid UTF-8 encoded string (byte {why.start})"
    return None


def _wrong_escape(data: bytes) -> str | None:
    for match in re.compile(_ESCAPES).finditer(data):
        if match["lone"] is not None:
            at = match.start("lone")
            if not re.compile(_CUT_PAIR).match(data, at):
                return f"JSON is malformed: lone surrogate {match['lone'].decode()} in a string (byte {at})"
        elif match["short"] is not None:
            at = match.start("short")
            if not re.compile(_CUT_ESCAPE).match(data, at):
                return f"JSON is malformed: invalid character in unicode escape (byte {at})"
    return None


def _wrong_character(data: bytes, at: int) -> str | None:
    """Name a character that is easily overlooked, None if there is none."""
    for mark, name in _OTHER_MARKS.items():
        if data.startswith(mark):
            return f"JSON is malformed: the text is {name}, not UTF-8 (byte 0)"
    if data[at : at + 3] == BOM:
        second = at + 3 if data[at + 3 : at + 6] == BOM else at
        return f"JSON is malformed: byte order mark (byte {second})"
    if data[at : at + 1] < b" " and at < len(data):
        return f"JSON is malformed: control character \\x{data[at]:02x} (byte {at})"
    return None
