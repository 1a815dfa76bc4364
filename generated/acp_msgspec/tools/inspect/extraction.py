"""What a line of a log says: the message, and who sent it and when, as far as marks around it tell.

A mark is whatever stands before the message (`12:00:01 ->`, `[2026-01-31T12:00:01Z] agent:`, `C->A`), or the other keys
of an object that holds it (`{"ts": 1.5, "dir": "in", "message": {…}}`), or `key=value` pairs around it.
"""

import re
from typing import Any

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, field

from .brackets import value_end
from .clock import Moment, moment
from .direction import DIRECTIONS, LONGEST, OTHER, Side, around, direction, direction_of, is_mark

__all__ = ["OTHER", "Entry", "NoEntry", "Side", "direction", "read_entry", "without_tail"]

_DEPTH = 3  # how many objects or texts may lie around a message
_TRIED = 3  # how many values that do not end are tried for a message behind them
_START = b'{"jsonrpc"'
_NAME = b"jsonrpc"
_BRACKET = ord("[")

_VALUE = re.compile(rb'\{(?=\s*["}])|\[(?=\s*[\[{\]])|(?<!\\)[{\[](?=(?:\s|\\[nrt])*\\")')
"""The beginning of an object or an array of objects, also of one whose quotes are escaped within a text."""
_ESCAPED = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_COLOURS = re.compile(rb'("(?:[^"\\\x1b]++|\\.)*+")|\x1b\[[0-9;:]*[A-Za-z]', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}\s]++,?")
_FRAGMENT = re.compile(rb'"(?:[^"\\]++|\\.)*+"\s*:|[^{]*?"jsonrpc"\s*:')
_OTHER_NOTATION = re.compile(rb"\{\s*(?:'jsonrpc'|jsonrpc)\s*:")
_HEADER = re.compile(rb"content-(?:length|type):", re.IGNORECASE)
_NO_JSON = "No JSON object in this line"
_SEVERAL_LINES = "Part of JSON that goes over several lines (hint: jq -c . writes each message on one)"


class Entry(Struct, gc=False):
    """A message as it stands in a log.

    `outward` is true where the mark says that the side which keeps the log has sent it, false where it got it; a mark
    that names a side gives `sender`.
    """

    body: bytes
    sender: Side | None = None
    outward: bool | None = None
    moment: Moment | None = None


class NoEntry(Exception):
    """There is no message in a line; says why."""


class _Wrapper(Struct):
    """An object that may hold a message."""

    jsonrpc: Raw | UnsetType = UNSET
    message: Raw | UnsetType = UNSET
    msg: Raw | UnsetType = UNSET
    payload: Raw | UnsetType = UNSET
    data: Raw | UnsetType = UNSET
    raw: Raw | UnsetType = UNSET
    body: Raw | UnsetType = UNSET
    line: Raw | UnsetType = UNSET
    json: Raw | UnsetType = UNSET
    text: Raw | UnsetType = UNSET
    log: Raw | UnsetType = UNSET
    fields: Raw | UnsetType = UNSET
    journal: Raw | UnsetType = field(default=UNSET, name="MESSAGE")
    ts: Raw | UnsetType = UNSET
    time: Raw | UnsetType = UNSET
    timestamp: Raw | UnsetType = UNSET
    at_timestamp: Raw | UnsetType = field(default=UNSET, name="@timestamp")
    datetime: Raw | UnsetType = UNSET
    realtime: Raw | UnsetType = field(default=UNSET, name="__REALTIME_TIMESTAMP")
    dir: Raw | UnsetType = UNSET
    direction: Raw | UnsetType = UNSET
    sender: Raw | UnsetType = UNSET
    side: Raw | UnsetType = UNSET
    source: Raw | UnsetType = UNSET
    from_: Raw | UnsetType = field(default=UNSET, name="from")
    to: Raw | UnsetType = UNSET
    type: Raw | UnsetType = UNSET
    event: Raw | UnsetType = UNSET


_PAYLOADS = ("message", "msg", "payload", "data", "raw", "body", "line", "json", "text", "log", "fields", "journal")
_TIMES = ("ts", "time", "timestamp", "at_timestamp", "datetime", "realtime")

_WRAPPER = msgspec.json.Decoder(_Wrapper)
_TEXT = msgspec.json.Decoder(str)
_ANY = msgspec.json.Decoder()


def read_entry(data: bytes, depth: int = 0) -> Entry:
    """Find the message of a line, and what its marks say; raise `NoEntry` where there is none."""
    if data.startswith(_START) and data.endswith(b"}"):
        return Entry(data)
    data = data.strip()
    found = _VALUE.search(data, 0, LONGEST * 2)
    if found is not None:
        start, is_batch = found.start(), data[found.start()] == _BRACKET
        if data.startswith(_START, start + is_batch) and data.endswith(b"]" if is_batch else b"}"):
            return _marked(data, start, Entry(data[start:]))
    entry = _unwrapped(data, depth) if data[:1] == b"{" else None
    if entry is None:
        entry = _searched(data, depth)
    if entry is None and b"\x1b[" in data:
        plain = _COLOURS.sub(rb"\1", data)
        entry = read_entry(plain, depth) if plain != data else None
    return entry or _first_value(data)


def without_tail(body: bytes) -> bytes | None:
    """Give the value at the beginning of a text without the remark behind it; None where there is none.

    Raises `NoEntry` where another message stands there.
    """
    end = value_end(body)
    return body[:end] if end is not None and end < len(body) and _is_remark(body, 0, end) else None


def _is_remark(data: bytes, start: int, end: int) -> bool:
    """Say whether what stands behind a value may stand there; raise `NoEntry` where it is another message."""
    if b'"jsonrpc"' in data[end:]:
        raise NoEntry("Two messages on one line (hint: each on a line of its own, or all in a list)")
    # One more brace than there should be is a broken message, not a remark.
    return not data[end:].lstrip().startswith(b"}") or data.count(b"{", 0, start) > data.count(b"}", 0, start)


def _searched(data: bytes, depth: int) -> Entry | None:
    """Find a message behind whatever text, objects and lists; None where there is none."""
    if b'""jsonrpc""' in data:
        raise NoEntry("JSON in a field of CSV, with its quotes doubled (hint: export the field alone)")
    at = open_values = 0
    while open_values < _TRIED:
        found = _VALUE.search(data, at, LONGEST * 2)
        if found is None:
            return None
        start = found.start()
        escaped = _is_escaped(data, start)
        match = _ESCAPED.match(data, start) if escaped else None
        end = match.end() if match is not None else value_end(data, start)
        if end is None:
            open_values += 1
            at = start + 1
            continue
        value = data[start:end]
        if _NAME in value:
            entry = _unescaped(value, depth) if escaped else _valued(value, depth)
            if entry is not None and _is_remark(data, start, end):
                return _marked(data, start, entry, end)
        at = max(end, start + 1)
    return None


def _is_escaped(data: bytes, start: int) -> bool:
    rest = data[start + 1 : start + 40].replace(b"\\n", b"").replace(b"\\r", b"").replace(b"\\t", b"").lstrip()
    return rest.startswith(b'\\"')


def _unescaped(value: bytes, depth: int) -> Entry | None:
    try:
        return read_entry(_TEXT.decode(b'"' + value + b'"').encode(), depth + 1) if depth < _DEPTH else None
    except (DecodeError, NoEntry):
        return None


def _valued(value: bytes, depth: int) -> Entry | None:
    if value[0] == _BRACKET or value.startswith(_START):
        return Entry(value)
    try:
        wrapper = _WRAPPER.decode(value)
    except (DecodeError, RecursionError):
        return Entry(value)
    return Entry(value) if wrapper.jsonrpc is not UNSET else _taken_out(wrapper, depth)


def _first_value(data: bytes) -> Entry:
    """Take what looks most like a message, so that it can be said what is wrong with it."""
    if _BRACKETS.fullmatch(data) and data not in (b"{}", b"[]"):
        raise NoEntry(_SEVERAL_LINES)
    if data[:1] == b"{" and not _OTHER_NOTATION.match(data):
        return Entry(data)
    start = data.find(b"{")
    if start < 0:
        start = data.find(b"[]")  # an empty batch
    if start < 0 and _HEADER.match(data):
        raise NoEntry("A header, as in other protocols (hint: a log holds each message on a line of its own)")
    if start < 0:
        raise NoEntry(_SEVERAL_LINES if _FRAGMENT.match(data) else _NO_JSON)
    before = data[:start].rstrip()
    if before.endswith(b"["):
        start, before = len(before) - 1, before[:-1]
    if len(before) > LONGEST:
        raise NoEntry(f"No message within the first {LONGEST} bytes")
    if _OTHER_NOTATION.search(data, start):
        raise NoEntry("An object as Python or JavaScript shows it, not JSON (hint: log the text that is sent)")
    if b'"jsonrpc"' not in data[start:] and not is_mark(before.decode("utf-8", "replace")):
        raise NoEntry(_SEVERAL_LINES if _FRAGMENT.match(data) else "Text, and no message behind it")
    return _marked(data, start, Entry(data[start:]))


def _marked(data: bytes, start: int, entry: Entry, end: int | None = None) -> Entry:
    """Add to an entry what the text around it tells."""
    before = data[:start].rstrip()
    if not before and (end is None or end == len(data)):
        return entry
    if len(before) > LONGEST:
        raise NoEntry(f"No message within the first {LONGEST} bytes")
    tail = data[end : end + LONGEST].decode("utf-8", "replace") if end is not None else ""
    told = around(before.decode("utf-8", "replace"), tail)
    if entry.sender is None and entry.outward is None:
        entry.sender, entry.outward = told.sender, told.outward
    entry.moment = entry.moment or told.moment
    return entry


def _unwrapped(data: bytes, depth: int) -> Entry | None:
    """Take a message out of the object around it; None where the object holds none."""
    try:
        wrapper = _WRAPPER.decode(data)
    except (DecodeError, RecursionError):
        return None
    return Entry(data) if wrapper.jsonrpc is not UNSET else _taken_out(wrapper, depth)


def _taken_out(wrapper: _Wrapper, depth: int) -> Entry | None:
    if depth >= _DEPTH:
        return None
    found = [entry for name in _PAYLOADS if (entry := _inner(getattr(wrapper, name), depth)) is not None]
    if not found:
        return None
    entry = next((entry for entry in found if _NAME in entry.body), found[0])
    for name in _TIMES:
        entry.moment = entry.moment or moment(_plain(getattr(wrapper, name)))
    for name in DIRECTIONS:
        value = _plain(getattr(wrapper, "from_" if name == "from" else name))
        if entry.sender is None and entry.outward is None and isinstance(value, str) and len(value) <= LONGEST:
            entry.sender, entry.outward = direction_of(name, value)
    for name in ("msg", "message", "text"):  # {"msg": "sent", "data": {…}}
        value = _plain(getattr(wrapper, name))
        if entry.sender is None and entry.outward is None and isinstance(value, str) and is_mark(value):
            entry.sender, entry.outward = direction(value)
    return entry


def _plain(raw: Raw | UnsetType) -> Any:
    try:
        return None if raw is UNSET or len(bytes(raw)) > LONGEST else _ANY.decode(raw)
    except (DecodeError, RecursionError):
        return None


def _inner(raw: Raw | UnsetType, depth: int) -> Entry | None:
    if raw is UNSET:
        return None
    data = bytes(raw).strip()
    try:
        if data[:1] == b'"':
            return read_entry(_TEXT.decode(data).encode(), depth + 1)
        return read_entry(data, depth + 1) if data[:1] in (b"{", b"[") else None
    except (DecodeError, NoEntry):
        return None
