"""A session as one HTML page that needs nothing else.

All content is shown as the text that it is: none of it becomes markup, links lead to pages and mail addresses only, and
control characters and directional marks are shown as escapes.
"""

from collections.abc import Iterator
from html import escape

from ..._types.printable import printable, printable_lines
from .._views import CompactionView, Entry, MessageView, PlanView, Snapshot, ToolCallView
from .content import Piece, Screens, json_of, piece_of, raw_parts, terminal_piece, with_ends
from .html_style import CSS, POLICY
from .markdown import ROLES


def to_html(snapshot: Snapshot, /) -> str:
    """Write a session as an HTML page, light or dark as the reader's system is.

    The content is of an agent that nobody needs to trust: nothing of it is markup, runs or is loaded, and the page's
    own policy allows no script at all. It takes time in proportion to the size of the content.
    """
    title = _line(snapshot.title or "Session")
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_text(POLICY)}">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{CSS}</style>'
    )
    body = [f"<h1>{title}</h1>", *(line for plan in snapshot.plans for line in _plan(plan)), *_entries(snapshot)]
    return "\n".join([f'<!doctype html><html lang="en"><head>{head}</head><body>', *body, "</body></html>\n"])


def _text(text: str) -> str:
    """Show text that may have several lines."""
    return escape(printable_lines(text))


def _line(text: str) -> str:
    """Show text on one line."""
    return escape(printable(text))


def _entries(snapshot: Snapshot) -> Iterator[str]:
    screens = Screens(snapshot)
    for entry in with_ends(snapshot, snapshot.timeline):
        if isinstance(entry, str):
            yield f'<p class="note">{_line(entry)}</p>'
        else:
            yield from _entry(entry, " dropped" if snapshot.is_dropped(entry) else "", screens)
    for terminal in screens.rest():
        yield f'<section class="terminal">{_piece(terminal_piece(terminal))}</section>'


def _entry(entry: Entry, dropped: str, screens: Screens) -> Iterator[str]:
    match entry:
        case MessageView():
            yield f'<section class="{entry.role}{dropped}"><h2>{ROLES[entry.role]}</h2>'
            yield from (_piece(piece_of(block, screens)) for block in entry.blocks)
            yield "</section>"
        case ToolCallView():
            title = _line(entry.title or entry.name or entry.tool_call_id)
            state = f'<span class="note">{_line(entry.kind)}, {_line(entry.status)}</span>'
            yield f'<details class="call{dropped}" open><summary><bdi>{title}</bdi> {state}</summary>'
            places = ", ".join(_line(str(getattr(place, "path", ""))) for place in entry.locations)
            yield from [f'<p class="note">{places}</p>'] if places else []
            raw_input, raw_output = raw_parts(entry)
            yield from [f"<pre>{_text(raw_input)}</pre>"] if raw_input is not None else []
            yield from (_piece(piece_of(content, screens)) for content in entry.content)
            yield from [f"<pre>{_text(raw_output)}</pre>"] if raw_output is not None else []
            yield "</details>"
        case CompactionView():
            yield f'<section class="compaction{dropped}"><h2>Summary of the context: {_line(entry.status)}</h2>'
            yield from (_piece(piece_of(block, screens)) for block in entry.summary)
            yield from [f'<p class="note">{_text(entry.error)}</p>'] if entry.error else []
            yield "</section>"
        case _:
            yield f'<details class="unknown{dropped}"><summary>Unknown update: {_line(entry.tag)}</summary>'
            yield f"<pre>{_text(json_of(entry.update))}</pre></details>"


def _piece(piece: Piece) -> str:
    title = f'<p class="note">{_line(piece.title)}</p>' if piece.title else ""
    match piece.kind:
        case "text":
            return f'<div class="text">{_text(piece.text)}</div>'
        case "code":
            return f"{title}<pre>{_text(piece.text)}</pre>"
        case "diff" if piece.text:
            return f"<pre>{_diff(piece.text)}</pre>"
        case "diff":
            return f'<p class="note">{_line(piece.title)}: unchanged</p>'
        case "image":
            return f'<p><img alt="{_line(piece.text)}" src="{_line(piece.uri or "")}"></p>'
        case "link" if piece.uri is not None:
            link = f'<a href="{_line(piece.uri)}" rel="noopener noreferrer nofollow">{_line(piece.text)}</a>'
            return f"<p>{link}</p>"
        case _:
            return f'<p class="note">{_line(piece.text)}{f" ({_line(piece.title)})" if piece.title else ""}</p>'


def _diff(text: str) -> str:
    return "".join(_diff_line(line) for line in printable_lines(text).split("\n")).removesuffix("\n")


def _diff_line(line: str) -> str:
    if line.startswith("+") and not line.startswith("+++ "):
        return f"<ins>{escape(line)}</ins>"
    if line.startswith("-") and not line.startswith("--- "):
        return f"<del>{escape(line)}</del>"
    return f"{escape(line)}\n"


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
