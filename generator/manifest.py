"""The manifest: the files that `generate` wrote into a folder, so that the next run removes these and no others.

It lies beside the package and is not part of it. An interrupted run leaves a manifest with both the old and the new
files, so that none of its own files is mistaken for a foreign one.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from generator.errors import GeneratorError
from generator.jsonutil import digest, is_array, is_object, parse_object
from generator.source import read_bytes
from generator.write import Changes, Content, compare, make_folders, to_bytes, unlisted, write

FILE = "acp_msgspec.manifest.json"
ABOUT = "Written by `python -m generator generate`, which removes what is listed here and unchanged."
_LABEL = re.compile(r"[a-z][a-z0-9_]*")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_HEADER = b"`python -m generator generate`"
"""Part of the first line of every generated file; it identifies packages that are older than the manifest."""


@dataclass(frozen=True, slots=True)
class Output:
    """The files that a run writes into its folder.

    `modules` are the labels among the files. `leaves` are existing files that the run does not touch. A run that does
    not write the `whole` package does not touch the modules of other labels either.
    """

    package: str
    files: Mapping[str, str]
    modules: tuple[str, ...]
    beside: tuple[str, ...] = ()
    """Files of the package that lie beside its folder."""
    leaves: frozenset[str] = frozenset()
    whole: bool = True

    @property
    def owned(self) -> tuple[str, ...]:
        """The folders in which only this run writes."""
        return (self.package,) if self.whole else tuple(f"{self.package}/{label}" for label in self.modules)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files that were written, each with its digest; two digests if a run was interrupted."""

    files: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    modules: tuple[str, ...] = ()
    damage: str = ""
    """Why the manifest is invalid; an invalid one counts as empty."""

    def to_json(self) -> str:
        """Return the manifest as it is stored."""
        files = {path: found[0] if len(found) == 1 else list(found) for path, found in sorted(self.files.items())}
        return json.dumps({"about": ABOUT, "modules": sorted(self.modules), "files": files}, indent=1) + "\n"

    def of_others(self, output: Output) -> dict[str, tuple[str, ...]]:
        """Return the files that a run neither writes nor removes."""
        if output.whole:
            return {}
        others = set(self.modules) - set(output.modules)
        found = {p: d for p, d in self.files.items() if p in output.leaves and p not in output.files}
        return found | {
            p: d for p, d in self.files.items() if PurePosixPath(p).parts[1:2] and p.split("/")[1] in others
        }


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a run or a check.

    `unlisted` are files in the package that no run wrote, `damage` says why the previous manifest was invalid.
    """

    changes: Changes
    unlisted: tuple[str, ...]
    damage: str


def update(root: Path, output: Output, *, check: bool) -> Written:
    """Compare a folder with the output of a run, and write the output unless `check` is set.

    Raises `GeneratorError` before anything is written if the run would overwrite files that no run wrote.
    """
    before = read(root, output)
    others = before.of_others(output)
    own = {path: (digest(to_bytes(content)),) for path, content in output.files.items()}
    modules = output.modules if output.whole else tuple({*before.modules, *output.modules})
    after = Manifest({**others, **own}, modules)
    former = {path: found for path, found in before.files.items() if path not in others}
    files = {**output.files, FILE: after.to_json()}
    changes = compare(root, files, former)
    if not check:
        _refuse_to_overwrite(root, output, before, changes)
        _apply(root, files, changes, before, after)
    known = {*files, *others, *output.leaves, *(former if check else changes.stale)}
    edited = {path for path, _ in changes.kept}
    return Written(changes, tuple(s for s in unlisted(root, output.owned, known) if s not in edited), before.damage)


def _apply(root: Path, files: Mapping[str, Content], changes: Changes, before: Manifest, after: Manifest) -> None:
    """Write the files between two manifests: first one that lists the old and the new files, last the new one."""
    rest = Changes(
        tuple(p for p in changes.added if p != FILE), tuple(p for p in changes.changed if p != FILE), changes.stale
    )
    if rest:
        make_folders(root, rest)
        both = {p: tuple(dict.fromkeys((*before.files.get(p, ()), *after.files.get(p, ())))) for p in after.files}
        during = Manifest({**before.files, **both}, tuple({*before.modules, *after.modules}))
        write(root, {FILE: during.to_json()}, Changes(changed=(FILE,)))
        write(root, files, rest)
    if rest or changes:
        write(root, files, Changes(changed=(FILE,)))


def read(root: Path, output: Output) -> Manifest:
    """Read the manifest of a folder; an invalid one counts as empty, so that nothing is removed."""
    path = root / FILE
    if path.is_symlink():
        return Manifest(damage="is a link")
    if not path.is_file():
        return Manifest()
    try:
        raw = parse_object(read_bytes(path, FILE), FILE)
    except GeneratorError as why:
        return Manifest(damage=why.problem)
    files, modules = raw.get("files"), raw.get("modules")
    if not is_object(files) or not is_array(modules):
        return Manifest(damage="does not list files and modules")
    for label in modules:
        if not isinstance(label, str) or not _LABEL.fullmatch(label):
            return Manifest(damage=f"lists the module {label!r}")
    found: dict[str, tuple[str, ...]] = {}
    for name, value in files.items():
        digests = _digests(value)
        if not _is_writable_path(name, output) or not digests:
            return Manifest(damage=f"lists {name!r}, which `generate` does not write")
        found[name] = digests
    return Manifest(found, tuple(modules))


def _digests(value: Any) -> tuple[str, ...]:
    given = value if is_array(value) else [value]
    return tuple(d for d in given if isinstance(d, str) and _DIGEST.fullmatch(d)) if given else ()


def _is_writable_path(name: str, output: Output) -> bool:
    """Return whether a run may have written a path: in the package, or one of the files beside it."""
    pure = PurePosixPath(name)
    plain = name == pure.as_posix() and ".." not in pure.parts and "\\" not in name and "\0" not in name
    return plain and (name in output.beside or (len(pure.parts) > 1 and pure.parts[0] == output.package))


def _refuse_to_overwrite(root: Path, output: Output, before: Manifest, changes: Changes) -> None:
    """Refuse to overwrite files in a folder into which no run has written before."""
    if before.files or before.damage or _has_header(root / output.package / "_about.py"):
        return
    left = sorted(p for p in output.leaves if p.startswith(f"{output.package}/") and (root / p).exists())
    foreign = [path for path in (*left, *changes.changed) if not _has_header(root / path)]
    if foreign:
        more = f", and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise GeneratorError(
            f"is in the way{more}: `generate` did not write it",
            file=str(root / foreign[0]),
            hint="name another folder with --out, or move what is there",
        )


def _has_header(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and _HEADER in read_bytes(path, str(path)).partition(b"\n")[0]
