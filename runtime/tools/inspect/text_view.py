"""A log for people: a line for each message, what is odd about it beneath, and a closing summary."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from msgspec import UNSET

from ..._types.printable import printable
from .clock import lasting
from .conversation import Seen
from .formatting import brief, identified, many, sized
from .pending import LISTED
from .statistics import Places, Totals, UndeclaredKey
from .summaries import summary


class Style(NamedTuple):
    """What the stream can show: colours, characters beyond ASCII, so many columns; 0 means any number."""

    colour: bool = False
    unicode: bool = True
    width: int = 0


_COLOURS = {
    "dim": "2",
    "bold": "1",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
# To the agent, to the client, unknown; an answer has a broken line, as in a sequence diagram.
_ARROWS = {"client": ("→", "⇢"), "agent": ("←", "⇠"), None: ("·", "·")}
_ASCII = {"client": ("->", "~>"), "agent": ("<-", "<~"), None: ("..", "..")}
_KINDS = {"error": ("error response",), "invalid": ("value that is no message", "values that are no message")}
_METHOD = 30  # columns
_MOST = 50  # remarks of one kind on one message
_MOST_KEYS = 8


class TextView:
    """Writes text; `write` takes whole lines with their ends."""

    def __init__(self, write: Callable[[str], object], style: Style) -> None:
        """Keep where and how to write."""
        self._out = write
        self._style = style
        self._arrows = _ARROWS if style.unicode else _ASCII
        self._sessions: dict[tuple[int, str], str] = {}
        self._several = False
        self._timed = False

    def show(self, seen: Seen) -> None:
        """Write one message."""
        place = str(seen.line) if seen.part is None else f"{seen.line}[{seen.part}]"
        lines = [self._head(f"{place:>6}", seen)]
        if seen.problem is not None:
            path = "" if seen.problem.path == "$" else f"{seen.problem.path}: "
            lines.append(self._note("!", f"{path}{seen.problem.message}", "red"))
        if seen.repairs or seen.unknown or seen.undeclared:
            lines += self._findings(seen)
        if seen.is_answer and seen.asked is None:
            lines.append(self._note("?", "answers no request that was seen", "magenta"))
        self._write("".join(lines))

    def _findings(self, seen: Seen) -> Iterable[str]:
        for repair in seen.repairs[:_MOST]:
            done = "default taken" if repair.action == "default" else "item dropped"
            yield self._note("~", f"{repair.path}: {done}: {repair.error}", "yellow")
        for path, what in seen.unknown[:_MOST]:
            yield self._note("?", f"{path}: {what}", "magenta")
        for path, _ in seen.undeclared[:_MOST]:
            yield self._note("?", f"{path}: undeclared key", "magenta")
        left_out = sum(max(len(found) - _MOST, 0) for found in (seen.repairs, seen.unknown, seen.undeclared))
        if left_out:
            yield self._note("?", f"and {left_out:,} more", "magenta")

    def note(self, what: str) -> None:
        """Write a remark on the log itself."""
        self._write(self._paint(f"# {printable(what)}", "dim") + "\n")

    def close(self, totals: Totals) -> None:
        """Write the closing summary."""
        self._write("\n" + "".join(f"{self._paint(line, colour)}\n" for line, colour in closing(totals, self._arrows)))

    def _head(self, place: str, seen: Seen) -> str:
        self._timed = self._timed or seen.moment is not None
        time = f"  {seen.moment.shown if seen.moment is not None else '':12}" if self._timed else ""
        if seen.kind == "broken":
            what = brief(seen.raw[:400].decode("utf-8", "backslashreplace"), 60)
            columns = f"{'broken':{_METHOD}} {sized(seen.size):>8}  {printable(what)}"
            return self._line(self._paint(place + time, "dim"), "!", columns, "red", len(place + time))
        call, answer = self._arrows[seen.sender]
        name = seen.method or ("unknown request" if seen.is_answer else "no message")
        name = name if len(name) <= 60 else brief(name)
        if seen.id is not UNSET:
            name += f" {identified(seen.id)}"
        told = summary(seen)
        took = "" if seen.latency is None else f"({lasting(seen.latency)}) "
        failed = "error " if seen.kind == "error" else ""
        columns = f"{printable(name):{_METHOD}} {sized(seen.size):>8}  {failed}{took}{told}{self._session(seen)}"
        colour = "red" if failed or seen.problem else {"client": "cyan", "agent": "green", None: "yellow"}[seen.sender]
        arrow = answer if seen.is_answer else call
        return self._line(self._paint(place + time, "dim"), arrow, columns, colour, len(place + time))

    def _session(self, seen: Seen) -> str:
        """Name the session of a message, once the log is known to have several."""
        if seen.session is None:
            return ""
        key = (seen.connection, seen.session)
        if key not in self._sessions:
            if len(self._sessions) > 1000:
                self._sessions.clear()
            self._several = self._several or bool(self._sessions)
            later = f", connection {seen.connection}" if seen.connection > 1 else ""
            self._sessions[key] = f"  ({printable(brief(seen.session, 24))}{later})"
        return self._sessions[key] if self._several else ""

    def _line(self, place: str, arrow: str, columns: str, colour: str, used: int) -> str:
        room = self._style.width - used - len(arrow) - 3
        if self._style.width and len(columns) > room:
            columns = f"{columns[: max(room - 1, 20)]}…"
        if not self._style.colour:
            return f"{place}  {arrow} {columns}\n".rstrip(" \n") + "\n"
        head, rest = columns[:_METHOD], columns[_METHOD:]
        return f"{place}  {self._paint(arrow, colour)} {self._paint(head, colour)}{rest}\n"

    def _write(self, text: str) -> None:
        self._out(text if self._style.unicode else text.replace("…", "..."))

    def _note(self, mark: str, what: str, colour: str) -> str:
        return f"        {self._paint(f'{mark} {printable(what)}', colour)}\n"

    def _paint(self, text: str, colour: str) -> str:
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self._style.colour and colour else text


def closing(totals: Totals, arrows: dict[str | None, tuple[str, str]] = _ARROWS) -> Iterable[tuple[str, str]]:
    """Compose the closing summary: lines, each with its colour or none."""
    of = f"{totals.shown:,} of " if totals.shown != totals.messages + totals.broken.number else ""
    took = f" in {lasting(totals.seconds)}" if totals.seconds else ""
    sessions = f", {many(totals.sessions, 'session')}" if totals.sessions else ""
    sessions += f", {many(totals.connections, 'connection')}" if totals.connections > 1 else ""
    found = f"{many(totals.messages, 'message')} in {many(totals.lines, 'line')}"
    yield f"{of}{found}, {sized(totals.bytes)}{took}{sessions}", "bold"
    told = [many(number, *_KINDS.get(kind, (kind,))) for kind, number in totals.kinds.items() if number]
    if told:
        yield f"  {', '.join(told)}", ""
        ways = {"client": "client to agent", "agent": "agent to client"}
        sent = [f"{arrows[s][0]} {way} {totals.senders[s]:,}" for s, way in ways.items()]
        sent += [f"{arrows[None][0]} unknown {totals.senders['unknown']:,}"] if totals.senders["unknown"] else []
        yield f"  {', '.join(sent)}", ""
        methods = [f"{printable(name)} {number:,}" for name, number in totals.methods.items()]
        more = f", and {len(methods) - 8} more" if len(methods) > 8 else ""
        if methods:
            yield f"  {', '.join(methods[:8])}{more}", ""
    version = totals.protocol_version
    settled = "no version was settled" if version is None else f"protocol version {version} was settled"
    yield f"  read as {totals.schema} ({settled})", ""
    if totals.unanswered:
        listed = ", ".join(f"line {a.line} {printable(brief(a.method, 40))}" for a in totals.first_unanswered)
        more = ", …" if totals.unanswered > len(totals.first_unanswered) else ""
        yield f"  {many(totals.unanswered, 'request')} without an answer: {listed}{more}", "yellow"
    if totals.given_up:
        yield f"  {many(totals.given_up, 'request')} given up, since too many waited at once", "yellow"
    for places, what, colour in (
        (totals.unpaired, "response to no request seen|responses to no request seen", "yellow"),
        (totals.repairs, "repair|repairs", "yellow"),
        (totals.unknown, "unknown part|unknown parts", "magenta"),
        (totals.errors, "message that does not fit|messages that do not fit", "red"),
        (totals.broken, "broken line|broken lines", "red"),
    ):
        if places.number:
            one, _, several = what.partition("|")
            yield f"  {many(places.number, one, several)}: {_lines(places)}", colour
    if totals.undeclared:
        listed = ", ".join(
            f"{printable(brief(found.key, 40)) or '(empty)'} {found.number:,} ({_lines(found, 3)})"
            for found in totals.undeclared[:_MOST_KEYS]
        )
        more = f", and {len(totals.undeclared) - _MOST_KEYS} more" if len(totals.undeclared) > _MOST_KEYS else ""
        yield f"  {many(len(totals.undeclared), 'undeclared key')}: {listed}{more}", "magenta"


def _lines(places: Places | UndeclaredKey, most: int = LISTED) -> str:
    lines = places.lines[:most]
    more = ", …" if len(places.lines) > most or places.number > len(places.lines) >= LISTED else ""
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}{more}"
