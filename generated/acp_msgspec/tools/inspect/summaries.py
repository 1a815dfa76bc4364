"""One-line summaries of messages, by the class of their params or result, for all schemas."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from ..._rpc.errors import RequestError
from ..._types.printable import printable
from .formatting import count_of, format_id, format_size, join_present, quoted, shorten
from .generic_summary import MAX_LENGTH, generic
from .log_message import LogMessage
from .update_summaries import blocks, location, shown_tag, update


def summary(message: LogMessage) -> str:
    """Summarize a message on one line, without control characters."""
    return printable(_summary(message))


def _summary(message: LogMessage) -> str:
    decoded = message.decoded
    if message.carried is not None:
        return join_present(shorten(message.carried.method or "", 40), _summary(message.carried))
    if decoded is None:
        start = max(message.raw.find(b'"params":'), 0)  # the method and the id are shown separately
        return shorten(message.raw[start : start + MAX_LENGTH * 4].decode("utf-8", "backslashreplace"), MAX_LENGTH)
    if message.kind == "error":
        return _error(decoded.error)
    part = decoded.result if message.kind == "response" else decoded.params
    if isinstance(part, Raw):
        return shorten(bytes(part)[: MAX_LENGTH * 4].decode("utf-8", "replace"), MAX_LENGTH)
    rule = RULES.get(type(part).__name__)
    if rule is not None:
        try:
            titled = _WITH_TITLE.get(type(part).__name__) if message.title is not None else None
            return rule(part) if titled is None else titled(part, message.title)
        except AttributeError:
            pass  # in a schema from elsewhere, a class of that name may have other fields
    return generic(part)


def _error(error: Any) -> str:
    known = RequestError.of(error)
    data = known.data
    detail = ""
    if isinstance(data, str):
        detail = shorten(data)
    elif data is not None:
        detail = shorten(msgspec.json.encode(data)[:400].decode("utf-8", "replace"))
    return f"{known.code} {shorten(known.message)}{f': {detail}' if detail else ''}"


def implementation_info(part: Any) -> Any:
    """Return the name and the version of a side, from the params or the result of `initialize`; None if missing."""
    names = ("client_info", "agent_info", "info")
    return next((info for name in names if (info := getattr(part, name, None)) is not None), None)


def _initialize(it: Any) -> str:
    info = implementation_info(it)
    offered = getattr(it, "auth_methods", None)
    auth = (
        "sign in by "
        + ", ".join(shorten(getattr(m, "id", None) or getattr(m, "method_id", "?"), 20) for m in offered[:3])
        if offered
        else ""
    )
    name = f"{shorten(info.title or info.name, 30)} {shorten(info.version, 20)}" if info is not None else ""
    return join_present(f"protocol {it.protocol_version}", name, auth)


def _session(it: Any) -> str:
    servers = getattr(it, "mcp_servers", ())
    named = f"{shorten(it.session_id, 24)} " if hasattr(it, "session_id") else ""
    return join_present(f"{named}in {shorten(it.cwd)}", count_of(len(servers), "MCP server") if servers else "")


def _opened_session(it: Any) -> str:
    modes = getattr(it, "modes", None)
    options = getattr(it, "config_options", None)
    return join_present(
        shorten(it.session_id, 40) if hasattr(it, "session_id") else "",
        f"mode {shorten(modes.current_mode_id, 30)}" if modes is not None else "",
        count_of(len(options), "option") if options else "",
    )


def _permission(it: Any, known: str | None = None) -> str:
    call = getattr(it, "tool_call", None)
    title = it.title if call is None else call.title or known or call.tool_call_id
    return f"{quoted(title)}: " + ", ".join(shorten(str(option.kind), 20) for option in it.options[:6])


def _outcome(it: Any) -> str:
    chosen = getattr(it.outcome, "option_id", None)
    return f"selected {shorten(chosen, 40)}" if chosen is not None else shorten(shown_tag(it.outcome, "outcome"))


def _write(it: Any) -> str:
    return join_present(
        shorten(it.path),
        count_of(it.content.count("\n") + (not it.content.endswith("\n") and it.content != ""), "line"),
    )


def _read(it: Any) -> str:
    return join_present(location(it.path, it.line), count_of(it.limit, "line") if it.limit is not None else "")


def _command(it: Any) -> str:
    return join_present(f"$ {shorten(' '.join([it.command, *it.args]), 80)}", f"in {shorten(it.cwd)}" if it.cwd else "")


def _exit(it: Any) -> str:
    if it is None:
        return "still running"
    return (
        f"signal {shorten(it.signal)}"
        if it.signal is not None
        else f"exit {'unknown' if it.exit_code is None else it.exit_code}"
    )


def _output(it: Any) -> str:
    cut = "cut" if it.truncated else ""
    return join_present(
        _exit(it.exit_status),
        f"{format_size(len(it.output.encode('utf-8', 'replace')))} of output",
        cut,
        quoted(it.output, 40) if it.output else "",
    )


def _elicitation(it: Any) -> str:
    return join_present(getattr(it, "mode", ""), quoted(it.message))


RULES: dict[str, Callable[[Any], str]] = {
    "InitializeRequest": _initialize,
    "InitializeResponse": _initialize,
    "NewSessionRequest": _session,
    "LoadSessionRequest": _session,
    "ResumeSessionRequest": _session,
    "ForkSessionRequest": _session,
    "NewSessionResponse": _opened_session,
    "LoadSessionResponse": _opened_session,
    "ResumeSessionResponse": _opened_session,
    "ForkSessionResponse": _opened_session,
    "ListSessionsResponse": lambda it: join_present(
        count_of(len(it.sessions), "session"), "more to come" if it.next_cursor else ""
    ),
    "PromptRequest": lambda it: blocks(it.prompt),
    "PromptResponse": lambda it: str(getattr(it, "stop_reason", "")),
    "SessionNotification": lambda it: update(it.update),
    "UpdateSessionNotification": lambda it: update(it.update),
    "CancelNotification": lambda it: shorten(it.session_id, 40),
    "CancelSessionNotification": lambda it: shorten(it.session_id, 40),
    "CancelRequestNotification": lambda it: f"request {format_id(it.request_id)}",
    "RequestPermissionRequest": _permission,
    "RequestPermissionResponse": _outcome,
    "ReadTextFileRequest": _read,
    "ReadTextFileResponse": lambda it: join_present(count_of(len(it.content), "character"), quoted(it.content, 40)),
    "WriteTextFileRequest": _write,
    "CreateTerminalRequest": _command,
    "CreateTerminalResponse": lambda it: shorten(it.terminal_id, 40),
    "TerminalOutputRequest": lambda it: shorten(it.terminal_id, 40),
    "TerminalOutputResponse": _output,
    "WaitForTerminalExitRequest": lambda it: shorten(it.terminal_id, 40),
    "WaitForTerminalExitResponse": _exit,
    "KillTerminalRequest": lambda it: shorten(it.terminal_id, 40),
    "ReleaseTerminalRequest": lambda it: shorten(it.terminal_id, 40),
    "SetSessionModeRequest": lambda it: f"mode {shorten(it.mode_id, 40)}",
    **dict.fromkeys(
        (f"SetSessionConfigOptionRequest{end}" for end in ("Boolean", "ValueId", "Id", "Other")),
        lambda it: f"{shorten(it.config_id, 40)} = {shorten(it.value, 40)}",
    ),
    "AuthenticateRequest": lambda it: shorten(it.method_id, 40),
    "LoginAuthRequest": lambda it: shorten(it.method_id, 40),
    **dict.fromkeys(
        (f"CreateElicitationRequest{m}{s}" for m in ("Form", "Url", "Other") for s in ("Session", "Request")),
        _elicitation,
    ),
    **dict.fromkeys(
        (f"CreateElicitationResponse{action}" for action in ("Accept", "Decline", "Cancel", "Other")),
        lambda it: shorten(it.action),
    ),
}
"""The summary of each class of params and results, by the name of the class."""
_WITH_TITLE: dict[str, Callable[[Any, str | None], str]] = {
    "SessionNotification": lambda it, title: update(it.update, title),
    "UpdateSessionNotification": lambda it, title: update(it.update, title),
    "RequestPermissionRequest": _permission,
}
"""The rules for messages about a tool call, which may have its title from an earlier message."""
