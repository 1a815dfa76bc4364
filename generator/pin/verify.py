"""Comparing: the stored files with their source, or the schemas of two sources with each other."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from generator.errors import GeneratorError, child
from generator.git import fetch_commit
from generator.jsonutil import digest, is_array, is_object, parse_object
from generator.pin.opening import read_source
from generator.pin.origin import Pinned
from generator.pin.package import spec_of
from generator.source import SCHEMA_DIR, Kind, Lock, LockEntry, Provenance, load_lock, read_if_there


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of a comparison: one line per difference, and what a person should know besides."""

    shown: str
    files: int
    differences: tuple[str, ...]
    notes: tuple[str, ...]


def verify(root: Path, source: str | None = None) -> Verification:
    """Hold the lock and the stored files against their source, which is read again, or against another one.

    Of the recorded source everything must be the same; of another one the structure must be, and its texts may differ.
    """
    lock = load_lock(root)
    pinned = _read_again(lock, root) if source is None else _read_other(source, lock, root)
    same = source is None or _is_same_source(pinned, lock)
    differences = [*_on_disk(lock, root), *_about_source(pinned, lock, same)]
    notes = list(pinned.provenance.notes)
    for entry in lock.files:
        problem, is_note = _file(entry, pinned, root, same)
        if problem:
            (notes if is_note else differences).append(f"{entry.path}: {problem}")
    extra = sorted(pinned.files.keys() - {e.path for e in lock.files})
    (differences if same else notes).extend(f"{name}: is in the source, and not pinned" for name in extra)
    notes += [f"unverified: {lock.unverified}"] if lock.unverified else []
    shown = str(pinned.provenance) if pinned.provenance.name else pinned.origin.shown
    return Verification(shown, len(lock.files), tuple(differences), tuple(notes))


def require_equal(pinned: Pinned, other: Pinned) -> str:
    """Return a sentence that says which files of two sources have the same structure; a difference is an error."""
    common = sorted(pinned.files.keys() & other.files.keys())
    if not common:
        raise GeneratorError("has no file to compare", file=other.origin.shown)
    for name in common:
        place = _first_difference(_structure(pinned, name), _structure(other, name))
        if place is not None:
            raise GeneratorError(
                f"differs from {pinned.origin.shown} in structure", file=f"{other.origin.shown}/{name}", pointer=place
            )
    return f"{', '.join(common)}: the structure is that of {other.provenance}"


def _read_other(source: str, lock: Lock, root: Path) -> Pinned:
    """Read a source that was named; a checkout is read at the pinned commit."""
    return read_source(source, lock.commit if Path(source).is_dir() else None, root)


def _read_again(lock: Lock, root: Path) -> Pinned:
    """Read the source that the lock records."""
    if lock.source is None and lock.unverified:
        raise _unknown("the lock does not say where its files came from")
    source = lock.source or Provenance(Kind.CHECKOUT, lock.repository)
    package = f"{source.name}@{source.version}"
    match source.kind:
        case Kind.NPM:
            return read_source(f"npm:{package}", None, root)
        case Kind.CRATE:
            return read_source(f"crate:{package}", None, root)
        case Kind.ADDRESS:
            return read_source(source.name, None, root)
        case Kind.CHECKOUT | Kind.FOLDER if source.name.startswith("https://"):
            return _fetched(source.name, lock.commit, root)
        case Kind.ARCHIVE | Kind.FOLDER if spec_of(package) is not None:
            return read_source(f"npm:{package}", None, root)
        case _:
            raise _unknown(f"the lock says that its files came from a local {source.kind}")


def _fetched(repository: str, commit: str, root: Path) -> Pinned:
    """Read one commit of a repository, which is fetched into a folder that is removed."""
    with tempfile.TemporaryDirectory() as folder:
        failure = fetch_commit(Path(folder), repository, commit)
        if failure:
            raise GeneratorError(f"the commit {commit} cannot be fetched: {failure}", file=repository)
        found = read_source(folder, commit, root)
    origin = found.origin
    provenance = replace(origin.provenance, name=repository)
    return replace(found, origin=replace(origin, shown=repository, provenance=provenance))


def _unknown(why: str) -> GeneratorError:
    return GeneratorError(f"{why}, so they cannot be read again", file="schema/lock.json", hint="--verify SOURCE")


def _is_same_source(pinned: Pinned, lock: Lock) -> bool:
    ours, theirs = pinned.provenance, lock.source
    return theirs is not None and (ours.kind, ours.name, ours.version) == (theirs.kind, theirs.name, theirs.version)


def _on_disk(lock: Lock, root: Path) -> Iterator[str]:
    """Compare the files on disk with the lock."""
    for entry in lock.files:
        there = read_if_there(root / SCHEMA_DIR / entry.path)
        if there is None:
            yield f"{SCHEMA_DIR}/{entry.path}: is missing"
        elif digest(there) != entry.sha256:
            yield f"{SCHEMA_DIR}/{entry.path}: differs from its sha256 in the lock"


def _about_source(pinned: Pinned, lock: Lock, same: bool) -> Iterator[str]:
    """Compare what the source says of itself with the lock."""
    ours, theirs = pinned.provenance, lock.source
    if pinned.origin.commit and not pinned.origin.commit.startswith(lock.commit):
        yield f"commit: the source is of {pinned.origin.commit}, the lock of {lock.commit}"
    if not same or theirs is None:
        return
    if pinned.origin.date and lock.date and theirs.dated_by == "commit" and pinned.origin.date != lock.date:
        yield f"date: the commit is of {pinned.origin.date}, the lock has {lock.date}"
    for key in ("integrity", "archive_sha256"):
        found, wanted = getattr(ours, key), getattr(theirs, key)
        if wanted and found and found != wanted:
            yield f"{key}: the source has {found}, the lock has {wanted}"


def _file(entry: LockEntry, pinned: Pinned, root: Path, same: bool) -> tuple[str, bool]:
    """Compare one file of the source with its entry; return the difference, and whether it is only worth a note."""
    file = pinned.files.get(entry.path)
    if file is None:
        return pinned.moved.get(entry.path, "is not in the source"), not same and "meta" in entry.path
    if file.entry.sha256 != entry.sha256:
        shown = f"{SCHEMA_DIR}/{entry.path}"
        stored = read_if_there(root / shown)
        if stored is None or digest(stored) != entry.sha256:
            return f"the source gives the sha256 {file.entry.sha256}, the lock has {entry.sha256}", False
        place = _first_difference(parse_object(stored, shown), _structure(pinned, entry.path))
        if place is None:
            return "the structure is the same, the order of its keys differs", not same
        return f"differs in structure, first at #{place}", False
    if file.entry.upstream_sha256 != entry.upstream_sha256:
        told = f"the original has the sha256 {file.entry.upstream_sha256}, the lock has {entry.upstream_sha256}"
        return f"the structure is the same, its texts differ: {told}", not same
    return "", False


def _structure(pinned: Pinned, name: str) -> dict[str, Any]:
    return parse_object(pinned.files[name].stored, f"{pinned.origin.shown}/{name}")


def _first_difference(a: Any, b: Any, pointer: str = "") -> str | None:
    """Return the pointer of the first place where two JSON values differ; None if they are the same."""
    if is_object(a) and is_object(b):
        for key in [*a, *(k for k in b if k not in a)]:
            if key not in a or key not in b:
                return child(pointer, key)
            if (place := _first_difference(a[key], b[key], child(pointer, key))) is not None:
                return place
        return None
    if is_array(a) and is_array(b):
        for index, (x, y) in enumerate(zip(a, b, strict=False)):
            if (place := _first_difference(x, y, child(pointer, index))) is not None:
                return place
        return None if len(a) == len(b) else child(pointer, min(len(a), len(b)))
    return None if type(a) is type(b) and a == b else pointer
