"""Whole connections side by side: a client and an agent process, ours and others', over standard streams and WebSocket.

`make bench-connection` prints a table for each row and writes `connection.json`. The agent answers a prompt with
chunks; the client reads them into its types and looks at the text. `benchmarks/README.md` tells more.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from threading import Timer
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import install
from benchmarks.bars import OURS
from benchmarks.install import HERE, PEERS, ROOT, Absent
from benchmarks.peers.turns import TEXT
from benchmarks.report import machine
from benchmarks.timing import median

ROUNDS = 11
PATIENCE = 120  # seconds for one answer
STDIO, WEBSOCKET = "stdio", "websocket"
OFFICIAL, TYPESCRIPT = "official SDK", "TypeScript SDK"
IDLE = 64
"""How many idle connections are opened to see what one takes."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is timed, in the words of `peers/turns.py`, and how often in one round."""

    transport: str
    what: str
    count: int

    @property
    def name(self) -> str:
        """Name the row in tables."""
        what, _, number = self.what.partition("@")
        return f"{what}, {self.transport}" + (f", {number} connections at once" if number else "")


@dataclass(frozen=True, slots=True)
class Bar:
    """How many times our time another side takes, at the least."""

    row: Row
    side: str
    at_least: float


STDIO_CHUNKS, STDIO_TRIPS = Row(STDIO, "chunks", 5000), Row(STDIO, "trips", 1000)
ROWS = (
    STDIO_CHUNKS,
    STDIO_TRIPS,
    Row(WEBSOCKET, "chunks", 2000),
    Row(WEBSOCKET, "trips", 500),
    *(Row(WEBSOCKET, f"trips@{number}", 640) for number in (4, 16, 64)),
)
BARS = (
    Bar(STDIO_CHUNKS, OFFICIAL, 6.0),
    Bar(STDIO_CHUNKS, TYPESCRIPT, 4.5),
    Bar(STDIO_TRIPS, OFFICIAL, 2.5),
    Bar(STDIO_TRIPS, TYPESCRIPT, 1.0),
)
TITLES = {
    "wall": "time of one",
    "client": "processor time of the client",
    "agent": "processor time of the agent",
}
Command = list[str]
Found = dict[Row, dict[str, dict[str, list[float]]]]
"""Seconds of one chunk or trip, by what is timed, the side, and the kind of time."""
Idle = dict[str, dict[str, float]]
"""Bytes that an idle connection takes, by the side and the process."""


class SideError(Exception):
    """A side did not answer as it should."""


class Side:
    """The client of one side; it has started its agent."""

    def __init__(self, command: Command) -> None:
        """Start it and wait until it is ready."""
        paths = (str(ROOT), str(ROOT / "generated"))
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        self.answer()

    def answer(self) -> dict[str, float]:
        """Read the next line that the side says."""
        assert self.process.stdout is not None
        timer = Timer(PATIENCE, self.process.kill)
        timer.start()
        try:
            line = self.process.stdout.readline()
        finally:
            timer.cancel()
        if not line:
            raise SideError("ended early")
        found: dict[str, float] = json.loads(line)
        return found

    def ask(self, what: str, count: int) -> dict[str, float]:
        """Give the figures of one of `count`."""
        print(what, count, file=self.process.stdin, flush=True)
        return {kind: figure / count for kind, figure in self.answer().items()}

    def stop(self) -> None:
        """End the process, and with it its agent."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def commands(transport: str) -> dict[str, Command | Absent]:
    """Install the sides and give the command of each."""
    official, node = install.official_sdk(), install.typescript_sdk()
    script = str(PEERS / "typescript" / "connection.mjs")
    role = [] if transport == STDIO else [transport]
    return {
        OURS: [sys.executable, "-m", "benchmarks.peers.connection_ours", *role],
        OFFICIAL: official
        if isinstance(official, Absent)
        else [str(official), "-m", "benchmarks.peers.connection_official", *role],
        TYPESCRIPT: node if isinstance(node, Absent) else ["node", script, str(node), TEXT, *role],
    }


def measure(transport: str, commands: dict[str, Command]) -> Found:
    """Time all sides over a transport in turns, the first round to warm them up."""
    rows = [row for row in ROWS if row.transport == transport]
    sides = {name: Side(command) for name, command in commands.items()}
    found: Found = {row: {name: {kind: [] for kind in TITLES} for name in sides} for row in rows}
    try:
        for turn in range(ROUNDS + 1):
            for row in rows:
                for name, side in sides.items():
                    for kind, seconds in side.ask(row.what, row.count).items():
                        if turn:
                            found[row][name][kind].append(seconds)
    finally:
        for side in sides.values():
            side.stop()
    return found


def measure_idle(commands: dict[str, Command]) -> Idle:
    """Open idle connections in fresh processes, where no memory that was freed before is used again."""
    found: Idle = {}
    for name, command in commands.items():
        side = Side(command)
        side.ask("idle@8", 8)
        found[name] = side.ask(f"idle@{IDLE}", IDLE)
        side.stop()
    return found


def ratio(found: Found, row: Row, name: str, kind: str) -> float:
    """Give how many times our time a side takes, as the median of the rounds' own ratios."""
    ours = found[row][OURS][kind]
    return median([theirs / own for theirs, own in zip(found[row][name][kind], ours, strict=True)])


def verdicts(found: Found) -> list[dict[str, Any]]:
    """Hold a run against the bars whose sides are here."""
    out: list[dict[str, Any]] = []
    for bar in BARS:
        if bar.side in found.get(bar.row, {}):
            times = ratio(found, bar.row, bar.side, "wall")
            what = f"{bar.row.name}: {bar.side} / ours"
            out.append({"what": what, "bar": bar.at_least, "found": round(times, 2), "met": times >= bar.at_least})
    return out


def as_json(found: Found, idle: Idle, absent: dict[str, str]) -> str:
    """Write all figures: microseconds of one, and how many times ours that is."""
    cells: dict[str, Any] = {}
    for row, sides in found.items():
        cells[row.name] = {
            name: {
                kind: {"us": round(median(seconds) * 1e6, 2), "ratio": round(ratio(found, row, name, kind), 2)}
                for kind, seconds in kinds.items()
            }
            for name, kinds in sides.items()
        }
        for name, kinds in sides.items():
            cells[row.name][name]["per second"] = round(1 / median(kinds["wall"]))
    whole: dict[str, Any] = {
        "machine": machine(),
        "absent": absent,
        "each": {row.name: row.count for row in found},
        "found": cells,
        "KiB of an idle connection, websocket": {
            name: {process: round(size / 1024, 1) for process, size in sizes.items()} for name, sizes in idle.items()
        },
        "bars": verdicts(found),
    }
    return json.dumps(whole, indent=1) + "\n"


def show(console: Console, found: Found, idle: Idle, absent: dict[str, str]) -> None:
    """Print a table for each row, the idle connections, and the bars."""
    for row, sides in found.items():
        table = Table("", "per second", *TITLES.values(), title=f"{row.name}: µs, and times ours")
        for name, kinds in sides.items():
            cells = [f"{median(s) * 1e6:,.1f} ({ratio(found, row, name, k):.1f} x)" for k, s in kinds.items()]
            table.add_row(name, f"{1 / median(kinds['wall']):,.0f}", *cells)
        console.print(table)
    for name, sizes in idle.items():
        cells = [f"{size / 1024:.0f} KiB at the {process}" for process, size in sizes.items()]
        console.print(f"an idle connection, websocket: {name}: {', '.join(cells)}")
    for verdict in verdicts(found):
        met = "met" if verdict["met"] else "MISSED"
        console.print(f"{verdict['what']}: {verdict['found']} x, at least {verdict['bar']} x: {met}")
    for name, why in absent.items():
        console.print(f"absent: {name}: {why}")


def main() -> None:
    """Install, time, report."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    found: Found = {}
    idle: Idle = {}
    absent: dict[str, str] = {}
    for transport in (STDIO, WEBSOCKET):
        known = commands(transport)
        absent |= {name: command.reason for name, command in known.items() if isinstance(command, Absent)}
        here = {name: command for name, command in known.items() if not isinstance(command, Absent)}
        found |= measure(transport, here)
        if transport == WEBSOCKET and sys.platform == "linux":
            idle = measure_idle(here)
    show(console, found, idle, absent)
    (HERE / "connection.json").write_text(as_json(found, idle, absent), encoding="utf-8")
    console.print("written: benchmarks/connection.json")


if __name__ == "__main__":
    main()
