"""Every Python block of the README runs, and its commands are ones that exist."""

import re
import subprocess
import sys

import pytest

from tests.support import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_python_block(number: int) -> None:
    command = [sys.executable, "-W", "error", "-c", BLOCKS[number]]
    run = subprocess.run(command, cwd=ROOT / "generated", capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout


def _output(word: str) -> str:
    """Run the block that has a word."""
    (block,) = (block for block in BLOCKS if word in block)
    command = [sys.executable, "-c", block]
    return subprocess.run(command, cwd=ROOT / "generated", capture_output=True, text=True, check=True).stdout


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
        run = subprocess.run(
            [sys.executable, "-m", "generator", command, "--help"], cwd=ROOT, capture_output=True, check=False
        )
        assert run.returncode == 0, command
