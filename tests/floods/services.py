"""Floods of what a client serves: contents of files, and terminals with their output."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from acp_msgspec import aio

from tests.aio.support import RawPeer
from tests.floods.measure import flood

MIB = 2**20
LONGEST = 16 * MIB
"""The longest file that is served by default."""
LAST_LINE = 2**32 - 1


class Client(aio.ServesFiles, aio.ServesTerminals, aio.DecidesPermissions):
    """What a client serves by default."""

    def __init__(self, folder: Path) -> None:
        self.files = aio.Files(folder)
        self.terminals = aio.Terminals(folder)
        self.permissions = aio.Permissions("allow_always", remember=True)


@asynccontextmanager
async def served(content: bytes = b"") -> AsyncGenerator[tuple[RawPeer, Callable[..., dict[str, Any]]]]:
    """Give a peer of a client that serves a folder with one file, and what makes its requests."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "file").write_bytes(content)
        here, there = aio.memory_pair()
        count = 0

        def request(method: str, **params: Any) -> dict[str, Any]:
            nonlocal count
            count += 1
            if method.startswith("fs/"):
                params["path"] = str(folder / "file")
            return {"jsonrpc": "2.0", "id": count, "method": method, "params": {"sessionId": "s", **params}}

        async with aio.ClientConnection(here, Client(folder), grace=0.1):
            yield RawPeer(there), request


@flood(memory=400 * MIB, pause=1.0)
async def contents_of_files_that_nobody_reads() -> None:
    """24 answers of 96 MiB each, as every character is escaped; there may be one of them at a time."""
    async with served(b"\x01" * LONGEST) as (peer, request):
        await peer.send(*(request("fs/read_text_file") for _ in range(24)))
        await asyncio.sleep(3)


@flood(memory=160 * MIB)
async def plain_contents_that_nobody_reads() -> None:
    """Answers of 16 MiB: as many as may be held, once on their way and once behind these."""
    async with served(b"x" * LONGEST) as (peer, request):
        await peer.send(*(request("fs/read_text_file") for _ in range(500)))
        await asyncio.sleep(2)


@flood()
async def reads_that_are_cancelled_at_once() -> None:
    """The threads work on though nobody waits for them."""
    async with served(b"x" * LONGEST) as (peer, request):
        for _ in range(50):
            asked = [request("fs/read_text_file", line=LAST_LINE) for _ in range(20)]
            ends = [{"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": a["id"]}} for a in asked]
            await peer.send(*asked)
            await asyncio.sleep(0.01)
            await peer.send(*ends)
            for _ in asked:
                await peer.next()


@flood()
async def lines_beyond_the_end_of_a_long_file() -> None:
    """Each request of 100 bytes goes through 16 million lines."""
    async with served(b"\n" * LONGEST) as (peer, request):
        asked = [request("fs/read_text_file", line=LAST_LINE, limit=LAST_LINE) for _ in range(50)]
        await peer.send(*asked)
        for _ in asked:
            assert (await peer.next())["result"]["content"] == ""


@flood()
async def terminals_opened_without_end() -> None:
    """All print without end, and are never released."""
    async with served() as (peer, request):
        await peer.send(*(request("terminal/create", command="yes $RANDOM") for _ in range(300)))
        answers = [await peer.next() for _ in range(300)]
        assert sum("result" in answer for answer in answers) == 64
        await asyncio.sleep(3)


@flood()
async def terminals_opened_and_released_without_end() -> None:
    """What they printed stays visible, within a bound."""
    async with served() as (peer, request):
        line = f"head -c {2 * MIB} /dev/zero"
        for _ in range(100):
            await peer.send(request("terminal/create", command=line))
            number = (await peer.next())["result"]["terminalId"]
            await peer.send(request("terminal/wait_for_exit", terminalId=number))
            await peer.next()
            await peer.send(request("terminal/release", terminalId=number))
            assert (await peer.next())["result"] == {}


@flood(memory=96 * MIB)
async def output_of_a_terminal_that_nobody_reads() -> None:
    """Answers of 6 MiB each, as every character is escaped: as many as may be held, on their way and behind."""
    async with served() as (peer, request):
        await peer.send(request("terminal/create", command=f"head -c {2 * MIB} /dev/zero | tr '\\0' '\\1'"))
        number = (await peer.next())["result"]["terminalId"]
        await peer.send(request("terminal/wait_for_exit", terminalId=number))
        await peer.next()
        await peer.send(*(request("terminal/output", terminalId=number) for _ in range(1000)))
        await asyncio.sleep(2)


@flood()
async def terminals_with_two_megabytes_of_arguments() -> None:
    """Each of them is kept while its terminal is open, and shown after that."""
    async with served() as (peer, request):
        args = ["ab"] * 150_000
        for _ in range(30):
            await peer.send(request("terminal/create", command="true", args=args))
            await peer.next()


@flood()
async def permissions_in_sessions_that_are_made_up() -> None:
    """All of them are remembered, and each request is large."""
    async with served() as (peer, request):
        option = {"optionId": "yes", "name": "Yes", "kind": "allow_always"}
        for number in range(1500):
            call = {"toolCallId": "t", "title": "t" * 20_000, "rawInput": {"x" * 20_000: "y" * 20_000}}
            asked = request("session/request_permission", toolCall=call, options=[option])
            asked["params"]["sessionId"] = f"{number}" * 25_000
            await peer.send(asked)
            assert (await peer.next())["result"]["outcome"] == {"outcome": "selected", "optionId": "yes"}
