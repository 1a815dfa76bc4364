"""A chat with any agent: `python chat.py COMMAND…` or `python chat.py ws://…`; an empty line ends it."""

import asyncio
import sys
from pathlib import Path

from acp_msgspec import aio, v1


class ChatClient(aio.ServesFiles, aio.DecidesPermissions):
    """Serves the files of this folder, and asks its user before anything is done."""

    def __init__(self) -> None:
        self.files, self.permissions = aio.Files(Path.cwd()), aio.Permissions(self.ask, remember=True)

    async def ask(self, request: v1.RequestPermissionRequest) -> aio.Decision:
        answer = await asyncio.to_thread(input, f"\n{request.tool_call.title or 'Go on'}? (y/n) ")
        return "allow_once" if answer.startswith("y") else "reject_once"


async def main(target: str | list[str]) -> None:
    async with aio.connect(target, ChatClient()) as agent, agent.session(cwd=Path.cwd()) as session:
        while text := await asyncio.to_thread(input, "> "):
            async for change in session.prompt(text, idle_timeout=300):
                match change:
                    case aio.Text(text=piece):
                        print(piece, end="", flush=True)
                    case aio.ToolBegun(call=call) | aio.ToolEnded(call=call):
                        print(f"\n[{call.status}] {call.title}")
                    case aio.PlanUpdated(plan=plan) if plan:
                        print(*(f"\n- {item.content} ({item.status})" for item in plan.items))
                    case aio.Ended(stop_reason=reason, failure=why):
                        print(f"\n({why or reason})")
                    case _:
                        pass


asyncio.run(main(sys.argv[1] if sys.argv[1].startswith("ws") else sys.argv[1:]))
