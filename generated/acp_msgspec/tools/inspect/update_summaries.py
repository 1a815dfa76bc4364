"""One-line summaries of session updates and of content."""

from typing import Any

from ..._types.variants import CatchAll, UnknownVariant
from .formatting import QUOTE, count_of, format_size, join_present, quoted, shorten
from .generic_summary import generic

_ROLES = {
    "user_message_chunk": "user",
    "user_message": "user",
    "agent_message_chunk": "agent",
    "agent_message": "agent",
    "agent_thought_chunk": "thought",
    "agent_thought": "thought",
}


def location(path: str, line: int | None) -> str:
    """Format a location in a file."""
    return shorten(path) if line is None else f"{shorten(path)}:{line}"


def shown_tag(it: Any, tag_field: str = "type") -> str:
    """Return the tag of a variant, after a question mark if its schema does not know it."""
    if isinstance(it, UnknownVariant):
        return f"?{it.tag}"
    return f"{'?' if isinstance(it, CatchAll) else ''}{getattr(it, tag_field)}"


def block(it: Any, most: int = QUOTE) -> str:
    """Summarize a content block."""
    match shown_tag(it):
        case "text":
            return quoted(it.text, most)
        case "image" | "audio" as media:
            return f"{media} {shorten(it.mime_type, 30)} ({format_size(len(it.data) * 3 // 4)})"
        case "resource_link":
            return f"link {shorten(it.uri)}"
        case "resource":
            return f"resource {shorten(it.resource.uri)}"
        case unknown:
            return f"unknown {shorten(unknown.strip('?'))}"


def blocks(given: list[Any]) -> str:
    """Summarize several content blocks: the first two, and the number of the others."""
    if not given:
        return "empty"
    rest = len(given) - 2
    return join_present(*(block(it) for it in given[:2]), f"{rest} more" if rest > 0 else "")


def update(it: Any, title: str | None = None) -> str:
    """Summarize a session update; `title` is that of its tool call, if the update has none."""
    tag = shown_tag(it, "session_update")
    role = _ROLES.get(tag)
    if role is not None:
        content: Any = it.content
        given: list[Any] = [*content] if isinstance(content, list) else [content]
        return f"{role} {blocks(given)}" if content else role
    match tag:
        case "tool_call" | "tool_call_update":
            return tool_call(it, tag, title)
        case "tool_call_content_chunk":
            return join_present(f"tool call {_title_or_id(it, title)}", tool_content([it.content]))
        case "plan":
            return _plan(it.entries)
        case "plan_update":
            return _plan_of(it.plan)
        case "state_update":
            return join_present(shorten(it.state), str(getattr(it, "stop_reason", None) or ""))
        case "terminal_update":
            return _terminal(it)
        case "terminal_output_chunk":
            return f"terminal {shorten(it.terminal_id, 24)}, {format_size(len(it.data) * 3 // 4)}"
        case _:
            return _metadata_update(it, tag)


def _metadata_update(it: Any, tag: str) -> str:
    """Summarize an update of the metadata of the session, or an unknown one."""
    match tag:
        case "available_commands_update":
            return join_present(
                count_of(len(it.available_commands), "command"),
                ", ".join(shorten(c.name, 20) for c in it.available_commands[:5]),
            )
        case "current_mode_update":
            return f"mode {shorten(it.current_mode_id, 40)}"
        case "config_option_update":
            shown = ", ".join(
                f"{shorten(_option_id(o), 24)} = {shorten(o.current_value, 24)}"
                for o in it.config_options[:3]
                if hasattr(o, "current_value")
            )
            return shown or count_of(len(it.config_options), "option")
        case "session_info_update":
            return f"title {quoted(it.title)}" if it.title else "session info"
        case "usage_update":
            cost = f"{it.cost.amount:g} {shorten(it.cost.currency, 8)}" if it.cost else ""
            return join_present(f"{it.used:,} of {it.size:,} tokens", cost)
        case _:
            return f"unknown {shorten(tag[1:])}" if tag.startswith("?") else join_present(shorten(tag), generic(it))


def _option_id(it: Any) -> str:
    return str(it.id if hasattr(it, "id") else it.config_id)


def _terminal(it: Any) -> str:
    status = it.exit_status
    return join_present(
        f"terminal {shorten(it.terminal_id, 24)}",
        f"$ {shorten(it.command)}" if it.command else "",
        f"exit {status.exit_code}" if status else "",
    )


def tool_call(it: Any, tag: str = "tool_call", title: str | None = None) -> str:
    """Summarize a tool call or the update of one; `title` is its earlier one, if the update has none."""
    status = str(it.status) if it.status else ""
    kind = str(it.kind) if it.kind else ""
    words = "tool call" if tag == "tool_call" else "tool"
    return join_present(f"{words} {_title_or_id(it, title)}", kind, status, tool_content(it.content or []))


def _title_or_id(it: Any, title: str | None) -> str:
    title = getattr(it, "title", None) or title
    return quoted(title, 40) if title else shorten(it.tool_call_id, 24)


def tool_content(given: list[Any]) -> str:
    """Summarize the content of a tool call: the first item, and the number of the others."""
    if not given:
        return ""
    first = given[0]
    match shown_tag(first):
        case "diff" if hasattr(first, "path"):
            shown = f"diff of {shorten(first.path)}"
        case "diff":
            paths = [str(path) for change in first.changes if (path := getattr(change, "path", None))]
            shown = f"diff of {shorten(', '.join(paths))}"
        case "terminal":
            shown = f"terminal {shorten(first.terminal_id, 24)}"
        case "content":
            shown = block(first.content, 40)
        case tag if tag.startswith("?"):
            shown = f"unknown {shorten(tag[1:])}"
        case tag:
            shown = join_present(shorten(tag), generic(first))
    return join_present(shown, f"{len(given) - 1} more" if len(given) > 1 else "")


def _plan_of(it: Any) -> str:
    tag = shown_tag(it)
    named = f"plan {shorten(getattr(it, 'plan_id', ''), 24)}".rstrip()
    if tag.startswith("?"):
        return f"{named}, unknown {shorten(tag[1:])}"
    return join_present(named, _plan(it.entries) if hasattr(it, "entries") else tag)


def _plan(steps: list[Any]) -> str:
    done = sum(str(step.status) == "completed" for step in steps)
    now = next((step for step in steps if str(step.status) == "in_progress"), None)
    return join_present(f"plan {done}/{len(steps)} done", quoted(now.content, 40) if now is not None else "")
