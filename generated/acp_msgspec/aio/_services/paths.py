"""The way from a root folder to a file in it, which no link and no `..` leads out of.

Each folder on the way is opened from the one before, without following links, and links are read and followed here.
So what is opened lies below the root even if somebody swaps parts of the way while it is walked. Where the system
cannot open files that way, the path is resolved first and what was opened is compared with it.
"""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

LINKS = 40
"""So many links are followed on one way."""
DEPTH = 128
"""So many folders a way may go down; each of them is kept open while it is walked."""
CAN_WALK = os.open in os.supports_dir_fd and os.readlink in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_FILE = sum(getattr(os, flag, 0) for flag in ("O_CLOEXEC", "O_NOFOLLOW", "O_BINARY", "O_NONBLOCK", "O_NOCTTY"))
"""How files are opened: no link is followed, and no pipe or device waited for."""
_FOLDER = sum(getattr(os, flag, 0) for flag in ("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_PATH"))


class Outside(ValueError):
    """A path that is not below the root, that leads out of it, or that can only be one of a folder."""


class Place(Struct, frozen=True):
    """A file: its folder, opened, and its name there; without a folder the name is the whole path."""

    folder: int | None
    name: str

    def open(self, flags: int, mode: int = 0o666) -> int:
        """Open the file without following a link or waiting for anybody."""
        number = os.open(self.name, flags | _FILE, mode, dir_fd=self.folder)
        if self.folder is None:
            self._check(number)
        return number

    def _check(self, number: int) -> None:
        """Refuse what was opened where its path has become another one meanwhile."""
        path = Path(self.name)
        try:
            is_same = path.resolve() == path and os.path.samestat(os.fstat(number), path.stat())
        except OSError:
            is_same = False
        if not is_same:
            os.close(number)
            raise Outside("the path changes")

    def stat(self) -> os.stat_result | None:
        """Give what is there; a link stands for itself, and None for nothing."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def beside(self, name: str) -> "Place":
        """Give the place of another name in the same folder."""
        if self.folder is not None:
            return Place(self.folder, name)
        return Place(None, str(Path(self.name).with_name(name)))

    def replace_by(self, other: "Place") -> None:
        """Put another file of the same folder here, in one step."""
        if self.folder is None:
            Path(other.name).replace(self.name)
        else:
            os.replace(other.name, self.name, src_dir_fd=other.folder, dst_dir_fd=self.folder)

    def sync(self) -> None:
        """Flush the folder with its names to the disk, where the system can."""
        here = "." if self.folder is not None else str(Path(self.name).parent)
        with suppress(OSError):
            number = os.open(here, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0), dir_fd=self.folder)
            try:
                os.fsync(number)
            finally:
                os.close(number)

    def remove(self) -> None:
        """Remove the file, if it is there."""
        with suppress(FileNotFoundError):
            os.unlink(self.name, dir_fd=self.folder)


class Root:
    """A folder below which paths are looked up."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Take a folder; raise `NotADirectoryError` where there is none."""
        given = Path(folder).absolute()
        self.path = given.resolve()
        if not self.path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "There is no such folder", str(folder))
        self._names = (os.path.normpath(given), str(self.path))

    def relative(self, path: str) -> list[str]:
        """Split an absolute path into the parts below the root; raise `Outside`."""
        if "\0" in path:
            raise Outside("a path has no NUL in it")
        if not Path(path).is_absolute():
            raise Outside("the path is not absolute")
        whole = os.path.normpath(path)
        for name in self._names:
            if os.path.normcase(whole) == os.path.normcase(name):
                return []
            start = name if name.endswith(os.sep) else name + os.sep
            if os.path.normcase(whole).startswith(os.path.normcase(start)):
                return list(Path(whole[len(start) :]).parts)
        raise Outside("the path is not below the root folder")

    @contextmanager
    def place(self, path: str, *, create: bool = False) -> Generator[Place]:
        """Find the place of a file; `create` makes the folders on the way.

        Raises `Outside`, and `OSError` where there is no way or no right to go it.
        """
        parts = self.relative(path)
        if not parts:
            raise IsADirectoryError(errno.EISDIR, "It is a folder", path)
        _check_names_file(path)
        if not CAN_WALK:
            yield self._resolved(path, create=create)
            return
        walk = _Walk(self, parts, create=create)
        try:
            yield walk.go()
        finally:
            walk.close()

    def _resolved(self, path: str, *, create: bool) -> Place:
        whole = _resolved(path)
        if not whole.is_relative_to(self.path):
            raise Outside("the path leads out of the root folder")
        if create:
            whole.parent.mkdir(parents=True, exist_ok=True)
        if _resolved(path) != whole:
            raise Outside("the path changes")
        return Place(None, str(whole))


def _check_names_file(path: str) -> None:
    if os.path.split(path)[1] in ("", ".", ".."):
        raise Outside("the path names a folder")


def _resolved(path: str) -> Path:
    try:
        return Path(path).resolve()
    except RuntimeError:
        raise OSError(errno.ELOOP, "Too many links") from None


class _Walk:
    """One way from the root to a file."""

    def __init__(self, root: Root, parts: list[str], *, create: bool) -> None:
        self._root = root
        self._todo = parts[::-1]
        self._create = create
        self._links = 0
        self._folders = [os.open(root.path, _FOLDER)]

    def close(self) -> None:
        for folder in self._folders:
            os.close(folder)

    def go(self) -> Place:
        while self._todo:
            if len(self._folders) + len(self._todo) > DEPTH:
                raise OSError(errno.ENAMETOOLONG, "Too many folders")
            name = self._todo.pop()
            if name in ("", "."):
                continue
            if name == "..":
                if len(self._folders) == 1:
                    raise Outside("the path leads out of the root folder")
                os.close(self._folders.pop())
            elif self._todo:
                self._enter(name)
            else:
                target = self._link(name)
                if target is None:
                    return Place(self._folders[-1], name)
                self._follow(target)
        raise IsADirectoryError(errno.EISDIR, "It is a folder")

    def _enter(self, name: str) -> None:
        target = self._link(name)
        if target is not None:
            self._follow(target)
            return
        here = self._folders[-1]
        try:
            folder = os.open(name, _FOLDER, dir_fd=here)
        except FileNotFoundError:
            if not self._create:
                raise
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=here)
            folder = os.open(name, _FOLDER, dir_fd=here)
        self._folders.append(folder)

    def _link(self, name: str) -> str | None:
        """Read a link; None for anything else, also for nothing."""
        here = self._folders[-1]
        try:
            if not stat.S_ISLNK(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
                return None
        except FileNotFoundError:
            return None
        return os.readlink(name, dir_fd=here)

    def _follow(self, target: str) -> None:
        self._links += 1
        if self._links > LINKS:
            raise OSError(errno.ELOOP, "Too many links")
        if not self._todo:
            _check_names_file(target)
        if Path(target).is_absolute():
            parts = self._root.relative(target)
            while len(self._folders) > 1:
                os.close(self._folders.pop())
        else:
            parts = list(Path(target).parts)
        self._todo += parts[::-1]
