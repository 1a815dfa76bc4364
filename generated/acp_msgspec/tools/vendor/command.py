"""Vendoring: a copy of this package in another project, under any name, that can be checked and updated.

The copy bears a record, `VENDORED.json`, of what it was made from, with the digest of each file. So an update knows
what is its own and what was edited, and a check needs nothing but the installed package. One comparison serves both.
"""

import hashlib
import keyword
import shlex
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from ..._about import SCHEMA_VERSIONS, UPSTREAM_COMMIT, __version__

ORIGIN = "acp_msgspec"
LICENCE = "Apache-2.0"
RECORD = "VENDORED.json"
VERSION = __version__

_HERE = Path(__file__).resolve().parent.parent.parent
RELEASES: dict[str, str] = {k: v for k, v in SCHEMA_VERSIONS.items() if (_HERE / k / "__init__.py").is_file()}
"""The upstream schema release of each module that is here: a vendored copy may hold some of them only."""

_HEADER = f"""\
# SPDX-License-Identifier: {LICENCE}
# Vendored from {ORIGIN} {VERSION}, upstream commit {UPSTREAM_COMMIT or "unknown"}; see LICENSE.
# Do not edit this copy: {RECORD}, in the folder of the package, has the command that updates it.
"""
_NOTICE = f"SPDX-License-Identifier: {LICENCE}\n\nThe full text: https://www.apache.org/licenses/LICENSE-2.0\n"

# An update deletes what the record lists, so no path may lead out of the folder.
_RecordedPath = Annotated[str, Meta(pattern=r"^(\w+/){0,3}\w+(\.\w+)?\Z")]
_Kind = Literal["edited", "extra", "in the way", "missing", "outdated", "stale", "version"]
_Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


class VendorError(Exception):
    """Why nothing was copied, or what a check found: one line, after `facts` of a line each."""

    def __init__(self, problem: str, facts: Iterable[str] = ()) -> None:
        self.facts = tuple(facts)
        super().__init__(problem)


class Record(Struct, kw_only=True):
    """What `VENDORED.json` says of a copy."""

    package: Literal["acp-msgspec"]
    version: str
    upstream_commit: str
    labels: list[str]
    schema_versions: dict[str, str]
    update: str
    """The command that makes the copy anew, to be run in its folder: so it stays true wherever the folder goes."""
    files: dict[_RecordedPath, _Digest]


class _Difference(NamedTuple):
    """One thing that separates a folder from the wanted copy: a check tells it, an update undoes it."""

    kind: _Kind
    what: str  # a path in the folder, but for "version"

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


def vendor(dest: str, only: Sequence[str] | None = None, *, force: bool = False, check: bool = False) -> list[str]:
    """Make the folder `dest` a copy of this package with the modules `only`, or `check` that it is one.

    Gives the facts to show, a line each. Raises `VendorError` where it must not or cannot write, and where a check
    finds a difference; the folder is then as it was before.
    """
    try:
        return _vendor(dest, only, force=force, check=check)
    except OSError as why:
        place = f" ({why.filename})" if why.filename else ""
        raise VendorError(f"{dest}: {(why.strerror or str(why)).lower()}{place}") from None


def _vendor(dest: str, only: Sequence[str] | None, *, force: bool, check: bool) -> list[str]:
    target = Path(dest).absolute()
    found = _found(target, dest)
    if check and found is None:
        raise VendorError(f"{dest}: no such folder")
    wanted = _wanted(found.labels if found is not None and only is None else only)
    differences = _compare(target, wanted, found)
    changes = [d.what for d in differences if d.kind not in ("extra", "version")]
    labels = _read_record(wanted[RECORD]).labels
    made, command = f"{ORIGIN} {VERSION} ({', '.join(labels)})", _command(dest, labels)
    lost = [str(d) for d in differences if d.kind in ("edited", "in the way")]
    if check:
        facts = [str(d) for d in _without_consequences(differences)]
        if changes:
            raise VendorError(f"{dest}: differs from {made} (hint: {command}{' --force' if lost else ''})", facts)
        return [*facts, f"{dest}: up to date with {made}"]
    if lost and not force:
        raise VendorError(f"{dest}: files would be lost; nothing was changed (hint: --force overwrites them)", lost)
    if changes:
        _write(target, wanted, changes)
    written = sum(path in wanted for path in changes)
    return [
        f"{dest}: {'now' if changes else 'up to date with'} {made}",
        f"files written: {written}, removed: {len(changes) - written}",
        *(str(d) for d in differences if d.kind == "extra"),
        f"update with: {command}",
    ]


def _found(target: Path, shown: str) -> Record | None:
    """Read the record of an earlier copy; there is none where nothing is yet, and all else is refused."""
    name = target.name
    if not name.isidentifier() or keyword.iskeyword(name):
        raise VendorError(f"{shown}: {name!r} is no name that a package can have")
    if not target.parent.is_dir():
        raise VendorError(f"{Path(shown).parent}: no such folder")
    if target.is_symlink():
        raise VendorError(f"{shown}: is a symbolic link; name the folder that it points to")
    if _HERE in target.parent.resolve().joinpath(name).parents:
        raise VendorError(f"{shown}: lies inside the package that would be copied")
    if not target.exists():
        return None
    if (target / RECORD).is_symlink() or not (target / RECORD).is_file():
        raise VendorError(f"{shown}: exists and is no vendored copy (it has no file {RECORD})")
    return _read_record((target / RECORD).read_bytes(), f"{shown}/{RECORD}")


def _read_record(data: bytes, shown: str = RECORD) -> Record:
    try:
        return msgspec.json.decode(data, type=Record)
    except (msgspec.MsgspecError, ValueError, RecursionError) as why:
        raise VendorError(f"{shown}: is no record of a copy: {why} (hint: restore it)") from None


def _wanted(only: Sequence[str] | None) -> dict[str, bytes]:
    """Make every file of a copy with these modules; the record comes last."""
    own = _read_record((_HERE / RECORD).read_bytes(), str(_HERE / RECORD)) if (_HERE / RECORD).is_file() else None
    labels = own.labels if own is not None else [p.parent.name for p in sorted(_HERE.glob("*/types.py"))]
    chosen = sorted(set(labels if only is None else only))
    for label in chosen:
        if label not in labels:
            raise VendorError(f"unknown label {label!r}; there are {', '.join(labels)}")
    files = _recorded_files(own) if own is not None else _installed_files()
    left_out = {*labels} - {*chosen}  # folders that belong to no schema serve them all
    files = {p: d for p, d in sorted(files.items()) if p.partition("/")[0] not in left_out}
    record = Record(
        package="acp-msgspec",
        version=VERSION,
        upstream_commit=UPSTREAM_COMMIT,
        labels=chosen,
        schema_versions={label: RELEASES[label] for label in chosen if label in RELEASES},
        update=_command(".", chosen),
        files={path: _digest(data) for path, data in files.items()},
    )
    return {**files, RECORD: msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"}


def _command(dest: str, labels: list[str]) -> str:
    # Within the folder our modules must not stand for those of the standard library.
    python = ["python", "-P"] if dest == "." else ["python"]
    # What the package says of itself counts, not what is here: a copy of some modules vendors as the whole would.
    only = [] if labels == sorted(SCHEMA_VERSIONS) else ["--only", *labels]
    return shlex.join([*python, "-m", ORIGIN, "vendor", dest, *only])


def _installed_files() -> dict[str, bytes]:
    headers = {".py": _HEADER, ".css": f"/*\n{_HEADER}*/\n", ".js": f"/*\n{_HEADER}*/\n"}
    places = [p for pattern in ("*", "*/*", "*/*/*") for p in _HERE.glob(pattern) if p.suffix in headers]
    copied = {p.relative_to(_HERE).as_posix(): headers[p.suffix].encode() + p.read_bytes() for p in places}
    return {**copied, "LICENSE": _licence(), "py.typed": (_HERE / "py.typed").read_bytes()}


def _recorded_files(own: Record) -> dict[str, bytes]:
    """Take the files of this copy as they are; edited ones must not pass for ours in the next copy."""
    files = {path: (_HERE / path).read_bytes() for path in own.files if (_HERE / path).is_file()}
    bad = [path for path, digest in own.files.items() if path not in files or _digest(files[path]) != digest]
    if bad:
        problem = f"{_HERE}: is itself a vendored copy that was edited (hint: use an installed {ORIGIN} instead)"
        raise VendorError(problem, [f"{'edited' if path in files else 'missing'}: {path}" for path in bad])
    return files


def _licence() -> bytes:
    """Find the licence in the package, in the metadata of its distribution, or in its checkout."""
    places = [_HERE / "LICENSE"]
    with suppress(metadata.PackageNotFoundError):
        installed = metadata.distribution(ORIGIN)
        # The distribution of that name may be another one than this package belongs to.
        if Path(str(installed.locate_file(ORIGIN))).resolve() == _HERE:
            places += [Path(str(f.locate())) for f in installed.files or () if f.name == "LICENSE"]
    places += [_HERE.parent.parent / "LICENSE"] if _HERE.parent.name == "generated" else []
    return next((place.read_bytes() for place in places if place.is_file()), _NOTICE.encode())


def _compare(target: Path, wanted: dict[str, bytes], found: Record | None) -> list[_Difference]:
    """Hold a folder against the wanted files and against the digests that an earlier copy recorded."""
    recorded = found.files if found is not None else {}
    ours = sorted({*wanted, *recorded})
    folders = sorted({path.rpartition("/")[0] for path in ours})
    for place in map(target.joinpath, folders):
        if _exists(place) and (place.is_symlink() or not place.is_dir()):
            raise VendorError(f"{place}: is no plain folder; remove it first")
    out: list[_Difference] = []
    if found is not None and (found.version, found.upstream_commit) != (VERSION, UPSTREAM_COMMIT):
        copied = f"{found.version} of {found.upstream_commit}"
        out.append(_Difference("version", f"the copy is {copied}, the package {VERSION} of {UPSTREAM_COMMIT}"))
    for path in ours:
        place = target / path
        if place.is_dir() and not place.is_symlink():
            raise VendorError(f"{place}: is a folder; remove it first")
        data = place.read_bytes() if place.is_file() and not place.is_symlink() else None
        if data == wanted[path] if path in wanted else not _exists(place):
            continue
        kind: _Kind = "outdated" if path in wanted else "stale"
        if not _exists(place):
            kind = "missing"
        elif path not in recorded:
            kind = kind if path == RECORD else "in the way"
        elif data is None or _digest(data) != recorded[path]:
            kind = "edited"
        out.append(_Difference(kind, path))
    for place in (p for f in folders if (target / f).is_dir() for p in sorted((target / f).iterdir())):
        path = place.relative_to(target).as_posix()
        if place.name != "__pycache__" and path not in ours and path not in folders:
            out.append(_Difference("extra", path))
    return out


def _without_consequences(differences: list[_Difference]) -> list[_Difference]:
    """Leave out what another line says already: a new version has a new header everywhere, a change a new record."""
    kinds = {d.kind for d in differences} - {"extra"}
    differences = [d for d in differences if "version" not in kinds or d.kind != "outdated"]
    others = [d for d in differences if d.what != RECORD]
    return others if any(d.kind != "extra" for d in others) else differences


def _write(target: Path, wanted: dict[str, bytes], changes: list[str]) -> None:
    """Prepare the new files beside the folder, then swap them in; undo all of it where one fails."""
    # The record goes last: until then the old one tells what is ours, should the power fail.
    changes = sorted(changes, key=lambda path: (path == RECORD, path))
    with TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent, ignore_cleanup_errors=True) as temporary:
        new, old = Path(temporary) / "new", Path(temporary) / "old"
        for path in changes:
            if path in wanted:
                (new / path).parent.mkdir(parents=True, exist_ok=True)
                (new / path).write_bytes(wanted[path])
        if not target.exists():
            new.rename(target)
            return
        for path in changes:
            if _exists(target / path):
                (old / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(target / path, old / path, follow_symlinks=False)
        try:
            for path in changes:
                _swap(target / path, new / path)
        except BaseException:
            for path in changes:
                with suppress(OSError):
                    _swap(target / path, old / path)
            _tidy(target, changes)
            raise
    _tidy(target, changes)


def _swap(place: Path, other: Path) -> None:
    """Put `other` in its place in one step, or remove what is there if there is no other."""
    if _exists(other):
        place.parent.mkdir(exist_ok=True)
        other.replace(place)  # replaces a symbolic link, never what it points to
    else:
        place.unlink(missing_ok=True)


def _tidy(target: Path, paths: list[str]) -> None:
    """Remove the compiled forms of modules that are gone, and the folders left empty."""
    for place in (target / path for path in paths if not _exists(target / path)):
        cache = place.parent / "__pycache__"
        for compiled in cache.glob(f"{place.stem}.*.pyc") if not cache.is_symlink() else ():
            with suppress(OSError):
                compiled.unlink()
        for folder in (cache, place.parent):
            with suppress(OSError):  # something is left in it
                folder.rmdir()


def _exists(place: Path) -> bool:
    return place.is_symlink() or place.exists()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
