"""Commands in rules: a pattern that names one program never allows more than that program."""

import importlib
import shlex
import string
import subprocess
from typing import Any

import pytest
from acp_msgspec import aio, v1
from hypothesis import given
from hypothesis import strategies as st

from tests.aio.rules import asks, runs, runs_v2

WORDS: Any = importlib.import_module("acp_msgspec.aio._services.rules.shell_words")


def _allows(pattern: str, request: Any) -> bool:
    rules = aio.Rules[Any]([aio.Rule(decide="allow_once", command=pattern)])
    return rules.judge(request).decision == "allow_once"


@pytest.mark.parametrize(
    ("pattern", "lines", "others"),
    [
        ("git status", ["git status", " git  status ", "'git' \"status\""], ["git", "git status -s", "git push"]),
        ("git diff **", ["git diff", "git diff --stat a", "git diff 'a b'"], ["git", "git difftool", "xgit diff"]),
        ("git show *", ["git show HEAD", "git show HEAD~1"], ["git show", "git show -p", "git show a b"]),
        ("cat src/*", ["cat src/a.py"], ["cat src/", "cat src/../x", "cat src/a/b", "cat src/..", "cat srcx/a"]),
        ("npm run test:*", ["npm run test:unit"], ["npm run test", "npm run test:a/b"]),
        ("make", ["make"], ["make x", "./make", "/tmp/make", "make.exe", "MAKE"]),
        ("git commit -m *", ["git commit -m 'a; b && c | d'", 'git commit -m "x > y"'], ["git commit -m x; ls"]),
        ("echo 'a b' *", ["echo 'a b' c", 'echo "a b" c'], ["echo a b c"]),
        ("**", ["ls", "rm -rf /"], ["ls | wc"]),
    ],
)
def test_patterns(pattern: str, lines: list[str], others: list[str]) -> None:
    for line in lines:
        assert _allows(pattern, runs(line)), line
        assert _allows(pattern, runs_v2(line)), line
    for line in others:
        assert not _allows(pattern, runs(line)), line
        assert not _allows(pattern, runs_v2(line)), line


@pytest.mark.parametrize(
    "line",
    [
        "git status; rm -rf /",
        "git status && rm x",
        "git status || rm x",
        "git status | sh",
        "git status & rm x",
        "git status\nrm x",
        "git status\r\nrm x",
        "git status > /etc/passwd",
        "git status < x",
        "git status $(rm x)",
        "git status `rm x`",
        'git status "$(rm x)"',
        'git status "`rm x`"',
        "git status $HOME",
        'git status "$HOME"',
        "git status *",
        "git status {a,b}",
        "git status ~",
        "git status --x=~/y",
        "git status # x",
        "git status !!",
        "git status \\\nrm",
        "git status a\\ b",
        "(git status)",
        "{ git status; }",
        "X=1 git status",
        "PATH=/tmp git status",
        "=git status",
        "git status 'open",
        "git status \0",
        "git status \x1b",
        "",
        "   ",
    ],
)
def test_a_line_that_a_shell_reads_otherwise_is_never_allowed(line: str) -> None:
    for pattern in ("git status **", "git **", "**"):
        assert not _allows(pattern, runs(line))
        assert not _allows(pattern, runs_v2(line))
        assert not _allows(pattern, runs(["bash", "-lc", line]))


@pytest.mark.parametrize(
    ("raw", "is_allowed"),
    [
        ("git status", True),
        ({"command": "git status"}, True),
        ({"cmd": "git status"}, True),
        ({"command": ["git", "status"]}, True),
        ({"command": "git", "args": ["status"]}, True),
        ({"command": ["bash", "-lc", "git status"]}, True),
        ({"command": ["/bin/sh", "-c", "git status"]}, True),
        ({"command": "bash -c 'git status'"}, True),
        ({"command": "git status", "cmd": "git status"}, True),
        ({"command": "git status", "timeout": 5, "description": "x", "env": {}, "stdin": None}, True),
        ({"command": "git status", "env": {"PATH": "/tmp"}}, False),
        ({"command": "git status", "environment": [["A", "b"]]}, False),
        ({"command": "git status", "stdin": "x"}, False),
        ({"command": "git status", "shell": "/tmp/sh"}, False),
        ({"command": "git status", "cmd": "rm x"}, False),
        ({"command": ["/tmp/bash", "-c", "git status"]}, False),
        ({"command": ["bash", "-c", "git status", "x"]}, False),
        ({"command": ["bash", "-ic", "git status"]}, False),
        ({"command": ["git", "status", 5]}, False),
        ({"command": ["git status"]}, False),
        ({"command": []}, False),
        ({"command": {"a": 1}}, False),
        ({"commands": ["git status"]}, False),
        ({"title": "git status"}, False),
        (5, False),
        (None, False),
    ],
)
def test_where_a_command_is(raw: Any, is_allowed: bool) -> None:
    assert _allows("git status", asks("execute", raw=raw)) is is_allowed
    for kind in ("read", "other", None):  # editors call something else a command
        assert not _allows("git status", asks(kind, raw=raw))


def test_the_title_is_not_believed() -> None:
    request = asks("execute", raw={"command": "rm x"})
    request.tool_call.title = "git status"
    assert not _allows("git status", request)
    assert not _allows("git status", v1.RequestPermissionRequest(
        session_id=v1.SessionId("s"),
        tool_call=v1.ToolCallUpdate(tool_call_id=v1.ToolCallId("t"), title="git status", kind=v1.ToolKind.EXECUTE),
        options=[],
    ))  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "rm x",
        "RM x",
        "/bin/rm x",
        "rm.exe x",
        "ls; rm x",
        "ls && rm x",
        "ls | rm x",
        "ls\nrm x",
        "(rm x)",
        "echo $(rm x)",
        'echo "$(rm x)"',
        "echo `rm x`",
        "sudo rm x",
        "sudo -n rm x",
        "A=1 rm x",
        "env A=1 rm x",
        "timeout 5 rm x",
        "sudo env nice -n 5 rm x",
        "bash -c 'rm x'",
        "bash -c 'ls; rm x'",
        "sh -c \"bash -c 'rm x'\"",
        "eval 'rm x'",
        "if true; then rm x; fi",
        "r'm' x",
        "r\\m x",
        "rm 'x",
    ],
)
def test_any_command_of_a_line_is_enough_to_reject(line: str) -> None:
    rules = aio.Rules[Any]([aio.Rule(decide="reject_once", command="rm **"), aio.Rule(decide="allow_once")])
    requests = [runs(line), runs_v2(line), runs(["bash", "-lc", line]), asks("other", raw={"cmd": line})]
    for request in requests:
        assert rules.judge(request).decision == "reject_once", line


@pytest.mark.parametrize("line", ["ls rm", "echo 'rm x'", "git rm x", "git commit -m 'a; rm x'", "rmdir x", "form x"])
def test_other_lines_are_not_rejected(line: str) -> None:
    rules = aio.Rules[Any]([aio.Rule(decide="reject_once", command="rm **")])
    assert rules.judge(runs(line)).decision == "ask"


def test_windows_shells_differ_so_less_is_plain() -> None:
    for line, is_plain in (
        ("git status", True),
        ('git "a b"', True),
        ("git 'a & b'", False),
        ("git %PATH%", False),
        ("git a^b", False),
        ("git a\nb", False),
        ('git "a%b"', False),
        ('git "a \u201d; rm x \u201c"', False),
        ("git \u2018a", False),
    ):
        assert (WORDS.plain_words(line, windows=True).words is not None) is is_plain, line


LINE = st.text(alphabet=string.printable + "ü", max_size=24)


@given(LINE)
def test_plain_words_are_those_that_a_shell_reads(line: str) -> None:
    found = WORDS.plain_words(line, windows=False)
    if found.words is not None:
        assert list(found.words) == shlex.split(line)
        assert not found.problem
    else:
        assert found.problem


@pytest.mark.slow
@given(st.lists(LINE, max_size=20))
def test_plain_words_are_those_of_a_real_shell(lines: list[str]) -> None:
    """The shell gets the line as arguments of a function, so that nothing runs."""
    plain = [w for w in (WORDS.plain_words(f"f {line}", windows=False) for line in lines) if w.words is not None]
    given = [line for line in lines if WORDS.plain_words(f"f {line}", windows=False).words is not None]
    script = "f() { for a in \"$@\"; do printf '%s\\0' \"$a\"; done; printf '\\1\\0'; }\n"
    script += "".join(f"f {line}\n" for line in given)
    run = subprocess.run(["sh", "-c", script], capture_output=True, check=True, cwd="/")
    wanted = b"".join(b"".join(w.encode() + b"\0" for w in line.words[1:]) + b"\1\0" for line in plain)
    assert run.stdout == wanted


@given(LINE)
def test_every_line_is_looked_through(line: str) -> None:
    for command in WORDS.all_commands(line):
        assert all(isinstance(word, str) for word in command)
    assert any("rm" in command for command in WORDS.all_commands("rm x; " + line))


def test_looking_through_takes_no_quadratic_time() -> None:
    for line in ("sudo " * 12_000, "sh -c " * 10_000, "'" * 60_000, "$(" * 30_000, '"$(' * 20_000, "a;" * 30_000):
        assert WORDS.all_commands(line) is not None
