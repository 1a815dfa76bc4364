"""A log for programs: one JSON object per line, distinguished by `type`; the last one is the summary.

`message`, for each message and each broken line:

    line, part      line number, from 1; index in a batch, from 0, or null
    time, seconds   the time as in the log, and in seconds (since 1970, midnight, or the start of a program), or null
    from            the sender: "client", "agent", or null if unknown
    kind            "request", "notification", "response", "error" (an error response), "invalid" (JSON that is not a
                    message), "broken" (not JSON)
    method          the method, for a response that of its request, or null
    id              the JSON-RPC id, or null
    session         the session id, or null
    size            size in bytes
    summary         a short text about the content
    request_line    for a response, the line of its request, or null
    latency         for a response, the seconds since its request, or null
    schema          the label of the schema that the message was decoded with
    repairs         list of objects: path, action ("default", "dropped"), error
    unknown         list of objects: path, what
    undeclared      list of the paths of undeclared keys; left out if empty
    problem         null, or why the message could not be decoded: message, path, code

`note`, for events of the log file itself: `text`.

`summary`: the fields of `Statistics`, and `fine`: whether there were no invalid messages and no broken lines.
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from ..._types.printable import printable
from .log_message import LogMessage
from .statistics import Statistics
from .summaries import summary

_encode = msgspec.json.Encoder().encode
_BEYOND_ASCII = re.compile("[^\x00-\x7e]")


class Repair(Struct):
    """A repair of an invalid value."""

    path: str
    action: str
    error: str


class Unknown(Struct):
    """A part that the schema does not know."""

    path: str
    what: str


class Message(Struct, tag_field="type", tag="message"):
    """One message, as written."""

    line: int
    part: int | None
    time: str | None
    seconds: float | None
    sender: str | None = field(name="from")
    kind: str
    method: str | None
    id: Any
    session: str | None
    size: int
    summary: str
    request_line: int | None
    latency: float | None
    schema: str | None
    repairs: list[Repair]
    unknown: list[Unknown]
    problem: Any
    undeclared: list[str] | UnsetType = UNSET


class JsonView:
    """Writes JSON lines; `write` gets each line with its line end.

    Control characters are written as JSON escapes, and with `ascii_only` all characters beyond ASCII.
    """

    def __init__(self, write: Callable[[str], object], *, ascii_only: bool = False) -> None:
        """Store where to write."""
        self._write = write
        self._ascii_only = ascii_only

    def show(self, message: LogMessage) -> None:
        """Write one message."""
        moment = message.moment
        self._line(
            Message(
                line=message.line,
                part=message.part,
                time=moment.text if moment is not None else None,
                seconds=moment.seconds if moment is not None else None,
                sender=message.sender,
                kind=message.kind,
                method=message.method,
                id=None if message.id is UNSET else message.id,
                session=message.session,
                size=message.size,
                summary=summary(message),
                request_line=message.request.line if message.request is not None else None,
                latency=message.latency,
                schema=message.label or None,
                repairs=[Repair(r.path, r.action, r.error) for r in message.repairs],
                unknown=[Unknown(path, what) for path, what in message.unknown],
                problem=message.problem,
                undeclared=[path for path, _ in message.undeclared] or UNSET,
            )
        )

    def note(self, what: str) -> None:
        """Write a remark about the log itself."""
        self._line({"type": "note", "text": what})

    def close(self, statistics: Statistics) -> None:
        """Write the summary."""
        self._line({"type": "summary", "fine": statistics.is_fine, **msgspec.to_builtins(statistics)})

    def _line(self, value: Any) -> None:
        text = _encode(value).decode()
        if self._ascii_only or printable(text) != text:
            text = _BEYOND_ASCII.sub(self._escaped, text)
        self._write(text + "\n")

    def _escaped(self, match: re.Match[str]) -> str:
        """Return a character as an escape of a JSON string."""
        if not self._ascii_only and printable(match[0]) == match[0]:
            return match[0]
        units = match[0].encode("utf-16-be")
        return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
