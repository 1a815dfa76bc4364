"""The sides as processes, and the rounds in which they take turns."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any

from benchmarks.install import CACHE, ROOT, Absent

PATIENCE = 120  # seconds for one answer
GENERATIONS = 3
ROUNDS = 17  # of each generation
ROUNDS_OF_GROWTH = 3
GROWTH = {
    ("decode line", "acp-msgspec"),
    ("decode line", "bare msgspec"),
    ("decode line", "json.loads"),
    ("decode line", "official SDK"),
    ("decode line", "TypeScript SDK"),
    ("decode params", "Rust crate"),
}
"""What is timed on lists of growing length."""


class WorkerError(Exception):
    """A side did not answer as it should."""


@dataclass(slots=True)
class Worker:
    """One side: a process that times the cases that it has named."""

    process: subprocess.Popen[str]
    cases: list[str] = field(default_factory=list[str])
    cannot: dict[str, str] = field(default_factory=dict[str, str])
    about: dict[str, str] = field(default_factory=dict[str, str])

    def measure(self, case: str) -> float:
        """Give the seconds of one call, over a round of calls."""
        try:
            print(case, file=self.process.stdin, flush=True)
        except OSError:
            raise WorkerError("ended early") from None
        return float(self.answer())

    def answer(self) -> Any:
        """Read the next line that the side says."""
        if self.process.stdout is None:
            raise WorkerError("says nothing")
        timer = Timer(PATIENCE, self.process.kill)
        timer.start()
        try:
            line = self.process.stdout.readline()
        finally:
            timer.cancel()
        try:
            return json.loads(line)
        except json.JSONDecodeError:
            raise WorkerError("ended early" if not line else "says no JSON") from None

    def stop(self) -> None:
        """End the process."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def start(name: str, command: "Command") -> Worker | Absent:
    """Start a side; its standard error goes to a log."""
    log = CACHE / f"{name}.run.log"
    try:
        with log.open("w") as out:
            process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=out,
                text=True,
                cwd=ROOT,
                env=environment(),
            )
    except OSError as why:
        return Absent(f"did not start: {type(why).__name__}")
    worker = Worker(process)
    try:
        hello = worker.answer()
    except WorkerError as why:
        worker.stop()
        return Absent(f"{why}; see {log.relative_to(ROOT)}")
    worker.cases, worker.cannot, worker.about = hello["cases"], hello["cannot"], hello["about"]
    return worker


def environment() -> dict[str, str]:
    """Give the environment of the Python sides: this checkout's packages in reach."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "generated")))}


Command = list[str | Path]
Times = dict[str, dict[str, dict[str, list[float]]]]
"""Operation, line, side: the seconds of each round."""


@dataclass(slots=True)
class Run:
    """What came of all rounds; `cannot` and `absent` give the reasons of what is missing, `about` the versions."""

    times: Times = field(default_factory=dict[str, dict[str, dict[str, list[float]]]])
    cannot: dict[str, str] = field(default_factory=dict[str, str])
    absent: dict[str, str] = field(default_factory=dict[str, str])
    about: dict[str, str] = field(default_factory=dict[str, str])


def measure(commands: dict[str, Command | Absent], sizes: dict[str, int], tell: Callable[[str], None]) -> Run:
    """Time all cases, the sides of each comparison taking turns round by round.

    Each generation starts all sides anew, since a process keeps for life what luck its memory's layout brings it.
    """
    run = Run()
    for generation in range(1, GENERATIONS + 1):
        workers: dict[str, Worker] = {}
        for name, command in commands.items():
            if name in run.absent:
                continue
            tell(f"{generation}/{GENERATIONS}: starting {name}")
            worker = command if isinstance(command, Absent) else start(name.replace(" ", "-").replace(",", ""), command)
            if isinstance(worker, Absent):
                run.absent[name] = worker.reason
            else:
                workers[name] = worker
                run.cannot |= worker.cannot
                run.about |= worker.about
        try:
            for (operation, line), sides in _groups(workers, sizes).items():
                tell(f"{generation}/{GENERATIONS}: {operation}, {line}")
                found = run.times.setdefault(operation, {}).setdefault(line, {})
                for _ in range(ROUNDS_OF_GROWTH if sizes[line] else ROUNDS):
                    _round(workers, sides, found, run.absent)
        finally:
            for worker in workers.values():
                worker.stop()
        commands = {name: command for name, command in commands.items() if name in workers and workers[name].cases}
    return run


def _groups(workers: dict[str, Worker], sizes: dict[str, int]) -> dict[tuple[str, str], dict[str, tuple[str, str]]]:
    """Put what is compared together: for an operation and a line, the worker and the case of each side."""
    groups: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
    for name, worker in workers.items():
        for case in worker.cases:
            operation, side, line = case.split("|")
            if not sizes[line] or (operation, side) in GROWTH:
                groups.setdefault((operation, line), {})[side] = (name, case)
    return groups


def _round(
    workers: dict[str, Worker],
    sides: dict[str, tuple[str, str]],
    found: dict[str, list[float]],
    absent: dict[str, str],
) -> None:
    for side, (name, case) in sides.items():
        if name not in absent:
            try:
                found.setdefault(side, []).append(workers[name].measure(case))
            except WorkerError as why:
                absent[name] = f"{why}, in {case.replace('|', ', ')}"
                del found[side]
