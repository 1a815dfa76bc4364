"""Files of rules: what they say, and one line for whatever is wrong in them."""

from pathlib import Path
from typing import Any

import pytest
from acp_msgspec import aio
from hypothesis import given
from hypothesis import strategies as st

from tests.aio.rules import asks, runs

GOOD = """
root = "."
otherwise = "reject_once"

[[rule]]
decide = "reject_once"
path = ["**/.env", "secrets/**"]
why = "secrets stay secret"

[[rule]]
decide = "allow_once"
kind = ["read", "search"]
path = "**"

[[rule]]
decide = "allow_always"
command = ["git status", "pytest **"]

[[rule]]
decide = "ask"
outside = true
"""


def _write(folder: Path, text: str | bytes) -> Path:
    path = folder / "permissions.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _write(tmp_path, GOOD)
    monkeypatch.chdir("/")
    rules = aio.Rules[Any].load(path)
    for request, decision, number in (
        (asks("read", f"{tmp_path}/a"), "allow_once", 2),
        (asks("read", f"{tmp_path}/.env"), "reject_once", 1),
        (asks("edit", f"{tmp_path}/a"), "reject_once", None),
        (asks("read", "/etc/passwd"), "ask", 4),
        (runs("pytest -q"), "allow_always", 3),
    ):
        verdict = rules.judge(request)
        assert (verdict.decision, verdict.number) == (decision, number)
    elsewhere = aio.Rules[Any].load(str(path), root="/", ask="allow_once")
    assert elsewhere.judge(asks("read", "/etc/passwd")).decision == "allow_once"
    assert aio.Rules[Any].load(_write(tmp_path, "")).judge(asks()).decision == "ask"
    assert aio.Rules[Any].load(_write(tmp_path, b"\xef\xbb\xbf" + GOOD.encode())).judge(runs("ls")).number is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[rule]\n", "is not valid TOML: "),
        ("a = 1\na = 2", "is not valid TOML: "),
        (b"\xff", "is not UTF-8"),
        ("rules = []", "unknown key 'rules': known are root, otherwise, rule"),
        ("otherwise = 5", "`otherwise` is 5: use one of allow_once, "),
        ("otherwise = []", "`otherwise` is []: use one of"),
        ("root = 5", "`root` must be the path of a folder"),
        ('root = ""', "`root` must be the path of a folder"),
        ("rule = 5", "`rule` must be a list of tables: write [[rule]]"),
        ("rule = [5]", "rule 1: must be a table: write [[rule]]"),
        ("[rule]\ndecide = 'ask'", "`rule` must be a list of tables"),
        ("[[rule]]", "rule 1: `decide` is missing: one of "),
        ("[[rule]]\ndecide = 'yes'", "rule 1: `decide` is 'yes': use one of "),
        ("[[rule]]\ndecide = 5", "rule 1: `decide` is 5: use one of "),
        ("[[rule]]\ndecide = ['ask']", "rule 1: `decide` is ['ask']: use one of "),
        ("[[rule]]\ndecide = 'ask'\npaths = 'a'", "rule 1: unknown key 'paths': known are decide, kind, "),
        ("[[rule]]\ndecide = 'ask'\nkind = []", "rule 1: `kind` is empty"),
        ("[[rule]]\ndecide = 'ask'\npath = ''", "rule 1: `path` is empty"),
        ("[[rule]]\ndecide = 'ask'\ntool = [1]", "rule 1: `tool` must be a text or a list of texts"),
        ("[[rule]]\ndecide = 'ask'\nkind = {a = 1}", "rule 1: `kind` must be a text or a list of texts"),
        ("[[rule]]\ndecide = 'ask'\noutside = 'yes'", "rule 1: `outside` must be true or false"),
        ("[[rule]]\ndecide = 'ask'\nwhy = 1", "rule 1: `why` must be a text"),
        ("[[rule]]\ndecide = 'ask'\n[[rule]]\ndecide = 'ask'\npath = 'a'", "rule 2: `path` and `outside` need a root"),
        ("root = '.'\n[[rule]]\ndecide = 'ask'\npath = '/a'", "rule 1: `path` '/a' is not relative"),
        ("[[rule]]\ndecide = 'ask'\n" * 1001, "has more than 1000 rules"),
        ("#" * (1024 * 1024 + 1), "is larger than 1048576 bytes"),
        ("a = " + "[" * 100_000, "is n"),
        ('root = "a\\u0000b"', "`root` must be the path of a folder"),
    ],
)
def test_one_line_for_each_fault(text: str | bytes, problem: str, tmp_path: Path) -> None:
    path = _write(tmp_path, text)
    with pytest.raises(aio.RulesError) as caught:
        aio.Rules[Any].load(path)
    assert str(caught.value).startswith(f"{path}: {problem}")
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.toml", tmp_path, Path("a\0b")):
        with pytest.raises(aio.RulesError, match=": cannot be read: "):
            aio.Rules[Any].load(path)


@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_no_other_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = _write(tmp_path_factory.getbasetemp(), data)
    problem = ""
    try:
        aio.Rules[Any].load(path)
    except aio.RulesError as why:
        problem = str(why)
    assert "\n" not in problem
