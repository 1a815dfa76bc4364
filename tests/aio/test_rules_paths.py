"""Paths in rules: nothing outside of the root is taken for something inside."""

import importlib
import ntpath
import os
import posixpath
from pathlib import Path
from typing import Any

import pytest
from acp_msgspec import aio, v1, v2
from hypothesis import given
from hypothesis import strategies as st

from tests.aio.rules import asks, asks_v2

LOCATIONS: Any = importlib.import_module("acp_msgspec.aio._services.rules.locations")


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    """A project with links inside, out of it, and to itself; `home` is a link to it."""
    root = tmp_path / "project"
    for folder in ("src/inner", "secrets", "deep/er"):
        (root / folder).mkdir(parents=True)
    (root / "src" / "a.py").write_text("", encoding="utf-8")
    (root / "secrets" / "key").write_text("", encoding="utf-8")
    (tmp_path / "outside").mkdir()
    (root / "src" / "out").symlink_to(tmp_path / "outside")
    (root / "src" / "etc").symlink_to("/etc")
    (root / "src" / "key").symlink_to(root / "secrets" / "key")
    (root / "src" / "down").symlink_to(root / "deep" / "er")
    (root / "src" / "loop").symlink_to(root / "src" / "loop")
    (tmp_path / "home").symlink_to(root)
    return root


def _decides(root: Path, *rules: aio.Rule, **more: Any) -> str:
    return aio.Rules[Any](rules, root=root).judge(more["request"]).decision


ALLOW = aio.Rule(decide="allow_once", path="src/**")
REJECT = aio.Rule(decide="reject_once", path=["secrets/**", "**/.env"])

ALLOWED = [
    "{r}/src/a.py",
    "{r}/src/new/file",
    "{r}/src",
    "{r}/src/inner/../a.py",
    "{r}/./src//a.py",
    "{h}/src/a.py",
    "{r}/src/down/../../src/a.py",
]
NOT_ALLOWED = [
    "{r}/secrets/key",
    "{r}",
    "{r}/srcs/a",
    "{r}/SRC/a.py",
    "{r}/src/../secrets/key",
    "{r}/src/../../outside/x",
    "{r}/src/out/x",
    "{r}/src/out",
    "{r}/src/etc/passwd",
    "{r}/src/key",
    "{r}/src/down/x",
    "{r}/src/down/../x",
    "{r}/src/out/../project/src/a.py",
    "{r}/../project2/src/a.py",
    "{r}2/src/a.py",
    "src/a.py",
    "./src/a.py",
    "~/src/a.py",
    "file://{r}/src/a.py",
    "{r}/src/a\0.py",
    "",
    "/",
    "C:\\project\\src\\a.py",
]


@pytest.mark.parametrize("path", ALLOWED)
def test_allowed(path: str, root: Path) -> None:
    request = asks("edit", path.format(r=root, h=root.parent / "home"))
    assert _decides(root, ALLOW, request=request) == "allow_once"
    assert _decides(root.parent / "home", ALLOW, request=request) == "allow_once"


@pytest.mark.parametrize("path", NOT_ALLOWED)
def test_not_allowed(path: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    wrong, right = path.format(r=root), f"{root}/src/a.py"
    for paths in ((wrong,), (right, wrong), (wrong, right)):
        for ask in (asks, asks_v2):
            assert _decides(root, ALLOW, request=ask("edit", *paths)) == "ask"
    request = asks("edit", right, raw={"newPath": wrong or "/"})
    if path not in ("src/a.py", "./src/a.py"):  # in the input of a tool, paths may begin in the root
        assert _decides(root, ALLOW, request=request) == "ask"


def test_a_rule_needs_files_and_a_kind_that_they_describe(root: Path) -> None:
    inside = f"{root}/src/a.py"
    assert _decides(root, ALLOW, request=asks("edit")) == "ask"
    assert _decides(root, ALLOW, request=asks("edit", raw={"path": inside})) == "ask"
    for kind in ("execute", "fetch", "other", "think", "switch_mode", None):
        assert _decides(root, ALLOW, request=asks(kind, inside)) == "ask"
    tool = aio.Rule(decide="allow_once", path="src/**", tool="write_file")
    assert _decides(root, tool, request=asks("other", inside, tool="write_file")) == "allow_once"
    assert _decides(root, tool, request=asks("other", inside, tool="Write_File")) == "ask"


@pytest.mark.parametrize(
    "raw",
    [
        {"file_path": "/etc/passwd"},
        {"filePath": "/etc/passwd"},
        {"PATH": "/etc/passwd"},
        {"edits": [{"path": "../outside"}]},
        {"paths": ["src/a.py", "/etc/passwd"]},
        {"destination_path": "{r}/secrets/key"},
        {"options": {"working-dir": "/"}},
        {"cwd": ".."},
    ],
)
def test_paths_in_the_input_of_a_tool_count(raw: dict[str, Any], root: Path) -> None:
    filled = {k: v.format(r=root) if isinstance(v, str) else v for k, v in raw.items()}
    assert _decides(root, ALLOW, request=asks("edit", f"{root}/src/a.py", raw=filled)) == "ask"


def test_paths_of_diffs_count(root: Path) -> None:
    inside = f"{root}/src/a.py"
    for path, decision in ((inside, "allow_once"), ("/etc/passwd", "ask"), (f"{root}/secrets/key", "ask")):
        request = asks("edit", inside, content=[v1.diff(path, "a", "b")])
        assert _decides(root, ALLOW, request=request) == decision
        newer = asks_v2("edit", inside)
        assert isinstance(newer.subject, v2.ToolCallPermissionSubject)
        newer.subject.tool_call.content = [v2.diff(path, "a", "b")]
        assert _decides(root, ALLOW, request=newer) == decision


@pytest.mark.parametrize(
    "path",
    [
        "{r}/secrets/key",
        "{r}/SECRETS/key",
        "{r}/src/key",
        "{r}/src/../secrets/x",
        "{r}/deep/.env",
        "{r}/.ENV",
        "{r}/deep/.env.",
        "secrets/key",
        "./deep/../secrets/key",
    ],
)
def test_one_path_is_enough_to_reject(path: str, root: Path) -> None:
    for paths in ((path.format(r=root),), (f"{root}/src/a.py", path.format(r=root))):
        assert _decides(root, REJECT, aio.Rule(decide="allow_once"), request=asks("edit", *paths)) == "reject_once"
    raw = {"file": path.format(r=root)}
    assert _decides(root, REJECT, aio.Rule(decide="allow_once"), request=asks("other", raw=raw)) == "reject_once"


def test_outside(root: Path) -> None:
    outside = aio.Rule(decide="reject_once", outside=True)
    allow = aio.Rule(decide="allow_once")
    for path in ("/etc/passwd", f"{root}/src/out/x", f"{root}/../x", f"{root}/src/a\0"):
        assert _decides(root, outside, allow, request=asks("read", f"{root}/src/a.py", path)) == "reject_once"
    assert _decides(root, outside, allow, request=asks("read", f"{root}/src/a.py")) == "allow_once"


NAMES = st.sampled_from(["src", "out", "key", "down", "..", ".", "a.py", "secrets", "etc", "inner", ""])


@given(parts=st.lists(NAMES, max_size=6))
def test_what_is_allowed_is_below_the_folder(parts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.getbasetemp() / "random"
    if not root.exists():
        (root / "project" / "src" / "inner").mkdir(parents=True)
        (root / "project" / "secrets").mkdir()
        (root / "project" / "src" / "out").symlink_to(root)
        (root / "project" / "src" / "down").symlink_to(root / "project" / "secrets")
        (root / "project" / "src" / "key").symlink_to("../src/inner")
    path = "/".join([str(root / "project"), *parts])
    if _decides(root / "project", ALLOW, request=asks("edit", path)) == "allow_once":
        for reading in (os.path.realpath(path), os.path.realpath(os.path.normpath(path))):
            assert Path(reading).is_relative_to(root / "project" / "src")


@pytest.mark.parametrize(
    ("path", "is_inside"),
    [
        ("C:\\project\\src\\a.py", True),
        ("c:\\PROJECT\\Src\\A.py", True),
        ("C:/project/src/a.py", True),
        ("C:\\project/src\\x\\..\\a.py", True),
        ("C:\\project\\src\\..\\secrets\\key", False),
        ("C:\\project2\\src\\a.py", False),
        ("D:\\project\\src\\a.py", False),
        ("\\project\\src\\a.py", False),
        ("/project/src/a.py", False),
        ("C:src\\a.py", False),
        ("src\\a.py", False),
        ("\\\\server\\project\\src\\a.py", False),
        ("\\\\?\\C:\\other\\src\\a.py", False),
        ("C:\\project\\src\\a.py:stream", False),
        ("C:\\project\\src\\a.py.", False),
        ("C:\\project\\src\\a.py ", False),
        ("C:\\project\\src\\SECRET~1", False),
        ("C:\\project\\src\\NUL", False),
        ("C:\\project\\src\\com1.txt", False),
    ],
)
def test_paths_of_windows(path: str, is_inside: bool) -> None:
    root = LOCATIONS.Root("C:\\project", ntpath)
    place = root.place(path)
    pattern = LOCATIONS.path_pattern("src/**")
    assert (place.parts is not None and root.matches(pattern, place.parts)) is is_inside, place
    assert bool(place.problem) is (place.parts is None)


def test_patterns() -> None:
    root = LOCATIONS.Root("/", posixpath)
    for pattern, yes, no in (
        ("*.py", "a.py .py", "a.pyc b/a.py"),
        ("**/*.py", "a.py b/a.py b/c/a.py", "a.pyc"),
        ("a/**/b", "a/b a/x/b a/x/y/b", "a b a/b/c"),
        ("a/*/b", "a/x/b", "a/b a/x/y/b"),
        ("?.md", "a.md", "ab.md .md"),
        ("a/**", "a a/b a/b/c", "ab b/a"),
        ("**", "a a/b", ""),
    ):
        read = LOCATIONS.path_pattern(pattern)
        for path, wanted in [*((p, True) for p in yes.split()), *((p, False) for p in no.split())]:
            assert root.matches(read, tuple(path.split("/"))) is wanted, (pattern, path)


def test_patterns_take_no_exponential_time() -> None:
    root = LOCATIONS.Root("/", posixpath)
    assert not root.matches(LOCATIONS.path_pattern("**/a/" * 20 + "b"), ("a",) * 400)
    assert not root.matches(LOCATIONS.path_pattern("*a" * 50 + "b"), ("a" * 2000,))
