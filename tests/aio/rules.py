"""What the tests of rules share: requests of both versions."""

from typing import Any

from acp_msgspec import v1, v2

from tests.aio.permissions import options


def asks(
    kind: str | None = "edit",
    *paths: str,
    raw: Any = None,
    tool: str | None = None,
    content: Any = None,
) -> v1.RequestPermissionRequest:
    call = v1.ToolCallUpdate(
        tool_call_id=v1.ToolCallId("t"),
        kind=None if kind is None else v1.ToolKind(kind),
        name=tool,
        raw_input=raw,
        content=content,
        locations=[v1.ToolCallLocation(path=path) for path in paths] or None,
    )
    given = options("allow_once", "allow_always", "reject_once", "reject_always")
    return v1.RequestPermissionRequest(session_id=v1.SessionId("s"), tool_call=call, options=given)


def runs(command: Any, **raw: Any) -> v1.RequestPermissionRequest:
    return asks("execute", raw={"command": command, **raw})


def runs_v2(command: str, cwd: str = "/") -> v2.RequestPermissionRequest:
    subject = v2.CommandPermissionSubject(command=command, cwd=v2.AbsolutePath(cwd))
    return v2.RequestPermissionRequest(
        session_id=v2.SessionId("s"), title="Run it", subject=subject, options=v2.permission_options()
    )


def asks_v2(kind: str, *paths: str) -> v2.RequestPermissionRequest:
    call = v2.ToolCallUpdate(
        tool_call_id=v2.ToolCallId("t"),
        kind=v2.ToolKind(kind),
        locations=[v2.ToolCallLocation(path=v2.AbsolutePath(path)) for path in paths],
    )
    return v2.RequestPermissionRequest(
        session_id=v2.SessionId("s"),
        title="Do it",
        subject=v2.ToolCallPermissionSubject(tool_call=call),
        options=v2.permission_options(),
    )
