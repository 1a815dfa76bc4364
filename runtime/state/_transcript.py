"""Transcripts: what went over the wire in both directions, one JSON object a line.

A line is `{"ts": …, "dir": …, "message": …}`: when it was recorded, as in ISO 8601 with a time zone; who sent it,
`client` or `agent`; and the JSON-RPC message as it was. What was no JSON is kept as a JSON string.
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


class Sink(Protocol):
    """Where lines go: a binary file, a socket's file, a buffer."""

    def write(self, data: bytes, /) -> object:
        """Take all of `data`."""
        ...

    def flush(self) -> object:
        """Pass it on."""
        ...


class TranscriptWriter:
    """Writes a transcript, one flushed line for each message.

    `target` is a path, whose file is made or added to, or a binary stream, which stays open. A last line that was cut
    off, as by a crash, is ended first. `clock` gives the time.

    Raises `OSError` where the file cannot be opened or written.
    """

    def __init__(self, target: str | os.PathLike[str] | Sink, *, clock: Callable[[], datetime] | None = None) -> None:
        """Open the file, if it is one."""
        self._clock = clock or (lambda: datetime.now(UTC))
        self._file: BinaryIO | None = None
        if isinstance(target, str | os.PathLike):
            self._file = _open(Path(target))
            self._sink: Sink = self._file
        else:
            self._sink = target

    def write(self, sender: Sender, message: object, /) -> None:
        """Add a message: JSON as bytes or text, or an object that is yet to be encoded."""
        line = _Line(ts=self._clock().isoformat(), dir=sender, message=_raw(message))
        self._sink.write(msgspec.json.encode(line) + b"\n")
        self._sink.flush()

    def hook(self, own: Sender, /) -> Callable[[Literal["in", "out"], bytes], None]:
        """Make the `on_message` hook of a connection whose own end is a client or an agent."""
        peer: Sender = "agent" if own == "client" else "client"
        return lambda direction, message: self.write(own if direction == "out" else peer, message)

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        """Use as a context manager."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()


class Recorded(Struct, frozen=True, kw_only=True):
    """A message of a transcript: the number of its line from 1, when it was recorded, who sent it, and its JSON."""

    number: int
    ts: str
    sender: Sender
    message: Raw


class BrokenLine(Struct, frozen=True, kw_only=True):
    """A line that cannot be read, or holds a message that cannot, and why. `number` counts lines from 1."""

    number: int
    problem: str


def replay(source: str | os.PathLike[str] | Iterable[bytes | str], /) -> Iterator[Recorded | BrokenLine]:
    """Read a transcript from a path or from its lines, in order; empty lines are left out.

    Raises `OSError` where the file cannot be read; a bad line is told of, and the next one comes.
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
    # A message may be spread over lines; the newlines of its texts are escaped.
    return Raw(data.replace(b"\n", b" ").replace(b"\r", b" "))


def _bytes(message: Any) -> bytes:
    if isinstance(message, str):
        return message.encode("utf-8", "backslashreplace")
    if isinstance(message, bytes | bytearray | memoryview | Raw):
        return bytes(message)  # pyright: ignore[reportUnknownArgumentType] # a memoryview of whatever
    return msgspec.json.encode(message, enc_hook=enc_hook)
