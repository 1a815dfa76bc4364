"""Installing the other sides into `.cache/` at first use. Nothing here raises: what cannot be had is `Absent`."""

import os
import shutil
import subprocess
import sys
from compileall import compile_dir
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
PEERS = HERE / "peers"
CACHE = HERE / ".cache"
TIMEOUT = 900  # seconds of one step; the crate takes about a minute to build


@dataclass(frozen=True, slots=True)
class Absent:
    """A side that is not here, and why."""

    reason: str


def official_sdk() -> Path | Absent:
    """Make the venv of the official Python SDK; give its interpreter."""
    return _venv("official", ["--requirement", str(PEERS / "official.txt")], (PEERS / "official.txt").read_text())


def own() -> Path | Absent:
    """Make a venv with all that this package needs, for the fresh processes; give its interpreter."""
    needs = f"msgspec=={version('msgspec')}"
    return _venv("own", [needs], needs)


def package() -> Path:
    """Copy the package as an installation does, compiled; give the folder that holds it."""
    folder = CACHE / "package"
    shutil.rmtree(folder, ignore_errors=True)
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "generated" / "acp_msgspec", folder / "acp_msgspec", ignore=skip)
    compile_dir(folder, quiet=1)
    return folder


def typescript_sdk() -> Path | Absent:
    """Install the TypeScript SDK; give the folder of its modules."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            return Absent(f"no `{tool}` on the PATH")
    folder = CACHE / "typescript"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PEERS / "typescript" / name, folder / name)
    steps = {"npm ci": ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)]}
    return _installed("typescript", (folder / "package-lock.json").read_text(), steps, folder / "node_modules")


def rust_crate(profile: str) -> Path | Absent:
    """Build the binary that times the reference crate; give its path."""
    if shutil.which("cargo") is None:
        return Absent("no `cargo` on the PATH")
    source, folder = PEERS / "rust", CACHE / "rust"
    binary = folder / profile / ("acp-msgspec-bench.exe" if os.name == "nt" else "acp-msgspec-bench")
    step = ["cargo", "build", "--profile", profile, "--quiet"]
    step += ["--target-dir", str(folder), "--manifest-path", str(source / "Cargo.toml")]
    files = (source / "Cargo.toml", source / "src" / "main.rs")
    return _installed(f"rust-{profile}", "".join(file.read_text() for file in files), {"cargo build": step}, binary)


def _venv(name: str, needs: list[str], wanted: str) -> Path | Absent:
    folder = CACHE / name
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    steps = {
        "python -m venv": [sys.executable, "-m", "venv", "--clear", str(folder)],
        "pip install": [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *needs],
    }
    return _installed(name, wanted + sys.version, steps, python)


def _installed(name: str, wanted: str, steps: dict[str, list[str]], result: Path) -> Path | Absent:
    """Run the steps unless they were run for the same text before."""
    stamp = CACHE / f"{name}.installed"
    log = CACHE / f"{name}.log"
    CACHE.mkdir(exist_ok=True)
    if result.exists() and stamp.exists() and stamp.read_text() == wanted:
        return result
    with log.open("w") as out:
        for what, step in steps.items():
            try:
                subprocess.run(step, check=True, stdout=out, stderr=out, stdin=subprocess.DEVNULL, timeout=TIMEOUT)
            except subprocess.CalledProcessError as why:
                return Absent(f"`{what}` failed with exit status {why.returncode}; see {log.relative_to(ROOT)}")
            except (OSError, subprocess.TimeoutExpired) as why:
                return Absent(f"`{what}` did not finish: {type(why).__name__}")
    if not result.exists():
        return Absent(f"nothing was left at {result.name}; see {log.relative_to(ROOT)}")
    stamp.write_text(wanted)
    return result
