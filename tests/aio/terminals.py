"""What the tests of terminals share: commands of a shell, and waiting for what they do."""

import asyncio
from pathlib import Path
from typing import Any

from acp_msgspec import aio

SESSION = "s"


async def ran(terminals: aio.Terminals, command: str, *args: str, **choices: Any) -> str:
    """Run a command without arguments of its own, and give its output."""
    number = await terminals.create(SESSION, command, args, **choices)
    await terminals.wait(SESSION, number)
    text = terminals.output(SESSION, number)[0]
    await terminals.release(SESSION, number)
    return text


DONE = aio.ExitStatus(exit_code=0, signal=None)
KILLED = aio.ExitStatus(exit_code=None, signal="SIGKILL")


async def shell(terminals: aio.Terminals, line: str, **choices: Any) -> str:
    return await terminals.create(SESSION, "/bin/sh", ["-c", line], **choices)


async def until(terminals: aio.Terminals, number: str, text: str) -> None:
    while text not in terminals.output(SESSION, number)[0]:
        await asyncio.sleep(0.005)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


async def gone(pid: int) -> None:
    while is_alive(pid):
        await asyncio.sleep(0.005)
