"""Who sent a message, and when, as the text around it tells.

The mark next to the message tells the direction: an arrow, a verb, a side (`->`, `received from client`, `C->A`). Names
and numbers before the mark are those of files, modules, hosts and threads, and tell nothing.
"""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec

from .clock import Moment, moment, moments

Side = Literal["client", "agent"]
OTHER: dict[Side, Side] = {"client": "agent", "agent": "client"}
TIMES = ("ts", "time", "timestamp", "@timestamp", "datetime", "__REALTIME_TIMESTAMP")
"""Keys that hold a time, in objects and in `key=value` pairs."""
DIRECTIONS = ("dir", "direction", "sender", "side", "source", "from", "to", "type", "event")
"""Keys that may hold a direction, likewise."""
LONGEST = 300
"""Longer texts are not read as a mark, in bytes."""

_Way = tuple[Side | None, bool | None]
_NOTHING: _Way = (None, None)


class _Token(NamedTuple):
    """A word or arrow: what it is, what it says, and whether punctuation makes it a label (`agent:`, `[agent]`)."""

    kind: Literal["side", "letter", "way", "arrow", "to", "stream", "filling", "bar", "number", "other"]
    side: Side | None = None
    away: bool | None = None
    label: bool = False


_VOCABULARY = {
    _Token("side", "client"): "client editor host",
    _Token("side", "agent"): "agent server",
    _Token("letter", "client"): "c",
    _Token("letter", "agent"): "a",
    _Token("way", away=True): "send sends sent sending out outgoing outbound write writes writing wrote tx",
    _Token("way", away=False): "recv receive receives received receiving in incoming inbound read reads reading rx got",
    _Token("to", away=True): "to",
    _Token("to", away=False): "from",
    # Programs read their input and write their output, so these streams are the agent's.
    _Token("stream", "client"): "stdin",
    _Token("stream", "agent"): "stdout",
    # What may stand between a mark and its message.
    _Token(
        "filling"
    ): "message messages msg request response notification json jsonrpc rpc data payload raw frame body",
}
_WORDS = {word: token for token, words in _VOCABULARY.items() for word in words.split()}

_TOKEN = re.compile(r"-*>+|<+-*|={1,2}>|<={1,2}|[→←⇒⇐⟶⟵]|(?:(?!-*>|={1,2}>)[^\s<→←⇒⇐⟶⟵])+")
_OUTWARD, _BOTH_WAYS = re.compile(r"[-=]*>+|[→⇒⟶]"), re.compile(r"<[-=]*>|[↔⇔⟷]")
_ARROW = re.compile(r"[-=<>]*[<>][-=<>]*|[→←⇒⇐⟶⟵]")
_BETWEEN = re.compile(r"[-_]|(?<=[a-z])(?=[A-Z])")
_TO = re.compile(
    r"(?i)(?<![^\W_])(c|a|client|agent|editor|server|host)2(c|a|client|agent|editor|server|host)(?![^\W_])"
)
_PAIR = re.compile(r'(?<![\w.@-])([\w.@-]+)=(?![=>])("(?:[^"\\]++|\\.)*+"|[^\s"]\S*|)')
_COLOURS = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_SIZE = re.compile(r"[(\[]?\b\d+ ?(?:bytes?|[kM]?B|chars?|characters)\b[)\]]?", re.IGNORECASE)
_NUMBER = re.compile(r"[#(\[]*\d+[)\]]*[:,]?")
_EDGES = "()[]{}\"'`:;,.!*=\ufeff"
_MARKS = frozenset(("side", "letter", "way", "arrow", "to", "stream"))
_METHOD = re.compile(r"(?:(?:\$|[a-z_]+)(?:/[a-z_]+)+|initialize)(?:[\[(#]\w+)?")
"""A method, maybe with an id, that stands between a mark and its message."""
_BARS = frozenset(("-", "--", "|", "||", "·", "•", "\N{EN DASH}", "\N{EM DASH}", "/"))


class Around(NamedTuple):
    """What the text around a message tells of it."""

    sender: Side | None
    outward: bool | None
    moment: Moment | None


def around(head: str, tail: str = "") -> Around:
    """Read the text before a message, and the one behind it where both are `key=value` pairs."""
    head = _COLOURS.sub("", head) if "\x1b" in head else head
    way, when = _NOTHING, None
    if "=" in head:
        pairs = [*_PAIR.finditer(head), *(_PAIR.finditer(tail[:LONGEST]) if head.rstrip("\"'").endswith("=") else ())]
        way, when = _told_by({pair[1]: _unquoted(pair[2]) for pair in pairs})
        head = _PAIR.sub(lambda pair: " ?=? " if pair[2] else " ", head)  # the last one may hold the message
    found, rest = moments(head)
    nearest = direction(rest)
    return Around(*(nearest if nearest != _NOTHING else way), found or when)


def is_mark(head: str) -> bool:
    """Say whether a text has no words but those that tell a direction or a time."""
    return not any(token.kind == "other" for token in _tokens(moments(head)[1]))


@lru_cache(maxsize=1024)
def direction(text: str) -> _Way:
    """Read the mark at the end of a text: the side that sent, or whether the side that keeps the log did.

    A side behind an arrow or a verb is its object (`-> agent`), one right before it its subject (`agent ->`). A side
    alone, or one that is set off from the arrow (`agent: ->`), counts only where the text holds nothing but marks.
    """
    tokens = _tokens(text)
    end = len(tokens)
    while end and tokens[end - 1].kind in ("filling", "bar", "number"):
        end -= 1
    behind, tokens = tokens[end:], tokens[:end]
    whole = all(token.kind in _MARKS or token.kind == "bar" for token in tokens)
    if not tokens or not (whole or tokens[-1].kind == "arrow" or all(token.kind == "filling" for token in behind)):
        return _NOTHING  # a word is not next to what stands behind a bar or a number
    run: list[_Token] = []
    for token in reversed(tokens):
        if token.kind in _MARKS:
            run.append(token)
        elif token.kind != "filling" and not whole:
            break
    return _told(run[::-1], whole=whole)


def _told(run: list[_Token], *, whole: bool) -> _Way:
    """Read the marks that follow each other up to the message; the last one decides."""
    if sum(token.side is not None for token in run) == 1:  # a letter means a side only beside another
        run = [token for token in run if token.kind != "letter"]
    while run and run[-1].kind == "to":
        run.pop()
    if not run:
        return _NOTHING
    streams: list[Side | None] = [token.side for token in run if token.kind == "stream"]
    if streams:
        return streams[-1], None
    last, before = run[-1], run[-2] if len(run) > 1 else None
    if last.side is not None:
        if before is not None and before.away is not None:
            return (OTHER[last.side] if before.away else last.side), None
        return (last.side, None) if whole and len(run) == 1 else _NOTHING
    if before is None or before.side is None or (before.label and not whole):
        return None, last.away
    if len(run) > 2 and run[-3].kind == "to":  # "from client received"
        return (OTHER[before.side] if run[-3].away else before.side), None
    return (before.side if last.away else OTHER[before.side]), None


def _tokens(text: str) -> list[_Token]:
    """Take a text apart."""
    text = re.sub(r"<(\w+)>", r" \1: ", _SIZE.sub(" ", text))
    text = _TO.sub(r"\1 to \2", text)
    text = re.sub(r"(?<!\w)[bru]{0,2}[\"'`]$", " ", text)
    out: list[_Token] = []
    for match in _TOKEN.finditer(_BOTH_WAYS.sub(" \N{WHITE QUESTION MARK ORNAMENT} ", text)):
        out += _token(match[0])
    return out


def _token(text: str) -> list[_Token]:
    if _ARROW.fullmatch(text):
        return [_Token("arrow", away=_OUTWARD.fullmatch(text) is not None)]
    if text in _BARS:
        return [_Token("bar")]
    if _NUMBER.fullmatch(text):
        return [_Token("number")]
    word = text.strip(_EDGES)
    if not word:
        return []
    if _METHOD.fullmatch(word):
        return [_Token("filling")]
    logger, _, verb = word.rpartition(":")
    if logger and (told := _WORDS.get(verb.lower())) is not None and told.kind == "way":
        # "DEBUG:acp.client:Sending": the fields before are glued to it.
        return [*_token(f"{logger}:"), told._replace(label=text[-1] in _EDGES)]
    words = [_WORDS.get(part.lower()) for part in _BETWEEN.split(word)]
    if any(found is None for found in words):
        return [_Token("other")]
    known = [found for found in words if found is not None]
    return [*known[:-1], known[-1]._replace(label=text[-1] in _EDGES)]


def _told_by(pairs: dict[str, str]) -> tuple[_Way, Moment | None]:
    """Read `key=value` pairs."""
    when = next((found for key in TIMES if key in pairs and (found := moment(pairs[key])) is not None), None)
    told = [direction_of(key, pairs[key]) for key in DIRECTIONS if key in pairs]
    told += [direction(pairs[key]) for key in ("msg", "message") if key in pairs and is_mark(pairs[key])]
    return next((way for way in told if way != _NOTHING), _NOTHING), when


def direction_of(key: str, value: str) -> _Way:
    """Read the value of a key that may hold a direction: of `from` and `to` it is a side."""
    return direction(f"{key} {value}" if key == "to" else value)


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return msgspec.json.decode(value.encode("utf-8", "replace"), type=str)
    except msgspec.DecodeError:
        return value.strip('"')
