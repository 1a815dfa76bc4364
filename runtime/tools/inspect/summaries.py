"""What a message says, in some words: by the class of its params or result, whatever schema that comes from."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from ..._rpc.errors import RequestError
from ..._types.printable import printable
from ..._types.variants import CatchAll, UnknownVariant
from .conversation import Seen
from .formatting import brief, identified, joined, many, quoted, sized
from .update_summaries import blocks, kind_of, location, update

_MOST = 100  # characters of a summary that no rule was made for


def summary(seen: Seen) -> str:
    """Sum a message up on one line; nothing in it can upset a terminal."""
    return printable(_summary(seen))


def _summary(seen: Seen) -> str:
    message = seen.message
    if message is None:
        start = max(seen.raw.find(b'"params":'), 0)  # method and id are shown beside it
        return brief(seen.raw[start : start + _MOST * 4].decode("utf-8", "backslashreplace"), _MOST)
    if seen.kind == "error":
        return _error(message.error)
    part = message.result if seen.kind == "response" else message.params
    if isinstance(part, Raw):
        return brief(bytes(part)[: _MOST * 4].decode("utf-8", "replace"), _MOST)
    rule = RULES.get(type(part).__name__)
    if rule is not None:
        try:
            titled = _TITLED.get(type(part).__name__) if seen.title is not None else None
            return rule(part) if titled is None else titled(part, seen.title)
        except AttributeError:
            pass  # a class of that name in a schema that is none of ours may have other fields
    return generic(part)


def generic(value: Any) -> str:
    """Sum up an object of any class: its short fields."""
    if isinstance(value, UnknownVariant):
        return f"unknown {brief(value.tag)}"
    if isinstance(value, Struct | CatchAll):
        names = value.__struct_fields__ if isinstance(value, Struct) else [*value.__dict__]
        fields = [(name, getattr(value, name)) for name in names if name != "meta"]
        return brief(joined(*(_field(name, item) for name, item in fields)), _MOST)
    return "" if value is UNSET or value is None else brief(value, _MOST)


def _field(name: str, value: Any) -> str:
    if value is None or value is UNSET or value is False or value == [] or value == {}:
        return ""
    label = name.replace("_", " ")
    match value:
        case True:
            return label
        case str() | int() | float():
            return f"{label} {brief(value, 40)}"
        case list():
            return many(len(value), label.removesuffix("s"))  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return label


def _error(error: Any) -> str:
    known = RequestError.of(error)
    data = known.data
    detail = ""
    if isinstance(data, str):
        detail = brief(data)
    elif data is not None:
        detail = brief(msgspec.json.encode(data)[:400].decode("utf-8", "replace"))
    return f"{known.code} {brief(known.message)}{f': {detail}' if detail else ''}"


def _hello(it: Any) -> str:
    who = next((w for n in ("client_info", "agent_info", "info") if (w := getattr(it, n, None)) is not None), None)
    offered = getattr(it, "auth_methods", None)
    auth = (
        "sign in by "
        + ", ".join(brief(getattr(m, "id", None) or getattr(m, "method_id", "?"), 20) for m in offered[:3])
        if offered
        else ""
    )
    name = f"{brief(who.title or who.name, 30)} {brief(who.version, 20)}" if who is not None else ""
    return joined(f"protocol {it.protocol_version}", name, auth)


def _session(it: Any) -> str:
    servers = getattr(it, "mcp_servers", ())
    named = f"{brief(it.session_id, 24)} " if hasattr(it, "session_id") else ""
    return joined(f"{named}in {brief(it.cwd)}", many(len(servers), "MCP server") if servers else "")


def _session_made(it: Any) -> str:
    modes = getattr(it, "modes", None)
    options = getattr(it, "config_options", None)
    return joined(
        brief(it.session_id, 40) if hasattr(it, "session_id") else "",
        f"mode {brief(modes.current_mode_id, 30)}" if modes is not None else "",
        many(len(options), "option") if options else "",
    )


def _permission(it: Any, known: str | None = None) -> str:
    call = getattr(it, "tool_call", None)
    title = it.title if call is None else call.title or known or call.tool_call_id
    return f"{quoted(title)}: " + ", ".join(brief(str(option.kind), 20) for option in it.options[:6])


def _outcome(it: Any) -> str:
    chosen = getattr(it.outcome, "option_id", None)
    return f"selected {brief(chosen, 40)}" if chosen is not None else brief(kind_of(it.outcome, "outcome"))


def _write(it: Any) -> str:
    return joined(
        brief(it.path), many(it.content.count("\n") + (not it.content.endswith("\n") and it.content != ""), "line")
    )


def _read(it: Any) -> str:
    return joined(location(it.path, it.line), many(it.limit, "line") if it.limit is not None else "")


def _command(it: Any) -> str:
    return joined(f"$ {brief(' '.join([it.command, *it.args]), 80)}", f"in {brief(it.cwd)}" if it.cwd else "")


def _exit(it: Any) -> str:
    if it is None:
        return "still running"
    return (
        f"signal {brief(it.signal)}"
        if it.signal is not None
        else f"exit {'unknown' if it.exit_code is None else it.exit_code}"
    )


def _output(it: Any) -> str:
    cut = "cut" if it.truncated else ""
    return joined(
        _exit(it.exit_status),
        f"{sized(len(it.output.encode('utf-8', 'replace')))} of output",
        cut,
        quoted(it.output, 40) if it.output else "",
    )


def _elicitation(it: Any) -> str:
    return joined(getattr(it, "mode", ""), quoted(it.message))


RULES: dict[str, Callable[[Any], str]] = {
    "InitializeRequest": _hello,
    "InitializeResponse": _hello,
    "NewSessionRequest": _session,
    "LoadSessionRequest": _session,
    "ResumeSessionRequest": _session,
    "ForkSessionRequest": _session,
    "NewSessionResponse": _session_made,
    "LoadSessionResponse": _session_made,
    "ResumeSessionResponse": _session_made,
    "ForkSessionResponse": _session_made,
    "ListSessionsResponse": lambda it: joined(
        many(len(it.sessions), "session"), "more to come" if it.next_cursor else ""
    ),
    "PromptRequest": lambda it: blocks(it.prompt),
    "PromptResponse": lambda it: str(getattr(it, "stop_reason", "")),
    "SessionNotification": lambda it: update(it.update),
    "UpdateSessionNotification": lambda it: update(it.update),
    "CancelNotification": lambda it: brief(it.session_id, 40),
    "CancelSessionNotification": lambda it: brief(it.session_id, 40),
    "CancelRequestNotification": lambda it: f"request {identified(it.request_id)}",
    "RequestPermissionRequest": _permission,
    "RequestPermissionResponse": _outcome,
    "ReadTextFileRequest": _read,
    "ReadTextFileResponse": lambda it: joined(many(len(it.content), "character"), quoted(it.content, 40)),
    "WriteTextFileRequest": _write,
    "CreateTerminalRequest": _command,
    "CreateTerminalResponse": lambda it: brief(it.terminal_id, 40),
    "TerminalOutputRequest": lambda it: brief(it.terminal_id, 40),
    "TerminalOutputResponse": _output,
    "WaitForTerminalExitRequest": lambda it: brief(it.terminal_id, 40),
    "WaitForTerminalExitResponse": _exit,
    "KillTerminalRequest": lambda it: brief(it.terminal_id, 40),
    "ReleaseTerminalRequest": lambda it: brief(it.terminal_id, 40),
    "SetSessionModeRequest": lambda it: f"mode {brief(it.mode_id, 40)}",
    **dict.fromkeys(
        (f"SetSessionConfigOptionRequest{end}" for end in ("Boolean", "ValueId", "Id", "Other")),
        lambda it: f"{brief(it.config_id, 40)} = {brief(it.value, 40)}",
    ),
    "AuthenticateRequest": lambda it: brief(it.method_id, 40),
    "LoginAuthRequest": lambda it: brief(it.method_id, 40),
    **dict.fromkeys(
        (f"CreateElicitationRequest{m}{s}" for m in ("Form", "Url", "Other") for s in ("Session", "Request")),
        _elicitation,
    ),
    **dict.fromkeys(
        (f"CreateElicitationResponse{action}" for action in ("Accept", "Decline", "Cancel", "Other")),
        lambda it: brief(it.action),
    ),
}
"""What is worth telling of each class of params and results, by the name of the class."""
_TITLED: dict[str, Callable[[Any, str | None], str]] = {
    "SessionNotification": lambda it, title: update(it.update, title),
    "UpdateSessionNotification": lambda it, title: update(it.update, title),
    "RequestPermissionRequest": _permission,
}
"""The rules for what is about a tool call whose title an earlier message has told."""
