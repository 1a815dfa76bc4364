"""Every Python block of the README runs, and its commands are ones that exist."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.generator.command import generator
from tests.support import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


AGENT = next(block for block in BLOCKS if "stdio()" in block)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
@pytest.mark.slow
def test_python_block(number: int, tmp_path: Path) -> None:
    (tmp_path / "parrot.py").write_text(AGENT, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", BLOCKS[number]],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT / "generated")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout or BLOCKS[number] is AGENT  # it answers a client, and there is none


@pytest.mark.slow
def test_python_blocks_are_typed(tmp_path: Path) -> None:
    for number, block in enumerate(BLOCKS):
        (tmp_path / f"block_{number}.py").write_text(block, encoding="utf-8")
    settings = {
        "typeCheckingMode": "strict",
        "extraPaths": [str(ROOT / "generated")],
        "venvPath": str(ROOT),
        "venv": ".venv",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    pyright = [str(Path(sys.executable).with_name("pyright")), "--project", str(tmp_path)]
    run = subprocess.run(pyright, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def _output(word: str) -> str:
    """Run the block that has a word."""
    (block,) = (block for block in BLOCKS if word in block)
    command = [sys.executable, "-c", block]
    return subprocess.run(command, cwd=ROOT / "generated", capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_the_examples_do_what_they_say() -> None:
    assert _output('Read config","kind":"read"') == "Read config /etc/app.conf\n"
    assert _output("title=None))") == """b'{"sessionUpdate":"session_info_update","title":null}'\n"""
    kind, status, dropped = _output("log_skips").splitlines()
    assert "$.kind" in kind
    assert "'default'" in status
    assert "$.content[0]" in dropped
    assert "'dropped'" in dropped


def test_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:`|\$ )make ([a-z-]+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"
    for command in re.findall(r"python -m generator ([a-z]+)", README):
        assert generator(command, "--help").returncode == 0, command
