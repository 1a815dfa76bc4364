"""Holding what is pinned against its source, read again: from a repository, an address, a folder that is named."""

import json
import os
import shutil
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from generator import cli
from generator.errors import GeneratorError
from generator.pin import pin, verify
from generator.source import UPSTREAM
from tests.generator.command import generator
from tests.generator.test_fetch import serving
from tests.generator.upstream import COMMIT, ONLY, as_json, checkout_of, manifest, run_git
from tests.support import tree


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Make a folder with the smallest schemas."""
    folder = tmp_path / "small"
    for name in ("v1/schema.json", "v1/schema.unstable.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(as_json(ONLY))
    return folder


def _redirect(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make git fetch from a checkout what it would from upstream."""
    config = tmp_path / "gitconfig"
    config.write_text(f'[url "file://{checkout}"]\n\tinsteadOf = {UPSTREAM}\n', encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    run_git(checkout, "config", "uploadpack.allowAnySHA1InWant", "true")


@pytest.mark.parametrize("kind", ["checkout", "folder", "old lock"])
def test_a_commit_is_fetched_again(kind: str, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout, commit = checkout_of(small, tmp_path)
    root = tmp_path / "project"
    pin(str(checkout / "schema" if kind == "folder" else checkout), commit, None, root)
    path = root / "schema" / "lock.json"
    if kind == "old lock":
        raw = json.loads(path.read_text(encoding="utf-8"))
        del raw["source"]
        path.write_text(json.dumps(raw), encoding="utf-8")
    _redirect(checkout, tmp_path, monkeypatch)
    before = tree(root)
    found = verify(root)
    assert (found.differences, found.notes, found.files) == ((), (), 2)
    assert UPSTREAM in found.shown
    assert tree(root) == before
    # What the lock says of the original, what it says of the stored file, and that file itself.
    raw = json.loads(path.read_text(encoding="utf-8"))
    raw["files"]["v1/schema.json"]["upstream_sha256"] = "0" * 64
    path.write_text(json.dumps(raw), encoding="utf-8")
    (root / "schema" / "v1" / "schema.unstable.json").write_bytes(b"{}")
    lines = verify(root).differences
    assert lines[0] == "schema/v1/schema.unstable.json: differs from its sha256 in the lock"
    assert lines[1].startswith(
        "v1/schema.json: the structure is the same, its texts differ: the original has the sha256"
    )
    assert len(lines) == 2
    (root / "schema" / "v1" / "schema.json").unlink()
    assert verify(root).differences[0] == "schema/v1/schema.json: is missing"


def test_a_commit_that_is_gone(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout, _ = checkout_of(small, tmp_path)
    root = tmp_path / "project"
    pin(str(checkout), None, None, root)
    _redirect(checkout, tmp_path, monkeypatch)
    shutil.rmtree(checkout / ".git")
    with pytest.raises(GeneratorError, match=r"the commit [0-9a-f]{40} cannot be fetched: ") as caught:
        verify(root)
    assert "\n" not in str(caught.value)


def test_a_local_source_must_be_named(small: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    pin(str(small), COMMIT, None, root)
    with pytest.raises(GeneratorError, match="came from a local folder, so they cannot be read again"):
        verify(root)
    found = verify(root, str(small))
    assert found.differences == ()
    assert found.notes == ("unverified: --commit named it, and the folder is not of a repository that has it",)
    (small / "v2").mkdir()
    (small / "v2" / "schema.json").write_bytes(as_json(ONLY))
    (small / "v1" / "schema.unstable.json").unlink()
    assert verify(root, str(small)).differences == (
        "v1/schema.unstable.json: is not in the source",
        "v2/schema.json: is in the source, and not pinned",
    )


def test_an_unverified_lock_of_before_says_so(small: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    pin(str(small), COMMIT, None, root)
    path = root / "schema" / "lock.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    del raw["source"]
    path.write_text(json.dumps(raw), encoding="utf-8")
    with pytest.raises(GeneratorError, match="the lock does not say where its files came from"):
        verify(root)


def test_a_checkout_is_read_at_the_pinned_commit(small: Path, tmp_path: Path) -> None:
    checkout, commit = checkout_of(small, tmp_path)
    root = tmp_path / "project"
    pin(str(checkout), None, None, root)
    (checkout / "schema" / "v1" / "schema.json").write_bytes(as_json({"$defs": {"Other": {"type": "string"}}}))
    run_git(checkout, "commit", "--quiet", "--all", "--message=two")
    assert verify(root, str(checkout)).differences == ()
    assert commit != run_git(checkout, "rev-parse", "HEAD")


@pytest.mark.parametrize("address", ["https://user:secret@example.com/x", "https://example.com/x?token=secret"])
def test_no_secret_comes_into_a_lock(address: str, tmp_path: Path) -> None:
    with pytest.raises(GeneratorError, match="must have no user, query or fragment") as caught:
        pin(address, COMMIT, None, tmp_path)
    assert "secret" not in str(caught.value)


@pytest.mark.slow
def test_an_address(tmp_path: Path) -> None:
    with serving() as base:
        pin(base, None, None, tmp_path)
        assert verify(tmp_path).differences == ()
    with pytest.raises(GeneratorError, match="cannot be fetched"):
        verify(tmp_path)


def test_another_order_of_keys_is_a_difference_in_the_same_source_alone(small: Path, tmp_path: Path) -> None:
    root, other = tmp_path / "project", tmp_path / "other"
    pin(str(small), COMMIT, None, root)
    (other / "v1").mkdir(parents=True)
    shutil.copy(small / "v1" / "schema.unstable.json", other / "v1")
    raw = {"$defs": {"Only": {"type": "string", "description": "Some prose."}}, "title": "T"}
    (small / "v1" / "schema.json").write_bytes(as_json(raw))
    pin(str(small), COMMIT, None, root)
    turned = as_json(dict(reversed(raw.items())))
    (small / "v1" / "schema.json").write_bytes(turned)
    line = "v1/schema.json: the structure is the same, the order of its keys differs"
    assert verify(root, str(small)).differences == (line,)
    (other / "v1" / "schema.json").write_bytes(turned)
    (other / "package.json").write_bytes(manifest())
    found = verify(root, str(other))
    assert (found.differences, found.notes[0]) == ((), line)


def test_what_the_command_prints(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "pin_schemas", partial(pin, root=tmp_path / "project"))
    run = CliRunner().invoke(cli.app, ["pin", str(small), "--commit", COMMIT])
    assert run.stdout.splitlines() == [
        "new: schema/lock.json",
        "new: schema/v1/schema.json",
        "new: schema/v1/schema.unstable.json",
        f"pinned: {COMMIT} (unreleased)",
        "from: a local folder",
        "unverified: --commit named it, and the folder is not of a repository that has it",
        "undated: the source does not know its day (hint: --date YYYY-MM-DD)",
    ]
    checkout, commit = checkout_of(small, tmp_path)
    run = CliRunner().invoke(cli.app, ["pin", str(checkout)])
    assert run.stdout.splitlines() == [
        "changed: schema/lock.json",
        f"pinned: {commit} (unreleased)",
        f"from: checkout {UPSTREAM}",
        "verified: a branch or tag of upstream has the commit",
    ]


def test_the_command(tmp_path: Path) -> None:
    """What the project has pinned is not what some folder has; the command says where, and writes nothing."""
    folder = tmp_path / "other"
    (folder / "v1").mkdir(parents=True)
    (folder / "v1" / "schema.json").write_bytes(as_json(ONLY))
    run = generator("pin", "--verify", folder)
    assert run.returncode == 1
    assert "differs: v1/schema.json: differs in structure, first at #/" in run.stdout
    assert run.stderr.startswith(f"error: {folder}: ")
    assert generator("pin", "--verify", "--commit", COMMIT).stderr.startswith("error: --verify writes nothing")
    assert generator("pin").stderr.startswith("error: pin needs a SOURCE")
