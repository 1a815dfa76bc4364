"""The command line of the generator, in this process and in one of its own."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from generator import cli
from tests.support import ROOT

Run = subprocess.CompletedProcess[str]


def generator(*arguments: str | Path) -> Run:
    """Run `python -m generator …` in this process: all but the start of a process, which takes more than a second."""
    words = [str(a) for a in arguments]
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["generator", *words])
        patch.chdir(ROOT)
        status = 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                cli.main()
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 0
    return Run(words, status, out.getvalue(), err.getvalue())


def generator_process(*arguments: str | Path, cwd: Path = ROOT, **environment: str) -> Run:
    """Run it in a process of its own, for what only a process shows: pipes, locale, the seed of hashes."""
    return subprocess.run(
        [sys.executable, "-m", "generator", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
