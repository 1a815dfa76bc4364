"""Transcripts: the messages of both directions, one JSON object per line.

A line is `{"ts": …, "dir": …, "message": …}`: the time in ISO 8601 with a time zone, the sender (`client` or `agent`),
and the JSON-RPC message as it was. Invalid JSON is kept as a JSON string.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Protocol, Self, TypeAlias

import msgspec
from msgspec import DecodeError, Raw, Struct

from .._types.variants import enc_hook

Sender: TypeAlias = Literal["client", "agent"]
_SYNTAX = msgspec.json.Decoder(Raw)


class BinaryOutput(Protocol):
    """A destination of lines: a binary file, the file of a socket, a buffer."""

    def write(self, data: bytes, /) -> object:
        """Write all of `data`."""
        ...

    def flush(self) -> object:
        """Flush it."""
        ...


class TranscriptWriter:
    """Writes a transcript, one flushed line per message.

    `target` is a path, whose file is created or appended to, or a binary stream, which stays open. If a crash has cut
    off the last line of the file, it is ended first. `clock` returns the time.

    Raises `OSError` if the file cannot be opened or written.
    """

    def __init__(
        self, target: str | os.PathLike[str] | BinaryOutput, *, clock: Callable[[], datetime] | None = None
    ) -> None:
        """Open the file if `target` is a path."""
        self._clock = clock or (lambda: datetime.now(UTC))
        self._file: BinaryIO | None = None
        if isinstance(target, str | os.PathLike):
            self._file = _open(Path(target))
            self._output: BinaryOutput = self._file
        else:
            self._output = target

    def write(self, sender: Sender, message: object, /) -> None:
        """Append a message: JSON as bytes or text, or an object to encode."""
        line = _Line(ts=self._clock().isoformat(), dir=sender, message=_raw(message))
        self._output.write(msgspec.json.encode(line) + b"\n")
        self._output.flush()

    def hook(self, own: Sender, /) -> Callable[[Literal["in", "out"], bytes], None]:
        """Return an `on_message` hook for a connection; `own` is the role of its own end."""
        peer: Sender = "agent" if own == "client" else "client"
        return lambda direction, message: self.write(own if direction == "out" else peer, message)

    def close(self) -> None:
        """Close the file if `target` was a path."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()


class Recorded(Struct, frozen=True, kw_only=True):
    """A message of a transcript: its line number from 1, the time, the sender, and its JSON."""

    number: int
    ts: str
    sender: Sender
    message: Raw


class BrokenLine(Struct, frozen=True, kw_only=True):
    """A line that cannot be read, or whose message cannot, and the reason. `number` counts lines from 1."""

    number: int
    problem: str


def replay(source: str | os.PathLike[str] | Iterable[bytes | str], /) -> Iterator[Recorded | BrokenLine]:
    """Read a transcript from a path or from its lines, in order. Empty lines are skipped.

    A line that cannot be read gives a `BrokenLine`, and reading continues. Raises `OSError` if the file cannot be read.
    """
    if isinstance(source, str | os.PathLike):
        with Path(source).open("rb") as file:
            yield from _read(file)
    else:
        yield from _read(source)


class _Line(Struct):
    ts: str
    dir: Sender
    message: Raw


_LINES = msgspec.json.Decoder(_Line)


def _read(lines: Iterable[bytes | str]) -> Iterator[Recorded | BrokenLine]:
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = _LINES.decode(text)
        except (DecodeError, UnicodeError, RecursionError) as why:
            yield BrokenLine(number=number, problem=str(why))
        else:
            yield Recorded(number=number, ts=line.ts, sender=line.dir, message=line.message.copy())


def _open(path: Path) -> BinaryIO:
    file = path.open("a+b")
    if file.seek(0, os.SEEK_END):
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")
    return file


def _raw(message: object) -> Raw:
    data = _bytes(message)
    try:
        data.decode()
        _SYNTAX.decode(data)
    except (DecodeError, UnicodeError, RecursionError):
        return Raw(msgspec.json.encode(data.decode("utf-8", "backslashreplace")))
    # JSON may span lines; newlines within its strings are escaped.
    return Raw(data.replace(b"\n", b" ").replace(b"\r", b" "))


def _bytes(message: Any) -> bytes:
    if isinstance(message, str):
        return message.encode("utf-8", "backslashreplace")
    if isinstance(message, bytes | bytearray | memoryview | Raw):
        return bytes(message)  # pyright: ignore[reportUnknownArgumentType] # a memoryview of any item type
    return msgspec.json.encode(message, enc_hook=enc_hook)
