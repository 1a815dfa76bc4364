"""What a line of a log says: the message, and who sent it and when, as far as marks around it tell.

A mark is whatever stands before the message (`12:00:01 ->`, `[2026-01-31T12:00:01Z] agent:`, `C->A`), or the other keys
of an object that holds it (`{"ts": 1.5, "dir": "in", "message": {…}}`).
"""

import re
from functools import lru_cache
from typing import Any, Literal

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, field

from .clock import TIME, Moment, found, moment

Side = Literal["client", "agent"]
OTHER: dict[Side, Side] = {"client": "agent", "agent": "client"}

_LONGEST_MARK = 300  # bytes
_DEPTH = 3  # how many objects may lie around a message
_START = b'{"jsonrpc"'
_BRACE, _BRACKET = b"{["

_SIDES: dict[str, Side] = {"client": "client", "editor": "client", "host": "client", "c": "client"}
_SIDES.update({"agent": "agent", "server": "agent", "a": "agent"})
_WAYS = {
    True: "-> --> >> > → => ⇒ ⟶ send sent sending out outgoing outbound write wrote tx to",
    False: "<- <-- << < ← <= ⇐ ⟵ recv received receive receiving in incoming inbound read rx from",
}
_AWAY, _HERE = (frozenset(words.split()) for words in _WAYS.values())
_STREAMS: dict[str, Side] = {"stdin": "client", "stdout": "agent"}
_WORD = re.compile(r"-{0,2}>{1,2}|<{1,2}-{0,2}|<=|=>|[→←⇒⇐⟶⟵]|(?<![^\W_])[a-z]+?(?:2[ac])?(?![^\W_])")


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
    ts: Any = None
    time: Any = None
    timestamp: Any = None
    at_timestamp: Any = field(default=None, name="@timestamp")
    dir: Any = None
    direction: Any = None
    sender: Any = None
    side: Any = None
    source: Any = None
    from_: Any = field(default=None, name="from")
    type: Any = None
    event: Any = None


_PAYLOADS = ("message", "msg", "payload", "data", "raw", "body", "line", "json")
_TIMES = ("ts", "time", "timestamp", "at_timestamp")
_DIRECTIONS = ("dir", "direction", "sender", "side", "source", "from_", "type", "event")

_WRAPPER = msgspec.json.Decoder(_Wrapper)
_TEXT = msgspec.json.Decoder(str)


def read_entry(data: bytes, depth: int = 0) -> Entry:
    """Find the message of a line, and what its marks say; raise `NoEntry` where there is none."""
    if data.startswith(_START):
        return Entry(data)
    data = data.strip()
    if data[:1] != b"{":
        return _marked(data, depth)
    return _unwrapped(data, depth) or Entry(data)


def _marked(data: bytes, depth: int) -> Entry:
    start = data.find(b"{")
    if start < 0:
        start = data.find(b"[]")  # an empty batch
        if start < 0:
            raise NoEntry("No JSON object in this line")
    before = data[:start].rstrip()
    if before.endswith(b"["):
        start, before = len(before) - 1, before[:-1]
    if len(before) > _LONGEST_MARK:
        raise NoEntry(f"No message within the first {_LONGEST_MARK} bytes")
    sender, outward, when = _mark(before.decode("utf-8", "replace"))
    body = data[start:]
    if b'"jsonrpc"' not in body and not _is_mark(before.decode("utf-8", "replace")):
        raise NoEntry("Text, and no message behind it")
    inner = _unwrapped(body, depth) if body[0] == _BRACE else None
    entry = inner or Entry(body)
    entry.sender, entry.moment = entry.sender or sender, entry.moment or when
    entry.outward = outward if entry.outward is None else entry.outward
    return entry


def _unwrapped(data: bytes, depth: int) -> Entry | None:
    """Take a message out of the object around it; None where the object holds none."""
    try:
        around = _WRAPPER.decode(data)
    except (DecodeError, RecursionError):
        return None
    if around.jsonrpc is not UNSET or depth >= _DEPTH:
        return None
    entry = next(filter(None, (_inner(getattr(around, name), depth) for name in _PAYLOADS)), None)
    if entry is None:
        return None
    for name in _TIMES:
        entry.moment = entry.moment or moment(getattr(around, name))
    for name in _DIRECTIONS:
        value = getattr(around, name)
        if entry.sender is None and entry.outward is None and isinstance(value, str) and len(value) <= _LONGEST_MARK:
            entry.sender, entry.outward = direction(value)
    return entry


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


def _mark(text: str) -> tuple[Side | None, bool | None, Moment | None]:
    """Read what stands before a message."""
    when: Moment | None = None
    match = TIME.search(text)
    if match is not None:
        when = found(match)
        text = f"{text[: match.start()]} {text[match.end() :]}"
    return (*direction(text), when)


def _is_mark(text: str) -> bool:
    """Say whether a text has no words but those that tell a direction or a time."""
    words = re.findall(r"[^\W\d_]{2,}", TIME.sub(" ", text).lower())
    return all(word in _SIDES or word in _AWAY or word in _HERE or word in _STREAMS for word in words)


@lru_cache(maxsize=1024)
def direction(text: str) -> tuple[Side | None, bool | None]:
    """Read a direction in words and arrows: the side that sent, or whether the side that keeps the log did.

    A side that stands before an arrow or a verb is its subject, one behind it its object: `agent ->`, `-> agent`.
    """
    words = _WORD.findall(text.lower().replace("_", " ").replace("2", " to "))
    named: list[tuple[int, Side]] = [(place, _SIDES[word]) for place, word in enumerate(words) if word in _SIDES]
    ways = [(place, word in _AWAY) for place, word in enumerate(words) if word in _AWAY or word in _HERE]
    if len(named) == 1 and len(words[named[0][0]]) == 1:  # a letter means a side only beside another
        named = []
    if not named:
        # Programs read their input and write their output, so these streams are the agent's.
        stream = next((word for word in words if word in _STREAMS), None)
        if stream is not None:
            return (_STREAMS[stream], None)
        return None, next((away for at, away in reversed(ways) if words[at] not in ("to", "from")), None)
    place, side = named[0]
    if not ways:
        return side, None
    way, away = min(ways, key=lambda found: abs(found[0] - place))
    return (side if (place < way) == away else OTHER[side]), None
