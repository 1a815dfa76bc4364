"""Diffs from two texts; patches are applied by git itself."""

import importlib
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import v1, v2
from hypothesis import given
from hypothesis import strategies as st

PATCHES: Any = importlib.import_module("acp_msgspec._build.git_patch")
LINES = st.lists(st.sampled_from(["a", "b", "c d", "", "ü", "-x", "+y", "@@"]), max_size=12)
TEXTS = LINES.map("\n".join) | LINES.map(lambda lines: "".join(f"{line}\n" for line in lines))
PATHS = ["/p/a.py", "/p/a b.py", '/p/a"b', "/p/a\tb\nc", "/p/ü", "/p/back\\slash", "C:\\p\\a.py", "\\\\s\\share\\a"]


@pytest.mark.parametrize("path", PATHS)
def test_texts_of_version_1(path: str) -> None:
    for old, new in ((None, "x"), ("a", "b"), ("", ""), ("a\r\n", "a\n")):
        diff = v1.diff(path, old, new)
        assert (diff.path, diff.old_text, diff.new_text) == (path, old, new)
        acp.validate(diff, type=v1.ToolCallContent)


@pytest.mark.parametrize("label", ["v2", "v2_unstable"])
@pytest.mark.parametrize("path", PATHS)
def test_changes_of_version_2(label: str, path: str) -> None:
    module: Any = importlib.import_module(f"acp_msgspec.{label}")
    for old, new, kind in (
        (None, "x\n", module.DiffChangeAdd),
        ("x\n", None, module.DiffChangeDelete),
        ("x\n", "y\n", module.DiffChangeModify),
        (None, "", module.DiffChangeAdd),
        ("", None, module.DiffChangeDelete),
        ("x\n", "x\n", module.DiffChangeModify),
    ):
        diff = module.diff(path, old, new)
        assert diff.changes == [kind(path=path)]
        assert (diff.patch is None) is (old == new)
        assert diff.patch is None or diff.patch.format is module.DiffPatchFormat.GIT_PATCH
        acp.validate(diff, type=module.ToolCallContent)
        assert acp.decode_strict(acp.encode(diff), type=module.ToolCallContent) == diff


@pytest.mark.parametrize("path", ["a.py", "./a", "../a", "", "C:a.py", "~/a"])
def test_a_relative_path_is_refused(path: str) -> None:
    for module in (v1, v2):
        with pytest.raises(ValueError, match="is not absolute: join it to the folder of the session"):
            module.diff(path, "", "x")


def test_a_diff_of_nothing() -> None:
    with pytest.raises(ValueError, match="needs the text before the change, the text after it, or both"):
        v2.diff("/a", None, None)


def test_a_patch() -> None:
    assert PATCHES.git_patch("/p/a b", "one\ntwo\n", "one\n2") == (
        "diff --git /p/a b /p/a b\n--- /p/a b\t\n+++ /p/a b\t\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        "\\ No newline at end of file\n"
    )
    assert PATCHES.git_patch("/p/a", None, "") == "diff --git /p/a /p/a\nnew file mode 100644\n"
    assert PATCHES.git_patch('/p/"', "x", "x") is None
    assert PATCHES.git_patch('/p/"\t', None, "").splitlines()[0] == r'diff --git "/p/\"\t" "/p/\"\t"'


def _git(folder: Path, *arguments: str, given: str = "") -> None:
    subprocess.run(["git", *arguments], cwd=folder, input=given.encode(), capture_output=True, check=True)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("name", ["a.py", "a b.py", 'q"q', "t\tt", "ü", "back\\slash"])
def test_git_applies_a_patch(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    texts = [None, "one\ntwo\n", "one\n2\nthree", "", "ü\r\nx\n", "+\n-\n@@ -1 +1 @@\n", None, "again\n"]
    for old, new in pairwise(texts):
        patch = PATCHES.git_patch(str(path), old, new)
        # The path in the patch has no prefix but its slash, which git cannot write to from inside a project.
        _git(tmp_path, "apply", "--unsafe-paths", "--whitespace=nowarn", f"-p{len(tmp_path.parts)}", given=patch)
        assert (path.read_bytes().decode() if path.exists() else None) == new


@given(old=st.none() | TEXTS, new=st.none() | TEXTS)
def test_a_patch_has_both_texts(old: str | None, new: str | None) -> None:
    if old is None and new is None:
        return
    patch = PATCHES.git_patch("/a", old, new)
    assert (patch is None) is (old == new)
    if patch is None or not (old or new):
        return
    body = [line for line in patch.split("\n")[:-1] if not line.startswith(("diff ", "new file", "deleted file"))]
    lines = body[2:]
    for sign, text in (("-", old), ("+", new)):
        told = [line[1:] for line in lines if line[:1] in (sign, " ")]
        assert all(line in (text or "").split("\n") for line in told)
    changed = sum(line[:1] in ("-", "+") for line in lines)
    assert changed > 0
    assert all(line[:1] in (" ", "-", "+", "@", "\\") for line in lines)
