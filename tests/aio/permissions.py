"""What the tests of permissions share: options, requests, and a user who is asked."""

from typing import Any, get_args

from acp_msgspec import aio, v1

KINDS: tuple[aio.Decision, ...] = get_args(aio.Decision)
SESSION = v1.SessionId("s")
RAW = {"command": "x"}


def options(*kinds: str) -> list[v1.PermissionOption]:
    return [
        v1.PermissionOption(option_id=v1.PermissionOptionId(f"{kind} {n}"), name="", kind=v1.PermissionOptionKind(kind))
        for n, kind in enumerate(kinds)
    ]


def request(
    title: str | None = "rm x",
    *,
    kind: v1.ToolKind = v1.ToolKind.EXECUTE,
    session: str = "s",
    kinds: Any = KINDS,
    raw: Any = RAW,
    call_id: str = "t",
    **more: Any,
) -> v1.RequestPermissionRequest:
    call = v1.ToolCallUpdate(tool_call_id=v1.ToolCallId(call_id), title=title, kind=kind, raw_input=raw, **more)
    return v1.RequestPermissionRequest(session_id=v1.SessionId(session), tool_call=call, options=options(*kinds))


class Asked:
    """A policy that gives the same answer each time, and counts."""

    def __init__(self, answer: Any = "allow_always") -> None:
        self.answer = answer
        self.count = 0

    def __call__(self, _: v1.RequestPermissionRequest) -> Any:
        self.count += 1
        return self.answer


def run_it(**changes: Any) -> v1.RequestPermissionRequest:
    said: dict[str, Any] = {"title": "Run it", "raw": {"command": "ls"}, **changes}
    return request(**said)
