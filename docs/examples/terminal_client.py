"""A client for the terminal that drives any agent: `python terminal_client.py COMMAND…`, drawn with rich.

Each line that is typed is a prompt; Ctrl-C cancels the turn, and an empty line or the end of the input ends the client.
"""

import asyncio
import signal
import sys
from pathlib import Path

from acp_msgspec import RequestError, aio, v1
from acp_msgspec.state import SessionState, to_markdown
from msgspec.structs import replace
from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown

OUT = Console()
CHOICES: dict[str, aio.Decision] = {"y": "allow_once", "a": "allow_always", "n": "reject_once"}


class TerminalClient(aio.ServesFiles, aio.ServesTerminals, aio.DecidesPermissions):
    """Serves the files and runs the commands of one folder, and asks its user before a tool does something."""

    def __init__(self, folder: Path) -> None:
        self.files = aio.Files(folder)
        self.terminals = aio.Terminals(folder)
        self.permissions = aio.Permissions(self.ask, remember=True)
        self.state = SessionState()
        self.live = Live(console=OUT, auto_refresh=False, vertical_overflow="visible")

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        self.state.apply(params.update)
        self.draw()

    def draw(self, asked: str = "") -> None:
        now = self.state.snapshot  # a call that is asked about may have the id of an earlier turn's
        turn = [e for e in now.timeline if e.turn == len(now.turns) or getattr(e, "tool_call_id", None) == asked]
        self.live.update(Markdown(to_markdown(replace(now, timeline=tuple(turn)))), refresh=True)

    async def ask(self, request: v1.RequestPermissionRequest) -> aio.Decision | None:
        self.state.apply(request.tool_call)
        self.draw(asked=request.tool_call.tool_call_id)
        self.live.stop()
        question = f"\n{request.tool_call.title or 'Go on'}? (y)es, (a)lways, (n)o: "
        answer = await asyncio.to_thread(OUT.input, question, markup=False)
        self.live.start()
        return CHOICES.get(answer.strip()[:1].lower())


async def turn(agent: aio.ClientConnection, client: TerminalClient, session: v1.SessionId, text: str) -> None:
    """Send a prompt, and draw until it is answered."""
    prompt: list[v1.ContentBlock] = [v1.TextContent(text=text)]
    client.state.user_prompt(prompt)
    stop, tasks, loop = v1.CancelNotification(session_id=session), set[object](), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: tasks.add(loop.create_task(agent.session_cancel(stop))))
    with client.live:
        answer = await agent.session_prompt(v1.PromptRequest(session_id=session, prompt=prompt))
        client.state.turn_ended(answer.stop_reason)
        client.draw()
    loop.remove_signal_handler(signal.SIGINT)


async def main(command: list[str]) -> None:
    client = TerminalClient(Path.cwd())
    async with aio.ClientConnection(await aio.spawn(command), client) as agent:
        await agent.negotiate()
        session = (await agent.session_new(v1.NewSessionRequest(cwd=str(Path.cwd()), mcp_servers=[]))).session_id
        while text := await asyncio.to_thread(OUT.input, "\n> "):
            await turn(agent, client, session, text)


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(sys.argv[1:])) if sys.argv[1:] else "usage: terminal_client.py COMMAND…")
    except EOFError:
        print()
    except (RequestError, aio.ConnectionClosed, OSError, ValueError) as why:
        sys.exit(f"error: {why}")
