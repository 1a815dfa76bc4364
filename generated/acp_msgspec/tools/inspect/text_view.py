"""A log for people: a line for each message, its findings below it, and a closing summary."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from msgspec import UNSET

from ..._types.printable import printable
from .clock import format_duration
from .closing import ARROWS, Arrows, closing_summary
from .formatting import format_id, format_size, shorten
from .log_message import LogMessage
from .statistics import Statistics
from .summaries import summary


class Style(NamedTuple):
    """What the output stream can show: colours, non-ASCII characters, and its width in columns, or 0 for no limit."""

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
_ASCII_ARROWS: Arrows = {"client": ("->", "~>"), "agent": ("<-", "<~"), None: ("..", "..")}
_METHOD = 30  # columns
_MAX_FINDINGS = 50  # of one kind, for one message


class TextView:
    """Writes text; `write` gets whole lines with their line ends."""

    def __init__(self, write: Callable[[str], object], style: Style) -> None:
        """Store where and how to write."""
        self._out = write
        self._style = style
        self._arrows = ARROWS if style.unicode else _ASCII_ARROWS
        self._sessions: dict[tuple[int, str], str] = {}
        self._several = False
        self._timed = False

    def show(self, message: LogMessage) -> None:
        """Write one message."""
        place = str(message.line) if message.part is None else f"{message.line}[{message.part}]"
        lines = [self._head(f"{place:>6}", message)]
        if message.problem is not None:
            path = "" if message.problem.path == "$" else f"{message.problem.path}: "
            lines.append(self._note("!", f"{path}{message.problem.message}", "red"))
        if message.repairs or message.unknown or message.undeclared:
            lines += self._findings(message)
        if message.is_unpaired:
            lines.append(self._note("?", "answers no request of this log", "magenta"))
        self._write("".join(lines))

    def _findings(self, message: LogMessage) -> Iterable[str]:
        for repair in message.repairs[:_MAX_FINDINGS]:
            done = "default taken" if repair.action == "default" else "item dropped"
            yield self._note("~", f"{repair.path}: {done}: {repair.error}", "yellow")
        for path, what in message.unknown[:_MAX_FINDINGS]:
            yield self._note("?", f"{path}: {what}", "magenta")
        for path, _ in message.undeclared[:_MAX_FINDINGS]:
            yield self._note("?", f"{path}: undeclared key", "magenta")
        left_out = sum(
            max(len(found) - _MAX_FINDINGS, 0) for found in (message.repairs, message.unknown, message.undeclared)
        )
        if left_out:
            yield self._note("?", f"and {left_out:,} more", "magenta")

    def note(self, what: str) -> None:
        """Write a remark about the log itself."""
        self._write(self._paint(f"# {printable(what)}", "dim") + "\n")

    def close(self, statistics: Statistics) -> None:
        """Write the closing summary."""
        self._write(
            "\n"
            + "".join(f"{self._paint(line, colour)}\n" for line, colour in closing_summary(statistics, self._arrows))
        )

    def _head(self, place: str, message: LogMessage) -> str:
        self._timed = self._timed or message.moment is not None
        time = f"  {message.moment.shown if message.moment is not None else '':12}" if self._timed else ""
        if message.kind == "broken":
            what = shorten(message.raw[:400].decode("utf-8", "backslashreplace"), 60)
            columns = f"{'broken':{_METHOD}} {format_size(message.size):>8}  {printable(what)}"
            return self._line(self._paint(place + time, "dim"), "!", columns, "red", len(place + time))
        call, answer = self._arrows[message.sender]
        name = message.method or ("unknown request" if message.is_answer else "not a message")
        name = name if len(name) <= 60 else shorten(name)
        if message.id is not UNSET:
            name += f" {format_id(message.id)}"
        text = summary(message)
        took = "" if message.latency is None else f"({format_duration(message.latency)}) "
        failed = "error " if message.kind == "error" else ""
        columns = (
            f"{printable(name):{_METHOD}} {format_size(message.size):>8}  {failed}{took}{text}{self._session(message)}"
        )
        colour = (
            "red" if failed or message.problem else {"client": "cyan", "agent": "green", None: "yellow"}[message.sender]
        )
        arrow = answer if message.is_answer else call
        return self._line(self._paint(place + time, "dim"), arrow, columns, colour, len(place + time))

    def _session(self, message: LogMessage) -> str:
        """Return the session of a message, once the log has several sessions."""
        if message.session is None:
            return ""
        key = (message.connection, message.session)
        if key not in self._sessions:
            if len(self._sessions) > 1000:
                self._sessions.clear()
            self._several = self._several or bool(self._sessions)
            later = f", connection {message.connection}" if message.connection > 1 else ""
            self._sessions[key] = f"  ({printable(shorten(message.session, 24))}{later})"
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
