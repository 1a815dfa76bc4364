"""An agent that edits a file through its client: it shows a diff, asks for permission, then writes.

The prompt says what to do: `replace OLD by NEW in /path/of/the/file`.
"""

import asyncio
import re
from secrets import token_hex

from acp_msgspec import RequestError, v1
from acp_msgspec.aio import Agent, AgentConnection, stdio

ORDER = re.compile(r"replace (\S+) by (\S+) in (\S+)")
CHOICES = [
    v1.PermissionOption(
        option_id=v1.PermissionOptionId("yes"),
        name="Write",
        kind=v1.PermissionOptionKind.ALLOW_ONCE,
    ),
    v1.PermissionOption(
        option_id=v1.PermissionOptionId("no"),
        name="Leave",
        kind=v1.PermissionOptionKind.REJECT_ONCE,
    ),
]


class EditAgent(Agent):
    """Edits one file in each turn."""

    def __init__(self, client: AgentConnection) -> None:
        self.client = client

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id=v1.SessionId(params.cwd))

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        session = params.session_id
        text = " ".join(block.text for block in params.prompt if isinstance(block, v1.TextContent))
        order = ORDER.search(text)
        try:
            outcome = await self.edit(session, *order.groups()) if order else "Tell me: replace OLD by NEW in PATH"
        except RequestError as why:
            outcome = f"That did not work: {why.message}"
        await self.say(session, v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=outcome)))
        return v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)

    async def edit(self, session: v1.SessionId, old: str, new: str, path: str) -> str:
        before = await self.client.fs_read_text_file(v1.ReadTextFileRequest(session_id=session, path=path))
        after = before.content.replace(old, new)
        if after == before.content:
            return f"There is no {old} in {path}"
        call = v1.ToolCallId(token_hex(8))
        diff = v1.Diff(path=path, old_text=before.content, new_text=after)
        shown = v1.ToolCall(tool_call_id=call, title=f"Edit {path}", kind=v1.ToolKind.EDIT, content=[diff])
        await self.say(session, shown)
        question = v1.ToolCallUpdate(tool_call_id=call, title=shown.title, kind=shown.kind, content=[diff])
        ask = v1.RequestPermissionRequest(session_id=session, tool_call=question, options=CHOICES)
        answer = await self.client.session_request_permission(ask)
        match answer.outcome:
            case v1.SelectedPermissionOutcome(option_id="yes"):
                write = v1.WriteTextFileRequest(session_id=session, path=path, content=after)
                await self.client.fs_write_text_file(write)
                status, outcome = v1.ToolCallStatus.COMPLETED, f"{path} is edited"
            case _:
                status, outcome = v1.ToolCallStatus.FAILED, f"{path} stays as it is"
        await self.say(session, v1.SessionUpdateToolCallUpdate(tool_call_id=call, status=status))
        return outcome

    async def say(self, session: v1.SessionId, update: v1.SessionUpdate) -> None:
        await self.client.session_update(v1.SessionNotification(session_id=session, update=update))


async def main() -> None:
    await AgentConnection(await stdio(), EditAgent).serve()


if __name__ == "__main__":
    asyncio.run(main())
