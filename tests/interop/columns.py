"""The pairs of peers that are tried, and trying them: what a client has seen, feature by feature."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal

from acp_msgspec import aio

from docs.build import node
from tests.interop import install, scenario
from tests.interop.client import observe
from tests.support import ROOT

PEERS = install.HERE / "peers"
LIMIT = 60.0  # seconds for one pair
OURS = (sys.executable, "-m", "tests.interop.agent")
Sdk = Literal["TypeScript SDK", "Python SDK"]


@dataclass(frozen=True, slots=True)
class Column:
    """One pair: whose SDK is on the other side, what it does there, and what lies between."""

    sdk: Sdk
    theirs: Literal["agent", "client"]
    transport: Literal["stdio", "WebSocket"]

    @property
    def name(self) -> str:
        """What the pair is called in the results."""
        ours = "client" if self.theirs == "agent" else "agent"
        return f"our {ours}, {self.sdk} {self.theirs}, {self.transport}"


COLUMNS = [
    Column(sdk, theirs, transport)
    for sdk in ("TypeScript SDK", "Python SDK")
    for transport in ("stdio", "WebSocket")
    for theirs in ("agent", "client")
]


def program(column: Column) -> list[str]:
    """Give the command of the other side."""
    if column.sdk == "TypeScript SDK":
        return [str(node()), str(PEERS / f"{column.theirs}.mjs")]
    return [str(install.PYTHON), "-m", f"tests.interop.peers.{column.theirs}"]


def environment() -> dict[str, str]:
    """Give the environment of all programs."""
    constants = {name: value for name, value in vars(scenario).items() if name.isupper()}
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "generated"))),
        "INTEROP_MODULES": str(install.NODE_FOLDER),
        "INTEROP_SCENARIO": json.dumps(constants),
    }


async def seen_by_client(column: Column) -> dict[str, Any]:
    """Run one pair through all features."""
    async with asyncio.timeout(LIMIT):
        match column.theirs, column.transport:
            case "agent", "stdio":
                return await observe(await aio.spawn(program(column), cwd=ROOT, env=environment()))
            case "agent", _:
                async with started([*program(column), "--websocket"]) as port:
                    return await observe(await aio.connect_websocket(f"ws://127.0.0.1:{port}/acp"))
            case _, "stdio":
                return await printed([*program(column), *OURS])
            case _:
                async with started([*OURS, "--websocket"]) as port:
                    return await printed([*program(column), "--websocket", f"ws://127.0.0.1:{port}/acp"])


async def printed(command: list[str]) -> dict[str, Any]:
    """Run a client of theirs and give what it printed."""
    async with process(command) as running:
        assert running.stdout is not None
        text = await running.stdout.read()
        await running.wait()
    assert running.returncode == 0, f"{command[0]} ended with {running.returncode}"
    found: dict[str, Any] = json.loads(text)
    return found


@asynccontextmanager
async def started(command: list[str]) -> AsyncGenerator[int]:
    """Run a server, which prints its port."""
    async with process(command) as running:
        assert running.stdout is not None
        yield int(await running.stdout.readline())


@asynccontextmanager
async def process(command: list[str]) -> AsyncGenerator[asyncio.subprocess.Process]:
    """Run a program in a group of its own, which ends with the block; its standard error is not shown."""
    running = await asyncio.create_subprocess_exec(
        *command,
        cwd=ROOT,
        env=environment(),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
        limit=64 * 1024 * 1024,
    )
    try:
        yield running
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        await running.wait()
