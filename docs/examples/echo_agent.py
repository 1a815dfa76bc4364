"""An agent that repeats what it is told, word by word: `python echo_agent.py`, as an editor starts it."""

import asyncio

from acp_msgspec import v1
from acp_msgspec.aio import Agent, AgentConnection, stdio


class EchoAgent(Agent):
    """Answers each prompt with its own text."""

    def __init__(self, client: AgentConnection) -> None:
        self.client = client
        self.sessions = 0

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        self.sessions += 1
        return v1.NewSessionResponse(session_id=v1.SessionId(f"echo-{self.sessions}"))

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        words = [w for block in params.prompt if isinstance(block, v1.TextContent) for w in block.text.split()]
        for word in words:
            chunk = v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=f"{word} "))
            await self.client.session_update(v1.SessionNotification(session_id=params.session_id, update=chunk))
            await asyncio.sleep(0.05)  # a turn that `session/cancel` ends here is answered with `cancelled`
        return v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)


async def main() -> None:
    await AgentConnection(await stdio(), EchoAgent).serve()


if __name__ == "__main__":
    asyncio.run(main())
