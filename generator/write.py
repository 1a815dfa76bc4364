"""Writing: one function compares or writes, so that a check cannot disagree with a run."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from generator.errors import GeneratorError

Content = str | bytes


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between the wanted files and those on disk, as paths relative to the root."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    stale: tuple[str, ...]

    def __bool__(self) -> bool:
        """Say whether anything differs."""
        return bool(self.added or self.changed or self.stale)

    @property
    def lines(self) -> list[str]:
        """Name each difference on a line."""
        kinds = (("missing", self.added), ("differs", self.changed), ("stale", self.stale))
        return [f"{kind}: {path}" for kind, paths in kinds for path in paths]


def compare_or_write(root: Path, files: Mapping[str, Content], owned: list[str], *, check: bool) -> Changes:
    """Compare `files` with those under `root`, and unless `check` is set make them equal.

    Files in the `owned` folders that are not wanted are stale and get removed. Every file is replaced in one step.
    """
    try:
        changes = _compare(root, files, owned)
        if not check:
            for path in (*changes.added, *changes.changed):
                _replace(root / path, _bytes(files[path]))
            for path in changes.stale:
                (root / path).unlink()
            _remove_empty_folders(root, owned)
    except OSError as why:
        raise GeneratorError(
            f"cannot be written: {(why.strerror or str(why)).lower()}", file=str(why.filename or root)
        ) from None
    return changes


def _compare(root: Path, files: Mapping[str, Content], owned: list[str]) -> Changes:
    added: list[str] = []
    changed: list[str] = []
    for path, content in sorted(files.items()):
        target = root / path
        if not target.is_file():
            added.append(path)
        elif target.read_bytes() != _bytes(content):
            changed.append(path)
    present = [p for folder in owned for p in sorted((root / folder).rglob("*")) if p.is_file()]
    names = [p.relative_to(root).as_posix() for p in present if "__pycache__" not in p.parts]
    return Changes(tuple(added), tuple(changed), tuple(n for n in names if n not in files))


def _bytes(content: Content) -> bytes:
    return content if isinstance(content, bytes) else content.encode("utf-8")


def _replace(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        temporary.write_bytes(content)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _remove_empty_folders(root: Path, owned: list[str]) -> None:
    for folder in owned:
        for path in (*sorted((root / folder).rglob("*"), reverse=True), root / folder):
            if path.is_dir() and path.name != "__pycache__" and not any(path.iterdir()):
                path.rmdir()
