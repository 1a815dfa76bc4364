"""Writing: the same function compares and writes, so that `--check` cannot disagree with a real run."""

import os
import stat
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from generator.errors import GeneratorError
from generator.jsonutil import digest

Content = str | bytes
Digests = Collection[str]
BYTECODE = "__pycache__"


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences between the wanted files and those on disk, as paths relative to the root.

    `stale` are files of an earlier run that are no longer wanted and will be removed, `kept` those that will not, each
    with the reason.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is anything to write or to remove."""
        return bool(self.added or self.changed or self.stale)

    @property
    def lines(self) -> list[str]:
        """One line for each difference."""
        kinds = (("missing", self.added), ("differs", self.changed), ("stale", self.stale))
        return [f"{kind}: {path}" for kind, paths in kinds for path in paths]


def compare_or_write(
    root: Path, files: Mapping[str, Content], former: Mapping[str, Digests], *, check: bool
) -> Changes:
    """Compare `files` with those under `root`, and write them unless `check` is set.

    `former` lists the files of an earlier run with the digests of their contents then. Those that are no longer wanted
    are removed if their content still has one of these digests; other files under `root` stay. Each file is replaced
    atomically, and links below `root` are not followed.
    """
    changes = compare(root, files, former)
    if not check:
        write(root, files, changes)
    return changes


def compare(root: Path, files: Mapping[str, Content], former: Mapping[str, Digests]) -> Changes:
    """Return the differences; nothing is written."""
    try:
        return _compare(root, files, former)
    except OSError as why:
        raise _failure(why, root, "read") from None


def write(root: Path, files: Mapping[str, Content], changes: Changes) -> None:
    """Apply the changes that `compare` found."""
    make_folders(root, changes)
    try:
        for path in (*changes.added, *changes.changed):
            _replace(root / path, to_bytes(files[path]))
        for path in changes.stale:
            (root / path).unlink(missing_ok=True)
        _remove_empty_folders(root, changes.stale)
    except OSError as why:
        raise _failure(why, root, "written") from None


def make_folders(root: Path, changes: Changes) -> None:
    """Create the folders of the files to be written."""
    try:
        for path in (*changes.added, *changes.changed):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as why:
        raise _failure(why, root, "written") from None


def unlisted(root: Path, folders: Iterable[str], known: Collection[str]) -> list[str]:
    """List the files in `folders` that are not `known`, as paths relative to `root`; links are listed, not followed."""
    found: list[str] = []
    for folder in folders:
        for place, below, names in os.walk(root / folder):
            here = Path(place)
            found += [n.relative_to(root).as_posix() for n in (here / name for name in names)]
            found += [n.relative_to(root).as_posix() for n in (here / name for name in below) if n.is_symlink()]
            below[:] = sorted(name for name in below if name != BYTECODE)
    return sorted(path for path in found if path not in known)


def to_bytes(content: Content) -> bytes:
    """Return the content of a file as bytes."""
    return content if isinstance(content, bytes) else content.encode("utf-8")


def _failure(why: OSError, root: Path, done: str) -> GeneratorError:
    reason = (why.strerror or str(why)).lower()
    return GeneratorError(f"cannot be {done}: {reason}", file=str(why.filename or root))


def _compare(root: Path, files: Mapping[str, Content], former: Mapping[str, Digests]) -> Changes:
    added: list[str] = []
    changed: list[str] = []
    for path, content in sorted(files.items()):
        link = _link_above(root, path)
        if link is not None:
            raise GeneratorError(
                f"is a link, and {path} would be written behind it",
                file=str(link),
                hint="replace the link by a folder, or name the folder that it leads to with --out",
            )
        mode = _mode(root / path)
        if mode is None:
            added.append(path)
        elif stat.S_ISDIR(mode):
            raise GeneratorError("is a folder, and a file must be written there", file=str(root / path))
        elif not stat.S_ISREG(mode) or (root / path).read_bytes() != to_bytes(content):
            changed.append(path)
    stale: list[str] = []
    kept: list[tuple[str, str]] = []
    wanted = _identities(root, files)
    for path in sorted(former.keys() - files.keys()):
        reason = _why_kept(root, path, former[path])
        if reason is not None:
            kept.append((path, reason))
        # On a case-insensitive file system, a path that differs in case only is the wanted file itself.
        elif (mode := _mode(root / path)) is not None and _identity(root / path) not in wanted:
            stale.append(path)
    return Changes(tuple(added), tuple(changed), tuple(stale), tuple(kept))


def _why_kept(root: Path, path: str, digests: Digests) -> str | None:
    """Return why a file of an earlier run must not be removed; None if it may be removed, or does not exist."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or not pure.parts or ".." in pure.parts:
        return "leads out of the folder"
    if _link_above(root, path) is not None:
        return "lies behind a link"
    mode = _mode(root / path)
    if mode is None:
        return None
    if not stat.S_ISREG(mode):
        return "is not the file that was written"
    return None if digest((root / path).read_bytes()) in digests else "was edited since it was written"


def _link_above(root: Path, path: str) -> Path | None:
    """Return the first folder between `root` and a file that is a link."""
    place = root
    for part in PurePosixPath(path).parts[:-1]:
        place /= part
        if place.is_symlink():
            return place
    return None


def _mode(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _identity(path: Path) -> tuple[int, int]:
    found = path.lstat()
    return found.st_dev, found.st_ino


def _identities(root: Path, paths: Iterable[str]) -> set[tuple[int, int]]:
    return {_identity(root / path) for path in paths if _mode(root / path) is not None}


def _replace(target: Path, content: bytes) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        temporary.replace(target)
    except FileExistsError:
        raise  # another process created it, so it stays
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _remove_empty_folders(root: Path, removed: Iterable[str]) -> None:
    """Remove the folders that are empty now that files were removed from them."""
    places = {parent for path in removed for parent in PurePosixPath(path).parents if parent.parts}
    for place in sorted(places, key=lambda p: len(p.parts), reverse=True):
        folder = root / place
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
