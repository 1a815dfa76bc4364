"""Pinning: copy the schemas of one upstream commit into `schema/`, without their descriptions, and write the lock."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from generator.errors import GeneratorError
from generator.fetch import fetch
from generator.git import git, git_line
from generator.jsonutil import digest, parse_object
from generator.source import (
    EARLY,
    LABELS,
    LOCK,
    ROOT,
    SCHEMA_DIR,
    UPSTREAM,
    Lock,
    LockEntry,
    definitions_of,
    load_lock,
    read_if_there,
    without_prose,
)
from generator.write import Changes, compare_or_write

NAMES = tuple(sorted({name for pair in LABELS.values() for name in pair}))
EARLY_NAMES = {name: old for label, pair in LABELS.items() for name, old in zip(pair, EARLY[label], strict=True)}


@dataclass(frozen=True, slots=True)
class Origin:
    """A source of schema files: `read` returns one or None, `shown` names the source in errors."""

    read: Callable[[str], bytes | None]
    shown: str
    commit: str | None = None
    unverified: str = ""
    """Why the files may be those of another commit; empty if they are certainly those of `commit`."""
    release: str | None = None
    date: str | None = None


def paths_of(name: str) -> list[str]:
    """List the possible paths of a file: at the top of a folder or in a checkout's `schema/`, in each layout."""
    old = EARLY_NAMES[name]
    return [name, f"schema/{name}", old, f"schema/{old}"]


def pin(
    source: str,
    commit: str | None,
    release: str | None,
    root: Path = ROOT,
    *,
    drop_missing: bool = False,
) -> tuple[Lock, Changes]:
    """Pin the schemas found at `source`; on any failure `schema/` stays unchanged.

    A pinned file that `source` lacks is an error, unless `drop_missing` is set.
    """
    origin = _open(source, commit)
    _refuse_pinned(origin, source, root)
    present = _present_lock(root)
    files: dict[str, bytes] = {}
    entries: list[LockEntry] = []
    for name in NAMES:
        found = _find(origin, name)
        if found is not None:
            entry, files[f"{SCHEMA_DIR}/{name}"] = _stored(name, *found, origin)
            entries.append(entry)
        elif present is not None and any(e.path == name for e in present.files) and not drop_missing:
            raise GeneratorError(
                f"has no {name}, which is pinned now", file=origin.shown, hint="--drop-missing does without it"
            )
    if not any("schema" in e.path for e in entries):
        raise GeneratorError(
            "has no schema", file=origin.shown, hint=f"looked for {', '.join(paths_of('v1/schema.json'))}"
        )
    lock = _lock(origin, release, present, entries, source)
    files[f"{SCHEMA_DIR}/{LOCK}"] = lock.to_json().encode("utf-8")
    former = {f"{SCHEMA_DIR}/{e.path}": [e.sha256] for e in present.files} if present is not None else {}
    return lock, compare_or_write(root, files, former, check=False)


def _stored(name: str, path: str, data: bytes, origin: Origin) -> tuple[LockEntry, bytes]:
    """Check one upstream file; return its entry in the lock, and its content without descriptions."""
    shown = f"{origin.shown}/{path}"
    raw = parse_object(data, shown)
    if "schema" in name:
        definitions_of(raw, shown)
    stored = (json.dumps(without_prose(raw), indent=2, ensure_ascii=False) + "\n").encode("utf-8")
    in_repository = path if path.startswith("schema/") else f"schema/{path}"
    return LockEntry(name, in_repository, digest(data), digest(stored)), stored


def _lock(origin: Origin, release: str | None, present: Lock | None, entries: list[LockEntry], source: str) -> Lock:
    """Return the new lock. If the files are the same, the present lock supplies what is unknown about the source."""
    same = present if present is not None and set(present.files) == set(entries) else None
    commit = origin.commit or (same.commit if same else None)
    if origin.commit is None and same is not None:
        origin = replace(origin, unverified=same.unverified)
    if same is not None and commit and not same.commit.startswith(commit) and origin.unverified and not same.unverified:
        raise GeneratorError(
            f"has the files of {same.commit}, which is pinned from a checkout, and not those of {commit} for certain",
            file=source,
            hint="leave --commit out, or pin from a checkout that has the commit",
        )
    if present is not None and commit and present.commit.startswith(commit) and not present.unverified:
        if origin.unverified and not set(entries) <= set(present.files):
            other = next(e.path for e in entries if e not in present.files)
            raise GeneratorError(
                f"is not that of {present.commit}, which is pinned from a checkout: {other} differs",
                file=source,
                hint="name the commit that it is from, or pin from a checkout",
            )
        commit, origin = present.commit, replace(origin, unverified="")
    if commit is None:
        raise GeneratorError(
            "the commit of these files is not known", file=source, hint="name it with --commit, or pin from a checkout"
        )
    known = same if same is not None and same.commit == commit else None
    return Lock(
        repository=UPSTREAM,
        commit=commit,
        date=origin.date or (known.date if known else ""),
        release=release or origin.release or (known.release if known else "unreleased"),
        files=tuple(entries),
        unverified=origin.unverified,
    )


def _refuse_pinned(origin: Origin, source: str, root: Path) -> None:
    """Refuse a checkout of this project: its schemas lack descriptions, and its commits are not upstream's."""
    if "://" in source:
        return
    own = Path(source).resolve().is_relative_to((root / SCHEMA_DIR).resolve())
    if own or origin.read(f"{SCHEMA_DIR}/{LOCK}") is not None or origin.read(LOCK) is not None:
        raise GeneratorError(
            "has schemas that `pin` wrote, not those of upstream", file=source, hint="name a checkout of upstream"
        )


def _present_lock(root: Path) -> Lock | None:
    try:
        return load_lock(root)
    except GeneratorError:
        return None


def _open(source: str, commit: str | None) -> Origin:
    if "://" in source:
        return _open_url(source, commit)
    folder = Path(source)
    if not folder.is_dir():
        raise GeneratorError("is not a folder", file=source, hint="name a checkout, or a folder with v1/ and v2/")
    if git_line(folder, "rev-parse", "--show-prefix") != "":
        return Origin(lambda path: read_if_there(folder / path), source, commit, _why_unverified(folder, commit))
    wanted = commit or "HEAD"
    sha = git_line(folder, "rev-parse", "--verify", "--quiet", f"{wanted}^{{commit}}")
    if not sha:
        raise GeneratorError(f"has no commit {wanted}", file=source)
    return Origin(
        read=lambda path: git(folder, "show", f"{sha}:{path}"),
        shown=source,
        commit=sha,
        release=git_line(folder, "describe", "--tags", "--exact-match", "--match", "schema-v*", sha) or None,
        date=git_line(folder, "show", "--no-patch", "--format=%cs", sha) or None,
    )


def _why_unverified(folder: Path, commit: str | None) -> str:
    """Return why a folder may not match a commit; empty if its repository has the same files in that commit."""
    if commit is None:
        return "the commit of a folder is unknown"
    if git_line(folder, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}") is None:
        return "--commit named it, and the folder is not of a repository that has it"
    prefix = git_line(folder, "rev-parse", "--show-prefix") or ""
    for path in (path for name in NAMES for path in paths_of(name)):
        there = read_if_there(folder / path)
        if there is not None and there != git(folder, "show", f"{commit}:{prefix}{path}"):
            return f"--commit named it, but {path} differs there"
    return ""


def _open_url(source: str, commit: str | None) -> Origin:
    if not source.startswith(("http://", "https://")):
        raise GeneratorError("is not an http or https URL", file=source)
    base = source.rstrip("/")
    in_url = re.search(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])", base)
    found = in_url.group() if in_url else None
    if commit is not None and found is not None and not found.startswith(commit):
        raise GeneratorError(f"names the commit {found}, not {commit}", file=source, hint="leave --commit out")
    doubt = "the address names it" if found else "--commit named it, and the address does not contain it"
    return Origin(lambda path: fetch(f"{base}/{path}"), base, found or commit, doubt)


def _find(origin: Origin, name: str) -> tuple[str, bytes] | None:
    for path in paths_of(name):
        data = origin.read(path)
        if data is not None:
            return path, data
    return None
