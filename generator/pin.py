"""Pinning: take the schemas of one upstream commit into `schema/`, without their prose, and write the lock."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from generator.errors import GeneratorError
from generator.source import (
    LABELS,
    LOCK,
    ROOT,
    SCHEMA_DIR,
    UPSTREAM,
    Lock,
    LockEntry,
    digest,
    load_lock,
    parse_object,
    read_bytes,
    without_prose,
)
from generator.write import Changes, compare_or_write

PREFIXES = ("", "schema/")
"""Where the files of a commit may lie: at the top of a folder, or in a checkout's `schema/`."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where to read from, and what is known of it."""

    read: Callable[[str], bytes | None]
    commit: str | None
    release: str | None
    shown: str


def pin(source: str, commit: str | None, release: str | None, root: Path = ROOT) -> tuple[Lock, Changes]:
    """Pin the schemas found at `source`; on any failure `schema/` stays as it is."""
    origin = _open(source, commit)
    files: dict[str, bytes] = {}
    entries: list[LockEntry] = []
    for name in sorted({name for pair in LABELS.values() for name in pair}):
        upstream_path, data = _find(origin, name)
        shown = f"{origin.shown}/{upstream_path}"
        kept = json.dumps(without_prose(parse_object(data, shown)), indent=2, ensure_ascii=False) + "\n"
        stored = kept.encode("utf-8")
        files[f"{SCHEMA_DIR}/{name}"] = stored
        entries.append(LockEntry(name, f"schema/{name}", digest(data), digest(stored)))
    same = _same_lock(root, entries)
    known_commit = origin.commit or (same.commit if same else None)
    if known_commit is None:
        raise GeneratorError(
            "the commit of these files is not known", file=source, hint="name it with --commit, or pin from a checkout"
        )
    known_release = release or origin.release or (same.release if same and same.commit == known_commit else "")
    lock = Lock(UPSTREAM, known_commit, known_release or "unreleased", tuple(entries))
    files[f"{SCHEMA_DIR}/{LOCK}"] = lock.to_json().encode("utf-8")
    return lock, compare_or_write(root, files, [], check=False)


def _same_lock(root: Path, entries: list[LockEntry]) -> Lock | None:
    """Give the present lock if it holds these very files: their commit is known then."""
    try:
        lock = load_lock(root)
    except GeneratorError:
        return None
    return lock if {e.upstream_sha256 for e in lock.files} == {e.upstream_sha256 for e in entries} else None


def _open(source: str, commit: str | None) -> Origin:
    if "://" in source:
        raise GeneratorError(
            "addresses are not supported yet", file=source, hint="clone the repository and name the checkout"
        )
    folder = Path(source)
    if not folder.is_dir():
        raise GeneratorError("is not a folder", file=source, hint="name a checkout, or a folder with v1/ and v2/")
    if _git(folder, "rev-parse", "--show-prefix") == "":
        wanted = commit or "HEAD"
        sha = _git(folder, "rev-parse", "--verify", "--quiet", f"{wanted}^{{commit}}")
        if not sha:
            raise GeneratorError(f"has no commit {wanted}", file=source)
        tag = _git(folder, "describe", "--tags", "--exact-match", "--match", "schema-v*", sha)
        return Origin(lambda path: _blob(folder, sha, path), sha, tag or None, source)
    return Origin(lambda path: _file(folder / path), commit, None, source)


def _find(origin: Origin, name: str) -> tuple[str, bytes]:
    for prefix in PREFIXES:
        data = origin.read(prefix + name)
        if data is not None:
            return prefix + name, data
    raise GeneratorError(f"has no {name}", file=origin.shown, hint="a pin needs all schema and meta files of v1 and v2")


def _file(path: Path) -> bytes | None:
    return read_bytes(path, str(path)) if path.is_file() else None


def _blob(folder: Path, sha: str, path: str) -> bytes | None:
    run = subprocess.run(["git", "-C", str(folder), "show", f"{sha}:{path}"], capture_output=True, check=False)
    return run.stdout if run.returncode == 0 else None


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        run = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return run.stdout.strip() if run.returncode == 0 else None
