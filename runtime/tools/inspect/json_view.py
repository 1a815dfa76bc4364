"""A log for programs: one JSON object a line, told apart by `type`; the last one is the summary.

`message`, for each message or broken line:

    line, part      where it stands: the number of the line, from 1, and the place in a batch, from 0, or null
    time, seconds   the time as the log has it, and in seconds (since 1970, midnight, or a start), or null
    from            "client", "agent", or null where that cannot be told
    kind            "request", "notification", "response", "error" (a response that refuses), "invalid" (JSON that is
                    no message), "broken" (no JSON)
    method          for a response that of its request; null where unknown
    id              that of JSON-RPC, or null
    session         the session that it belongs to, or null
    size            in bytes
    summary         what it says, in some words
    request_line    for a response the line of its request, or null
    latency         for a response the seconds since its request, or null
    schema          the label of the schema that it was read with
    repairs         a list of path, action ("default", "dropped"), error
    unknown         a list of path, what
    undeclared      a list of the paths of keys that the schema does not declare; not there where it would be empty
    problem         null, or why it could not be read: message, path, code

`note`, for what happens to the log itself: `text`.

`summary`: the fields of `Totals`, with `fine`: whether there was neither an unfit message nor a broken line.
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from ..._types.printable import printable
from .conversation import Seen
from .statistics import Totals
from .summaries import summary

_encode = msgspec.json.Encoder().encode
_BEYOND_ASCII = re.compile("[^\x00-\x7e]")


class Repair(Struct):
    """One repair."""

    path: str
    action: str
    error: str


class Unknown(Struct):
    """One unknown part."""

    path: str
    what: str


class Message(Struct, tag_field="type", tag="message"):
    """One message, as it is written."""

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
    """Writes JSON lines; `write` takes them with their ends.

    Characters that a terminal obeys are JSON escapes, and with `ascii_only` all beyond ASCII.
    """

    def __init__(self, write: Callable[[str], object], *, ascii_only: bool = False) -> None:
        """Keep where to write."""
        self._write = write
        self._ascii_only = ascii_only

    def show(self, seen: Seen) -> None:
        """Write one message."""
        moment = seen.moment
        self._line(
            Message(
                line=seen.line,
                part=seen.part,
                time=moment.text if moment is not None else None,
                seconds=moment.seconds if moment is not None else None,
                sender=seen.sender,
                kind=seen.kind,
                method=seen.method,
                id=None if seen.id is UNSET else seen.id,
                session=seen.session,
                size=seen.size,
                summary=summary(seen),
                request_line=seen.asked.line if seen.asked is not None else None,
                latency=seen.latency,
                schema=seen.label or None,
                repairs=[Repair(r.path, r.action, r.error) for r in seen.repairs],
                unknown=[Unknown(path, what) for path, what in seen.unknown],
                problem=seen.problem,
                undeclared=[path for path, _ in seen.undeclared] or UNSET,
            )
        )

    def note(self, what: str) -> None:
        """Write a remark on the log itself."""
        self._line({"type": "note", "text": what})

    def close(self, totals: Totals) -> None:
        """Write the summary."""
        self._line({"type": "summary", "fine": totals.is_fine, **msgspec.to_builtins(totals)})

    def _line(self, value: Any) -> None:
        text = _encode(value).decode()
        if self._ascii_only or printable(text) != text:
            text = _BEYOND_ASCII.sub(self._escaped, text)
        self._write(text + "\n")

    def _escaped(self, match: re.Match[str]) -> str:
        """Write a character within a JSON string as JSON does."""
        if not self._ascii_only and printable(match[0]) == match[0]:
            return match[0]
        units = match[0].encode("utf-16-be")
        return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
