"""Writing a bump: all files change, or none."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from generator.errors import GeneratorError
from generator.source import read_if_there
from generator.write import Changes, compare, write


def write_all(root: Path, files: Mapping[str, bytes], removed: Iterable[str]) -> Changes:
    """Write files and remove others; if that fails halfway, what was there before is restored."""
    removed = tuple(removed)
    before = {name: read_if_there(root / name) for name in (*files, *removed)}
    changes = compare(root, files, {})
    changes = Changes(changes.added, changes.changed, tuple(n for n in removed if before[n] is not None))
    try:
        write(root, files, changes)
    except (GeneratorError, KeyboardInterrupt):
        _restore(root, before)
        raise
    return changes


def _restore(root: Path, before: Mapping[str, bytes | None]) -> None:
    """Put every file back; one that cannot be put back does not keep the others from it."""
    for name, data in before.items():
        try:
            if data is None:
                (root / name).unlink(missing_ok=True)
            elif read_if_there(root / name) != data:
                (root / name).write_bytes(data)
        except (OSError, GeneratorError):
            continue
