"""What logs cost the inspector that were written to fill its memory."""

import asyncio
import contextlib
import importlib
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.floods.measure import flood

CLI: Any = importlib.import_module("acp_msgspec.tools.cli")
LINES = 150_000


def _inspect(lines: Iterable[str], *options: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        with log.open("w", encoding="utf-8") as stream:
            stream.writelines(lines)
        with Path(folder, "out").open("w", encoding="utf-8") as out, contextlib.redirect_stdout(out):
            CLI.main(["inspect", str(log), *options])


@flood()
async def a_value_over_lines_without_end() -> None:
    lines = ("{\n", '"jsonrpc": "2.0",\n', *('"key": "some value",\n' for _ in range(LINES)))
    await asyncio.to_thread(_inspect, lines, "--last", "10")


@flood()
async def undeclared_keys_without_end() -> None:
    start = '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s",'
    lines = (f'{start}"{number:0200}":1}}}}\n' for number in range(LINES // 3))
    await asyncio.to_thread(_inspect, lines, "--json")


@flood()
async def a_line_of_undeclared_keys() -> None:
    start = '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s",'
    keys = ",".join(f'"{number}":1' for number in range(50_000))
    await asyncio.to_thread(_inspect, [f"{start}{keys}}}}}\n"] * 3)
