"""The inputs OLD and NEW: a lock file, a folder, one schema file, or a git revision of this project.

An existing path takes precedence over a revision. A folder holds `v1/` and `v2/`, directly or in its `schema/`, or the
older layout `schema.json`, `schema.unstable.json` and `schema.v2.json`, read as v1, v1_unstable and v2. An
`overrides.toml` beside the schemas of a folder, lock or revision applies to them; otherwise the current one does.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.errors import GeneratorError
from generator.git import git, git_line
from generator.jsonutil import digest, is_object, parse_object
from generator.model import Module
from generator.overrides import Overrides, load_overrides, overrides_from
from generator.source import EARLY, LABELS, LOCK, Source, read_bytes, read_if_there
from generator.tolerant import Tolerated, lower_what_can_be_read

PREFIXES = ("", "schema/")
OVERRIDES = "overrides.toml"
UNNAMED = "schema"
"""The label of a schema file whose path does not imply one."""


@dataclass(frozen=True, slots=True)
class Input:
    """One side of a comparison: its modules by label.

    `renamed` maps the deprecated names of each module to the current ones; `has_meta` are the labels whose schema has a
    list of methods beside it. `is_single` says that the input was one schema file.
    """

    shown: str
    modules: dict[str, Module]
    renamed: dict[str, dict[str, str]]
    has_meta: frozenset[str]
    is_single: bool = False
    problems: tuple[GeneratorError, ...] = ()
    """What could not be read, and is left out of the modules."""


@dataclass(frozen=True, slots=True)
class Files:
    """Access to the files of one input: `read` returns one or None, `shown` names it in errors."""

    read: Callable[[str], bytes | None]
    shown: Callable[[str], str]


def load(argument: str, root: Path) -> Input:
    """Read and lower an input; git revisions are those of the project at `root`."""
    path = Path(argument)
    form = _form(argument, path)
    if form == "folder":
        found = _folder(argument, Files(lambda name: read_if_there(path / name), lambda name: f"{argument}/{name}"))
        if found is None:
            raise GeneratorError("holds no schema", file=argument, hint="v1/schema.json, schema/v1/… or schema.json")
        return found
    if form == "file":
        raw = parse_object(read_bytes(path, argument), argument)
        if "$defs" not in raw and is_object(raw.get("files")):
            return _lock(argument, path, raw["files"])
        return _single(argument, path, raw)
    return _revision(argument, root)


def _form(argument: str, path: Path) -> str:
    try:
        # To pathlib the empty path is the current folder; on a command line it is a mistake.
        return "" if not argument else "folder" if path.is_dir() else "file" if path.is_file() else ""
    except OSError as why:
        raise GeneratorError(f"cannot be read: {(why.strerror or str(why)).lower()}", file=argument) from None


def _folder(argument: str, files: Files) -> Input | None:
    """Read all schemas at the top or, if there are none, in `schema/`; each in the current or the older layout."""
    for prefix in PREFIXES:
        sources: list[Source] = []
        for label, today in LABELS.items():
            for schema, meta in (today, EARLY[label]):
                data = files.read(prefix + schema)
                if data is not None:
                    sources.append(_source(files, label, data, prefix + schema, prefix + meta))
                    break
        if sources:
            return _input(argument, files, sources, prefix + OVERRIDES)
    return None


def _source(files: Files, label: str, data: bytes, schema: str, meta: str) -> Source:
    methods = files.read(meta)
    return Source(
        label=label,
        file=files.shown(schema),
        sha256=digest(data),
        raw=parse_object(data, files.shown(schema)),
        meta=None if methods is None else parse_object(methods, files.shown(meta)),
        meta_file=files.shown(meta),
        commit=None,
        pinned=False,
    )


def _input(argument: str, files: Files, sources: list[Source], overrides: str) -> Input:
    own = files.read(overrides)
    shown = files.shown(overrides)
    return _lowered(argument, sources, lambda s: load_overrides(s) if own is None else overrides_from(s, own, shown))


def _lowered(
    argument: str, sources: list[Source], overrides_of: Callable[[Source], Overrides], *, is_single: bool = False
) -> Input:
    read = [lower_what_can_be_read(s, overrides_of) for s in sources]
    return input_of(argument, read, is_single=is_single)


def input_of(shown: str, read: list[Tolerated], *, is_single: bool = False) -> Input:
    """Make an input of schemas that were read and lowered."""
    return Input(
        shown,
        {t.source.label: t.module for t in read},
        {t.source.label: dict(t.overrides.renamed) for t in read},
        frozenset(t.source.label for t in read if t.source.meta is not None),
        is_single,
        tuple(p for t in read for p in t.problems),
    )


def _lock(argument: str, path: Path, entries: dict[str, Any]) -> Input:
    """Read the schemas beside a lock file; one whose digest differs is an error."""
    shown = Path(argument).parent

    def read(name: str) -> bytes | None:
        data = read_if_there(path.parent / name)
        entry = entries.get(name)
        if name == OVERRIDES:
            return data
        if entry is None:
            return None
        if not is_object(entry) or not isinstance(entry.get("sha256"), str):
            raise GeneratorError("is not a lock file", file=argument, hint="write it anew with `pin`")
        if data is None or digest(data) != entry["sha256"]:
            problem = "is missing" if data is None else "differs from its sha256 in the lock"
            raise GeneratorError(problem, file=str(shown / name), hint=f"see {LOCK}, or name the folder instead")
        return data

    found = _folder(argument, Files(read, lambda name: str(shown / name)))
    if found is None:
        raise GeneratorError("names no schema file", file=argument, hint="write it anew with `pin`")
    return found


def _single(argument: str, path: Path, raw: dict[str, Any]) -> Input:
    """Read one schema file, and the meta file beside it whose name corresponds."""
    label = _label(path)
    meta = path.with_name(path.name.replace("schema", "meta", 1))
    methods = read_if_there(meta) if meta != path else None
    shown = str(Path(argument).with_name(meta.name))
    source = Source(
        label=label,
        file=argument,
        sha256="",
        raw=raw,
        meta=None if methods is None else parse_object(methods, shown),
        meta_file=shown,
        commit=None,
        pinned=False,
    )
    return _lowered(argument, [source], load_overrides, is_single=True)


def _label(path: Path) -> str:
    """Derive the label of a schema file from the end of its path."""
    parts = path.resolve().parts
    for names in (LABELS, EARLY):
        for label, (schema, _) in names.items():
            wanted = Path(schema).parts
            if parts[-len(wanted) :] == wanted:
                return label
    return UNNAMED


def _revision(argument: str, root: Path) -> Input:
    sha = None
    if argument and not argument.startswith("-"):
        if shutil.which("git") is None:
            raise GeneratorError("git is not installed", hint="name files or folders instead")
        sha = git_line(root, "rev-parse", "--verify", "--quiet", f"{argument}^{{commit}}")
    if sha is None:
        raise GeneratorError(
            f"{argument!r} is not a file, a folder or a git revision of this project",
            hint="a lock, a folder with v1/ and v2/, a schema file, or a revision such as HEAD~1",
        )
    commit = sha

    def read(name: str) -> bytes | None:
        # With the leading dot the path is relative to the project, wherever the repository's top is.
        return git(root, "show", f"{commit}:./{name}")

    found = _folder(argument, Files(read, lambda name: f"{argument}:{name}"))
    if found is None:
        raise GeneratorError("holds no schema", file=argument, hint="the revision is from before schema/ was there")
    return found
