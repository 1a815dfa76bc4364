"""Pinning from npm, which reads a registry on this machine. The npm is that of the machine, or comes with pyright."""

import base64
import hashlib
import os
import re
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from generator import npm
from generator.errors import GeneratorError
from generator.pin import pin, read_source, verify
from generator.pin.package import spec_of
from generator.source import UPSTREAM, Kind, load_lock
from tests.generator.registry import Registry, registry
from tests.generator.upstream import COMMIT, ONLY, PACKAGE, as_json, manifest, packed, tarball
from tests.support import tree

SOURCE = f"npm:{PACKAGE}@1.2.3"
SMALL = tarball({"package.json": manifest(), "schema/v1/schema.json": as_json(ONLY)})


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Registry]:
    """Serve a registry that npm is configured for, by the environment alone."""
    for name in [n for n in os.environ if n.lower().startswith("npm_config_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "npm"
    folder.mkdir()
    for name in ("userconfig", "globalconfig"):
        (folder / name).write_text("", encoding="utf-8")
        monkeypatch.setenv(f"NPM_CONFIG_{name.upper()}", str(folder / name))
    monkeypatch.setenv("NPM_CONFIG_CACHE", str(folder / "cache"))
    monkeypatch.setenv("NPM_CONFIG_FETCH_RETRIES", "0")
    with registry() as made:
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", made.address)
        yield made


@pytest.mark.parametrize(
    ("source", "spec"),
    [
        ("npm:@agentclientprotocol/sdk@2.4.0", ("@agentclientprotocol/sdk", "2.4.0")),
        ("@agentclientprotocol/sdk@2.4.0-rc.1", ("@agentclientprotocol/sdk", "2.4.0-rc.1")),
        ("sdk@1.0.0", ("sdk", "1.0.0")),
        ("npm:sdk", None),
        ("npm:sdk@latest", None),
        ("npm:sdk@^1.0.0", None),
        ("npm:sdk@1.0.0 --registry=x", None),
        ("npm:--registry=x@1.0.0", None),
        ("npm:-x@1.0.0", None),
        ("npm:@-x/y@1.0.0", None),
        ("npm:@a/../b@1.0.0", None),
    ],
)
def test_a_source_names_one_version(source: str, spec: tuple[str, str] | None) -> None:
    assert spec_of(source) == spec


@pytest.mark.parametrize("source", ["npm:sdk", "npm:sdk@latest", "npm:sdk@1", "npm:-x@1.0.0"])
def test_other_versions_are_refused(source: str) -> None:
    with pytest.raises(GeneratorError, match="does not name one version of a package"):
        read_source(source)


@pytest.mark.slow
def test_a_package(upstream: Path, served: Registry, tmp_path: Path) -> None:
    integrity = served.publish(PACKAGE, "1.2.3", packed(upstream))
    root = tmp_path / "project"
    lock, changes = pin(SOURCE, COMMIT, None, root)
    assert len(changes.added) == 5
    assert lock == load_lock(root)
    # The day of publication is that of the moment in UTC.
    assert (lock.commit, lock.date, lock.release) == (COMMIT, "2026-10-20", f"{PACKAGE} 1.2.3")
    assert lock.unverified == "--commit named it, and the package does not"
    source = lock.source
    assert source is not None
    assert (source.kind, source.name, source.version, source.dated_by) == (Kind.NPM, PACKAGE, "1.2.3", "registry")
    assert source.integrity == integrity
    assert source.verified == ("the tarball has the digest that the registry names",)
    assert "127.0.0.1" not in (root / "schema" / "lock.json").read_text(encoding="utf-8")
    # What is pinned is what the registry has; and it is not, once that changes.
    assert verify(root).differences == ()
    changed = served.publish(PACKAGE, "1.2.3", SMALL)
    found = verify(root).differences
    assert [line.partition(":")[0] for line in found] == [
        "integrity",
        "archive_sha256",
        "v1/schema.json",
        "v1/schema.unstable.json",
        "v2/schema.json",
        "v2/schema.unstable.json",
    ]
    assert found[0] == f"integrity: the source has {changed}, the lock has {integrity}"
    assert found[2].startswith("v1/schema.json: differs in structure, first at #/")
    assert found[3] == "v1/schema.unstable.json: is not in the source"


@pytest.mark.slow
@pytest.mark.parametrize("repository", [UPSTREAM, "https://github.com/somebody/else"])
def test_the_commit_of_a_package_counts_if_it_is_of_upstream(repository: str, served: Registry, tmp_path: Path) -> None:
    """A package made from another repository names a commit of that one."""
    more: dict[str, Any] = {"gitHead": "f" * 40, "repository": {"type": "git", "url": f"git+{repository}.git"}}
    served.publish(PACKAGE, "1.2.3", SMALL, **more)
    found = read_source(SOURCE)
    if repository == UPSTREAM:
        assert found.origin.commit == "f" * 40
        assert found.origin.unverified.startswith("the registry names it")
        with pytest.raises(GeneratorError, match=f"is of the commit {'f' * 40}, not {COMMIT}"):
            read_source(SOURCE, COMMIT)
    else:
        assert found.origin.commit is None


def _dist(algorithm: str, data: bytes) -> dict[str, str]:
    return {"integrity": f"{algorithm}-{base64.b64encode(hashlib.new(algorithm, data).digest()).decode()}"}


FAILURES: dict[str, str] = {
    "no version": "the registry has no such package or version",
    "wrong digest": "the tarball does not have the digest that the registry names",
    "no digest": "the registry names no digest of the tarball",
    "a page": "the registry does not answer with JSON",
    "a page for a tarball": "is not a tarball",
    "another package": "its tarball is not of this package and version",
    "hostile": "which leads out of its folder",
    "down": "npm fails: E503",
    "nobody": "the registry cannot be reached: ECONNREFUSED",
}


@pytest.mark.slow
@pytest.mark.parametrize("case", FAILURES)
def test_failures_are_one_line_and_change_nothing(
    case: str, served: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    match case:
        case "no version":
            served.publish(PACKAGE, "1.2.4", SMALL)
        case "wrong digest":
            served.publish(PACKAGE, "1.2.3", SMALL, dist=_dist("sha512", b"something else"))
        case "no digest":
            served.publish(PACKAGE, "1.2.3", SMALL, dist={})
        case "a page":
            served.answers[f"/{PACKAGE}"] = (200, b"<!doctype html><title>Sign in</title>")
        case "a page for a tarball":
            served.publish(PACKAGE, "1.2.3", b"<!doctype html><title>Sign in</title>")
        case "another package":
            served.publish(PACKAGE, "1.2.3", tarball({"package.json": manifest("1.2.4")}))
        case "hostile":
            served.publish(PACKAGE, "1.2.3", tarball({"package.json": manifest(), "../x/schema.json": b"{}"}))
        case "down":
            served.answers[f"/{PACKAGE}"] = (503, b"{}")
        case _:
            monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9")
    with pytest.raises(GeneratorError, match=re.escape(FAILURES[case])) as caught:
        pin(SOURCE, COMMIT, None, tmp_path / "project")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{PACKAGE}@1.2.3")
    assert not (tmp_path / "project").exists()


@pytest.mark.slow
def test_an_old_digest_is_checked_as_well(served: Registry) -> None:
    served.publish(PACKAGE, "1.2.3", SMALL, dist={"shasum": hashlib.sha1(SMALL).hexdigest()})
    assert read_source(SOURCE).provenance.integrity.startswith("sha1-")


def test_without_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*arguments: object) -> None:
        return None

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(npm, "find_spec", absent)
    with pytest.raises(GeneratorError, match="npm is not installed"):
        read_source(SOURCE)


def test_npm_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*arguments: object, **more: object) -> None:
        raise subprocess.TimeoutExpired("npm", 1)

    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(GeneratorError, match="npm took more than 120 s"):
        read_source(SOURCE)


@pytest.mark.slow
@pytest.mark.network
def test_the_real_registry(tmp_path: Path) -> None:
    """What stands here was published, and stays: a version of a package is never replaced."""
    try:
        lock, _ = pin("npm:@agentclientprotocol/sdk@2.4.0", COMMIT, None, tmp_path)
    except GeneratorError as why:
        if "cannot be reached" in why.problem or "npm is not" in why.problem or "npm took" in why.problem:
            pytest.skip(str(why))
        raise
    assert [e.path for e in lock.files] == [f"{v}/schema{u}.json" for v in ("v1", "v2") for u in ("", ".unstable")]
    assert tree(tmp_path / "schema").keys() == {"lock.json", *(e.path for e in lock.files)}
    assert lock.source is not None
    assert lock.source.archive_sha256 == "87acc66d5824f88d8913702f85cf74c997526bbffb06fce15a9f0d637566ca8d"
