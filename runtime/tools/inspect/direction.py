"""Reads the sender and the time of a message from the text around it.

The label next to the message has the direction: an arrow, a verb, or a side (`->`, `received from client`, `C->A`).
Names and numbers before the label, such as those of files, modules, hosts and threads, are ignored.
"""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec

from .clock import Moment, moment, moments

Side = Literal["client", "agent"]
OTHER: dict[Side, Side] = {"client": "agent", "agent": "client"}
TIME_KEYS = ("ts", "time", "timestamp", "@timestamp", "datetime", "__REALTIME_TIMESTAMP")
"""The keys of a time, in objects and in `key=value` pairs."""
DIRECTION_KEYS = ("dir", "direction", "sender", "side", "source", "from", "to", "type", "event")
"""The keys that may have a direction, likewise."""
MAX_LABEL = 300
"""The greatest length of a label, in bytes."""

_Direction = tuple[Side | None, bool | None]
"""The sender, and whether the side that wrote the log has sent the message; None for what is unknown."""
_UNKNOWN: _Direction = (None, None)


class _Token(NamedTuple):
    """A word or an arrow: its type, its meaning, and whether punctuation sets it off (`agent:`, `[agent]`)."""

    type: Literal["side", "letter", "verb", "arrow", "to", "stream", "filler", "bar", "number", "other"]
    side: Side | None = None
    away: bool | None = None
    """Whether the direction is away from the side that wrote the log, or from the side before an arrow."""
    is_set_off: bool = False


_VOCABULARY = {
    _Token("side", "client"): "client editor host",
    _Token("side", "agent"): "agent server",
    _Token("letter", "client"): "c",
    _Token("letter", "agent"): "a",
    _Token("verb", away=True): "send sends sent sending out outgoing outbound write writes writing wrote tx",
    _Token(
        "verb", away=False
    ): "recv receive receives received receiving in incoming inbound read reads reading rx got",
    _Token("to", away=True): "to",
    _Token("to", away=False): "from",
    # Programs read their input and write their output, so these streams are the agent's.
    _Token("stream", "client"): "stdin",
    _Token("stream", "agent"): "stdout",
    # Words that may stand between a label and its message.
    _Token("filler"): "message messages msg request response notification json jsonrpc rpc data payload raw frame body",
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
_PUNCTUATION = "()[]{}\"'`:;,.!*=\ufeff"
_DIRECTION_TYPES = frozenset(("side", "letter", "verb", "arrow", "to", "stream"))
_METHOD = re.compile(r"(?:(?:\$|[a-z_]+)(?:/[a-z_]+)+|initialize)(?:[\[(#]\w+)?")
"""A method, with or without an id, between a label and its message."""
_BARS = frozenset(("-", "--", "|", "||", "·", "•", "\N{EN DASH}", "\N{EM DASH}", "/"))


class LineContext(NamedTuple):
    """The sender and the time of a message, from the text around it."""

    sender: Side | None
    outward: bool | None
    moment: Moment | None


def read_context(head: str, tail: str = "") -> LineContext:
    """Read the text before a message, and the text after it if both are `key=value` pairs."""
    head = _COLOURS.sub("", head) if "\x1b" in head else head
    found_direction, when = _UNKNOWN, None
    if "=" in head:
        pairs = [*_PAIR.finditer(head), *(_PAIR.finditer(tail[:MAX_LABEL]) if head.rstrip("\"'").endswith("=") else ())]
        found_direction, when = _of_pairs({pair[1]: _unquoted(pair[2]) for pair in pairs})
        head = _PAIR.sub(lambda pair: " ?=? " if pair[2] else " ", head)  # the message may be the value of the last one
    found, rest = moments(head)
    nearest = direction(rest)
    return LineContext(*(nearest if nearest != _UNKNOWN else found_direction), found or when)


def has_only_labels(head: str) -> bool:
    """Return whether a text consists of words of a direction and of times alone."""
    return not any(token.type == "other" for token in _tokens(moments(head)[1]))


@lru_cache(maxsize=1024)
def direction(text: str) -> _Direction:
    """Read the direction label at the end of a text.

    A side after an arrow or a verb is the receiver or the sender in its direction (`-> agent`); a side right before it
    acts (`agent ->`). A side alone, or one set off from the arrow (`agent: ->`), counts only if the text has nothing
    but labels.
    """
    tokens = _tokens(text)
    end = len(tokens)
    while end and tokens[end - 1].type in ("filler", "bar", "number"):
        end -= 1
    behind, tokens = tokens[end:], tokens[:end]
    whole = all(token.type in _DIRECTION_TYPES or token.type == "bar" for token in tokens)
    if not tokens or not (whole or tokens[-1].type == "arrow" or all(token.type == "filler" for token in behind)):
        return _UNKNOWN  # a bar or a number separates the word from the message
    run: list[_Token] = []
    for token in reversed(tokens):
        if token.type in _DIRECTION_TYPES:
            run.append(token)
        elif token.type != "filler" and not whole:
            break
    return _of_run(run[::-1], whole=whole)


def _of_run(run: list[_Token], *, whole: bool) -> _Direction:
    """Read the successive direction words before the message; the last one decides."""
    if sum(token.side is not None for token in run) == 1:  # a letter means a side only next to another side
        run = [token for token in run if token.type != "letter"]
    while run and run[-1].type == "to":
        run.pop()
    if not run:
        return _UNKNOWN
    streams: list[Side | None] = [token.side for token in run if token.type == "stream"]
    if streams:
        return streams[-1], None
    last, before = run[-1], run[-2] if len(run) > 1 else None
    if last.side is not None:
        if before is not None and before.away is not None:
            return (OTHER[last.side] if before.away else last.side), None
        return (last.side, None) if whole and len(run) == 1 else _UNKNOWN
    if before is None or before.side is None or (before.is_set_off and not whole):
        return None, last.away
    if len(run) > 2 and run[-3].type == "to":  # "from client received"
        return (OTHER[before.side] if run[-3].away else before.side), None
    return (before.side if last.away else OTHER[before.side]), None


def _tokens(text: str) -> list[_Token]:
    """Split a text into tokens."""
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
    word = text.strip(_PUNCTUATION)
    if not word:
        return []
    if _METHOD.fullmatch(word):
        return [_Token("filler")]
    logger, _, verb = word.rpartition(":")
    if logger and (known_verb := _WORDS.get(verb.lower())) is not None and known_verb.type == "verb":
        # "DEBUG:acp.client:Sending": no space separates the fields.
        return [*_token(f"{logger}:"), known_verb._replace(is_set_off=text[-1] in _PUNCTUATION)]
    words = [_WORDS.get(part.lower()) for part in _BETWEEN.split(word)]
    if any(found is None for found in words):
        return [_Token("other")]
    known = [found for found in words if found is not None]
    return [*known[:-1], known[-1]._replace(is_set_off=text[-1] in _PUNCTUATION)]


def _of_pairs(pairs: dict[str, str]) -> tuple[_Direction, Moment | None]:
    """Read `key=value` pairs."""
    when = next((time for key in TIME_KEYS if key in pairs and (time := moment(pairs[key])) is not None), None)
    found = [direction_of(key, pairs[key]) for key in DIRECTION_KEYS if key in pairs]
    found += [direction(pairs[key]) for key in ("msg", "message") if key in pairs and has_only_labels(pairs[key])]
    return next((each for each in found if each != _UNKNOWN), _UNKNOWN), when


def direction_of(key: str, value: str) -> _Direction:
    """Read the value of a direction key."""
    return direction(f"{key} {value}" if key == "to" else value)


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return msgspec.json.decode(value.encode("utf-8", "replace"), type=str)
    except msgspec.DecodeError:
        return value.strip('"')
