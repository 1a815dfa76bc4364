"""The command `inspect`: reads a log and shows it as text, as JSON lines, as a page, or as several of them."""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Literal, Protocol, TextIO

from msgspec import Struct

from ..._types.printable import printable
from .conversation import Conversation
from .direction import Side
from .json_view import JsonView
from .lines import FileFollower, Line, numbered
from .log_message import LogMessage
from .multiline import LineJoiner
from .page import PageError, PageView
from .progress import LEAST, Progress
from .selection import LastMessages, Selection
from .statistics import Statistics, StatisticsCollector
from .text_view import Style, TextView

FINE, FOUND, TROUBLE, INTERRUPTED = 0, 1, 2, 130
"""Exit statuses: no problems, invalid messages or broken lines, no log or no output, interrupted."""


class InspectError(Exception):
    """Why a log cannot be read or the output not written, in one line."""


class Options(Struct, kw_only=True):
    """The options of the command; `file` is a path, or `-` for the standard input."""

    file: str
    schema: str | None = None
    perspective: Side = "client"
    json: bool = False
    html: str | None = None
    limit: int = 2000
    only: Sequence[str] = ()
    exclude: Sequence[str] = ()
    last: int | None = None
    errors: bool = False
    follow: bool = False
    colour: Literal["auto", "always", "never"] = "auto"


class View(Protocol):
    """An output form of a log."""

    def show(self, message: LogMessage) -> None:
        """Show one message."""
        ...

    def note(self, what: str) -> None:
        """Show a remark about the log itself."""
        ...

    def close(self, statistics: Statistics) -> None:
        """Show the summary."""
        ...


def inspect(options: Options) -> int:
    """Read a log, show it on the standard output, and return the exit status.

    Raises `InspectError` if the log cannot be read or is empty, or if the page cannot be written. Errors of the
    standard output, such as `BrokenPipeError`, propagate, and so does `KeyboardInterrupt` unless the log was followed.
    """
    try:
        return _Inspection(options).run()
    except PageError as why:
        raise InspectError(str(why)) from None


class _Inspection:
    """One run of the command."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._out = _standard_output()
        self._conversation = Conversation(options.perspective, options.schema)
        self._collector = StatisticsCollector()
        self._joiner = LineJoiner()
        self._selection = Selection(options.only, options.exclude, errors=options.errors)
        self._held = LastMessages(options.last) if options.last is not None else None
        self._views: list[View] = []
        self._last = 0
        self._progress: Progress | None = None
        self._following: FileFollower | None = None

    def run(self) -> int:
        options = self._options
        lines = self._lines()
        page = PageView(options.html, options.file, options.limit) if options.html is not None else None
        text = TextView(self._out.write, _style(self._out, options.colour))
        if page is not None:  # first, so that after a Ctrl-C it has everything that the output has
            self._views.append(page)
        if options.json:
            self._views.append(JsonView(self._out.write, ascii_only=not _writes(self._out, "\U0010ffff")))
        elif page is None:
            self._views.append(text)
        if options.follow:
            self._warn()
        try:
            self._read(lines)
        finally:
            if self._progress is not None:
                self._progress.close()
        self._refuse_empty()
        if self._held is not None:
            self._show_last(self._held)
        statistics = self._collector.close(self._conversation)
        for view in self._views:
            view.close(statistics)
        if page is not None and not options.json:
            text.close(statistics)
            text.note(f"{options.html}: {page.embedded}")
        self._out.flush()
        if not options.follow:
            self._warn()
        return FINE if statistics.is_fine else FOUND

    def _read(self, lines: Iterator[Line]) -> None:
        try:
            for line in lines:
                self._line(line)
                if self._progress is not None:
                    self._progress.add(line.size)
            self._read_all(self._joiner.close())
        except KeyboardInterrupt:
            if not self._options.follow:
                raise
            rest = self._following.rest(self._last) if self._following is not None else None
            if rest is not None:
                self._line(rest)
            self._read_all(self._joiner.close())

    def _line(self, line: Line) -> None:
        self._last = line.number
        self._collector.add_line(line.size)
        self._read_all(self._joiner.add(line))

    def _read_all(self, lines: Sequence[Line]) -> None:
        for line in lines:
            for message in self._conversation.read(line):
                self._collector.add(message)
                if self._selection.wants(message):
                    if self._held is not None:
                        self._held.add(message)
                    else:
                        self._show(message)

    def _show(self, message: LogMessage) -> None:
        self._collector.statistics.shown += 1
        for view in self._views:
            view.show(message)

    def _show_last(self, held: LastMessages) -> None:
        """Show the messages held for `--last`; from now on, each one is shown at once."""
        self._held = None
        if held.is_short:
            self._note("fewer messages than --last asks for, since more would take too much memory")
        for message in held.take():
            self._show(message)

    def _idle(self) -> None:
        """Show everything, since a followed file has no more lines for now."""
        if self._held is not None:
            self._show_last(self._held)
        self._out.flush()

    def _refuse_empty(self) -> None:
        statistics = self._collector.statistics
        if not statistics.messages and not statistics.broken.number:
            what = "holds no messages, only blank lines or brackets" if statistics.bytes else "is empty"
            raise InspectError(f"{self._options.file}: {what}")

    def _warn(self) -> None:
        """Warn about methods in the options that are unknown."""
        for what in self._selection.unknown(self._collector.statistics.methods):
            if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]
                print(f"warning: {printable(what)}", file=sys.stderr, flush=True)

    def _lines(self) -> Iterator[Line]:
        """Open the log, so that errors come before any output, and return its lines."""
        options = self._options
        if options.file == "-":
            return self._guarded(self._of_stream(_standard_input()))
        path = Path(options.file)
        try:
            stream = path.open("rb")
            size = path.stat().st_size
        except (OSError, ValueError) as why:
            raise InspectError(_error_text(options.file, why)) from None
        if options.follow and path.is_file():  # a pipe ends only when it is closed
            stream.close()
            self._following = FileFollower(path, self._idle, self._changed)
            return self._guarded(self._following.lines())
        # Messages on the terminal show the progress themselves.
        if size >= LEAST and _is_terminal(sys.stderr) and (options.html is not None or not _is_terminal(self._out)):
            self._progress = Progress(sys.stderr, size)
        return self._guarded(self._of_stream(stream))

    def _of_stream(self, stream: BinaryIO) -> Iterator[Line]:
        with stream:
            for line in numbered(stream):
                yield line
                if self._options.follow:
                    self._out.flush()

    def _guarded(self, lines: Iterator[Line]) -> Iterator[Line]:
        """Turn errors of the input, and of nothing else, into `InspectError`."""
        try:
            for line in lines:
                if line.number == 1 and line.data is not None:
                    line.data = _first_line(line.data, self._options.file)
                yield line
        except OSError as why:
            raise InspectError(_error_text(self._options.file, why)) from None

    def _changed(self, what: str) -> None:
        self._read_all(self._joiner.close())
        self._note(what)

    def _note(self, what: str) -> None:
        for view in self._views:
            view.note(what)


def _first_line(data: bytes, file: str) -> bytes:
    """Check the first line for signs that a file is not UTF-8 text; remove its byte order mark."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InspectError(f"{file}: is text in UTF-16, not UTF-8 (hint: iconv -f UTF-16 -t UTF-8)")
    if data.startswith(b"\x1f\x8b"):
        raise InspectError(f"{file}: is compressed (hint: zcat, and - for FILE)")
    return data.removeprefix(b"\xef\xbb\xbf")


def _standard_input() -> BinaryIO:
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise InspectError("-: there is no standard input")
    return sys.stdin.buffer


def _standard_output() -> TextIO:
    """Prepare the standard output: characters that it cannot write become escapes."""
    stream: TextIO | None = sys.stdout
    if stream is None:
        raise InspectError("there is no standard output")
    reconfigure = getattr(stream, "reconfigure", None)  # a replacement in a test may lack it
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return stream


def _style(stream: TextIO, colour: str) -> Style:
    """Choose colours, characters and width for a stream."""
    terminal = _is_terminal(stream)
    wanted = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    width = shutil.get_terminal_size().columns if terminal else 0
    return Style(wanted if colour == "auto" else colour == "always", _writes(stream, "→⇢←⇠·…"), width)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _writes(stream: TextIO, text: str) -> bool:
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


def _error_text(file: str, why: Exception) -> str:
    return f"{file}: {(getattr(why, 'strerror', None) or str(why)).lower()}"
