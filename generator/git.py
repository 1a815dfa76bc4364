"""The one place that runs git."""

import os
import subprocess
from pathlib import Path

FETCHING = 300.0  # seconds for one commit


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


def fetch_commit(folder: Path, url: str, commit: str) -> str:
    """Fetch one commit of a repository into an empty folder; return the reason where that fails, else nothing."""
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    for arguments in (["init", "--quiet"], ["fetch", "--quiet", "--depth=1", url, commit]):
        command = ["git", "-C", str(folder), *arguments]
        try:
            run = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=FETCHING)
        except FileNotFoundError:
            return "git is not installed"
        except subprocess.TimeoutExpired:
            return f"git took more than {FETCHING:g} s"
        if run.returncode:
            return run.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2] or "git fails without a word"
    return ""
