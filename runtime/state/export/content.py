"""Content of any schema in the few forms that the exports show."""

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..._build.unified_diff import unified_diff
from ..._types.printable import printable
from ..._types.variants import enc_hook
from .._blocks import known_tag_of, tag_of, text_of
from .._views import Entry, SessionMessageView, Snapshot, TerminalView, ToolCallView, TurnView
from .markdown_text import SCHEMES

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"})
"""The image types that an export shows. SVG is left out, since it can contain scripts."""
_LINK = re.compile(rf"{SCHEMES}[^\s\x00-\x20\x7f<>\"'`\\]++")


class DisplayItem(Struct, frozen=True, kw_only=True):
    """One item to show, in one of six forms.

    `text` is complete: an exporter may show it alone. `uri` is the target of a link, or an image as a data URI.
    """

    form: Literal["text", "code", "diff", "image", "link", "note"]
    text: str
    title: str = ""
    uri: str | None = None


class TerminalDisplay:
    """The terminals of a snapshot, for one export. Each is shown once, however often it is mentioned."""

    __slots__ = ("_remaining", "_shown")

    def __init__(self, snapshot: Snapshot) -> None:
        """Start with no terminal shown."""
        self._remaining = {terminal.terminal_id: terminal for terminal in snapshot.terminals}
        self._shown: set[str] = set()

    def show(self, terminal_id: str) -> DisplayItem:
        """Return the item for a terminal, or a note if it was shown before or is unknown."""
        terminal = self._remaining.pop(terminal_id, None)
        if terminal is None:
            again = ", shown above" if terminal_id in self._shown else ""
            return DisplayItem(form="note", text=f"terminal {printable(terminal_id)}{again}")
        self._shown.add(terminal_id)
        return terminal_item(terminal)

    def remaining(self) -> Iterator[TerminalView]:
        """Return the terminals that no content mentioned, in order."""
        yield from self._remaining.values()


def display_item(block: Any, terminals: TerminalDisplay) -> DisplayItem:
    """Return the item for a content block or for the content of a tool call."""
    if (text := text_of(block)) is not None:
        return DisplayItem(form="text", text=text)
    match known_tag_of(block):
        case "content" if hasattr(block, "content"):
            return display_item(block.content, terminals)
        case "diff" if hasattr(block, "path") or hasattr(block, "changes"):
            return DisplayItem(form="diff", text=_diff_text(block), title=printable(str(getattr(block, "path", ""))))
        case "terminal" if hasattr(block, "terminal_id"):
            return terminals.show(block.terminal_id)
        case "image" if hasattr(block, "data"):
            return _image(block)
        case "audio" if hasattr(block, "mime_type"):
            return DisplayItem(form="note", text=f"audio, {printable(block.mime_type)}")
        case "resource_link" if hasattr(block, "uri"):
            uri = block.uri if is_safe(block.uri) else None
            return DisplayItem(
                form="link", text=printable(block.title or block.name), title=printable(block.uri), uri=uri
            )
        case "resource" if hasattr(block, "resource"):
            return _resource(block.resource)
        case _:
            return DisplayItem(form="code", text=json_of(block), title=printable(tag_of(block)))


def raw_input_and_output(call: ToolCallView) -> tuple[str | None, str | None]:
    """Return the input and the output of a call as JSON, unless its content shows them already.

    The input is shown, since it is what runs, unless a diff says the same. The output is shown if there is no content.
    """
    has_diff = any(known_tag_of(content) == "diff" for content in call.content)
    shows_output = call.raw_output is not None and not call.content
    return (
        json_of(call.raw_input) if call.raw_input is not None and not has_diff else None,
        json_of(call.raw_output) if shows_output else None,
    )


def session_names(snapshot: Snapshot) -> dict[str, str]:
    """Return what to call sessions: subagents by their titles, and the session itself not at all."""
    names = {each.session_id: each.title or each.session_id for each in snapshot.subagents}
    return names if snapshot.session_id is None else {**names, snapshot.session_id: ""}


def between_sessions(message: SessionMessageView, names: Mapping[str, str]) -> str:
    """Return a heading for a message between sessions."""
    ends = (("from", message.sender_session_id), ("to", message.recipient_session_id))
    told = [f"{word} {name}" for word, key in ends if key is not None and (name := names.get(key, key))]
    return " ".join(["Message", *told]) if told else "Message between sessions"


def with_turn_ends(snapshot: Snapshot, entries: Iterable[Entry]) -> Iterator[Entry | str]:
    """Yield entries in order, and after each turn a remark if it was refused or ended early."""
    turns = {turn.number: turn for turn in snapshot.turns}
    turn: TurnView | None = None
    for entry in entries:
        if turn is not None and entry.turn != turn.number:
            yield from _end_remark(turn)
        turn = turns.get(entry.turn)
        yield entry
    if turn is not None:
        yield from _end_remark(turn)


def _end_remark(turn: TurnView) -> Iterator[str]:
    if turn.refused:
        yield "The agent refused this turn; it is not part of the later context."
    elif turn.ended and turn.stop_reason not in ("end_turn", None):
        yield f"The turn ended: {turn.stop_reason}"


def is_safe(uri: str) -> bool:
    """Return whether a link is safe to follow: a web or mail address without hidden characters."""
    return _LINK.fullmatch(uri) is not None and printable(uri) == uri


def json_of(value: Any) -> str:
    """Return any value of a message as indented JSON, or the reason why that fails."""
    try:
        return msgspec.json.format(msgspec.json.encode(value, enc_hook=enc_hook)).decode()
    except RecursionError:
        return "nested too deeply to be shown"
    except (ValueError, OverflowError, TypeError, msgspec.MsgspecError) as why:
        return f"cannot be shown: {why}"


def terminal_item(terminal: TerminalView) -> DisplayItem:
    """Return the item for a terminal: its command, how it ended, and its output."""
    end = ""
    if terminal.exited:
        end = f" (exit code {terminal.exit_code})" if terminal.exit_code is not None else " (exited)"
        end = f" (ended by {terminal.signal})" if terminal.signal is not None else end
    end += " (the beginning of the output is left out)" if terminal.truncated else ""
    title = printable(f"$ {terminal.command}{end}" if terminal.command else f"terminal {terminal.terminal_id}{end}")
    return DisplayItem(form="code", text=terminal.output.decode("utf-8", "replace"), title=title)


def _diff_text(content: Any) -> str:
    """Return the diff of a tool call's content, in the form of either protocol version."""
    if hasattr(content, "new_text"):
        return unified_diff(content.path, content.old_text, content.new_text)
    if (patch := getattr(content, "patch", None)) is not None:
        return str(patch.text)
    return "".join(f"{_change_text(change)}\n" for change in content.changes)


def _change_text(change: Any) -> str:
    paths = [getattr(change, "old_path", None), getattr(change, "path", None)]
    operation = getattr(change, "operation", "change")
    return printable(f"{operation} {' -> '.join(str(path) for path in paths if path is not None)}")


def _image(block: Any) -> DisplayItem:
    mime: str = block.mime_type.lower()
    try:
        data = b64encode(b64decode(block.data, validate=True)).decode() if mime in IMAGES else ""
    except (binascii.Error, ValueError):
        data = ""
    if not data:
        return DisplayItem(form="note", text=f"image, {printable(block.mime_type)}")
    return DisplayItem(form="image", text="image", uri=f"data:{mime};base64,{data}")


def _resource(resource: Any) -> DisplayItem:
    title = printable(str(getattr(resource, "uri", "")))
    text = getattr(resource, "text", None)
    if isinstance(text, str):
        return DisplayItem(form="code", text=text, title=title)
    return DisplayItem(form="note", text=f"{title}: data that is not text")
