"""The rows of the page: one per message, and one per group of chunks of the same text."""

import msgspec
from msgspec import UNSET

from .call_history import CallHistory
from .clock import format_duration
from .diffs import FileDiff, diffs_of
from .formatting import escape_line, escape_lines, format_id, format_size, shorten
from .log_message import LogMessage
from .summaries import summary

_MAX_JSON = 20_000  # characters of one message's JSON
_MAX_TEXT = 20_000  # characters of a joined text
_MAX_FINDINGS = 50  # findings of one kind in one row
_CHUNKS = {
    "user_message_chunk": "user message",
    "agent_message_chunk": "agent message",
    "agent_thought_chunk": "agent thought",
}


def row(message: LogMessage, call: CallHistory | None, *, whole: bool) -> str:
    """Return the row of a message; `whole` includes its JSON."""
    flags = _flags(message)
    attributes = {
        "kind": "broken" if message.kind in ("broken", "invalid") else message.kind,
        "from": message.sender or "",
        "flag": " ".join(flags),
        "session": message.session_name if message.session is not None else "",
    }
    data = " ".join(f'data-{name}="{escape_line(value)}"' for name, value in attributes.items())
    diffs = "".join(map(_diff, diffs_of(message)))
    anchor = f' id="l{message.line}"' if not message.part else ""
    return (
        f'<details class="row {attributes["kind"]} {message.sender or "nobody"}"{anchor} {data}>\n'
        f"<summary>{_head(message, flags)}</summary>\n"
        f'<div class="body">{_details(message, call)}{_findings(message)}{diffs}{_json(message, whole=whole)}</div>\n'
        "</details>\n"
    )


def _flags(message: LogMessage) -> list[str]:
    found = {
        "problem": message.problem is not None,
        "repair": bool(message.repairs),
        "unknown": bool(message.unknown or message.undeclared) or message.is_unpaired,
    }
    return [flag for flag, is_so in found.items() if is_so]


def _head(message: LogMessage, flags: list[str]) -> str:
    place = str(message.line) if message.part is None else f"{message.line}[{message.part}]"
    time = message.moment.shown if message.moment is not None else ""
    name = {"broken": "broken line", "invalid": "not a message"}.get(
        message.kind, shorten(message.method or "response", 60)
    )
    label = f"<b>{escape_line(name)}</b>"
    if message.id is not UNSET:
        label += f" <i>{escape_line(format_id(message.id))}</i>"
    if message.kind == "error":
        label += ' <span class="tag failed">error</span>'
    took = f'<span class="took">{format_duration(message.latency)}</span>' if message.latency is not None else ""
    tags = "".join(f'<span class="tag {flag}">{flag}</span>' for flag in flags)
    return head(place, time, f'{label} <span class="what">{escape_line(summary(message))}</span>', f"{took}{tags}")


def head(place: str, time: str, label: str, side: str) -> str:
    """Return the line of a row that is always visible."""
    return (
        f'<span class="no">{place}</span><span class="time">{escape_line(time)}</span>'
        f'<span class="lane"><span class="label">{label}</span><span class="arrow"></span></span>'
        f'<span class="side">{side}</span>'
    )


def _details(message: LogMessage, call: CallHistory | None) -> str:
    details = [format_size(message.size)]
    if message.label:
        details.append(f"read as {escape_line(message.label)}")
    if message.session is not None:
        details.append(f"session <code>{escape_line(shorten(message.session_name, 60))}</code>")
    if message.request is not None:
        details.append(f'answers <a href="#l{message.request.line}">line {message.request.line}</a>')
    if call is not None:
        details.append(f"tool call <code>{escape_line(call.id)}</code>")
    return f'<p class="links">{" · ".join(details)}</p>'


def _findings(message: LogMessage) -> str:
    items: list[tuple[str, str, str]] = []
    if message.problem is not None:
        items.append(("problem", message.problem.path, message.problem.message))
    for repair in message.repairs[:_MAX_FINDINGS]:
        done = "default taken" if repair.action == "default" else "item dropped"
        items.append(("repair", repair.path, f"{done}: {repair.error}"))
    items += [("unknown", path, what) for path, what in message.unknown[:_MAX_FINDINGS]]
    items += [("unknown", path, "undeclared key") for path, _ in message.undeclared[:_MAX_FINDINGS]]
    left_out = sum(
        max(len(found) - _MAX_FINDINGS, 0) for found in (message.repairs, message.unknown, message.undeclared)
    )
    if left_out:
        items.append(("unknown", "", f"and {left_out:,} more"))
    if message.is_unpaired:
        items.append(("unknown", "$.id", "answers no request of this log"))
    rows = (
        f'<li><span class="tag {flag}">{flag}</span> <code>{escape_line(path)}</code> {escape_line(what)}</li>'
        for flag, path, what in items
    )
    return f'<ul class="findings">{"".join(rows)}</ul>' if items else ""


def _diff(diff: FileDiff) -> str:
    names = {"+": "add", "-": "del", " ": "same", "@": "hunk"}
    lines = "".join(
        f'<span class="{names[mark]}">{escape_line((mark if mark != "@" else "") + text.expandtabs(4))}\n</span>'
        for mark, text in diff.lines
    )
    more = f'<span class="hunk">… {diff.left_out:,} more lines\n</span>' if diff.left_out else ""
    counts = f"<ins>+{diff.added:,}</ins> <del>\u2212{diff.removed:,}</del>"
    return (
        f'<figure class="diff"><figcaption><code>{escape_line(diff.path)}</code> {counts}</figcaption>'
        f"<pre>{lines}{more}</pre></figure>"
    )


def _json(message: LogMessage, *, whole: bool) -> str:
    if not whole:
        return '<p class="cut">The JSON was left out to keep the page usable.</p>'
    raw, left_out = message.raw, 0
    try:
        text = msgspec.json.format(raw, indent=2).decode()
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        text = raw[: _MAX_JSON * 4].decode("utf-8", "backslashreplace")
    if len(text) > _MAX_JSON:
        text, left_out = text[:_MAX_JSON], len(text) - _MAX_JSON
    cut = f'<p class="cut">… and {left_out:,} more characters</p>' if left_out else ""
    return f'<pre class="json">{escape_lines(text)}</pre>{cut}'


def chunk_key(message: LogMessage) -> tuple[str, str, str] | None:
    """Return a key that is equal for chunks of the same text; None for other messages."""
    update = getattr(getattr(message.decoded, "params", None), "update", None)
    tag = str(getattr(update, "session_update", ""))
    content = getattr(update, "content", None)
    if tag not in _CHUNKS or getattr(content, "type", None) != "text" or _flags(message):
        return None
    return tag, message.session_name, str(getattr(update, "message_id", "") or "")


def chunk_text(message: LogMessage) -> str:
    """Return the text of a chunk."""
    text: str = message.decoded.params.update.content.text
    return text


class ChunkGroup:
    """Successive chunks of one text: a row that contains their rows."""

    def __init__(self, key: tuple[str, str, str], first: LogMessage) -> None:
        """Start without chunks; `first` is the message of the first one."""
        self.key = key
        self._first = first
        self._rows: list[str] = []
        self._text = ""

    def add(self, made: str, text: str) -> None:
        """Add the row of a chunk, and its text."""
        self._rows.append(made)
        if len(self._text) < _MAX_TEXT:
            self._text += text

    def html(self) -> str:
        """Return the row of the group."""
        if len(self._rows) == 1:
            return self._rows[0]
        message = self._first
        time = message.moment.shown if message.moment is not None else ""
        label = f'<b>{_CHUNKS[self.key[0]]}</b> <span class="what">{escape_line(shorten(self._text, 300))}</span>'
        side = f'<span class="tag">{len(self._rows)} chunks</span>'
        return (
            f'<details class="row run {message.sender or "nobody"}">\n'
            f"<summary>{head(str(message.line), time, label, side)}</summary>\n"
            f'<div class="body"><p class="said">{escape_lines(self._text)}</p></div>\n'
            f'<div class="chunks">{"".join(self._rows)}</div>\n</details>\n'
        )
