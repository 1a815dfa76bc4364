"""What a session has beside its timeline, as items to show: subagents, work in the background, suggested prompts."""

from collections.abc import Iterator
from typing import Any

from .._blocks import known_tag_of, tag_of
from .._views import Snapshot, SubagentView
from .content import DisplayItem, TerminalDisplay, display_item, json_of, session_names


def subagent_items(snapshot: Snapshot) -> Iterator[DisplayItem]:
    """Yield a line for each subagent: its title, what it does, and its description."""
    for each in snapshot.subagents:
        yield DisplayItem(form="note", text=_subagent_text(each))


def background_items(snapshot: Snapshot) -> Iterator[DisplayItem]:
    """Yield a line for each work in the background, and the JSON of one of an unknown type."""
    names = session_names(snapshot)
    titles = {call.tool_call_id: call.title or call.name for call in snapshot.tool_calls}
    commands = {terminal.terminal_id: terminal.command for terminal in snapshot.terminals}
    found: tuple[Any, ...] = snapshot.background or ()
    for work in found:
        match known_tag_of(work):
            case "tool_call" if hasattr(work, "tool_call_id"):
                yield _named("tool call", work.tool_call_id, titles)
            case "terminal" if hasattr(work, "terminal_id"):
                yield _named("terminal", work.terminal_id, commands)
            case "subagent" if hasattr(work, "session_id"):
                yield _named("subagent", work.session_id, names)
            case _:
                yield DisplayItem(form="code", text=json_of(work), title=tag_of(work))


def suggestion_items(snapshot: Snapshot, terminals: TerminalDisplay) -> Iterator[list[DisplayItem]]:
    """Yield the content of each suggested prompt."""
    for suggestion in snapshot.suggestions:
        yield [display_item(block, terminals) for block in getattr(suggestion, "prompt", (suggestion,))]


def _subagent_text(subagent: SubagentView) -> str:
    activity = f" ({subagent.activity})" if subagent.activity is not None else ""
    description = f": {subagent.description}" if subagent.description else ""
    return f"{subagent.title or subagent.session_id}{activity}{description}"


def _named(what: str, key: str, names: dict[str, Any]) -> DisplayItem:
    return DisplayItem(form="note", text=f"{what} {names.get(key) or key}")
