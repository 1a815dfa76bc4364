"""Pinning from a crate: cargo and the reference are made up here, what cargo keeps on disk is as it keeps it."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generator import cargo
from generator.errors import GeneratorError
from generator.jsonutil import digest
from generator.pin import pin, read_source, verify
from generator.source import UPSTREAM, Kind, load_lock
from tests.generator.fake_reference import FOLDER
from tests.generator.upstream import COMMIT, ONLY, as_json

CRATE = "agent-client-protocol-schema"
SOURCE = f"crate:{CRATE}@1.2.3"
ARCHIVE = b"what cargo has downloaded"
Setup = Callable[..., None]


@pytest.fixture
def crate(upstream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setup:
    """Make a cargo that knows one crate; the arguments change what it knows."""

    def make(
        *,
        vcs: dict[str, Any] | None = None,
        checksum: str = digest(ARCHIVE),
        repository: str = UPSTREAM,
        complaint: str = "",
    ) -> None:
        registry = tmp_path / "cargo" / "registry"
        place = registry / "src" / "index" / f"{CRATE}-1.2.3"
        place.mkdir(parents=True, exist_ok=True)
        if vcs is not None:
            (place / ".cargo_vcs_info.json").write_bytes(as_json({"git": vcs, "path_in_vcs": "schema"}))
        (registry / "cache" / "index").mkdir(parents=True, exist_ok=True)
        (registry / "cache" / "index" / f"{place.name}.crate").write_bytes(ARCHIVE)
        index = registry / "index" / "index" / ".cache" / "ag" / "en"
        index.mkdir(parents=True, exist_ok=True)
        records = [
            version.encode() + b"\0" + as_json({"vers": version, "pubtime": f"2026-11-0{day}T10:51:42Z"}) + b"\0"
            for day, version in enumerate(("1.2.2", "1.2.3"), 1)
        ]
        (index / CRATE).write_bytes(b"\3\2\0\0\0tag\0" + b"".join(records))
        told = [{"name": "pin"}, {"name": CRATE, "repository": repository, "manifest_path": f"{place}/Cargo.toml"}]
        lock = f'[[package]]\nname = "{CRATE}"\nversion = "1.2.3"\nchecksum = "{checksum}"\n'
        _program(tmp_path / "bin" / "cargo", {"packages": told}, lock, complaint)

    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv(FOLDER, str(upstream))
    monkeypatch.setattr(cargo, "REFERENCE", "tests.generator.fake_reference")
    return make


def _program(path: Path, told: object, lock: str, complaint: str) -> None:
    """Write a cargo that answers in one way."""
    path.parent.mkdir(exist_ok=True)
    (path.parent / "told.json").write_text(json.dumps(told), encoding="utf-8")
    (path.parent / "Cargo.lock").write_text(lock, encoding="utf-8")
    (path.parent / "complaint").write_text(complaint, encoding="utf-8")
    here = path.parent
    failure = f'cat "{here}/complaint" >&2; exit 101' if complaint else ""
    answer = f'cp "{here}/Cargo.lock" Cargo.lock\ncat "{here}/told.json"\n'
    path.write_text(f"#!/bin/sh\n{failure}\n{answer}", encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.slow
def test_a_crate(crate: Setup, upstream: Path, tmp_path: Path) -> None:
    crate(vcs={"sha1": COMMIT})
    root = tmp_path / "project"
    lock, changes = pin(SOURCE, None, None, root)
    assert len(changes.added) == 9
    assert lock == load_lock(root)
    assert (lock.commit, lock.date, lock.release) == (COMMIT, "2026-11-02", f"{CRATE} 1.2.3")
    assert lock.unverified == "the crate names it; the files are composed from the crate"
    source = lock.source
    assert source is not None
    assert (source.kind, source.name, source.version, source.dated_by) == (Kind.CRATE, CRATE, "1.2.3", "registry")
    assert source.archive_sha256 == digest(ARCHIVE)
    assert source.verified == ("cargo held the archive against the digest of the index",)
    assert str(tmp_path) not in (root / "schema" / "lock.json").read_text(encoding="utf-8")
    assert verify(root).differences == ()
    (upstream / "v1" / "schema.json").write_bytes(as_json(ONLY))
    (difference,) = verify(root).differences
    assert difference.startswith("v1/schema.json: differs in structure, first at #/")


@pytest.mark.slow
def test_it_must_equal_what_is_published(crate: Setup, upstream: Path, tmp_path: Path) -> None:
    """The texts may differ, as upstream rewrites their links; the structure may not."""
    crate(vcs={"sha1": COMMIT})
    published = tmp_path / "published"
    for name in ("v1/schema.json", "v2/schema.json"):
        text = (upstream / name).read_text(encoding="utf-8").replace("Some prose.", "Other prose.")
        (published / name).parent.mkdir(parents=True)
        (published / name).write_text(text, encoding="utf-8")
    root = tmp_path / "project"
    lock, _ = pin(SOURCE, None, None, root, equal_to=[str(published)])
    assert lock.source is not None
    assert lock.source.verified[-1] == "v1/schema.json, v2/schema.json: the structure is that of a local folder"
    against = verify(root, str(published))
    assert [line for line in against.notes if "its texts differ" in line]
    assert [line for line in against.differences if "schema.json" in line] == []
    raw = json.loads((published / "v2" / "schema.json").read_text(encoding="utf-8"))
    raw["$defs"]["Added"] = {"type": "string"}
    (published / "v2" / "schema.json").write_bytes(as_json(raw))
    with pytest.raises(GeneratorError, match=r"v2/schema\.json#/\$defs/Added: differs from .* in structure"):
        pin(SOURCE, None, None, tmp_path / "other", equal_to=[str(published)])
    assert not (tmp_path / "other").exists()
    (difference,) = [line for line in verify(root, str(published)).differences if "v2/schema.json" in line]
    assert difference == "v2/schema.json: differs in structure, first at #/$defs/Added"


@pytest.mark.slow
def test_what_speaks_for_the_commit(crate: Setup) -> None:
    crate(vcs={"sha1": COMMIT, "dirty": True})
    assert "with changes that were not committed" in read_source(SOURCE).origin.unverified
    with pytest.raises(GeneratorError, match=f"is of the commit {COMMIT}, not {'f' * 40}"):
        read_source(SOURCE, "f" * 40)
    crate(vcs={"sha1": COMMIT}, repository="https://github.com/somebody/else")
    assert read_source(SOURCE).origin.commit is None
    assert read_source(SOURCE, "f" * 40).origin.unverified.startswith("--commit named it, and the crate does not")


@pytest.mark.parametrize(
    ("complaint", "message"),
    [
        (
            'error: failed to select a version for the requirement `x = "=1.2.3"`\ncandidate versions: 1.0.0',
            "the registry has no such crate or version",
        ),
        ("error: no matching package named `x` found", "the registry has no such crate or version"),
        (
            "error: failed to get `x`\n\nCaused by:\n  failed to download from `y`\n\nCaused by:\n  [7] no server",
            "the registry cannot be reached (hint: cargo says: [7] no server)",
        ),
        ("error: something else\nmore", "cargo fails: something else"),
    ],
)
def test_failures_of_cargo_are_one_line(complaint: str, message: str, crate: Setup) -> None:
    crate(complaint=complaint)
    with pytest.raises(GeneratorError, match=re.escape(f"{CRATE} 1.2.3: {message}")) as caught:
        read_source(SOURCE)
    assert "\n" not in str(caught.value)


def test_a_wrong_digest(crate: Setup) -> None:
    crate(vcs={"sha1": COMMIT}, checksum="0" * 64)
    with pytest.raises(GeneratorError, match="the archive does not have the digest that the index names"):
        read_source(SOURCE)


@pytest.mark.slow
def test_a_version_that_the_reference_does_not_build(crate: Setup, upstream: Path) -> None:
    crate(vcs={"sha1": COMMIT})
    (upstream / "v2" / "schema.json").unlink()
    with pytest.raises(GeneratorError, match=r"the reference 1\.2\.3: cargo cannot build the reference: cannot find"):
        read_source(SOURCE)


@pytest.mark.parametrize("spec", ["x", CRATE, f"{CRATE}@1", f"{CRATE}@^1.0.0", "-x@1.0.0"])
def test_other_versions_are_refused(spec: str) -> None:
    with pytest.raises(GeneratorError, match="does not name one version of a crate"):
        read_source(f"crate:{spec}")


def test_another_crate_has_no_schemas() -> None:
    with pytest.raises(GeneratorError, match="is not the crate of the schemas"):
        read_source("crate:serde@1.0.0")


def test_without_cargo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(GeneratorError, match="cargo is not installed"):
        read_source(SOURCE)
