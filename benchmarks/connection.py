"""Whole connections side by side: one client and one agent process over standard input and output, ours and others'.

`make bench-connection` prints a table and writes `connection.json`. The agent answers a prompt with chunks; the client
reads them into its types and looks at the text. `benchmarks/README.md` tells more.
"""

import json
import os
import subprocess
import sys
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
CHUNKS, TRIPS = 5000, 1000
PATIENCE = 120  # seconds for one answer
BAR = 5.0
"""The official SDK must take at least this many times as long for a chunk."""
WHAT = {"chunks": CHUNKS, "trips": TRIPS}
TITLES = {
    "wall": "time of one",
    "client": "processor time of the client",
    "agent": "processor time of the agent",
}
Command = list[str]
Found = dict[str, dict[str, dict[str, list[float]]]]
"""Seconds of one chunk or trip, by what is timed, the side, and the kind of time."""


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

    def time(self, what: str, count: int) -> dict[str, float]:
        """Give the seconds of one of `count`."""
        print(what, count, file=self.process.stdin, flush=True)
        return {kind: seconds / count for kind, seconds in self.answer().items()}

    def stop(self) -> None:
        """End the process, and with it its agent."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def commands() -> dict[str, Command | Absent]:
    """Install the sides and give the command of each."""
    official, node = install.official_sdk(), install.typescript_sdk()
    script = str(PEERS / "typescript" / "connection.mjs")
    return {
        OURS: [sys.executable, "-m", "benchmarks.peers.connection_ours"],
        "official SDK": official
        if isinstance(official, Absent)
        else [str(official), "-m", "benchmarks.peers.connection_official"],
        "TypeScript SDK": node if isinstance(node, Absent) else ["node", script, str(node), TEXT],
    }


def measure(sides: dict[str, Side]) -> Found:
    """Time all sides in turns; the first round warms them up."""
    found: Found = {what: {name: {kind: [] for kind in TITLES} for name in sides} for what in WHAT}
    for turn in range(ROUNDS + 1):
        for what, count in WHAT.items():
            for name, side in sides.items():
                for kind, seconds in side.time(what, count).items():
                    if turn:
                        found[what][name][kind].append(seconds)
    return found


def ratio(found: Found, what: str, name: str, kind: str) -> float:
    """Give how many times our time a side takes, as the median of the rounds' own ratios."""
    ours = found[what][OURS][kind]
    return median([theirs / own for theirs, own in zip(found[what][name][kind], ours, strict=True)])


def as_json(found: Found, absent: dict[str, str]) -> str:
    """Write all figures: microseconds of one, and how many times ours that is."""
    cells: dict[str, Any] = {}
    for what, sides in found.items():
        cells[what] = {
            name: {
                kind: {"us": round(median(seconds) * 1e6, 2), "ratio": round(ratio(found, what, name, kind), 2)}
                for kind, seconds in kinds.items()
            }
            for name, kinds in sides.items()
        }
        for name, kinds in sides.items():
            cells[what][name]["per second"] = round(1 / median(kinds["wall"]))
    whole: dict[str, Any] = {"machine": machine(), "absent": absent, "each": WHAT, "found": cells}
    if "official SDK" in found["chunks"]:
        times = ratio(found, "chunks", "official SDK", "wall")
        whole["bar"] = {"what": "chunks, official SDK", "bar": BAR, "found": round(times, 2), "met": times >= BAR}
    return json.dumps(whole, indent=1) + "\n"


def show(console: Console, found: Found, absent: dict[str, str]) -> None:
    """Print a table for chunks and one for trips."""
    for what, sides in found.items():
        table = Table("", "per second", *TITLES.values(), title=f"{what}: µs, and times ours")
        for name, kinds in sides.items():
            cells = [f"{median(s) * 1e6:,.1f} ({ratio(found, what, name, k):.1f} x)" for k, s in kinds.items()]
            table.add_row(name, f"{1 / median(kinds['wall']):,.0f}", *cells)
        console.print(table)
    for name, why in absent.items():
        console.print(f"absent: {name}: {why}")


def main() -> None:
    """Install, time, report."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    known = commands()
    absent = {name: command.reason for name, command in known.items() if isinstance(command, Absent)}
    sides = {name: Side(command) for name, command in known.items() if not isinstance(command, Absent)}
    try:
        found = measure(sides)
    finally:
        for side in sides.values():
            side.stop()
    show(console, found, absent)
    (HERE / "connection.json").write_text(as_json(found, absent), encoding="utf-8")
    console.print("written: benchmarks/connection.json")


if __name__ == "__main__":
    main()
