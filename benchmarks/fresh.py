"""What a fresh process pays: the import, the first message, the memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks import install
from benchmarks.install import Absent
from benchmarks.timing import median

ROUNDS = 15
WARM = 2  # rounds that are not counted: they bring the files into memory

IMPORTS = {
    "acp-msgspec": "acp_msgspec.v1",
    "bare msgspec": "msgspec",
    "official SDK": "acp",
}
TIMED_IMPORT = """
from time import perf_counter
start = perf_counter()
import {module}
print(perf_counter() - start)
"""
# The peak is that of the process image, since `ru_maxrss` starts with what the parent had before the exec.
PEAK = """
try:
    kib = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
except OSError:
    import resource, sys
    kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "darwin" else 1)
print(kib)
"""
READERS = {
    "acp-msgspec": """
from acp_msgspec import v1
def read(kind, line):
    if kind in ("session/prompt", "session/new"):
        return v1.decode_client_message(line)
    return v1.decode_agent_message(line, method_of=lambda _: "initialize")
""",
    "official SDK": """
import json
import acp
def read(kind, line):
    message = json.loads(line)
    if kind == "session/prompt":
        return acp.PromptRequest.model_validate(message["params"])
    if kind == "session/new":
        return acp.NewSessionRequest.model_validate(message["params"])
    if kind == "session/update":
        return acp.SessionNotification.model_validate(message["params"])
    return acp.InitializeResponse.model_validate(message["result"])
""",
}
FIRST = """
from time import perf_counter
line = open({path!r}, "rb").read()
start = perf_counter()
read({kind!r}, line)
print(perf_counter() - start)
"""
ALL = """
for kind, path in {lines!r}:
    read(kind, open(path, "rb").read())
"""

Figures = dict[str, dict[str, list[float]]]
"""What is measured, side: the value of each round."""


def measure(lines: Path, official: Path | Absent) -> Figures:
    """Run all fresh processes, the sides taking turns; a side that is absent or fails is left out."""
    manifest = json.loads((lines / "manifest.json").read_text())
    files = [(entry["kind"], str(lines / f"{entry['name']}.line.json")) for entry in manifest if not entry["items"]]
    scripts: dict[str, dict[str, str]] = {
        "import, s": {side: TIMED_IMPORT.format(module=module) for side, module in IMPORTS.items()},
        "peak RSS after the import, KiB": {side: f"import {module}{PEAK}" for side, module in IMPORTS.items()},
        "peak RSS after all lines, KiB": {s: r + ALL.format(lines=files) + PEAK for s, r in READERS.items()},
    }
    scripts["peak RSS after the import, KiB"]["Python alone"] = PEAK
    for kind, path in files:
        name = Path(path).name.removesuffix(".line.json")
        first = {side: reader + FIRST.format(path=path, kind=kind) for side, reader in READERS.items()}
        scripts[f"first decode, s: {name}"] = first
    own = install.own()
    pythons = dict.fromkeys((*IMPORTS, "Python alone"), own if isinstance(own, Path) else Path(sys.executable))
    if isinstance(official, Path):
        pythons["official SDK"] = official
    else:
        del pythons["official SDK"]
    # Packages are installed with their .pyc files, so these are wanted here, too, whatever the caller's setting.
    plain = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
    environment = {**plain, "PYTHONPATH": str(install.package())}
    found: Figures = {}
    for number in range(WARM + ROUNDS):
        for what, sides in scripts.items():
            for side, script in sides.items():
                value = _run(pythons[side], script, environment) if side in pythons else None
                if number >= WARM and value is not None:
                    found.setdefault(what, {}).setdefault(side, []).append(value)
    return found


def middle(figures: Figures) -> dict[str, dict[str, float]]:
    """Give the medians."""
    return {what: {side: median(values) for side, values in sides.items()} for what, sides in figures.items()}


def _run(python: Path, script: str, environment: dict[str, str]) -> float | None:
    command = [str(python), "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, cwd=install.CACHE, env=environment, check=False)
    try:
        return float(done.stdout)
    except ValueError:
        return None
