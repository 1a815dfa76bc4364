"""Finds the message in a line of a log, and the labels with its sender and its time.

Labels are the text before the message (`12:00:01 ->`, `[2026-01-31T12:00:01Z] agent:`, `C->A`), the other keys of an
object around it (`{"ts": 1.5, "dir": "in", "message": {…}}`), or `key=value` pairs around it.
"""

import re
from typing import Any

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, field

from .brackets import value_end
from .clock import Moment, moment
from .direction import DIRECTION_KEYS, MAX_LABEL, Side, direction, direction_of, has_only_labels, read_context

_MAX_DEPTH = 3  # objects and texts around a message
_MAX_UNENDED = 3  # values without an end before a message
_START = b'{"jsonrpc"'
_NAME = b"jsonrpc"
_BRACKET = ord("[")

_VALUE = re.compile(rb'\{(?=\s*["}])|\[(?=\s*[\[{\]])|(?<!\\)[{\[](?=(?:\s|\\[nrt])*\\")')
"""The start of an object or of an array of objects, also with escaped quotes, as within a JSON string."""
_ESCAPED = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_COLOURS = re.compile(rb'("(?:[^"\\\x1b]++|\\.)*+")|\x1b\[[0-9;:]*[A-Za-z]', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}\s]++,?")
_FRAGMENT = re.compile(rb'"(?:[^"\\]++|\\.)*+"\s*:|[^{]*?"jsonrpc"\s*:')
_OTHER_NOTATION = re.compile(rb"\{\s*(?:'jsonrpc'|jsonrpc)\s*:")
_HEADER = re.compile(rb"content-(?:length|type):", re.IGNORECASE)
_NO_OBJECT = "No JSON object in this line"
_SEVERAL_LINES = "Part of JSON that goes over several lines (hint: jq -c . writes each message on one)"


class ExtractedMessage(Struct, gc=False):
    """The message of a line, not yet decoded, and its labels.

    `sender` is set if a label names a side. `outward` is True if a label says that the side that wrote the log sent the
    message, False if it received it.
    """

    body: bytes
    sender: Side | None = None
    outward: bool | None = None
    moment: Moment | None = None


class NoMessage(Exception):
    """A line contains no message; the text is the reason."""


class _Wrapper(Struct):
    """An object that may contain a message, under one of these keys, and its labels under others."""

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


def extract_message(data: bytes, depth: int = 0) -> ExtractedMessage:
    """Find the message of a line, and its labels; raise `NoMessage` if there is none."""
    if data.startswith(_START) and data.endswith(b"}"):
        return ExtractedMessage(data)
    data = data.strip()
    found = _VALUE.search(data, 0, MAX_LABEL * 2)
    if found is not None:
        start, is_batch = found.start(), data[found.start()] == _BRACKET
        if data.startswith(_START, start + is_batch) and data.endswith(b"]" if is_batch else b"}"):
            return _labelled(data, start, ExtractedMessage(data[start:]))
    extracted = _unwrapped(data, depth) if data[:1] == b"{" else None
    if extracted is None:
        extracted = _searched(data, depth)
    if extracted is None and b"\x1b[" in data:
        plain = _COLOURS.sub(rb"\1", data)
        extracted = extract_message(plain, depth) if plain != data else None
    return extracted or _first_value(data)


def without_tail(body: bytes) -> bytes | None:
    """Return the value at the start of a text without the remark after it; None if there is no remark.

    Raises `NoMessage` if another message follows.
    """
    end = value_end(body)
    return body[:end] if end is not None and end < len(body) and _is_remark(body, 0, end) else None


def _is_remark(data: bytes, start: int, end: int) -> bool:
    """Return whether the text after a value may be a remark; raise `NoMessage` if it is another message."""
    if b'"jsonrpc"' in data[end:]:
        raise NoMessage("Two messages on one line (hint: write one per line, or all in a list)")
    # A brace too many means a broken message, not a remark.
    return not data[end:].lstrip().startswith(b"}") or data.count(b"{", 0, start) > data.count(b"}", 0, start)


def _searched(data: bytes, depth: int) -> ExtractedMessage | None:
    """Find a message after any text, objects and lists; None if there is none."""
    if b'""jsonrpc""' in data:
        raise NoMessage("JSON in a field of CSV, with its quotes doubled (hint: export the field alone)")
    at = open_values = 0
    while open_values < _MAX_UNENDED:
        found = _VALUE.search(data, at, MAX_LABEL * 2)
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
            extracted = _unescaped(value, depth) if escaped else _valued(value, depth)
            if extracted is not None and _is_remark(data, start, end):
                return _labelled(data, start, extracted, end)
        at = max(end, start + 1)
    return None


def _is_escaped(data: bytes, start: int) -> bool:
    rest = data[start + 1 : start + 40].replace(b"\\n", b"").replace(b"\\r", b"").replace(b"\\t", b"").lstrip()
    return rest.startswith(b'\\"')


def _unescaped(value: bytes, depth: int) -> ExtractedMessage | None:
    try:
        return extract_message(_TEXT.decode(b'"' + value + b'"').encode(), depth + 1) if depth < _MAX_DEPTH else None
    except (DecodeError, NoMessage):
        return None


def _valued(value: bytes, depth: int) -> ExtractedMessage | None:
    if value[0] == _BRACKET or value.startswith(_START):
        return ExtractedMessage(value)
    try:
        wrapper = _WRAPPER.decode(value)
    except (DecodeError, RecursionError):
        return ExtractedMessage(value)
    return ExtractedMessage(value) if wrapper.jsonrpc is not UNSET else _from_wrapper(wrapper, depth)


def _first_value(data: bytes) -> ExtractedMessage:
    """Choose the text most similar to a message, so that the error is about that one."""
    if _BRACKETS.fullmatch(data) and data not in (b"{}", b"[]"):
        raise NoMessage(_SEVERAL_LINES)
    if data[:1] == b"{" and not _OTHER_NOTATION.match(data):
        return ExtractedMessage(data)
    start = data.find(b"{")
    if start < 0:
        start = data.find(b"[]")  # an empty batch
    if start < 0 and _HEADER.match(data):
        raise NoMessage("A header, as in other protocols (hint: a log has one message per line)")
    if start < 0:
        raise NoMessage(_SEVERAL_LINES if _FRAGMENT.match(data) else _NO_OBJECT)
    before = data[:start].rstrip()
    if before.endswith(b"["):
        start, before = len(before) - 1, before[:-1]
    if len(before) > MAX_LABEL:
        raise NoMessage(f"No message within the first {MAX_LABEL} bytes")
    if _OTHER_NOTATION.search(data, start):
        raise NoMessage("An object as Python or JavaScript shows it, not JSON (hint: log the text that is sent)")
    if b'"jsonrpc"' not in data[start:] and not has_only_labels(before.decode("utf-8", "replace")):
        raise NoMessage(_SEVERAL_LINES if _FRAGMENT.match(data) else "Text without a message after it")
    return _labelled(data, start, ExtractedMessage(data[start:]))


def _labelled(data: bytes, start: int, extracted: ExtractedMessage, end: int | None = None) -> ExtractedMessage:
    """Add the labels in the text around a message."""
    before = data[:start].rstrip()
    if not before and (end is None or end == len(data)):
        return extracted
    if len(before) > MAX_LABEL:
        raise NoMessage(f"No message within the first {MAX_LABEL} bytes")
    tail = data[end : end + MAX_LABEL].decode("utf-8", "replace") if end is not None else ""
    context = read_context(before.decode("utf-8", "replace"), tail)
    if extracted.sender is None and extracted.outward is None:
        extracted.sender, extracted.outward = context.sender, context.outward
    extracted.moment = extracted.moment or context.moment
    return extracted


def _unwrapped(data: bytes, depth: int) -> ExtractedMessage | None:
    """Take a message out of the object around it; None if the object contains none."""
    try:
        wrapper = _WRAPPER.decode(data)
    except (DecodeError, RecursionError):
        return None
    return ExtractedMessage(data) if wrapper.jsonrpc is not UNSET else _from_wrapper(wrapper, depth)


def _from_wrapper(wrapper: _Wrapper, depth: int) -> ExtractedMessage | None:
    if depth >= _MAX_DEPTH:
        return None
    found = [extracted for name in _PAYLOADS if (extracted := _inner(getattr(wrapper, name), depth)) is not None]
    if not found:
        return None
    extracted = next((extracted for extracted in found if _NAME in extracted.body), found[0])
    for name in _TIMES:
        extracted.moment = extracted.moment or moment(_plain(getattr(wrapper, name)))
    for name in DIRECTION_KEYS:
        value = _plain(getattr(wrapper, "from_" if name == "from" else name))
        if (
            extracted.sender is None
            and extracted.outward is None
            and isinstance(value, str)
            and len(value) <= MAX_LABEL
        ):
            extracted.sender, extracted.outward = direction_of(name, value)
    for name in ("msg", "message", "text"):  # {"msg": "sent", "data": {…}}
        value = _plain(getattr(wrapper, name))
        if extracted.sender is None and extracted.outward is None and isinstance(value, str) and has_only_labels(value):
            extracted.sender, extracted.outward = direction(value)
    return extracted


def _plain(raw: Raw | UnsetType) -> Any:
    try:
        return None if raw is UNSET or len(bytes(raw)) > MAX_LABEL else _ANY.decode(raw)
    except (DecodeError, RecursionError):
        return None


def _inner(raw: Raw | UnsetType, depth: int) -> ExtractedMessage | None:
    if raw is UNSET:
        return None
    data = bytes(raw).strip()
    try:
        if data[:1] == b'"':
            return extract_message(_TEXT.decode(data).encode(), depth + 1)
        return extract_message(data, depth + 1) if data[:1] in (b"{", b"[") else None
    except (DecodeError, NoMessage):
        return None
