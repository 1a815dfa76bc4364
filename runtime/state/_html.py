"""A session as one HTML page that needs nothing else.

All content is shown as the text that it is: none of it becomes markup, and links lead to pages and mail addresses only.
"""

from collections.abc import Iterator
from html import escape

from ._markdown import ROLES
from ._pieces import Piece, json_of, piece_of, with_ends
from ._style import CSS, POLICY
from ._views import CompactionView, Entry, MessageView, PlanView, Snapshot, ToolCallView

_CONTROLS = {code: "\ufffd" for code in range(32) if chr(code) not in "\t\n\r"}


def to_html(snapshot: Snapshot, /) -> str:
    """Write a session as an HTML page, light or dark as the reader's system is.

    The content is of an agent that nobody needs to trust: nothing of it is markup, runs or is loaded, and the page's
    own policy allows no script at all.
    """
    title = _text(snapshot.title or "Session")
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_text(POLICY)}">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{CSS}</style>'
    )
    body = [f"<h1>{title}</h1>", *(line for plan in snapshot.plans for line in _plan(plan)), *_entries(snapshot)]
    return "\n".join([f'<!doctype html><html lang="en"><head>{head}</head><body>', *body, "</body></html>\n"])


def _text(text: str) -> str:
    return escape(text.translate(_CONTROLS))


def _entries(snapshot: Snapshot) -> Iterator[str]:
    for entry in with_ends(snapshot, snapshot.timeline):
        if isinstance(entry, str):
            yield f'<p class="note">{_text(entry)}</p>'
        else:
            yield from _entry(entry, snapshot)


def _entry(entry: Entry, snapshot: Snapshot) -> Iterator[str]:
    dropped = " dropped" if snapshot.is_dropped(entry) else ""
    match entry:
        case MessageView():
            yield f'<section class="{entry.role}{dropped}"><h2>{ROLES[entry.role]}</h2>'
            yield from (_piece(piece_of(block, snapshot)) for block in entry.blocks)
            yield "</section>"
        case ToolCallView():
            title = _text(entry.title or entry.name or entry.tool_call_id)
            state = f'<span class="note">{_text(entry.kind)}, {_text(entry.status)}</span>'
            yield f'<details class="call{dropped}" open><summary><bdi>{title}</bdi> {state}</summary>'
            places = ", ".join(_text(str(getattr(place, "path", ""))) for place in entry.locations)
            yield from [f'<p class="note">{places}</p>'] if places else []
            yield from (_piece(piece_of(content, snapshot)) for content in entry.content)
            if entry.raw_input is not None and not entry.content:
                yield f"<pre>{_text(json_of(entry.raw_input))}</pre>"
            yield "</details>"
        case CompactionView():
            yield f'<section class="compaction{dropped}"><h2>Summary of the context: {_text(entry.status)}</h2>'
            yield from (_piece(piece_of(block, snapshot)) for block in entry.summary)
            yield from [f'<p class="note">{_text(entry.error)}</p>'] if entry.error else []
            yield "</section>"
        case _:
            yield f'<details class="unknown{dropped}"><summary>Unknown update: {_text(entry.tag)}</summary>'
            yield f"<pre>{_text(json_of(entry.update))}</pre></details>"


def _piece(piece: Piece) -> str:
    title = f'<p class="note">{_text(piece.title)}</p>' if piece.title else ""
    match piece.kind:
        case "text":
            return f'<div class="text">{_text(piece.text)}</div>'
        case "code":
            return f"{title}<pre>{_text(piece.text)}</pre>"
        case "diff" if piece.text:
            return f"<pre>{_diff(piece.text)}</pre>"
        case "diff":
            return f'<p class="note">{_text(piece.title)}: unchanged</p>'
        case "image":
            return f'<p><img alt="{_text(piece.text)}" src="{_text(piece.uri or "")}"></p>'
        case "link" if piece.uri is not None:
            link = f'<a href="{_text(piece.uri)}" rel="noopener noreferrer nofollow">{_text(piece.text)}</a>'
            return f"<p>{link}</p>"
        case _:
            return f'<p class="note">{_text(piece.text)}{f" ({_text(piece.title)})" if piece.title else ""}</p>'


def _diff(text: str) -> str:
    return "".join(_line(line) for line in text.split("\n")).removesuffix("\n")


def _line(line: str) -> str:
    if line.startswith("+") and not line.startswith("+++ "):
        return f"<ins>{_text(line)}</ins>"
    if line.startswith("-") and not line.startswith("--- "):
        return f"<del>{_text(line)}</del>"
    return f"{_text(line)}\n"


def _plan(plan: PlanView) -> Iterator[str]:
    yield '<section class="plan"><h2>Plan</h2>'
    if plan.items:
        yield '<ul class="plan">'
        for item in plan.items:
            box = f'<input type="checkbox" disabled{" checked" if item.status == "completed" else ""}>'
            yield f'<li>{box} {_text(item.content)} <span class="note">{_text(item.status)}</span></li>'
        yield "</ul>"
    text = plan.uri or plan.markdown
    if text is not None:
        yield f'<div class="text">{_text(text)}</div>'
    if plan.other is not None:
        yield f"<pre>{_text(json_of(plan.other))}</pre>"
    yield "</section>"
