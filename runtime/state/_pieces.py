"""Content of any schema as a few kinds of piece, for the exports."""

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct

from .._variants import enc_hook
from ._blocks import known_tag_of, tag_of, text_of
from ._diff import diff_of, one_line
from ._views import Entry, Snapshot, TerminalView, TurnView

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"})
"""The pictures that an export shows. SVG is none of them: it is a program as much as a picture."""
_LINK = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x20\x7f<>\"'`\\]+", re.IGNORECASE)


class Piece(Struct, frozen=True, kw_only=True):
    """A piece of content: `text` says it all where the kind is not shown in a way of its own.

    `uri` is the target of a link, or a picture as a data URI.
    """

    kind: Literal["text", "code", "diff", "image", "link", "note"]
    text: str
    title: str = ""
    uri: str | None = None


def piece_of(block: Any, snapshot: Snapshot) -> Piece:
    """Tell what a content block or a tool call's content shows; terminals are looked up in `snapshot`."""
    if (text := text_of(block)) is not None:
        return Piece(kind="text", text=text)
    match known_tag_of(block):
        case "content" if hasattr(block, "content"):
            return piece_of(block.content, snapshot)
        case "diff" if hasattr(block, "path") or hasattr(block, "changes"):
            return Piece(kind="diff", text=diff_of(block), title=one_line(str(getattr(block, "path", ""))))
        case "terminal" if hasattr(block, "terminal_id"):
            return _terminal(block.terminal_id, snapshot.terminal(block.terminal_id))
        case "image" if hasattr(block, "data"):
            return _image(block)
        case "audio" if hasattr(block, "mime_type"):
            return Piece(kind="note", text=f"audio, {one_line(block.mime_type)}")
        case "resource_link" if hasattr(block, "uri"):
            uri = block.uri if is_safe(block.uri) else None
            return Piece(kind="link", text=one_line(block.title or block.name), title=one_line(block.uri), uri=uri)
        case "resource" if hasattr(block, "resource"):
            return _resource(block.resource)
        case _:
            return Piece(kind="code", text=json_of(block), title=one_line(tag_of(block)))


def with_ends(snapshot: Snapshot, entries: Iterable[Entry]) -> Iterator[Entry | str]:
    """Give entries in order, and after each turn a remark on how it ended, unless that was as it should be."""
    turns = {turn.number: turn for turn in snapshot.turns}
    turn: TurnView | None = None
    for entry in entries:
        if turn is not None and entry.turn != turn.number:
            yield from _end(turn)
        turn = turns.get(entry.turn)
        yield entry
    if turn is not None:
        yield from _end(turn)


def _end(turn: TurnView) -> Iterator[str]:
    if turn.refused:
        yield "The agent refused this turn; nothing of it is part of what follows."
    elif turn.ended and turn.stop_reason not in ("end_turn", None):
        yield f"The turn ended: {turn.stop_reason}"


def is_safe(uri: str) -> bool:
    """Say whether a link may be followed: web and mail addresses alone."""
    return _LINK.fullmatch(uri) is not None


def json_of(value: Any) -> str:
    """Show any value of a message as indented JSON."""
    try:
        return msgspec.json.format(msgspec.json.encode(value, enc_hook=enc_hook)).decode()
    except RecursionError:
        return "nested too deeply to be shown"


def _image(block: Any) -> Piece:
    mime: str = block.mime_type.lower()
    try:
        data = b64encode(b64decode(block.data, validate=True)).decode() if mime in IMAGES else ""
    except (binascii.Error, ValueError):
        data = ""
    if not data:
        return Piece(kind="note", text=f"image, {one_line(block.mime_type)}")
    return Piece(kind="image", text="image", uri=f"data:{mime};base64,{data}")


def _resource(resource: Any) -> Piece:
    title = one_line(str(getattr(resource, "uri", "")))
    text = getattr(resource, "text", None)
    if isinstance(text, str):
        return Piece(kind="code", text=text, title=title)
    return Piece(kind="note", text=f"{title}: data that is no text")


def _terminal(terminal_id: str, terminal: TerminalView | None) -> Piece:
    if terminal is None:
        return Piece(kind="note", text=f"terminal {one_line(terminal_id)}")
    end = ""
    if terminal.exited:
        end = f" (exit code {terminal.exit_code})" if terminal.exit_code is not None else " (exited)"
        end = f" (ended by {terminal.signal})" if terminal.signal is not None else end
    title = one_line(f"$ {terminal.command}{end}" if terminal.command else f"terminal {terminal_id}{end}")
    return Piece(kind="code", text=terminal.output.decode("utf-8", "replace"), title=title)
