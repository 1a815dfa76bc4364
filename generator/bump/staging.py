"""What a bump starts from: the schemas of the source, in memory, and those that are pinned now."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from generator import api
from generator.docs import FOLDER
from generator.errors import GeneratorError
from generator.git import git, git_line
from generator.jsonutil import digest, parse_object
from generator.overrides import FILE as OVERRIDES
from generator.pin import plan_pin
from generator.source import LABELS, SCHEMA_DIR, Lock, Source, load_lock, read_if_there

Read = Callable[[str], bytes | None]
API = f"generated/{api.FILE}"


@dataclass(frozen=True, slots=True)
class Options:
    """How the source is pinned."""

    commit: str | None = None
    release: str | None = None
    date: str | None = None
    drop_missing: bool = False
    equal_to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Staged:
    """What pinning a source would leave in `schema/`: the lock and the files, and the pinned files that it removes."""

    lock: Lock
    files: Mapping[str, bytes]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class State:
    """Everything that is compared: both sides' schemas, and the texts that go with them.

    `base` names what the source is compared with. `toml` has the overrides and the docstrings as they are on disk, by
    file; `api` is the list of public names of the last release.
    """

    root: Path
    base: str
    present: Lock
    staged: Staged
    old: Mapping[str, Source]
    new: Mapping[str, Source]
    toml: Mapping[str, str]
    api: str


def stage(source: str, options: Options, root: Path) -> Staged:
    """Read a source as `pin` does, in memory."""
    found = plan_pin(
        source,
        options.commit,
        root,
        release=options.release,
        date=options.date,
        drop_missing=options.drop_missing,
        equal_to=options.equal_to,
    )
    return Staged(found.lock, found.files, tuple(sorted(found.former.keys() - found.files.keys())))


def load_state(source: str, options: Options, root: Path) -> State:
    """Read both sides. Where `schema/` has changes that are not committed, the last commit is the old side."""
    present = load_lock(root)
    staged = stage(source, options, root)
    read, base = _base(root)
    return State(
        root,
        base,
        present,
        staged,
        old=_sources(read, None),
        new=_sources(staged.files.get, staged.lock.commit),
        toml=_toml(root),
        api=(read(API) or b"").decode("utf-8", "replace"),
    )


def is_dirty(root: Path) -> bool:
    """Return whether `schema/` has changes that are not committed; without git or a commit nothing is known of it."""
    if git_line(root, "rev-parse", "--verify", "--quiet", "HEAD") is None:
        return False
    return bool(git_line(root, "status", "--porcelain", "--", SCHEMA_DIR))


def require_clean(root: Path) -> None:
    """Refuse to write over changes that are not committed."""
    if is_dirty(root):
        raise GeneratorError(
            "has changes that are not committed", file=f"{SCHEMA_DIR}/", hint="commit or restore them first"
        )


def _base(root: Path) -> tuple[Read, str]:
    if is_dirty(root):
        # With the leading dot the path is relative to the project, wherever the repository's top is.
        return lambda name: git(root, "show", f"HEAD:./{name}"), "the last commit"
    return lambda name: read_if_there(root / name), "what is pinned"


def _sources(read: Read, commit: str | None) -> dict[str, Source]:
    found: dict[str, Source] = {}
    for label, (schema, meta) in LABELS.items():
        shown, methods = f"{SCHEMA_DIR}/{schema}", f"{SCHEMA_DIR}/{meta}"
        data, listed = read(shown), read(methods)
        if data is not None:
            found[label] = Source(
                label=label,
                file=shown,
                sha256=digest(data),
                raw=parse_object(data, shown),
                meta=None if listed is None else parse_object(listed, methods),
                meta_file=methods,
                commit=commit,
                pinned=False,
            )
    return found


def _toml(root: Path) -> dict[str, str]:
    names = [OVERRIDES, *sorted(f"{FOLDER}/{p.name}" for p in (root / FOLDER).glob("*.toml"))]
    found: dict[str, str] = {}
    for name in names:
        data = read_if_there(root / name)
        try:
            found[name] = "" if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            raise GeneratorError("is not UTF-8", file=name) from None
    return found
