"""What a type checker must see in conversations; `make types` checks this file, nothing runs it."""

from pathlib import Path
from typing import Literal, assert_never, assert_type

from acp_msgspec import aio, v1, v1_unstable, v2
from acp_msgspec.v1_unstable import conversation as v1_unstable_conversation
from acp_msgspec.v2 import conversation as v2_conversation


class Editor(aio.Client):
    pass


async def talk() -> None:
    async with aio.connect(["agent", "acp"], Editor(), grace=1.0) as agent:
        assert_type(agent, aio.ConnectedAgent)
        assert_type(agent.connection, aio.ClientConnection)
        server = v1.McpServerStdio(name="x", command="y", args=[], env=[])
        async with agent.session(cwd=Path("/project"), mcp_servers=[server]) as session:
            assert_type(session, aio.ClientSession)
            async for change in session.prompt("Explain this file", Path("src/app.py"), every=0.2):
                print(shown(change))
            assert_type(session.stop_reason, v1.StopReason | None)
            assert_type(session.failure, Exception | None)
            assert_type(await session.ask(v1.TextContent(text="x")), str)
            async with session.prompt("go", when_busy="cancel") as changes:
                async for change in changes:
                    assert_type(change, aio.Change)
                assert_type(changes.stop_reason, v1.StopReason | None)


def shown(change: aio.Change) -> str:
    match change:
        case aio.Text(text=text) | aio.Thought(text=text):
            return text
        case aio.Content(block=block):
            assert_type(block, v1.ContentBlock)
            return str(block)
        case aio.MessageUpdated(message=message):
            return message.text
        case aio.ToolBegun(call=call) | aio.ToolUpdated(call=call) | aio.ToolEnded(call=call):
            return call.title or call.tool_call_id
        case aio.PlanUpdated(plan=plan):
            return "" if plan is None else str(plan.items)
        case aio.PermissionAsked(request=request):
            assert_type(request, v1.RequestPermissionRequest)
            return str(request.options)
        case aio.TerminalUpdated(terminal=terminal):
            return terminal.output.decode()
        case aio.ModeUpdated(mode=mode):
            return str(mode)
        case aio.UsageUpdated(usage=usage):
            return str(usage.used)
        case aio.SessionUpdated() | aio.UnknownUpdate():
            return ""
        case aio.Ended(stop_reason=reason, failure=failure):
            assert_type(reason, v1.StopReason | None)
            assert_type(failure, Exception | None)
            return str(reason)
    assert_never(change)


def of_version_2(change: v2_conversation.Change) -> Literal["content", "question", "end", "other"]:
    match change:
        case aio.Content(block=block):
            assert_type(block, v2.ContentBlock)
            return "content"
        case aio.PermissionAsked(request=request):
            assert_type(request, v2.RequestPermissionRequest)
            return "question"
        case aio.Ended(stop_reason=reason):
            assert_type(reason, str | None)
            return "end"
        case _:
            return "other"


async def of_other_versions(transport: aio.Transport) -> None:
    async with v2_conversation.connect(transport) as agent, agent.session(cwd="/") as session:
        assert_type(session, v2_conversation.ClientSession)
    async with v1_unstable_conversation.connect("ws://localhost:1") as other, other.session(cwd="/") as unstable:
        assert_type(unstable.stop_reason, v1_unstable.StopReason | None)
