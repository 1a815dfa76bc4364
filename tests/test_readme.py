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


def test_the_first_example_does_what_it_says() -> None:
    command = [sys.executable, "-c", BLOCKS[0]]
    run = subprocess.run(command, cwd=ROOT / "generated", capture_output=True, text=True, check=True)
    status, dropped, matched = run.stdout.splitlines()
    assert "$.params.update.status" in status
    assert "'default'" in status
    assert "$.params.update.content[1]" in dropped
    assert "'dropped'" in dropped
    assert matched == """Read config /a b'{"jsonrpc":"2.0","id":1,"result":{}}\\n'"""


def test_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:`|\$ )make ([a-z-]+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"
    for command in re.findall(r"python -m generator ([a-z]+)", README):
        run = subprocess.run(
            [sys.executable, "-m", "generator", command, "--help"], cwd=ROOT, capture_output=True, check=False
        )
        assert run.returncode == 0, command
