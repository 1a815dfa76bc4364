"""A program that the tests start as an agent: `python -m tests.aio.child MODE`."""

import asyncio
import os
import subprocess
import sys
import time
from typing import Any

from acp_msgspec import aio, v1
from msgspec import Raw

DONE = v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)


class Child(aio.Agent):
    def __init__(self, client: aio.AgentConnection) -> None:
        self.client = client

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        (block,) = params.prompt
        assert isinstance(block, v1.TextContent)
        word, _, rest = block.text.partition(" ")
        match word:
            case "say":
                for number in range(int(rest)):
                    chunk = v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=str(number)))
                    await self.client.session_update(v1.SessionNotification(session_id=params.session_id, update=chunk))
            case "print":
                print("printed")
                os.write(1, b"written\n")
                subprocess.run([sys.executable, "-c", "import sys; print('grandchild', sys.stdin.read())"], check=True)
            case "stderr":
                sys.stderr.write("x" * int(rest) + "end")
                sys.stderr.flush()
            case "exit":
                print("leaving", end="", file=sys.stderr, flush=True)  # `_exit` flushes nothing
                os._exit(int(rest))
            case "hang":
                await asyncio.sleep(3600)
            case "block":
                sys.stderr.write("blocking")
                sys.stderr.flush()
                time.sleep(3600)
            case "family":
                sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
                return v1.PromptResponse(stop_reason=v1.StopReason.END_TURN, meta={"pid": sleeper.pid})
            case _:
                raise ValueError(word)
        return DONE

    async def extension_request(self, method: str, params: Raw, /) -> Any:
        return params


async def main() -> None:
    await aio.AgentConnection(await aio.stdio(), Child).serve()


if __name__ == "__main__":
    asyncio.run(main())
    print("after the end")
