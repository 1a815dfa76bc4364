"""Messages as rows of a page's diagram."""

import msgspec
from msgspec import UNSET

from .call_history import Call
from .clock import lasting
from .conversation import Seen
from .diffs import FileDiff, diffs_of
from .formatting import brief, identified, markup, markup_lines, sized
from .summaries import summary

_LONGEST = 20_000  # characters of one message's JSON
_LONGEST_TEXT = 20_000  # characters of a text that was put together
_MOST = 50  # findings of one kind in one row
_CHUNKS = {
    "user_message_chunk": "user message",
    "agent_message_chunk": "agent message",
    "agent_thought_chunk": "agent thought",
}


def row(seen: Seen, call: Call | None, *, whole: bool) -> str:
    """Make the row of a message; `whole` says whether its JSON is in it."""
    flags = _flags(seen)
    attributes = {
        "kind": "broken" if seen.kind in ("broken", "invalid") else seen.kind,
        "from": seen.sender or "",
        "flag": " ".join(flags),
        "session": seen.session_name if seen.session is not None else "",
    }
    data = " ".join(f'data-{name}="{markup(value)}"' for name, value in attributes.items())
    diffs = "".join(map(_diff, diffs_of(seen)))
    anchor = f' id="l{seen.line}"' if not seen.part else ""
    return (
        f'<details class="row {attributes["kind"]} {seen.sender or "nobody"}"{anchor} {data}>\n'
        f"<summary>{_head(seen, flags)}</summary>\n"
        f'<div class="body">{_links(seen, call)}{_findings(seen)}{diffs}{_json(seen, whole=whole)}</div>\n'
        "</details>\n"
    )


def _flags(seen: Seen) -> list[str]:
    unpaired = seen.is_answer and seen.asked is None
    found = {
        "problem": seen.problem is not None,
        "repair": bool(seen.repairs),
        "unknown": bool(seen.unknown or seen.undeclared) or unpaired,
    }
    return [flag for flag, is_so in found.items() if is_so]


def _head(seen: Seen, flags: list[str]) -> str:
    place = str(seen.line) if seen.part is None else f"{seen.line}[{seen.part}]"
    time = seen.moment.shown if seen.moment is not None else ""
    name = {"broken": "broken line", "invalid": "no message"}.get(seen.kind, brief(seen.method or "response", 60))
    label = f"<b>{markup(name)}</b>"
    if seen.id is not UNSET:
        label += f" <i>{markup(identified(seen.id))}</i>"
    if seen.kind == "error":
        label += ' <span class="tag failed">error</span>'
    took = f'<span class="took">{lasting(seen.latency)}</span>' if seen.latency is not None else ""
    tags = "".join(f'<span class="tag {flag}">{flag}</span>' for flag in flags)
    return head(place, time, f'{label} <span class="what">{markup(summary(seen))}</span>', f"{took}{tags}")


def head(place: str, time: str, label: str, side: str) -> str:
    """Lay a row's visible line out."""
    return (
        f'<span class="no">{place}</span><span class="time">{markup(time)}</span>'
        f'<span class="lane"><span class="label">{label}</span><span class="arrow"></span></span>'
        f'<span class="side">{side}</span>'
    )


def _links(seen: Seen, call: Call | None) -> str:
    facts = [sized(seen.size)]
    if seen.label:
        facts.append(f"read as {markup(seen.label)}")
    if seen.session is not None:
        facts.append(f"session <code>{markup(brief(seen.session_name, 60))}</code>")
    if seen.asked is not None:
        facts.append(f'answers <a href="#l{seen.asked.line}">line {seen.asked.line}</a>')
    if call is not None:
        facts.append(f"tool call <code>{markup(call.id)}</code>")
    return f'<p class="links">{" · ".join(facts)}</p>'


def _findings(seen: Seen) -> str:
    items: list[tuple[str, str, str]] = []
    if seen.problem is not None:
        items.append(("problem", seen.problem.path, seen.problem.message))
    for repair in seen.repairs[:_MOST]:
        done = "default taken" if repair.action == "default" else "item dropped"
        items.append(("repair", repair.path, f"{done}: {repair.error}"))
    items += [("unknown", path, what) for path, what in seen.unknown[:_MOST]]
    items += [("unknown", path, "undeclared key") for path, _ in seen.undeclared[:_MOST]]
    left_out = sum(max(len(found) - _MOST, 0) for found in (seen.repairs, seen.unknown, seen.undeclared))
    if left_out:
        items.append(("unknown", "", f"and {left_out:,} more"))
    if seen.is_answer and seen.asked is None:
        items.append(("unknown", "$.id", "answers no request that was seen"))
    rows = (
        f'<li><span class="tag {flag}">{flag}</span> <code>{markup(path)}</code> {markup(what)}</li>'
        for flag, path, what in items
    )
    return f'<ul class="findings">{"".join(rows)}</ul>' if items else ""


def _diff(diff: FileDiff) -> str:
    names = {"+": "add", "-": "del", " ": "same", "@": "hunk"}
    lines = "".join(
        f'<span class="{names[mark]}">{markup((mark if mark != "@" else "") + text.expandtabs(4))}\n</span>'
        for mark, text in diff.lines
    )
    more = f'<span class="hunk">… {diff.left_out:,} more lines\n</span>' if diff.left_out else ""
    counts = f"<ins>+{diff.added:,}</ins> <del>\u2212{diff.removed:,}</del>"
    return (
        f'<figure class="diff"><figcaption><code>{markup(diff.path)}</code> {counts}</figcaption>'
        f"<pre>{lines}{more}</pre></figure>"
    )


def _json(seen: Seen, *, whole: bool) -> str:
    if not whole:
        return '<p class="cut">The JSON was left out to keep the page usable.</p>'
    raw, left_out = seen.raw, 0
    try:
        text = msgspec.json.format(raw, indent=2).decode()
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        text = raw[: _LONGEST * 4].decode("utf-8", "backslashreplace")
    if len(text) > _LONGEST:
        text, left_out = text[:_LONGEST], len(text) - _LONGEST
    cut = f'<p class="cut">… and {left_out:,} more characters</p>' if left_out else ""
    return f'<pre class="json">{markup_lines(text)}</pre>{cut}'


def run_key(seen: Seen) -> tuple[str, str, str] | None:
    """Tell of a piece of a longer text what it is a piece of; None for all else."""
    update = getattr(getattr(seen.message, "params", None), "update", None)
    tag = str(getattr(update, "session_update", ""))
    content = getattr(update, "content", None)
    if tag not in _CHUNKS or getattr(content, "type", None) != "text" or _flags(seen):
        return None
    return tag, seen.session_name, str(getattr(update, "message_id", "") or "")


def run_text(seen: Seen) -> str:
    """Give the text of such a piece."""
    text: str = seen.message.params.update.content.text
    return text


class Run:
    """Pieces of one text that follow each other: a row that holds theirs."""

    def __init__(self, key: tuple[str, str, str], first: Seen) -> None:
        """Start with no piece; `first` is the one that will come."""
        self.key = key
        self._first = first
        self._rows: list[str] = []
        self._text = ""

    def add(self, made: str, text: str) -> None:
        """Take the row of a piece, and its text."""
        self._rows.append(made)
        if len(self._text) < _LONGEST_TEXT:
            self._text += text

    def markup(self) -> str:
        """Make the row."""
        if len(self._rows) == 1:
            return self._rows[0]
        seen = self._first
        time = seen.moment.shown if seen.moment is not None else ""
        label = f'<b>{_CHUNKS[self.key[0]]}</b> <span class="what">{markup(brief(self._text, 300))}</span>'
        side = f'<span class="tag">{len(self._rows)} pieces</span>'
        return (
            f'<details class="row run {seen.sender or "nobody"}">\n'
            f"<summary>{head(str(seen.line), time, label, side)}</summary>\n"
            f'<div class="body"><p class="said">{markup_lines(self._text)}</p></div>\n'
            f'<div class="pieces">{"".join(self._rows)}</div>\n</details>\n'
        )
