"""Changing a folder into the wanted copy: all of it, or nothing."""

import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from .compare import exists
from .record import RECORD


def write(target: Path, wanted: dict[str, bytes], changes: list[str]) -> None:
    """Write or remove the files `changes`; if that fails, undo it.

    The new files are prepared beside the folder, then swapped in.
    """
    # The record is replaced last: if the power fails before, the old one still lists our files.
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
            if exists(target / path):
                (old / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(target / path, old / path, follow_symlinks=False)
        _replace(target, changes, new, old)
    _tidy(target, changes)


def _replace(target: Path, changes: list[str], new: Path, old: Path) -> None:
    """Swap the new files in; on any failure put the old ones back."""
    try:
        for path in changes:
            swap(target / path, new / path)
    except BaseException:
        for path in changes:
            with suppress(OSError):
                swap(target / path, old / path)
        _tidy(target, changes)
        raise


def swap(place: Path, other: Path) -> None:
    """Put `other` in its place in one step; without one, remove what is there."""
    if exists(other):
        place.parent.mkdir(parents=True, exist_ok=True)
        other.replace(place)  # replaces a symbolic link, never what it points to
    else:
        place.unlink(missing_ok=True)


def _tidy(target: Path, paths: list[str]) -> None:
    """Remove the bytecode of modules that are gone, and the folders that are empty now."""
    for place in (target / path for path in paths if not exists(target / path)):
        cache = place.parent / "__pycache__"
        for compiled in cache.glob(f"{place.stem}.*.pyc") if not cache.is_symlink() else ():
            with suppress(OSError):
                compiled.unlink()
        for folder in (cache, *place.parents):
            if target in folder.parents:
                with suppress(OSError):  # something is left in it
                    folder.rmdir()
