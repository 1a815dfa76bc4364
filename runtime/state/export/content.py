"""Content of any schema as a few kinds of piece, for the exports."""

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..._types.printable import printable
from ..._types.variants import enc_hook
from .._blocks import known_tag_of, tag_of, text_of
from .._diff import diff_of
from .._views import Entry, Snapshot, TerminalView, ToolCallView, TurnView
from .markdown_text import SCHEMES

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"})
"""The pictures that an export shows. SVG is none of them: it is a program as much as a picture."""
_LINK = re.compile(rf"{SCHEMES}[^\s\x00-\x20\x7f<>\"'`\\]++")


class Piece(Struct, frozen=True, kw_only=True):
    """A piece of content: `text` says it all where the kind is not shown in a way of its own.

    `uri` is the target of a link, or a picture as a data URI.
    """

    kind: Literal["text", "code", "diff", "image", "link", "note"]
    text: str
    title: str = ""
    uri: str | None = None


class Screens:
    """The terminals of a snapshot, for one export. The output of each is shown once, however often it is mentioned."""

    __slots__ = ("_left", "_shown")

    def __init__(self, snapshot: Snapshot) -> None:
        """Begin with none shown."""
        self._left = {terminal.terminal_id: terminal for terminal in snapshot.terminals}
        self._shown: set[str] = set()

    def show(self, terminal_id: str) -> Piece:
        """Show a terminal, or say that it was shown before or is not known."""
        terminal = self._left.pop(terminal_id, None)
        if terminal is None:
            again = ", shown above" if terminal_id in self._shown else ""
            return Piece(kind="note", text=f"terminal {printable(terminal_id)}{again}")
        self._shown.add(terminal_id)
        return terminal_piece(terminal)

    def rest(self) -> Iterator[TerminalView]:
        """Give the terminals that nothing mentioned, in order."""
        yield from self._left.values()


def piece_of(block: Any, screens: Screens) -> Piece:
    """Tell what a content block or a tool call's content shows; terminals are taken from `screens`."""
    if (text := text_of(block)) is not None:
        return Piece(kind="text", text=text)
    match known_tag_of(block):
        case "content" if hasattr(block, "content"):
            return piece_of(block.content, screens)
        case "diff" if hasattr(block, "path") or hasattr(block, "changes"):
            return Piece(kind="diff", text=diff_of(block), title=printable(str(getattr(block, "path", ""))))
        case "terminal" if hasattr(block, "terminal_id"):
            return screens.show(block.terminal_id)
        case "image" if hasattr(block, "data"):
            return _image(block)
        case "audio" if hasattr(block, "mime_type"):
            return Piece(kind="note", text=f"audio, {printable(block.mime_type)}")
        case "resource_link" if hasattr(block, "uri"):
            uri = block.uri if is_safe(block.uri) else None
            return Piece(kind="link", text=printable(block.title or block.name), title=printable(block.uri), uri=uri)
        case "resource" if hasattr(block, "resource"):
            return _resource(block.resource)
        case _:
            return Piece(kind="code", text=json_of(block), title=printable(tag_of(block)))


def raw_parts(call: ToolCallView) -> tuple[str | None, str | None]:
    """Give the input and the output of a call as JSON, as far as its content does not show them.

    The input is what is run, and so is shown beside any content but a diff, which says the same. The output is shown
    where there is no content.
    """
    has_diff = any(known_tag_of(content) == "diff" for content in call.content)
    shows_output = call.raw_output is not None and not call.content
    return (
        json_of(call.raw_input) if call.raw_input is not None and not has_diff else None,
        json_of(call.raw_output) if shows_output else None,
    )


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
    """Say whether a link may be followed: web and mail addresses alone, in which nothing is hidden."""
    return _LINK.fullmatch(uri) is not None and printable(uri) == uri


def json_of(value: Any) -> str:
    """Show any value of a message as indented JSON."""
    try:
        return msgspec.json.format(msgspec.json.encode(value, enc_hook=enc_hook)).decode()
    except RecursionError:
        return "nested too deeply to be shown"
    except (ValueError, OverflowError, TypeError, msgspec.MsgspecError) as why:
        return f"cannot be shown: {why}"


def terminal_piece(terminal: TerminalView) -> Piece:
    """Show a terminal: its command, how it ended, and what it printed."""
    end = ""
    if terminal.exited:
        end = f" (exit code {terminal.exit_code})" if terminal.exit_code is not None else " (exited)"
        end = f" (ended by {terminal.signal})" if terminal.signal is not None else end
    end += " (the beginning of the output is left out)" if terminal.truncated else ""
    title = printable(f"$ {terminal.command}{end}" if terminal.command else f"terminal {terminal.terminal_id}{end}")
    return Piece(kind="code", text=terminal.output.decode("utf-8", "replace"), title=title)


def _image(block: Any) -> Piece:
    mime: str = block.mime_type.lower()
    try:
        data = b64encode(b64decode(block.data, validate=True)).decode() if mime in IMAGES else ""
    except (binascii.Error, ValueError):
        data = ""
    if not data:
        return Piece(kind="note", text=f"image, {printable(block.mime_type)}")
    return Piece(kind="image", text="image", uri=f"data:{mime};base64,{data}")


def _resource(resource: Any) -> Piece:
    title = printable(str(getattr(resource, "uri", "")))
    text = getattr(resource, "text", None)
    if isinstance(text, str):
        return Piece(kind="code", text=text, title=title)
    return Piece(kind="note", text=f"{title}: data that is no text")
