"""Export of a session as one self-contained HTML page.

All content is shown as plain text: none of it becomes markup. Links lead to web and mail addresses only, and control
characters and directional marks are shown as escapes.
"""

from collections.abc import Iterable, Iterator, Mapping
from html import escape

from ..._types.printable import printable, printable_lines
from .._views import CompactionView, Entry, MessageView, PlanView, SessionMessageView, Snapshot, ToolCallView
from .content import (
    DisplayItem,
    TerminalDisplay,
    between_sessions,
    display_item,
    json_of,
    raw_input_and_output,
    session_names,
    terminal_item,
    with_turn_ends,
)
from .html_style import CSS, POLICY
from .markdown import ROLES
from .surroundings import background_items, subagent_items, suggestion_items


def to_html(snapshot: Snapshot, /) -> str:
    """Return a session as an HTML page, light or dark as the reader's system is.

    The agent need not be trusted: none of its content becomes markup, runs or is loaded, and the content security
    policy of the page allows no script at all. The time is linear in the size of the content.
    """
    title = _line(snapshot.title or "Session")
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_text(POLICY)}">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{CSS}</style>'
    )
    body = [f"<h1>{title}</h1>", *(line for plan in snapshot.plans for line in _plan(plan))]
    body += _list("Subagents", subagent_items(snapshot))
    body += _list("In the background", background_items(snapshot))
    body += _entries(snapshot)
    return "\n".join([f'<!doctype html><html lang="en"><head>{head}</head><body>', *body, "</body></html>\n"])


def _text(text: str) -> str:
    """Escape text of several lines."""
    return escape(printable_lines(text))


def _line(text: str) -> str:
    """Escape text of one line."""
    return escape(printable(text))


def _entries(snapshot: Snapshot) -> Iterator[str]:
    terminals, names = TerminalDisplay(snapshot), session_names(snapshot)
    for entry in with_turn_ends(snapshot, snapshot.timeline):
        if isinstance(entry, str):
            yield f'<p class="note">{_line(entry)}</p>'
        else:
            yield from _entry(entry, " dropped" if snapshot.is_dropped(entry) else "", terminals, names)
    for prompt in suggestion_items(snapshot, terminals):
        yield f'<section class="suggestion"><h2>Suggested prompt</h2>{"".join(map(_item, prompt))}</section>'
    for terminal in terminals.remaining():
        yield f'<section class="terminal">{_item(terminal_item(terminal))}</section>'


def _entry(entry: Entry, dropped: str, terminals: TerminalDisplay, names: Mapping[str, str]) -> Iterator[str]:
    match entry:
        case MessageView():
            yield f'<section class="{entry.role}{dropped}"><h2>{ROLES[entry.role]}</h2>'
            yield from (_item(display_item(block, terminals)) for block in entry.blocks)
            yield "</section>"
        case ToolCallView():
            title = _line(entry.title or entry.name or entry.tool_call_id)
            state = f'<span class="note">{_line(entry.kind)}, {_line(entry.status)}</span>'
            yield f'<details class="call{dropped}" open><summary><bdi>{title}</bdi> {state}</summary>'
            places = ", ".join(_line(str(getattr(place, "path", ""))) for place in entry.locations)
            yield from [f'<p class="note">{places}</p>'] if places else []
            raw_input, raw_output = raw_input_and_output(entry)
            yield from [f"<pre>{_text(raw_input)}</pre>"] if raw_input is not None else []
            yield from (_item(display_item(content, terminals)) for content in entry.content)
            yield from [f"<pre>{_text(raw_output)}</pre>"] if raw_output is not None else []
            yield "</details>"
        case CompactionView():
            yield f'<section class="compaction{dropped}"><h2>Summary of the context: {_line(entry.status)}</h2>'
            yield from (_item(display_item(block, terminals)) for block in entry.summary)
            yield from [f'<p class="note">{_text(entry.error)}</p>'] if entry.error else []
            yield "</section>"
        case SessionMessageView():
            yield f'<section class="between{dropped}"><h2>{_line(between_sessions(entry, names))}</h2>'
            yield from (_item(display_item(block, terminals)) for block in entry.blocks)
            yield "</section>"
        case _:
            yield f'<details class="unknown{dropped}"><summary>Unknown update: {_line(entry.tag)}</summary>'
            yield f"<pre>{_text(json_of(entry.update))}</pre></details>"


def _item(item: DisplayItem) -> str:
    title = f'<p class="note">{_line(item.title)}</p>' if item.title else ""
    match item.form:
        case "text":
            return f'<div class="text">{_text(item.text)}</div>'
        case "code":
            return f"{title}<pre>{_text(item.text)}</pre>"
        case "diff" if item.text:
            return f"<pre>{_diff(item.text)}</pre>"
        case "diff":
            return f'<p class="note">{_line(item.title)}: unchanged</p>'
        case "image":
            return f'<p><img alt="{_line(item.text)}" src="{_line(item.uri or "")}"></p>'
        case "link" if item.uri is not None:
            link = f'<a href="{_line(item.uri)}" rel="noopener noreferrer nofollow">{_line(item.text)}</a>'
            return f"<p>{link}</p>"
        case _:
            return f'<p class="note">{_line(item.text)}{f" ({_line(item.title)})" if item.title else ""}</p>'


def _diff(text: str) -> str:
    return "".join(_diff_line(line) for line in printable_lines(text).split("\n")).removesuffix("\n")


def _diff_line(line: str) -> str:
    if line.startswith("+") and not line.startswith("+++ "):
        return f"<ins>{escape(line)}</ins>"
    if line.startswith("-") and not line.startswith("--- "):
        return f"<del>{escape(line)}</del>"
    return f"{escape(line)}\n"


def _list(title: str, items: Iterable[DisplayItem]) -> Iterator[str]:
    lines = list(map(_item, items))
    if lines:
        yield f'<section class="list"><h2>{title}</h2>{"".join(lines)}</section>'


def _plan(plan: PlanView) -> Iterator[str]:
    yield '<section class="plan"><h2>Plan</h2>'
    if plan.items:
        yield '<ul class="plan">'
        for item in plan.items:
            box = f'<input type="checkbox" disabled{" checked" if item.status == "completed" else ""}>'
            yield f'<li>{box} {_line(item.content)} <span class="note">{_line(item.status)}</span></li>'
        yield "</ul>"
    text = plan.uri or plan.markdown
    if text is not None:
        yield f'<div class="text">{_text(text)}</div>'
    if plan.other is not None:
        yield f"<pre>{_text(json_of(plan.other))}</pre>"
    yield "</section>"
