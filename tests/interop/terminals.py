"""Terminals of real processes for the clients in Python, ours and the official SDK's: plain values in and out."""

import asyncio
import os
import signal
from dataclasses import dataclass, field
from itertools import count


@dataclass(slots=True)
class Terminal:
    """One process and what it wrote."""

    process: asyncio.subprocess.Process
    limit: int
    output: bytes = b""
    truncated: bool = False
    reading: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])

    async def read(self) -> None:
        """Keep the end of the output."""
        assert self.process.stdout is not None
        while data := await self.process.stdout.read(65536):
            self.output += data
            if len(self.output) > self.limit:
                self.output, self.truncated = self.output[-self.limit :], True

    async def wait(self) -> tuple[int | None, str | None]:
        """Wait for the end; give the exit code, or the name of the signal."""
        await self.process.wait()
        await asyncio.gather(*self.reading)
        return self.status() or (None, None)

    def status(self) -> tuple[int | None, str | None] | None:
        """Give the exit code or the signal of a process that has ended."""
        code = self.process.returncode
        if code is None:
            return None
        return (code, None) if code >= 0 else (None, signal.Signals(-code).name)

    def kill(self) -> None:
        """Kill the process, unless it has ended."""
        if self.process.returncode is None:
            self.process.kill()


class Terminals:
    """The terminals of one client."""

    def __init__(self) -> None:
        self.open: dict[str, Terminal] = {}
        self.names = count(1)

    async def create(self, command: str, args: list[str], env: dict[str, str], limit: int | None) -> str:
        """Start a command; give the terminal's id."""
        process = await asyncio.create_subprocess_exec(
            command,
            *args,
            env={**os.environ, **env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        made = Terminal(process, limit if limit is not None else 1 << 20)
        made.reading.append(asyncio.create_task(made.read()))
        name = f"t{next(self.names)}"
        self.open[name] = made
        return name

    async def release(self, name: str) -> None:
        """Kill and forget."""
        gone = self.open.pop(name)
        gone.kill()
        await gone.wait()
