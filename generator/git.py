"""The one place that runs git."""

import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str) -> bytes | None:
    """Return what git prints when run in a folder; None if it fails or is not installed."""
    try:
        run = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return run.stdout if run.returncode == 0 else None


def git_line(folder: Path, *arguments: str) -> str | None:
    """Return the one line that git prints, without the line break."""
    found = git(folder, *arguments)
    return None if found is None else found.decode("utf-8", "replace").strip()
