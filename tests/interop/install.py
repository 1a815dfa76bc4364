"""Installing the SDKs of others into `.venv/interop`: `python -m tests.interop.install`.

A second time finds them there. `make test` runs it with `--soft`: where there is no network or no node, it says so and
the tests that need the SDKs skip, except where CI=true is set.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from docs.build import Failure, npm
from tests.support import ROOT

HERE = Path(__file__).parent
TOOLS = ROOT / ".venv" / "interop"
STAMP = TOOLS / ".installed"
PYTHON = TOOLS / "python" / ("Scripts" if os.name == "nt" else "bin") / "python"
NODE_FOLDER = TOOLS / "node"
INPUTS = tuple(HERE / name for name in ("requirements.txt", "package.json", "package-lock.json"))
TIMEOUT = 300  # seconds of one step


def is_installed() -> bool:
    """Say whether the SDKs are there, in the versions that are pinned now."""
    return STAMP.is_file() and STAMP.read_text(encoding="utf-8") == _pins()


def install() -> None:
    """Install what is missing; raise `Failure` where that cannot be done."""
    if is_installed():
        return
    STAMP.unlink(missing_ok=True)
    NODE_FOLDER.mkdir(parents=True, exist_ok=True)
    for path in INPUTS[1:]:
        shutil.copy2(path, NODE_FOLDER)
    run([*npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], NODE_FOLDER)
    run([sys.executable, "-m", "venv", "--clear", TOOLS / "python"], TOOLS)
    run([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", INPUTS[0]], TOOLS)
    STAMP.write_text(_pins(), encoding="utf-8")


def run(command: Sequence[str | Path], folder: Path, timeout: float = TIMEOUT) -> None:
    """Run a step of the installation; raise `Failure` with what it had to say."""
    shown = " ".join(Path(part).name for part in command)
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=timeout,
        )
    except (OSError, subprocess.TimeoutExpired) as why:
        raise Failure(f"this did not finish: {shown} ({type(why).__name__})") from why
    if done.returncode:
        raise Failure(f"this has failed: {shown}", done.stdout)


def _pins() -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in INPUTS) + sys.version.encode()).hexdigest()


def main() -> None:
    """Install, or say in a line why not."""
    try:
        install()
    except Failure as why:
        if "--soft" in sys.argv and os.environ.get("CI") != "true":
            reason = str(why).splitlines()[-1].removeprefix("error: ")
            print(f"the SDKs of others are not installed, and their tests will skip: {reason}")
            return
        print(why, file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
