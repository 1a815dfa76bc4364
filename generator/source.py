"""Where schemas come from: the pinned files under `schema/` with their lock, or any single file.

Nothing here touches the network.
"""

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from generator.errors import GeneratorError, child
from generator.jsonutil import digest, is_array, is_object, parse_object

ROOT = Path(__file__).resolve().parent.parent
SCHEMA_DIR = "schema"
LOCK = "lock.json"
UPSTREAM = "https://github.com/agentclientprotocol/agent-client-protocol"

LABELS: dict[str, tuple[str, str]] = {
    "v1": ("v1/schema.json", "v1/meta.json"),
    "v1_unstable": ("v1/schema.unstable.json", "v1/meta.unstable.json"),
    "v2": ("v2/schema.json", "v2/meta.json"),
    "v2_unstable": ("v2/schema.unstable.json", "v2/meta.unstable.json"),
}
"""The module label of each pinned schema file, and the meta file that lists its methods."""

EARLY: dict[str, tuple[str, str]] = {
    "v1": ("schema.json", "meta.json"),
    "v1_unstable": ("schema.unstable.json", "meta.unstable.json"),
    "v2": ("schema.v2.json", "meta.v2.json"),
    "v2_unstable": ("schema.v2.unstable.json", "meta.v2.unstable.json"),
}
"""The same in the layout of upstream's first releases; some releases mix both layouts."""


@dataclass(frozen=True, slots=True)
class Source:
    """The content of one schema file: `file` is the name to print, `sha256` the digest of its bytes."""

    label: str
    file: str
    sha256: str
    raw: dict[str, Any]
    meta: dict[str, Any] | None
    meta_file: str
    commit: str | None
    pinned: bool


@dataclass(frozen=True, slots=True)
class LockEntry:
    """One stored file: its place upstream and here, and the digests of the original and the stored bytes."""

    path: str
    upstream_path: str
    upstream_sha256: str
    sha256: str
    source_path: str = ""
    """Its place in an archive, or in a source that has it under the name of another file; else empty."""

    def as_data(self) -> dict[str, str]:
        """Return what the lock says of the file."""
        named = {"source_path": self.source_path} if self.source_path else {}
        digests = {"upstream_sha256": self.upstream_sha256, "sha256": self.sha256}
        return {"upstream_path": self.upstream_path, **named, **digests}


class Kind(StrEnum):
    """The kinds of sources that schemas are pinned from."""

    CHECKOUT = "checkout"
    FOLDER = "folder"
    ADDRESS = "address"
    ARCHIVE = "archive"
    NPM = "npm"
    CRATE = "crate"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where pinned files came from. Empty is what is unknown, or what that kind of source does not have."""

    kind: Kind
    name: str = ""
    """The repository of a checkout, an address, a package, or the name of an archive's file; never a local path."""
    version: str = ""
    integrity: str = ""
    """The digest of the archive that the registry publishes, in the registry's own form."""
    archive_sha256: str = ""
    dated_by: str = ""
    """What names the date of the lock: `commit`, `registry` (its day of publication) or `hand`."""
    verified: tuple[str, ...] = ()
    """What was held against something else, one sentence each."""
    notes: tuple[str, ...] = ()
    """What a reader of the lock should know: that a file was not what its name said."""

    def as_data(self) -> dict[str, Any]:
        """Return what the lock says of the source."""
        names = ("kind", "name", "version", "integrity", "archive_sha256", "dated_by")
        texts = {name: str(getattr(self, name)) for name in names if getattr(self, name)}
        lists = {name: list(getattr(self, name)) for name in ("verified", "notes") if getattr(self, name)}
        return {**texts, **lists}

    def __str__(self) -> str:
        """Name the source in a line for people."""
        return " ".join(filter(None, (self.kind, self.name, self.version))) if self.name else f"a local {self.kind}"


@dataclass(frozen=True, slots=True)
class Lock:
    """The upstream state that `schema/` is pinned to."""

    repository: str
    commit: str
    date: str
    release: str
    files: tuple[LockEntry, ...]
    unverified: str = ""
    """Why the files could not be compared with the commit; empty if git has compared them."""
    source: Provenance | None = None
    """Where the files came from; None in a lock that was written before it was recorded."""

    def to_json(self) -> str:
        """Return the text of the lock file."""
        head = {
            "repository": self.repository,
            "commit": self.commit,
            "date": self.date,
            "release": self.release,
            **({"unverified": self.unverified} if self.unverified else {}),
            **({"source": self.source.as_data()} if self.source else {}),
            "files": {entry.path: entry.as_data() for entry in self.files},
        }
        return json.dumps(head, indent=2) + "\n"


def read_bytes(path: Path, shown: str) -> bytes:
    """Read a file; failure is a one-line error."""
    try:
        return path.read_bytes()
    except OSError as why:
        reason = (why.strerror or str(why)).lower()
        raise GeneratorError(f"cannot be read: {reason}", file=shown) from None


def read_if_there(path: Path) -> bytes | None:
    """Read a file, or return None if it does not exist."""
    return read_bytes(path, str(path)) if path.is_file() else None


def load_lock(root: Path = ROOT) -> Lock:
    """Read `schema/lock.json`."""
    shown = f"{SCHEMA_DIR}/{LOCK}"
    raw = parse_object(read_bytes(root / SCHEMA_DIR / LOCK, shown), shown)
    try:
        lock = _read_lock(raw)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise GeneratorError("is not a lock file", file=shown, hint="write it anew with `pin`") from None
    known = {name for pair in LABELS.values() for name in pair}
    for unknown in sorted({e.path for e in lock.files} - known):
        raise GeneratorError(f"lists {unknown!r}, which is not a schema or meta file", file=shown, hint="see LABELS")
    if not any(schema in {e.path for e in lock.files} for schema, _ in LABELS.values()):
        raise GeneratorError("lists no schema", file=shown, hint="write it anew with `pin`")
    return lock


def _read_lock(raw: dict[str, Any]) -> Lock:
    """Read the content of a lock file; raise one of the errors that `load_lock` expects."""
    entries = tuple(LockEntry(path=path, **entry) for path, entry in raw["files"].items())
    source = _provenance(raw["source"]) if "source" in raw else None
    lock = Lock(
        raw["repository"], raw["commit"], raw["date"], raw["release"], entries, raw.get("unverified", ""), source
    )
    _require_texts(lock.repository, lock.commit, lock.date, lock.release, lock.unverified)
    for e in entries:
        _require_texts(e.path, e.upstream_path, e.upstream_sha256, e.sha256, e.source_path)
    return lock


def _provenance(raw: dict[str, Any]) -> Provenance:
    verified, notes = raw.get("verified", []), raw.get("notes", [])
    texts = {key: value for key, value in raw.items() if key not in ("kind", "verified", "notes")}
    if not is_array(verified) or not is_array(notes):
        raise TypeError(raw)
    _require_texts(*texts.values(), *verified, *notes)
    return Provenance(kind=Kind(raw["kind"]), verified=tuple(verified), notes=tuple(notes), **texts)


def _require_texts(*values: Any) -> None:
    for value in values:
        if not isinstance(value, str):
            raise TypeError(value)


def load_pinned(root: Path = ROOT) -> tuple[list[Source], Lock]:
    """Read the pinned schemas; a file that differs from its digest in the lock is an error."""
    lock = load_lock(root)
    digests = {e.path: e.sha256 for e in lock.files}
    checked: dict[str, dict[str, Any]] = {}
    for name in sorted(digests):
        shown = f"{SCHEMA_DIR}/{name}"
        data = read_bytes(root / SCHEMA_DIR / name, shown)
        if digest(data) != digests[name]:
            raise GeneratorError(
                "differs from its sha256 in schema/lock.json",
                file=shown,
                hint="restore the file, or pin the new one with `python -m generator pin`",
            )
        checked[name] = parse_object(data, shown)
    sources = [
        Source(
            label=label,
            file=f"{SCHEMA_DIR}/{schema}",
            sha256=digests[schema],
            raw=checked[schema],
            meta=checked.get(meta),
            meta_file=f"{SCHEMA_DIR}/{meta}",
            commit=lock.commit,
            pinned=True,
        )
        for label, (schema, meta) in LABELS.items()
        if schema in checked
    ]
    return sources, lock


def load_single(path: Path, label: str, meta: Path | None = None) -> Source:
    """Read any single schema file, and its meta file if one is given."""
    data = read_bytes(path, str(path))
    methods = parse_object(read_bytes(meta, str(meta)), str(meta)) if meta is not None else None
    raw = parse_object(data, str(path))
    return Source(label, str(path), digest(data), raw, methods, str(meta or ""), commit=None, pinned=False)


def without_prose(raw: Any, *, keys_are_names: bool = False) -> Any:
    """Copy a schema without its descriptions; a property with the name `description` stays."""
    if is_array(raw):
        return [without_prose(item) for item in raw]
    if not is_object(raw):
        return raw
    out: dict[str, Any] = {}
    for key, value in raw.items():
        if keys_are_names:
            out[key] = without_prose(value)
        elif key in ("const", "default", "enum"):  # values, not schemas
            out[key] = value
        elif key != "description":
            out[key] = without_prose(value, keys_are_names=key in ("properties", "$defs"))
    return out


def definitions_of(raw: dict[str, Any], file: str) -> dict[str, Any]:
    """Return the schema's definitions."""
    found = raw.get("$defs")
    if not is_object(found) or not found:
        raise GeneratorError("has no definitions", file=file, pointer=child("", "$defs"), hint="is this an ACP schema?")
    return found
