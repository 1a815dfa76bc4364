"""A session as Markdown.

What an agent says is Markdown and stays so, but nobody may trust it: it stands in block quotes and code blocks, which
nothing inside can leave, and what could act in a viewer is disarmed: HTML, pictures from elsewhere, links to anything
but pages.
"""

from collections.abc import Iterable, Iterator

from .._views import CompactionView, Entry, MessageView, PlanView, Role, Snapshot, ToolCallView
from .content import Piece, Screens, json_of, piece_of, raw_parts, terminal_piece, with_ends
from .markdown_text import disarmed, fenced, label, plain, quoted, quoted_code

ROLES = {Role.USER: "User", Role.AGENT: "Agent", Role.THOUGHT: "Thought"}


def to_markdown(snapshot: Snapshot, /) -> str:
    """Write a session as Markdown.

    The content is of an agent that nobody needs to trust: what stands in it changes nothing around it, runs nothing
    and loads nothing, and control characters and directional marks are shown as escapes. It takes time in proportion
    to the size of the content.
    """
    screens = Screens(snapshot)
    parts = [f"# {plain(snapshot.title or 'Session')}"]
    parts += [part for plan in snapshot.plans for part in _plan(plan)]
    parts += _entries(snapshot, snapshot.timeline, screens)
    for terminal in screens.rest():
        parts += ["### Terminal", _piece(terminal_piece(terminal))]
    return "\n\n".join(parts) + "\n"


def entries_to_markdown(snapshot: Snapshot, entries: Iterable[Entry]) -> Iterator[str]:
    """Write some entries of a session, each as a whole, and after each turn how it ended unless as it should be."""
    return _entries(snapshot, entries, Screens(snapshot))


def _entries(snapshot: Snapshot, entries: Iterable[Entry], screens: Screens) -> Iterator[str]:
    for entry in with_ends(snapshot, entries):
        if isinstance(entry, str):
            yield f"*{plain(entry)}*"
        else:
            yield "\n\n".join(_entry(entry, " (dropped)" if snapshot.is_dropped(entry) else "", screens))


def _entry(entry: Entry, note: str, screens: Screens) -> Iterator[str]:
    match entry:
        case MessageView():
            yield f"{'###' if entry.role is Role.THOUGHT else '##'} {ROLES[entry.role]}{note}"
            for block in entry.blocks:
                piece = piece_of(block, screens)
                yield from disarmed(piece.text) if piece.kind == "text" else _quoted(piece)
        case ToolCallView():
            yield f"### Tool call: {plain(entry.title or entry.name or entry.tool_call_id)}{note}"
            places = ", ".join(plain(str(getattr(place, "path", ""))) for place in entry.locations)
            yield f"{plain(entry.kind)}, {plain(entry.status)}" + (f": {places}" if places else "")
            raw_input, raw_output = raw_parts(entry)
            yield from [fenced(raw_input, "json")] if raw_input is not None else []
            yield from (_piece(piece_of(content, screens)) for content in entry.content)
            yield from [fenced(raw_output, "json")] if raw_output is not None else []
        case CompactionView():
            yield f"### Summary of the context: {plain(entry.status)}{note}"
            for block in entry.summary:
                yield from _quoted(piece_of(block, screens))
            yield from [plain(entry.error)] if entry.error else []
        case _:
            yield f"### Unknown update: {plain(entry.tag)}{note}"
            yield fenced(json_of(entry.update), "json")


def _quoted(piece: Piece) -> Iterator[str]:
    if piece.kind not in ("text", "code"):
        yield quoted(_piece(piece))
        return
    yield from [quoted(plain(piece.title))] if piece.title else []
    yield quoted_code(piece.text)


def _piece(piece: Piece) -> str:
    match piece.kind:
        case "text" | "code":
            title = f"{plain(piece.title)}\n\n" if piece.title else ""
            return title + fenced(piece.text)
        case "diff":
            return fenced(piece.text, "diff") if piece.text else f"{plain(piece.title)}: unchanged"
        case "image":
            return f"![{piece.text}]({piece.uri})"
        case "link":
            return f"[{label(piece.text)}](<{piece.uri}>)" if piece.uri else plain(f"{piece.text} ({piece.title})")
        case "note":
            return f"*{plain(piece.text)}*"


def _plan(plan: PlanView) -> Iterator[str]:
    yield "## Plan"
    if plan.items:
        boxes = ((("x" if item.status == "completed" else " "), item) for item in plan.items)
        notes = {"pending": "", "completed": ""}
        yield "\n".join(
            f"- [{box}] {plain(item.content)}" + notes.get(item.status, f" ({plain(item.status)})")
            for box, item in boxes
        )
    if plan.uri is not None:
        yield plain(plan.uri)
    if plan.markdown is not None:
        yield from disarmed(plan.markdown)
    if plan.other is not None:
        yield fenced(json_of(plan.other), "json")
