"""Measuring a flood: the memory that it adds, and the longest pause of the event loop."""

import asyncio
import gc
import importlib
import json
import os
import pkgutil
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path

# Not taken from `tests.support`, which imports the generator: that takes a second in each process, and its memory hides
# some of what a flood adds.
ROOT = Path(__file__).resolve().parents[2]
MEMORY = 64 * 1024 * 1024
"""How many bytes a flood may add to the resident memory, unless it says otherwise."""
PAUSE = 0.5
"""How many seconds the loop may stop, unless the flood says otherwise."""
TICK = 0.005
TIMEOUT = 120.0

Work = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Flood:
    """A flood, and what it may cost: `memory` in bytes, `pause` and `seconds` in seconds."""

    name: str
    work: Work
    memory: int
    pause: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Figures:
    """What a flood has cost: bytes added to the peak, the longest pause of the loop, and seconds in all."""

    memory: int
    pause: float
    seconds: float


FLOODS: dict[str, Flood] = {}


def flood(*, memory: int = MEMORY, pause: float = PAUSE, seconds: float = 30.0) -> Callable[[Work], Work]:
    """Register a flood under the name of its function; `memory` is what is legitimately large beyond the default."""

    def register(work: Work) -> Work:
        name = work.__name__
        if name in FLOODS:
            raise ValueError(f"There are two floods {name!r}")
        FLOODS[name] = Flood(name, work, memory, pause, seconds)
        return work

    return register


def load() -> None:
    """Import every module of floods."""
    package = importlib.import_module("tests.floods")
    for module in pkgutil.iter_modules(package.__path__):
        if module.name not in ("__main__", "measure", "test_floods"):
            importlib.import_module(f"tests.floods.{module.name}")


def measured(name: str) -> Figures:
    """Run a flood in a fresh process, so that its peak of memory is its own; raise what it raised."""
    command = [sys.executable, "-m", "tests.floods", "--one", name]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'generated'}{os.pathsep}{ROOT}"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        raise AssertionError(f"the flood {name} was not over after {TIMEOUT:.0f} s") from None
    if done.returncode:
        raise AssertionError(f"the flood {name} failed: {done.stderr[-4000:]}")
    return Figures(**json.loads(done.stdout.splitlines()[-1]))


def run_here(name: str) -> str:
    """Run a flood in this process, and give its figures as JSON."""
    return json.dumps(asdict(asyncio.run(_run(FLOODS[name].work))))


async def _run(work: Work) -> Figures:
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(TICK)
            longest = max(longest, time.perf_counter() - before - TICK)

    gc.collect()
    before, start = peak(), time.perf_counter()
    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)
    await work()
    await asyncio.sleep(2 * TICK)  # a pause at the end of the work counts, too
    ticking.cancel()
    return Figures(max(peak() - before, 0), round(longest, 4), round(time.perf_counter() - start, 3))


def peak() -> int:
    """Give the most memory that this process has held, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # what `getrusage` tells there begins with the peak of the process that started this one
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found if sys.platform == "darwin" else found * 1024
