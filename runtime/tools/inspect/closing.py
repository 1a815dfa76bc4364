"""The closing summary of a log, for the text and for the page."""

from collections.abc import Iterator

from ..._types.printable import printable
from .clock import format_duration
from .formatting import count_of, format_size, shorten
from .pending import LISTED
from .statistics import KeyStatistics, Occurrences, Statistics

ColouredLine = tuple[str, str]
"""A line, and the name of its colour or an empty text."""
Arrows = dict[str | None, tuple[str, str]]
"""For each sender, the arrow of a request and that of a response."""

ARROWS: Arrows = {"client": ("→", "⇢"), "agent": ("←", "⇠"), None: ("·", "·")}
_KINDS = {"error": ("error response",), "invalid": ("value that is not a message", "values that are not messages")}
_DIRECTIONS = {"client": "client to agent", "agent": "agent to client"}
_MAX_METHODS = _MAX_KEYS = 8  # how many are named


def closing_summary(statistics: Statistics, arrows: Arrows = ARROWS) -> Iterator[ColouredLine]:
    """Yield the lines of the closing summary."""
    yield _size(statistics), "bold"
    yield from ((f"  {line}", "") for line in _breakdown(statistics, arrows))
    version = statistics.protocol_version
    negotiated = "no negotiated protocol version" if version is None else f"negotiated protocol version {version}"
    yield f"  read as {statistics.schema} ({negotiated})", ""
    yield from ((f"  {line}", "yellow") for line in _unanswered(statistics))
    for occurrences, singular, plural, colour in (
        (statistics.unpaired, "response without a request", "responses without a request", "yellow"),
        (statistics.repairs, "repair", "repairs", "yellow"),
        (statistics.unknown, "unknown part", "unknown parts", "magenta"),
        (statistics.errors, "invalid message", "invalid messages", "red"),
        (statistics.broken, "broken line", "broken lines", "red"),
    ):
        if occurrences.number:
            yield f"  {count_of(occurrences.number, singular, plural)}: {_lines(occurrences)}", colour
    if statistics.undeclared:
        yield f"  {_undeclared_keys(statistics.undeclared)}", "magenta"


def _size(statistics: Statistics) -> str:
    is_partial = statistics.shown != statistics.messages + statistics.broken.number
    shown = f"{statistics.shown:,} of " if is_partial else ""
    took = f" in {format_duration(statistics.seconds)}" if statistics.seconds else ""
    sessions = f", {count_of(statistics.sessions, 'session')}" if statistics.sessions else ""
    sessions += f", {count_of(statistics.connections, 'connection')}" if statistics.connections > 1 else ""
    messages = f"{count_of(statistics.messages, 'message')} in {count_of(statistics.lines, 'line')}"
    return f"{shown}{messages}, {format_size(statistics.bytes)}{took}{sessions}"


def _breakdown(statistics: Statistics, arrows: Arrows) -> Iterator[str]:
    """Yield how many messages there are of each kind, sender and method."""
    kinds = [count_of(number, *_KINDS.get(kind, (kind,))) for kind, number in statistics.kinds.items() if number]
    if not kinds:
        return
    yield ", ".join(kinds)
    senders = statistics.senders
    sent = [f"{arrows[sender][0]} {label} {senders[sender]:,}" for sender, label in _DIRECTIONS.items()]
    sent += [f"{arrows[None][0]} unknown {senders['unknown']:,}"] if senders["unknown"] else []
    yield ", ".join(sent)
    methods = [f"{printable(name)} {number:,}" for name, number in statistics.methods.items()]
    if methods:
        yield ", ".join(methods[:_MAX_METHODS]) + _more(len(methods), _MAX_METHODS)


def _unanswered(statistics: Statistics) -> Iterator[str]:
    if statistics.unanswered:
        first = statistics.first_unanswered
        listed = ", ".join(f"line {request.line} {printable(shorten(request.method, 40))}" for request in first)
        more = ", …" if statistics.unanswered > len(first) else ""
        yield f"{count_of(statistics.unanswered, 'request')} without an answer: {listed}{more}"
    if statistics.given_up:
        yield f"{count_of(statistics.given_up, 'request')} given up, since too many waited at once"


def _undeclared_keys(keys: list[KeyStatistics]) -> str:
    listed = ", ".join(
        f"{printable(shorten(found.key, 40)) or '(empty)'} {found.number:,} ({_lines(found, 3)})"
        for found in keys[:_MAX_KEYS]
    )
    return f"{count_of(len(keys), 'undeclared key')}: {listed}{_more(len(keys), _MAX_KEYS)}"


def _more(number: int, listed: int) -> str:
    return f", and {number - listed} more" if number > listed else ""


def _lines(found: Occurrences | KeyStatistics, most: int = LISTED) -> str:
    lines = found.lines[:most]
    more = ", …" if len(found.lines) > most or found.number > len(found.lines) >= LISTED else ""
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}{more}"
