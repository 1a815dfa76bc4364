"""Export of a session as Markdown.

The messages of an agent are Markdown and stay so, but they are untrusted. They are put into block quotes and code
blocks that their content cannot leave, and everything that a viewer could act on is escaped: HTML, remote images, links
to anything but web and mail addresses.
"""

from collections.abc import Iterable, Iterator, Mapping

from .._views import CompactionView, Entry, MessageView, PlanView, Role, SessionMessageView, Snapshot, ToolCallView
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
from .markdown_text import fenced, label, plain, quoted, quoted_code, sanitized
from .surroundings import background_items, subagent_items, suggestion_items

ROLES = {Role.USER: "User", Role.AGENT: "Agent", Role.THOUGHT: "Thought"}


def to_markdown(snapshot: Snapshot, /) -> str:
    """Return a session as Markdown.

    The agent need not be trusted: its content cannot change the text around it, runs nothing and loads nothing, and
    control characters and directional marks are shown as escapes. The time is linear in the size of the content.
    """
    terminals = TerminalDisplay(snapshot)
    parts = [f"# {plain(snapshot.title or 'Session')}"]
    parts += [part for plan in snapshot.plans for part in _plan(plan)]
    parts += _list("Subagents", subagent_items(snapshot))
    parts += _list("In the background", background_items(snapshot))
    parts += _entries(snapshot, snapshot.timeline, terminals)
    for prompt in suggestion_items(snapshot, terminals):
        parts += ["### Suggested prompt", *(part for item in prompt for part in _prose(item))]
    for terminal in terminals.remaining():
        parts += ["### Terminal", _item(terminal_item(terminal))]
    return "\n\n".join(parts) + "\n"


def entries_to_markdown(snapshot: Snapshot, entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the Markdown of some entries, and after each turn a remark if it was refused or ended early."""
    return _entries(snapshot, entries, TerminalDisplay(snapshot))


def _entries(snapshot: Snapshot, entries: Iterable[Entry], terminals: TerminalDisplay) -> Iterator[str]:
    names = session_names(snapshot)
    for entry in with_turn_ends(snapshot, entries):
        if isinstance(entry, str):
            yield f"*{plain(entry)}*"
        else:
            yield "\n\n".join(_entry(entry, " (dropped)" if snapshot.is_dropped(entry) else "", terminals, names))


def _entry(entry: Entry, note: str, terminals: TerminalDisplay, names: Mapping[str, str]) -> Iterator[str]:
    match entry:
        case MessageView():
            yield f"{'###' if entry.role is Role.THOUGHT else '##'} {ROLES[entry.role]}{note}"
            for block in entry.blocks:
                yield from _prose(display_item(block, terminals))
        case ToolCallView():
            yield f"### Tool call: {plain(entry.title or entry.name or entry.tool_call_id)}{note}"
            places = ", ".join(plain(str(getattr(place, "path", ""))) for place in entry.locations)
            yield f"{plain(entry.kind)}, {plain(entry.status)}" + (f": {places}" if places else "")
            raw_input, raw_output = raw_input_and_output(entry)
            yield from [fenced(raw_input, "json")] if raw_input is not None else []
            yield from (_item(display_item(content, terminals)) for content in entry.content)
            yield from [fenced(raw_output, "json")] if raw_output is not None else []
        case CompactionView():
            yield f"### Summary of the context: {plain(entry.status)}{note}"
            for block in entry.summary:
                yield from _quoted(display_item(block, terminals))
            yield from [plain(entry.error)] if entry.error else []
        case SessionMessageView():
            yield f"### {plain(between_sessions(entry, names))}{note}"
            for block in entry.blocks:
                yield from _quoted(display_item(block, terminals))
        case _:
            yield f"### Unknown update: {plain(entry.tag)}{note}"
            yield fenced(json_of(entry.update), "json")


def _prose(item: DisplayItem) -> Iterator[str]:
    yield from sanitized(item.text) if item.form == "text" else _quoted(item)


def _quoted(item: DisplayItem) -> Iterator[str]:
    if item.form not in ("text", "code"):
        yield quoted(_item(item))
        return
    yield from [quoted(plain(item.title))] if item.title else []
    yield quoted_code(item.text)


def _item(item: DisplayItem) -> str:
    match item.form:
        case "text" | "code":
            title = f"{plain(item.title)}\n\n" if item.title else ""
            return title + fenced(item.text)
        case "diff":
            return fenced(item.text, "diff") if item.text else f"{plain(item.title)}: unchanged"
        case "image":
            return f"![{item.text}]({item.uri})"
        case "link":
            return f"[{label(item.text)}](<{item.uri}>)" if item.uri else plain(f"{item.text} ({item.title})")
        case "note":
            return f"*{plain(item.text)}*"


def _list(title: str, items: Iterable[DisplayItem]) -> Iterator[str]:
    lines = [f"- {plain(item.text)}" if item.form == "note" else _item(item) for item in items]
    yield from [f"## {title}", *lines] if lines else []


def _plan(plan: PlanView) -> Iterator[str]:
    yield "## Plan"
    if plan.items:
        boxes = ((("x" if step.status == "completed" else " "), step) for step in plan.items)
        notes = {"pending": "", "completed": ""}
        yield "\n".join(
            f"- [{box}] {plain(step.content)}" + notes.get(step.status, f" ({plain(step.status)})")
            for box, step in boxes
        )
    if plan.uri is not None:
        yield plain(plan.uri)
    if plan.markdown is not None:
        yield from sanitized(plan.markdown)
    if plan.other is not None:
        yield fenced(json_of(plan.other), "json")
