"""The peer of the soak run: an agent that does what the text of a prompt asks for, and counts."""

import asyncio
from collections import Counter
from typing import Any

import msgspec
from acp_msgspec import v1
from acp_msgspec.aio import Agent, AgentConnection, stdio


class Wish(msgspec.Struct):
    """What one prompt asks for: so many chunks, with a request after so many of them, in slow steps or not."""

    turn: int
    chunks: int
    asks: int
    slow: float
    padding: int


class SoakAgent(Agent):
    def __init__(self, client: AgentConnection) -> None:
        self.client = client
        self.notes: Counter[str] = Counter()
        self.cancelled: set[str] = set()

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id=v1.SessionId(params.cwd))

    async def session_cancel(self, params: v1.CancelNotification, /) -> None:
        self.cancelled.add(params.session_id)

    async def extension_notification(self, method: str, params: msgspec.Raw, /) -> None:
        note: dict[str, Any] = msgspec.json.decode(params)
        await asyncio.sleep(note["slow"])
        self.notes[note["session"]] += 1

    async def extension_request(self, method: str, params: msgspec.Raw, /) -> int:
        return self.notes[msgspec.json.decode(params)]

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        session = params.session_id
        self.cancelled.discard(session)
        block = params.prompt[0]
        assert isinstance(block, v1.TextContent)
        wish = msgspec.json.decode(block.text, type=Wish)
        sent = asked = 0
        while sent < wish.chunks and session not in self.cancelled:
            text = f"{wish.turn}:{sent}:{'x' * wish.padding}"
            chunk = v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=text))
            await self.client.session_update(v1.SessionNotification(session_id=session, update=chunk))
            sent += 1
            if wish.asks and sent % wish.asks == 0:
                path = f"/{session}/{wish.turn}/{sent}"
                answer = await self.client.fs_read_text_file(v1.ReadTextFileRequest(session_id=session, path=path))
                assert answer.content == path, "the answer belongs to another request"
                asked += 1
            if wish.slow:
                await asyncio.sleep(wish.slow)
        reason = v1.StopReason.CANCELLED if session in self.cancelled else v1.StopReason.END_TURN
        return v1.PromptResponse(stop_reason=reason, meta={"sent": sent, "asked": asked})


async def main() -> None:
    await AgentConnection(await stdio(), SoakAgent).serve()


if __name__ == "__main__":
    asyncio.run(main())
