"""Where schemas come from: the pinned files under `schema/` with their lock, or any single file.

Nothing here touches the network.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.errors import GeneratorError, Problems, child
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

    def to_json(self) -> str:
        """Return the text of the lock file."""
        files = {
            e.path: {"upstream_path": e.upstream_path, "upstream_sha256": e.upstream_sha256, "sha256": e.sha256}
            for e in self.files
        }
        head = {
            "repository": self.repository,
            "commit": self.commit,
            "date": self.date,
            "release": self.release,
            **({"unverified": self.unverified} if self.unverified else {}),
            "files": files,
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
        entries = tuple(LockEntry(path=path, **entry) for path, entry in raw["files"].items())
        lock = Lock(raw["repository"], raw["commit"], raw["date"], raw["release"], entries, raw.get("unverified", ""))
    except (KeyError, TypeError, AttributeError):
        raise GeneratorError("is not a lock file", file=shown, hint="write it anew with `pin`") from None
    texts: list[Any] = [v for e in entries for v in (e.path, e.upstream_path, e.upstream_sha256, e.sha256)]
    texts += [lock.repository, lock.commit, lock.date, lock.release, lock.unverified]
    if not all(isinstance(v, str) for v in texts):
        raise GeneratorError("is not a lock file", file=shown, hint="write it anew with `pin`")
    known = {name for pair in LABELS.values() for name in pair}
    for unknown in sorted({e.path for e in lock.files} - known):
        raise GeneratorError(f"lists {unknown!r}, which is not a schema or meta file", file=shown, hint="see LABELS")
    if not any(schema in {e.path for e in lock.files} for schema, _ in LABELS.values()):
        raise GeneratorError("lists no schema", file=shown, hint="write it anew with `pin`")
    return lock


def load_pinned(root: Path = ROOT) -> tuple[list[Source], Lock]:
    """Read the pinned schemas; a file that differs from its digest in the lock is an error."""
    lock = load_lock(root)
    digests = {e.path: e.sha256 for e in lock.files}
    checked: dict[str, dict[str, Any]] = {}
    problems = Problems()
    for name in sorted(digests):
        with problems.collect():
            shown = f"{SCHEMA_DIR}/{name}"
            data = read_bytes(root / SCHEMA_DIR / name, shown)
            if digest(data) != digests[name]:
                raise GeneratorError(
                    "differs from its sha256 in schema/lock.json",
                    file=shown,
                    hint="restore the file, or pin the new one with `python -m generator pin`",
                )
            checked[name] = parse_object(data, shown)
    problems.stop()
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
