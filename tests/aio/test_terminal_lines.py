"""Lines that a shell runs, and programs that are not given to one."""

import os
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio

from tests.aio.support import run
from tests.aio.terminals import SESSION, ran

fcntl: Any = pytest.importorskip("fcntl", reason="the commands are those of a POSIX shell")
pytestmark = pytest.mark.usefixtures("nothing_is_left")


LINES = {
    "echo out; wc -l < n.txt": "out\n2\n",
    "cd sub && cat in.txt": "inner\n",
    "cat n.txt | tail -n 1": "two\n",
    "echo one > made.txt; cat made.txt": "one\n",
    "cat missing.txt 2>/dev/null || echo no": "no\n",
    "FOO=1 env | grep ^FOO=": "FOO=1\n",
    "FOO=bar; echo $FOO": "bar\n",
    "FOO=bar": "",
    "echo *.txt": "n.txt\n",
    "echo 'a  b'": "a  b\n",
    "echo a\necho b": "a\nb\n",
    "echo `echo c`": "c\n",
    "echo $(echo d)": "d\n",
    "(echo e)": "e\n",
    "export FOO=x": "",
    "export -p >/dev/null": "",
    "cd": "",
    "umask 022; umask": "0022\n",
    "sleep 0 & wait; echo f": "f\n",
    "  echo g": "g\n",
    "! false": "",
    "./run.sh": "run\n",
    "./run.sh; ./run.sh": "run\nrun\n",
    "./with\\ space.sh": "spaced\n",
    "'./with space.sh'": "spaced\n",
    "./with space.sh": "spaced\n",
    "echo " + "x/" * 5000: "x/" * 5000 + "\n",
    "if true; then echo h; fi": "h\n",
    "# nothing": "",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "n.txt").write_text("one\ntwo\n", encoding="utf-8")
    (tmp_path / "sub" / "in.txt").write_text("inner\n", encoding="utf-8")
    for name, word in (("run.sh", "run"), ("with space.sh", "spaced")):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {word}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:20])
def test_a_line_is_run_by_the_shell(folder: Path, line: str) -> None:
    seen: list[aio.Command] = []

    def allow(command: aio.Command) -> bool:
        seen.append(command)
        return True

    async def turn() -> None:
        assert await ran(aio.Terminals(folder, allow=allow), line) == LINES[line]
        by_shell = line not in ("./run.sh", "./with space.sh")
        assert [(command.command, command.args, command.shell) for command in seen] == [(line, (), by_shell)]
        if by_shell:
            with pytest.raises(acp.InvalidParams):
                await aio.Terminals(folder, shell=False).create(SESSION, line)

    run(turn())


def test_what_is_a_program_is_not_given_to_the_shell(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = folder / "tools"
    tools.mkdir()
    (folder / "with space.sh").rename(tools / "my tool; really")
    (folder / "plain data").write_text("x", encoding="utf-8")

    async def turn() -> None:
        terminals = aio.Terminals(folder)
        path = f"{tools}:{os.environ['PATH']}"
        with pytest.raises(acp.InvalidParams):  # the shell would say that it does not know it
            await terminals.create(SESSION, "my-tool")
        assert await ran(terminals, "my tool; really", env={"PATH": path}) == "spaced\n"
        assert await ran(aio.Terminals(folder, env={"PATH": path}), "my tool; really") == "spaced\n"
        assert await ran(terminals, str(tools / "my tool; really")) == "spaced\n"
        assert await ran(terminals, "echo", "$HOME; echo") == "$HOME; echo\n"
        assert await ran(aio.Terminals(folder, shell=True), "echo", "$HOME; echo") == "$HOME; echo\n"
        for command in ("", " ", "\n", str(folder / "plain data"), str(folder / "sub"), "a b\0", "no such-thing\0;"):
            with pytest.raises(acp.InvalidParams):
                await terminals.create(SESSION, command)
        await terminals.close()
        wrong: Any = "no"
        with pytest.raises(ValueError, match="use True, False or 'auto'"):
            aio.Terminals(shell=wrong)

    run(turn())


def test_a_line_is_decided_on_as_a_whole(folder: Path) -> None:
    """What the policy was told is what runs, though a program of that name comes up meanwhile."""
    seen: list[aio.Command] = []

    async def allow(command: aio.Command) -> bool:
        seen.append(command)
        (folder / "late one").write_text("#!/bin/sh\necho late\n", encoding="utf-8")
        (folder / "late one").chmod(0o755)
        return not command.shell

    async def turn() -> None:
        with pytest.raises(acp.InvalidParams) as caught:
            await aio.Terminals(folder, allow=allow).create(SESSION, "./late one")
        assert caught.value.data["detail"] == "the command is not allowed here"
        assert seen[0].line == "./late one"
        terminals = aio.Terminals(folder, allow=allow)
        assert await ran(terminals, "./late one") == "late\n"
        assert seen[1].line == "'./late one'"
        await ran(terminals, "echo", "a b")
        assert seen[2].line == "echo 'a b'"

    run(turn())
