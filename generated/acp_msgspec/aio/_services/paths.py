"""Finding a file below a root folder, with a guarantee that no link and no `..` leads out of it.

Each folder of a path is opened relative to the one before, without following links; links are read and followed here.
So what is opened lies below the root even if another process replaces parts of the path meanwhile. If the system cannot
open files relative to a folder, the path is resolved first, and what was opened is compared with it.
"""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from .errors import FileRefused

MAX_LINKS = 40
"""How many links of one path are followed."""
MAX_DEPTH = 128
"""How many folders deep a path may go; each of them is kept open meanwhile."""
CAN_OPEN_RELATIVE = os.open in os.supports_dir_fd and os.readlink in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_FILE_FLAGS = sum(getattr(os, flag, 0) for flag in ("O_CLOEXEC", "O_NOFOLLOW", "O_BINARY", "O_NONBLOCK", "O_NOCTTY"))
"""Flags for opening a file: do not follow a link, and do not wait for a pipe or a device."""
_NOT_A_LINK = (errno.EINVAL, errno.ENOENT)
"""What reading a link says of anything else, and of a name without a file."""
_FOLDER_FLAGS = sum(getattr(os, flag, 0) for flag in ("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_PATH"))


class FileLocation(Struct, frozen=True):
    """Where a file is: the descriptor of its folder and its name there. Without a folder the name is the whole path."""

    folder: int | None
    name: str

    def open(self, flags: int, mode: int = 0o666) -> int:
        """Open the file without following a link or waiting, and return the descriptor."""
        fd = os.open(self.name, flags | _FILE_FLAGS, mode, dir_fd=self.folder)
        if self.folder is None:
            self._check_unchanged(fd)
        return fd

    def _check_unchanged(self, fd: int) -> None:
        """Close the file and refuse it if the path has come to name another file meanwhile."""
        path = Path(self.name)
        try:
            is_same = path.resolve() == path and os.path.samestat(os.fstat(fd), path.stat())
        except (OSError, RuntimeError):  # the latter for links in a circle, before Python 3.13
            is_same = False
        if not is_same:
            os.close(fd)
            raise FileRefused("the path changed during the request")

    def stat(self) -> os.stat_result | None:
        """Return the status of the file, or of the link if it is one; None if it does not exist."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def sibling(self, name: str) -> "FileLocation":
        """Return the location of another name in the same folder."""
        if self.folder is not None:
            return FileLocation(self.folder, name)
        return FileLocation(None, str(Path(self.name).with_name(name)))

    def replace_by(self, other: "FileLocation") -> None:
        """Move another file of the same folder to this location in one step."""
        if self.folder is None:
            Path(other.name).replace(self.name)
        else:
            os.replace(other.name, self.name, src_dir_fd=other.folder, dst_dir_fd=self.folder)

    def sync_folder(self) -> None:
        """Flush the entries of the folder to disk, if the system can."""
        folder = "." if self.folder is not None else str(Path(self.name).parent)
        with suppress(OSError):
            fd = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0), dir_fd=self.folder)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def remove(self) -> None:
        """Remove the file if it exists."""
        with suppress(FileNotFoundError):
            os.unlink(self.name, dir_fd=self.folder)


class RootFolder:
    """A folder; only files below it are found."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Raise `NotADirectoryError` if there is no such folder."""
        given = Path(folder).absolute()
        self.path = given.resolve()
        if not self.path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "There is no such folder", str(folder))
        self._names = (os.path.normpath(given), str(self.path))

    def relative_parts(self, path: str) -> list[str]:
        """Return the parts of an absolute path below the root. Raises `FileRefused` for any other path."""
        if "\0" in path:
            raise FileRefused("the path contains a NUL character")
        if not Path(path).is_absolute():
            raise FileRefused("the path is not absolute")
        whole = os.path.normpath(path)
        for name in self._names:
            if os.path.normcase(whole) == os.path.normcase(name):
                return []
            start = name if name.endswith(os.sep) else name + os.sep
            if os.path.normcase(whole).startswith(os.path.normcase(start)):
                return list(Path(whole[len(start) :]).parts)
        raise FileRefused("the path is not below the root folder")

    @contextmanager
    def locate(self, path: str, *, create: bool = False) -> Generator[FileLocation]:
        """Find a file, which need not exist; `create` creates missing folders.

        Raises `FileRefused`, and `OSError` if a folder is missing or not accessible.
        """
        parts = self.relative_parts(path)
        if not parts:
            raise IsADirectoryError(errno.EISDIR, "It is a folder", path)
        _check_names_file(path)
        if not CAN_OPEN_RELATIVE:
            yield self._resolve(path, create=create)
            return
        descent = _Descent(self, parts, create=create)
        try:
            yield descent.locate()
        finally:
            descent.close()

    def _resolve(self, path: str, *, create: bool) -> FileLocation:
        whole = _resolved(path)
        if not whole.is_relative_to(self.path):
            raise FileRefused("the path leads out of the root folder")
        if create:
            whole.parent.mkdir(parents=True, exist_ok=True)
        if _resolved(path) != whole:
            raise FileRefused("the path changed during the request")
        return FileLocation(None, str(whole))


def _check_names_file(path: str) -> None:
    if os.path.split(path)[1] in ("", ".", ".."):
        raise FileRefused("the path names a folder")


def _resolved(path: str) -> Path:
    try:
        return Path(path).resolve()
    except RuntimeError:
        raise OSError(errno.ELOOP, "Too many links") from None
    except OSError as why:
        if why.errno in _NOT_A_LINK:  # it was a link when it was looked at
            raise FileRefused("the path changed during the request") from None
        raise


class _Descent:
    """Opens one folder after the other, from the root down to a file."""

    def __init__(self, root: RootFolder, parts: list[str], *, create: bool) -> None:
        self._root = root
        self._remaining = parts[::-1]
        self._create = create
        self._links = 0
        self._folders = [os.open(root.path, _FOLDER_FLAGS)]
        """The open folders, from the root to the current one."""

    def close(self) -> None:
        for folder in self._folders:
            os.close(folder)

    def locate(self) -> FileLocation:
        while self._remaining:
            if len(self._folders) + len(self._remaining) > MAX_DEPTH:
                raise OSError(errno.ENAMETOOLONG, "Too many folders")
            name = self._remaining.pop()
            if name in ("", "."):
                continue
            if name == "..":
                if len(self._folders) == 1:
                    raise FileRefused("the path leads out of the root folder")
                os.close(self._folders.pop())
            elif self._remaining:
                self._enter_folder(name)
            else:
                target = self._read_link(name)
                if target is None:
                    return FileLocation(self._folders[-1], name)
                self._follow_link(target)
        raise IsADirectoryError(errno.EISDIR, "It is a folder")

    def _enter_folder(self, name: str) -> None:
        target = self._read_link(name)
        if target is not None:
            self._follow_link(target)
            return
        parent = self._folders[-1]
        try:
            folder = os.open(name, _FOLDER_FLAGS, dir_fd=parent)
        except FileNotFoundError:
            if not self._create:
                raise
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=parent)
            folder = os.open(name, _FOLDER_FLAGS, dir_fd=parent)
        self._folders.append(folder)

    def _read_link(self, name: str) -> str | None:
        """Return the target of a link; None for anything else and for a missing file."""
        try:
            # A single call: what is a link in one may be a folder in the next.
            return os.readlink(name, dir_fd=self._folders[-1])
        except OSError as why:
            if why.errno in _NOT_A_LINK:
                return None
            raise

    def _follow_link(self, target: str) -> None:
        self._links += 1
        if self._links > MAX_LINKS:
            raise OSError(errno.ELOOP, "Too many links")
        if not self._remaining:
            _check_names_file(target)
        if Path(target).is_absolute():
            parts = self._root.relative_parts(target)
            while len(self._folders) > 1:
                os.close(self._folders.pop())
        else:
            parts = list(Path(target).parts)
        self._remaining += parts[::-1]
