"""What separates a folder from the wanted copy. A check reports the differences, an update undoes them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from .copy import Copy
from .errors import VendorError
from .record import RECORD, Record, digest

Status = Literal["edited", "extra", "in the way", "missing", "outdated", "stale", "version"]
"""Stale: written by an earlier copy and no longer part of it. In the way: not ours, where a file of ours belongs."""


class Difference(NamedTuple):
    """One difference; `what` is a path in the folder, except for "version"."""

    status: Status
    what: str

    def __str__(self) -> str:
        return f"{self.status}: {self.what}"


def compare(target: Path, wanted: Copy, found: Record | None) -> list[Difference]:
    """Compare a folder with the wanted copy and with the digests that an earlier copy recorded.

    Raises `VendorError` where a folder is in the place of a file, or the other way round.
    """
    recorded = found.files if found is not None else {}
    ours = sorted({*wanted.files, *recorded})
    folders = sorted({path.rpartition("/")[0] for path in ours})
    _refuse_files(map(target.joinpath, folders))
    out = _version(wanted, found)
    for path in ours:
        status = _status(target, path, wanted.files, recorded)
        out += [Difference(status, path)] if status is not None else []
    return out + [Difference("extra", path) for path in _extra(target, folders, {*ours, *folders})]


def without_consequences(differences: list[Difference]) -> list[Difference]:
    """Leave out what follows from others: a new version has a new header in every file, any change a new record."""
    statuses = {d.status for d in differences}
    differences = [d for d in differences if "version" not in statuses or d.status != "outdated"]
    others = [d for d in differences if d.what != RECORD]
    return others if any(d.status != "extra" for d in others) else differences


def exists(place: Path) -> bool:
    """Return whether a path exists, even as a dangling symbolic link."""
    return place.is_symlink() or place.exists()


def _refuse_files(folders: Iterable[Path]) -> None:
    for place in folders:
        if exists(place) and (place.is_symlink() or not place.is_dir()):
            raise VendorError(f"{place}: is not a plain folder; remove it first")


def _version(wanted: Copy, found: Record | None) -> list[Difference]:
    version, commit = wanted.origin.version, wanted.origin.upstream_commit
    if found is None or (found.version, found.upstream_commit) == (version, commit):
        return []
    copied = f"{found.version} of {found.upstream_commit}"
    return [Difference("version", f"the copy is {copied}, the package {version} of {commit}")]


def _status(target: Path, path: str, wanted: Mapping[str, bytes], recorded: Mapping[str, str]) -> Status | None:
    """Return how one of our files differs; None if it does not."""
    place = target / path
    if place.is_dir() and not place.is_symlink():
        raise VendorError(f"{place}: is a folder; remove it first")
    there = exists(place)
    data = place.read_bytes() if place.is_file() and not place.is_symlink() else None
    if data == wanted[path] if path in wanted else not there:
        return None
    if not there:
        return "missing"
    if path not in recorded and path != RECORD:
        return "in the way"
    if path in recorded and (data is None or digest(data) != recorded[path]):
        return "edited"
    return "outdated" if path in wanted else "stale"


def _extra(target: Path, folders: list[str], ours: set[str]) -> list[str]:
    places = [p for folder in folders if (target / folder).is_dir() for p in sorted((target / folder).iterdir())]
    paths = [p.relative_to(target).as_posix() for p in places if p.name != "__pycache__"]
    return [path for path in paths if path not in ours]
