"""Text files below a root folder, read and written for an agent."""

import asyncio
import errno
import os
import secrets
import stat
from collections.abc import Callable
from typing import Any, TypeVar

from .._errors import InternalError, InvalidParams, RequestError, ResourceNotFound
from ._paths import Outside, Place, Root

T = TypeVar("T")

LIMIT = 16 * 1024 * 1024
_MISSING = (errno.ENOENT, errno.ENOTDIR)
_REFUSED = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.EISDIR: "it is a folder",
    errno.ELOOP: "it is a link, or there are too many of them",
    errno.ENAMETOOLONG: "the name is too long, or there are too many folders",
    errno.EEXIST: "there is something in its way",
    errno.ENXIO: "it is no ordinary file",
}


class Unfit(ValueError):
    """What a request asks for is refused; the text says why."""


class Files:
    """Serves the text files below a folder.

    Paths are absolute. Nothing outside of `root` is read or written, whatever links and `..` a path goes through,
    also where these change meanwhile. Ordinary files of UTF-8 text alone are served; whatever else a path names is
    refused with `InvalidParams`, and what does not exist with `ResourceNotFound`.

    - `read_only`: refuses to write.
    - `max_bytes`: the greatest size of a file that is read, in bytes.
    - `keep_line_ends`: a file all of whose lines end with CRLF keeps these when text with LF is written to it.

    A file is written beside its place and then put there in one step, so that nobody sees half of it; it keeps its
    permissions. Missing folders are made. A hard link to a file elsewhere cannot be told from other files: it is
    served, and what is written parts it from the other one. The work is done in threads.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        read_only: bool = False,
        max_bytes: int = LIMIT,
        keep_line_ends: bool = True,
    ) -> None:
        """Take the folder; raise `NotADirectoryError` where there is none."""
        self.root = Root(root)
        self.read_only = read_only
        self.max_bytes = max_bytes
        self.keep_line_ends = keep_line_ends

    async def read(self, path: str, *, line: int | None = None, limit: int | None = None) -> str:
        """Read a file, or at most `limit` lines from the line with the number `line` on, which counts from 1.

        Lines keep their ends. Beyond the last line there is no text.
        """
        return await self._served(path, lambda: self._read(path, line, limit))

    async def write(self, path: str, content: str) -> None:
        """Write a file, be it a new or an existing one."""
        await self._served(path, lambda: self._write(path, content))

    async def _served(self, path: str, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except RequestError:
            raise
        except UnicodeEncodeError:
            raise _invalid(path, "it has characters that no file can have") from None
        except (Outside, Unfit) as why:
            raise _invalid(path, str(why)) from None
        except OSError as why:
            raise _refusal(path, why) from why

    def _read(self, path: str, line: int | None, limit: int | None) -> str:
        if line is not None and line < 1:
            raise Unfit("lines count from 1")
        with self.root.place(path) as place:
            text = _decoded(self._bytes(place))
        return text if line is None and limit is None else _lines(text, line or 1, limit)

    def _bytes(self, place: Place) -> bytes:
        """Read an ordinary file that is not too long; anything else is not even waited for."""
        _check_ordinary(place.stat())
        number = place.open(os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
        with os.fdopen(number, "rb") as file:
            found = os.fstat(number)
            _check_ordinary(found)
            # A few files are longer than they say.
            data = b"" if found.st_size > self.max_bytes else file.read(self.max_bytes + 1)
        if found.st_size > self.max_bytes or len(data) > self.max_bytes:
            raise Unfit(f"it is longer than {self.max_bytes} bytes")
        return data

    def _write(self, path: str, content: str) -> None:
        if self.read_only:
            raise Unfit("files are read-only here")
        data = content.encode()
        with self.root.place(path, create=True) as place:
            found = place.stat()
            if found is not None:
                _check_ordinary(found)
                self._check_writable(place)
                if self.keep_line_ends and b"\n" in data and b"\r" not in data and self._has_crlf(place):
                    data = data.replace(b"\n", b"\r\n")
            _replace(place, data, found)

    def _check_writable(self, place: Place) -> None:
        number = place.open(os.O_WRONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
        os.close(number)

    def _has_crlf(self, place: Place) -> bool:
        try:
            data = self._bytes(place)
        except (OSError, Unfit):
            return False
        return b"\n" in data and data.count(b"\n") == data.count(b"\r\n")


def _check_ordinary(found: os.stat_result | None) -> None:
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "There is no such file")
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "It is a folder")
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, "It is a link")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.ENXIO, "It is no ordinary file")


def _replace(place: Place, data: bytes, found: os.stat_result | None) -> None:
    """Write a file in one step."""
    fresh = place.beside(f".acp-{secrets.token_hex(8)}.tmp")
    number = fresh.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            if found is not None and hasattr(os, "fchmod"):
                os.fchmod(number, found.st_mode & 0o777)
        place.replace_by(fresh)
    except BaseException:
        fresh.remove()
        raise


def _decoded(data: bytes) -> str:
    if b"\0" in data:
        raise Unfit("it is a binary file")
    try:
        return data.decode()
    except UnicodeDecodeError as why:
        raise Unfit(f"it is no UTF-8 text, from byte {why.start} on") from None


def _lines(text: str, line: int, limit: int | None) -> str:
    """Cut lines out of a text."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
        if not start:
            return ""
    if limit is None:
        return text[start:]
    end = start
    for _ in range(limit):
        end = text.find("\n", end) + 1
        if not end:
            return text[start:]
    return text[start:end]


def _invalid(path: str, detail: str) -> InvalidParams:
    return InvalidParams(data={"path": path, "detail": detail})


def _refusal(path: str, why: OSError) -> RequestError:
    data: dict[str, Any] = {"path": path}
    if why.errno in _MISSING:
        return ResourceNotFound(data=data)
    detail = _REFUSED.get(why.errno or 0)
    if detail is not None:
        return _invalid(path, detail)
    return InternalError(data={**data, "detail": (why.strerror or type(why).__name__).lower()})
