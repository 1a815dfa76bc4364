"""What the content of prompts and session updates says, in some words."""

from typing import Any

from ..._types.variants import CatchAll, UnknownVariant
from .formatting import QUOTE, brief, joined, many, quoted, sized

_CHUNKS = {
    "user_message_chunk": "user",
    "user_message": "user",
    "agent_message_chunk": "agent",
    "agent_message": "agent",
    "agent_thought_chunk": "thought",
    "agent_thought": "thought",
}


def location(path: str, line: int | None) -> str:
    """Show a place in a file."""
    return brief(path) if line is None else f"{brief(path)}:{line}"


def kind_of(it: Any, tag_field: str = "type") -> str:
    """Give the tag of a variant, with a question mark where its schema does not know it."""
    if isinstance(it, UnknownVariant):
        return f"?{it.tag}"
    return f"{'?' if isinstance(it, CatchAll) else ''}{getattr(it, tag_field)}"


def block(it: Any, most: int = QUOTE) -> str:
    """Sum up a content block."""
    match kind_of(it):
        case "text":
            return quoted(it.text, most)
        case "image" | "audio" as kind:
            return f"{kind} {brief(it.mime_type, 30)} ({sized(len(it.data) * 3 // 4)})"
        case "resource_link":
            return f"link {brief(it.uri)}"
        case "resource":
            return f"resource {brief(it.resource.uri)}"
        case unknown:
            return f"unknown {brief(unknown.strip('?'))}"


def blocks(given: list[Any]) -> str:
    """Sum up several content blocks: the first texts, and how many there are."""
    if not given:
        return "empty"
    rest = len(given) - 2
    return joined(*(block(it) for it in given[:2]), f"{rest} more" if rest > 0 else "")


def update(it: Any, title: str | None = None) -> str:
    """Sum up a session update; `title` is that of its tool call, where it has none itself."""
    tag = kind_of(it, "session_update")
    who = _CHUNKS.get(tag)
    if who is not None:
        content: Any = it.content
        given: list[Any] = [*content] if isinstance(content, list) else [content]
        return f"{who} {blocks(given)}" if content else who
    match tag:
        case "tool_call" | "tool_call_update":
            return tool_call(it, tag, title)
        case "tool_call_content_chunk":
            return joined(f"tool call {_named(it, title)}", tool_content([it.content]))
        case "plan":
            return _plan(it.entries)
        case "plan_update":
            return _plan_of(it.plan)
        case "available_commands_update":
            return joined(
                many(len(it.available_commands), "command"),
                ", ".join(brief(c.name, 20) for c in it.available_commands[:5]),
            )
        case "current_mode_update":
            return f"mode {brief(it.current_mode_id, 40)}"
        case "config_option_update":
            return ", ".join(
                f"{brief(o.id, 24)} = {brief(o.current_value, 24)}" for o in it.config_options[:3] if hasattr(o, "id")
            )
        case "session_info_update":
            return f"title {quoted(it.title)}" if it.title else "session info"
        case "usage_update":
            cost = f"{it.cost.amount:g} {brief(it.cost.currency, 8)}" if it.cost is not None else ""
            return joined(f"{it.used:,} of {it.size:,} tokens", cost)
        case "state_update":
            return joined(brief(it.state), str(getattr(it, "stop_reason", None) or ""))
        case "terminal_update":
            status = it.exit_status
            return joined(
                f"terminal {brief(it.terminal_id, 24)}",
                f"$ {brief(it.command)}" if it.command else "",
                f"exit {status.exit_code}" if status else "",
            )
        case "terminal_output_chunk":
            return f"terminal {brief(it.terminal_id, 24)}, {sized(len(it.data) * 3 // 4)}"
        case _:
            return f"unknown {brief(tag[1:])}" if tag.startswith("?") else brief(tag)


def tool_call(it: Any, tag: str = "tool_call", title: str | None = None) -> str:
    """Sum up a tool call or what changed of one; `title` is the last one, where it has none itself."""
    status = str(it.status) if it.status else ""
    kind = str(it.kind) if it.kind else ""
    words = "tool call" if tag == "tool_call" else "tool"
    return joined(f"{words} {_named(it, title)}", kind, status, tool_content(it.content or []))


def _named(it: Any, title: str | None) -> str:
    title = getattr(it, "title", None) or title
    return quoted(title, 40) if title else brief(it.tool_call_id, 24)


def tool_content(given: list[Any]) -> str:
    """Sum up what a tool call produced: the first piece, and how many there are."""
    if not given:
        return ""
    first = given[0]
    match kind_of(first):
        case "diff" if hasattr(first, "path"):
            shown = f"diff of {brief(first.path)}"
        case "diff":
            paths = [str(path) for change in first.changes if (path := getattr(change, "path", None))]
            shown = f"diff of {brief(', '.join(paths))}"
        case "terminal":
            shown = f"terminal {brief(first.terminal_id, 24)}"
        case "content":
            shown = block(first.content, 40)
        case unknown:
            shown = f"unknown {brief(unknown.strip('?'))}"
    return joined(shown, f"{len(given) - 1} more" if len(given) > 1 else "")


def _plan_of(it: Any) -> str:
    kind = kind_of(it)
    named = f"plan {brief(getattr(it, 'plan_id', ''), 24)}".rstrip()
    if kind.startswith("?"):
        return f"{named}, unknown {brief(kind[1:])}"
    return joined(named, _plan(it.entries) if hasattr(it, "entries") else kind)


def _plan(entries: list[Any]) -> str:
    done = sum(str(entry.status) == "completed" for entry in entries)
    now = next((entry for entry in entries if str(entry.status) == "in_progress"), None)
    return joined(f"plan {done}/{len(entries)} done", quoted(now.content, 40) if now is not None else "")
