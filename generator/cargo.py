"""The one place that runs cargo: itself for a crate, and through the reference for the schemas of one."""

import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.errors import GeneratorError
from generator.jsonutil import digest, is_array, is_object
from generator.source import ROOT, read_if_there

REFERENCE = "tests.oracle.reference"
"""The program of `tests/oracle/reference`; it knows how to build itself for a version of the crate."""
MANIFEST = """[package]
name = "pin"
edition = "2021"

[dependencies]
{name} = "={version}"

[workspace]
"""
FETCHING = 300.0  # seconds
BUILDING = 1800.0  # seconds; the first build takes minutes where a machine is busy


@dataclass(frozen=True, slots=True)
class Crate:
    """One version of a crate, as cargo has downloaded it."""

    repository: str
    vcs: bytes | None
    """The content of `.cargo_vcs_info.json`, where `cargo publish` wrote one."""
    sha256: str
    """The digest that the index names, and that cargo has held the download against."""
    archive_sha256: str
    """The digest of the archive on this machine; empty if cargo does not keep it."""
    published: str
    """The moment of publication that the index names; empty if it is unknown."""


def crate(name: str, version: str) -> Crate:
    """Download one version of a crate from the registry that cargo is configured for."""
    shown = f"{name} {version}"
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        (folder / "src").mkdir()
        (folder / "src" / "lib.rs").write_text("", encoding="utf-8")
        manifest = MANIFEST.format(name=name, version=version)
        (folder / "Cargo.toml").write_text(manifest, encoding="utf-8")
        run = _run([_cargo(shown), "metadata", "--format-version=1", "--quiet"], folder, shown, FETCHING)
        if run.returncode:
            raise _failure(run.stderr, shown)
        found = _package(json.loads(run.stdout), name, shown)
        lock = tomllib.loads((folder / "Cargo.lock").read_text(encoding="utf-8"))
    checksum = next((p.get("checksum", "") for p in lock.get("package", []) if p.get("name") == name), "")
    place = Path(found["manifest_path"]).parent
    archive = read_if_there(place.parents[2] / "cache" / place.parent.name / f"{place.name}.crate")
    return Crate(
        repository=found.get("repository") or "",
        vcs=read_if_there(place / ".cargo_vcs_info.json"),
        sha256=checksum,
        archive_sha256=digest(archive) if archive is not None else "",
        published=_published(place, name, version),
    )


def composed(mode: str, surface: str, version: str) -> bytes:
    """Return the document `schema` or `meta` of one surface, composed by the reference of a version of its crate."""
    shown = f"the reference {version}"
    command = [sys.executable, "-m", REFERENCE, mode, surface, f"--crate={version}"]
    run = _run(command, ROOT, shown, BUILDING)
    if run.returncode:
        raise _failure(run.stderr, shown)
    return run.stdout


def _cargo(shown: str) -> str:
    found = shutil.which("cargo") or shutil.which("cargo", path=str(Path.home() / ".cargo" / "bin"))
    if found is None:
        raise GeneratorError("cargo is not installed", file=shown, hint="pin from a checkout or an npm package")
    return found


def _run(command: Sequence[str], folder: Path, shown: str, timeout: float) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise GeneratorError(f"cargo took more than {timeout:g} s", file=shown, hint="try again later") from None


def _failure(stderr: bytes, shown: str) -> GeneratorError:
    """Return cargo's complaint as one line: its first error, and the innermost cause."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line.partition(":")[2].strip() for line in lines if line.startswith("error")]
    first = errors[0] if errors else lines[-1] if lines else "without a word"
    if first.endswith(":"):  # of several lines, the second says what is wrong
        first = " ".join(errors[:2])
    if any("no matching package" in line or "failed to select a version" in line for line in lines):
        return GeneratorError("the registry has no such crate or version", file=shown, hint=f"cargo says: {first}")
    if any("failed to download" in line or "download of" in line for line in lines):
        return GeneratorError("the registry cannot be reached", file=shown, hint=f"cargo says: {lines[-1]}")
    return GeneratorError(first if first.startswith("cargo ") else f"cargo fails: {first}", file=shown)


def _package(metadata: Any, name: str, shown: str) -> dict[str, Any]:
    packages = metadata.get("packages") if is_object(metadata) else None
    for package in packages if is_array(packages) else []:
        if is_object(package) and package.get("name") == name and isinstance(package.get("manifest_path"), str):
            return package
    raise GeneratorError("cargo does not list it", file=shown)


def _published(place: Path, name: str, version: str) -> str:
    """Find the moment of publication in the part of the index that cargo keeps: no command prints it.

    A crate that is not from an index, or an index without the moment, has none.
    """
    short = {1: ("1",), 2: ("2",), 3: ("3", name[:1])}
    parts = short.get(len(name), (name[:2], name[2:4]))
    kept = read_if_there(place.parents[2] / "index" / place.parent.name / ".cache" / Path(*parts) / name)
    for record in (kept or b"").split(b"\0"):
        try:
            entry = json.loads(record)
        except ValueError:
            continue
        moment = entry.get("pubtime") if is_object(entry) and entry.get("vers") == version else None
        if isinstance(moment, str):
            return moment
    return ""
