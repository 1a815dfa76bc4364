"""Copies of the package in other projects: complete, consistent, checked, and never at the cost of other files."""

import errno
import hashlib
import json
import os
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT
from tests.tools.vendor_support import (
    ABOUT,
    ALONE,
    LABELS,
    PACKAGE,
    USE,
    VENDOR,
    WRITE,
    Command,
    Run,
    header_of,
    installed_wheel,
    module,
    no_space_left,
    older_version,
    origin,
    python,
    tree,
    type_errors,
)

DEST = "app/_acp"
ALL = "types, messages, state, aio, tools"


@pytest.fixture
def vendor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").touch()
    monkeypatch.chdir(tmp_path)
    return Command(capsys)


def _record() -> Any:
    return json.loads(Path(DEST, "VENDORED.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_what_is_copied(vendor: Command, tmp_path: Path) -> None:
    out = vendor.done(DEST, "--parts", "all")
    assert out[0] == f"{DEST}: now acp_msgspec {ABOUT.__version__} ({', '.join(LABELS)}; {ALL})"
    assert out[3:] == [f"update with: python -m acp_msgspec vendor {DEST} --parts all"]
    copied, record = tree(Path(DEST)), _record()
    modules = {n: d for n, d in tree(PACKAGE).items() if n.endswith(".py") and isinstance(d, bytes)}
    parts = {n: d for n, d in tree(PACKAGE).items() if n.endswith((".css", ".js")) and isinstance(d, bytes)}
    others = {*parts, "LICENSE", "VENDORED.json", "py.typed"}
    assert {n for n, d in copied.items() if d is not None} == {*modules, *others}
    header = VENDOR.ORIGIN.header
    for name, data in modules.items():
        assert header_of(copied[name], data) == header + "# flake8: noqa\n# fmt: off\n"
    assert parts
    for name, data in parts.items():
        assert copied[name] == f"/*\n{header}*/\n".encode() + data
    assert f" {ABOUT.__version__}, upstream commit {ABOUT.UPSTREAM_COMMIT};" in header
    licence = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["license"]
    assert f"# SPDX-License-Identifier: {licence}\n" in header
    assert copied["LICENSE"] == (ROOT / "LICENSE").read_bytes()
    assert (record["version"], record["upstream_commit"]) == (ABOUT.__version__, ABOUT.UPSTREAM_COMMIT)
    assert (record["labels"], record["schema_versions"]) == (LABELS, ABOUT.SCHEMA_VERSIONS)
    assert ", ".join(record["parts"]) == ALL
    assert record["update"] == "python -P -m acp_msgspec vendor . --parts all"
    digests = {n: hashlib.sha256(d).hexdigest() for n, d in copied.items() if isinstance(d, bytes)}
    assert record["files"] == {n: d for n, d in digests.items() if n != "VENDORED.json"}
    assert str(tmp_path) not in json.dumps(record)
    assert Path(DEST).stat().st_mode == Path("app").stat().st_mode


@pytest.mark.parametrize("other", ["stub", "real"])
@pytest.mark.slow
def test_nothing_of_another_version_is_used(vendor: Command, tmp_path: Path, other: str) -> None:
    vendor.done(DEST)
    beside = tmp_path / "beside"
    (beside / "acp_msgspec").mkdir(parents=True)
    (beside / "acp_msgspec" / "__init__.py").write_text('__version__ = "99.0"\n', encoding="utf-8")
    if other == "real":
        shutil.copytree(Path(str(ABOUT.__file__)).parent, beside / "acp_msgspec", dirs_exist_ok=True)
    use = USE.replace("copied", "app._acp")
    python(use + ALONE, tmp_path, beside)
    python(use + ALONE, beside, tmp_path)
    # In one process with it, whichever comes first.
    both = f"import acp_msgspec\nassert acp_msgspec.__file__.startswith({str(beside)!r})\n"
    python(both + use + 'assert acp.Skipped.__module__ == "app._acp._decode.context"\n', tmp_path, beside)
    if other == "real":
        apart = "import app._acp\nassert app._acp.Skipped is not acp.Skipped\n"
        python(use + both + USE.replace("copied", "acp_msgspec") + apart, tmp_path, beside)


@pytest.mark.slow
def test_some_modules_and_another_place(vendor: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert vendor.done(DEST, "--only", "v2", "v1", "--only", "v1")[0].endswith("(v1, v2; types, messages)")
    assert {p.parent.name for p in Path(DEST).glob("*/types.py")} == {"v1", "v2"}
    assert (_record()["labels"], list(_record()["schema_versions"])) == (["v1", "v2"], ["v1", "v2"])
    Path("lib/deep/er").mkdir(parents=True)
    shutil.move(DEST, "lib/deep/er/inner")
    python(USE.replace("copied", "deep.er.inner") + ALONE, tmp_path / "lib")
    # The recorded command is right wherever the folder lies.
    command = json.loads(Path("lib/deep/er/inner/VENDORED.json").read_bytes())["update"].split()
    assert command == ["python", "-P", "-m", "acp_msgspec", "vendor", ".", "--only", "v1", "v2"]
    monkeypatch.chdir("lib/deep/er/inner")
    assert vendor.done(*command[5:])[1] == "files written: 0, removed: 0"


@pytest.mark.slow
def test_states_that_a_check_tells_apart(vendor: Command) -> None:
    assert vendor.refused(DEST, "--check")[1] == f"{DEST}: no such folder"
    with older_version():
        vendor.done(DEST, "--only", "v1", "v2", "--parts", "all")
    out, error = vendor.refused(DEST, "--check")
    commit = ABOUT.UPSTREAM_COMMIT
    version = f"version: the copy is 0.0.9 of {commit}, the package {ABOUT.__version__} of {commit}"
    assert out == [version]
    command = f"python -m acp_msgspec vendor {DEST} --only v1 v2 --parts all"
    wanted = f"acp_msgspec {ABOUT.__version__} (v1, v2; {ALL})"
    assert error == f"{DEST}: differs from {wanted} (hint: {command})"
    out = vendor.done(*command.split()[4:])
    assert out[1] == f"files written: {len(_record()['files']) - 1}, removed: 0"
    first = tree(Path())
    assert vendor.done(DEST, "--only", "v1", "v2")[1] == "files written: 0, removed: 0"
    assert tree(Path()) == first
    assert vendor.done(DEST, "--check")[0] == f"{DEST}: up to date with {wanted}"
    assert vendor.refused(DEST, "--check", "--only", "v1")[0] == [
        f"stale: v2/{n}.py" for n in ("__init__", "aio", "build", "conversation", "enums", "messages", "types")
    ]
    Path(DEST, "_codec.py").write_text("# mine\n", encoding="utf-8")
    Path(DEST, "v2", "types.py").unlink()
    Path(DEST, "notes").mkdir()
    Path(DEST, "notes", "a.txt").touch()
    assert vendor.refused(DEST, "--check")[0] == ["edited: _codec.py", "missing: v2/types.py", "extra: notes"]
    with older_version():
        assert vendor.refused(DEST, "--check")[0][1:] == ["edited: _codec.py", "missing: v2/types.py", "extra: notes"]
    assert vendor.done(DEST, "--only", "v1", "v2", "--force")[1::2] == ["files written: 2, removed: 0", "extra: notes"]
    assert vendor.done(DEST, "--check")[0] == "extra: notes"
    record = Path(DEST, "VENDORED.json")
    record.write_bytes(record.read_bytes().replace(b'"update": "', b'"update": "sudo '))
    assert vendor.refused(DEST, "--check")[0] == ["outdated: VENDORED.json", "extra: notes"]


@pytest.mark.slow
def test_an_update_keeps_what_is_not_ours(vendor: Command) -> None:
    vendor.done(DEST, "--parts", "all")
    cache = Path(DEST, "v2", "__pycache__")
    cache.mkdir()
    (cache / "types.cpython-311.pyc").touch()
    for path in ("mine.py", "v2_unstable/notes.txt"):
        Path(DEST, path).write_text("keep\n", encoding="utf-8")
    extra = ["extra: mine.py", "extra: v2_unstable/notes.txt"]
    out = vendor.done(DEST, "--only", "v1")
    assert [out[1], *out[3:5]] == ["files written: 1, removed: 21", *extra]
    assert {p.name for p in Path(DEST).iterdir() if p.is_dir()} & {*LABELS} == {"v1", "v2_unstable"}
    assert (Path(DEST, "mine.py").read_text(), Path(DEST, "v2_unstable/notes.txt").read_text()) == ("keep\n", "keep\n")
    # Mine, until a release brings a file of that name; edited, and in the way of one that was not chosen before.
    Path(DEST, "v2").mkdir()
    Path(DEST, "v2", "types.py").write_text("mine\n", encoding="utf-8")
    Path(DEST, "v1", "types.py").write_text("edited\n", encoding="utf-8")
    listed, error = vendor.refused(DEST, "--only", "v1", "v2")
    assert listed == ["edited: v1/types.py", "in the way: v2/types.py"]
    assert error == f"{DEST}: files would be lost; nothing was changed (hint: --force overwrites them)"
    assert vendor.refused(DEST, "--only", "v2")[0] == listed  # edited, if to be removed
    vendor.done(DEST, "--only", "v1", "v2", "--force")
    vendor.done(DEST, "--check")


@pytest.mark.slow
def test_refusals(vendor: Command) -> None:
    vendor.done(DEST, "--only", "v1")
    Path("file").touch()
    Path("folder").mkdir()
    Path("theirs").mkdir()
    Path("theirs", "VENDORED.json").write_text("?", encoding="utf-8")
    Path("link").symlink_to("folder")
    Path("loop").symlink_to("loop")
    malformed = "JSON is malformed: invalid character (byte 0)"
    no_copy = "exists and is not a vendored copy (it has no file VENDORED.json)"
    wrong = {
        "file": f"file: {no_copy}",
        "folder": f"folder: {no_copy}",
        "\udcff/x": r"\udcff: no such folder",
        "app": f"app: {no_copy}",
        "file/x": "file: no such folder",
        "no/where": "no: no such folder",
        "loop/x": "loop: no such folder",
        "link": "link: is a symbolic link; give the folder that it points to",
        "a-b": "a-b: 'a-b' is not a valid package name",
        "app/class": "app/class: 'class' is not a valid package name",
        "app/..": "app/..: '..' is not a valid package name",
        "theirs": f"theirs/VENDORED.json: is not a valid record: {malformed} (hint: restore it)",
        str(PACKAGE): f"{PACKAGE}: {no_copy}",
        str(PACKAGE / "inner"): f"{PACKAGE}/inner: is inside the package that would be copied",
    }
    for dest, message in wrong.items():
        assert vendor.refused(dest)[1] == vendor.refused(dest, "--force")[1] == message
    assert vendor.refused("new", "--only", "v1", "v9")[1] == f"unknown label 'v9'; there are {', '.join(LABELS)}"
    for usage in ((), ("new", "--only"), ("--only", "v1", "new"), ("new", "--check", "--force"), ("new", "--on", "v1")):
        assert vendor(*usage).status == 2
    record = Path(DEST, "VENDORED.json")
    for bad in (b"{", b"\xff", b"[" * 100_000, record.read_bytes().replace(b'"_codec.py"', b'"../__init__.py"')):
        record.write_bytes(bad)
        for option in ("--check", "--force"):
            assert vendor.refused(DEST, option)[1].startswith(f"{DEST}/VENDORED.json: is not a valid record: ")


@pytest.mark.slow
def test_links_lead_nowhere(vendor: Command) -> None:
    vendor.done(DEST, "--only", "v1")
    outside = Path("outside")
    (outside / "_decode").mkdir(parents=True)
    for name in ("_decode/hook.py", "VENDORED.json"):
        shutil.move(Path(DEST, name), outside / name)
        Path(DEST, name).symlink_to(Path("../" * (name.count("/") + 2) + "outside", name))
        if name == "_decode/hook.py":  # the same bytes, and yet not what was written there
            assert vendor.refused(DEST, "--check")[0] == vendor.refused(DEST)[0] == ["edited: _decode/hook.py"]
            (outside / name).write_text("mine\n", encoding="utf-8")
            vendor.done(DEST, "--only", "v1", "--force")
            assert not Path(DEST, name).is_symlink()
            assert (outside / name).read_text(encoding="utf-8") == "mine\n"
    assert vendor.refused(DEST, "--force")[1].endswith("(it has no file VENDORED.json)")
    shutil.move(outside / "VENDORED.json", Path(DEST, "VENDORED.json"))
    shutil.move(Path(DEST, "v1"), outside)
    Path(DEST, "v1").symlink_to("../../outside/v1")
    for options in (("--force",), ("--force", "--only", "v2"), ("--check",)):
        assert vendor.refused(DEST, *options)[1] == f"{Path.cwd()}/{DEST}/v1: is not a plain folder; remove it first"


@pytest.mark.parametrize("method", ["replace", "unlink", "write_bytes", "rename", "mkdir"])
@pytest.mark.slow
def test_a_failure_changes_nothing(vendor: Command, method: str) -> None:
    with older_version():
        vendor.done(DEST, "--only", "v1", "v2")
    Path(DEST, "v1", "types.py").write_text("edited\n", encoding="utf-8")
    failed = 0
    for dest, labels in ((DEST, ("v1", "v2_unstable")), ("fresh", ("v1",))):
        for call in (1, 2, 5, 34):
            before = tree(Path())
            with no_space_left(method, call):
                run = vendor(dest, "--force", "--only", *labels)
            if run.status == 0:  # it is not called so often
                break
            failed += 1
            assert (run.out, run.err) == ([], f"error: {dest}: no space left on device\n")
            assert tree(Path()) == before
    assert failed


@pytest.mark.slow
def test_what_a_crash_leaves_is_completed(vendor: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    with older_version():
        vendor.done(DEST, "--only", "v1", "v2")
    real, left = WRITE.swap, 20

    def dying(place: Path, other: Path) -> None:
        nonlocal left
        left -= 1
        if left < 0:  # and so does every attempt to undo it
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(place, other)

    with monkeypatch.context() as patch:
        patch.setattr(WRITE, "swap", dying)
        assert vendor(DEST, "--only", "v1").status == 1
    vendor.done(DEST, "--only", "v1")
    vendor.done("fresh", "--only", "v1")
    assert tree(Path(DEST)) == tree(Path("fresh"))


@pytest.mark.slow
def test_a_copy_can_be_copied(vendor: Command, tmp_path: Path) -> None:
    vendor.done(DEST, "--only", "v1", "--parts", "all")
    assert module("app._acp", "vendor", "again", "--parts", "all", cwd=tmp_path).status == 0
    assert tree(Path("again")) == tree(Path(DEST))
    vendor.done("again", "--check")
    assert module("app._acp", "vendor", "again", "--check", "--only", "v2", cwd=tmp_path) == Run(
        1, [], "error: unknown label 'v2'; there are v1\n"
    )
    version = module("app._acp", "--version", cwd=tmp_path).out
    assert version[1:] == [f"upstream commit {ABOUT.UPSTREAM_COMMIT}", f"schema v1: {ABOUT.SCHEMA_VERSIONS['v1']}"]
    Path(DEST, "v1", "types.py").write_text("edited\n", encoding="utf-8")
    run = module("app._acp", "vendor", DEST, "--check", cwd=tmp_path)
    assert (run.status, run.out) == (1, ["edited: v1/types.py"])
    assert "is itself a vendored copy that was edited" in run.err


@pytest.mark.slow
def test_from_an_installed_wheel(vendor: Command, tmp_path: Path) -> None:
    python = installed_wheel(tmp_path)
    run = module("acp_msgspec", "vendor", "app/wheel", "--parts", "all", cwd=tmp_path, executable=python)
    assert (run.status, run.err) == (0, "")
    vendor.done(DEST, "--parts", "all")
    assert tree(Path("app/wheel")) == tree(Path(DEST))
    version = module("acp_msgspec", "--version", cwd=tmp_path, executable=python).out
    assert version[0] == f"acp_msgspec {ABOUT.__version__}"
    assert version[2:] == [f"schema {label}: {release}" for label, release in ABOUT.SCHEMA_VERSIONS.items()]
    assert module("acp_msgspec", cwd=tmp_path, executable=python).status == 2


@pytest.mark.slow
def test_without_a_licence_a_notice(vendor: Command) -> None:
    shutil.copytree(PACKAGE, "package", ignore=shutil.ignore_patterns("LICENSE"))
    with origin(folder=Path("package").resolve()):
        vendor.done(DEST, "--only", "v1")
    assert Path(DEST, "LICENSE").read_text(encoding="utf-8").startswith("SPDX-License-Identifier: Apache-2.0\n")


@pytest.mark.slow
def test_type_checkers_know_a_copy(vendor: Command, tmp_path: Path) -> None:
    vendor.done(DEST, "--only", "v1", "v2")
    use = USE.replace("copied", "app._acp")
    Path("good.py").write_text(use, encoding="utf-8")
    Path("bad.py").write_text(use + "number: int = v1.TextContent(text='x').text\n", encoding="utf-8")
    for checker, errors in type_errors("good.py", "bad.py").items():
        assert len(errors) == 1, errors
        assert f"bad.py:{use.count(chr(10)) + 1}:" in errors[0], checker
