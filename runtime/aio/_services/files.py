"""Reading and writing the text files below a root folder for an agent."""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Literal, TypeVar, get_args

from ..._rpc.errors import InternalError, InvalidParams, RequestError, ResourceNotFound
from .budget import Budget, Reservation, held_until_answered, holds_until_answered
from .errors import FileRefused
from .file_writes import create_file, overwrite_file
from .json_size import MAX_EXPANSION, memory_size
from .paths import FileLocation, RootFolder
from .text_lines import decode_text, select_lines

T = TypeVar("T")

LIMIT = 16 * 1024 * 1024
"""Default maximum size of a file in bytes."""
HELD = 32 * 1024 * 1024
"""Default of `max_held`."""
MIN_RESERVED = 64 * 1024
"""The least that is reserved for a file in bytes, because the reported size of some files is too small."""
CHUNK = 64 * 1024
"""How many bytes of a file are read at once."""
BOM = b"\xef\xbb\xbf"
Missing = Literal["error", "empty"]
_NOT_FOUND = (errno.ENOENT, errno.ENOTDIR)
_REFUSED = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.EISDIR: "it is a folder",
    errno.ELOOP: "it is a link, or the path has too many links",
    errno.ENAMETOOLONG: "the name is too long, or there are too many folders",
    errno.EEXIST: "something else exists at this path",
    errno.ENXIO: "it is not a regular file",
    getattr(errno, "ESTALE", errno.ENXIO): "the path changed during the request",
}
"""Why a request is refused, by the error number of the system."""


class _TooSmallReservation(Exception):
    """A file is longer than the bytes that were reserved for it."""


class Files:
    """Serves the text files below a folder.

    Paths are absolute. Nothing outside of `root` is read or written, whatever links and `..` a path contains, even if
    they change meanwhile. Only regular files of UTF-8 text are served. Any other file is refused with `InvalidParams`,
    a missing one with `ResourceNotFound`.

    - `read_only`: refuses to write.
    - `max_bytes`: the maximum size of a file to read, in bytes.
    - `keep_line_ends`: if all lines of a file end with CRLF, text with LF is written to it with CRLF.
    - `missing`: "empty" reads a missing file as an empty text, for agents that do not understand the error.
    - `max_held`: how many bytes may be read at the same time, and how many bytes of answers may wait to be sent,
      counted as JSON. Further reads wait. A larger file is read alone.

    A file is written under another name, flushed to disk, and moved into place in one step, so that no reader sees half
    of it. It keeps owner, group, mode, access list and extended attributes; a program loses setuid, setgid and
    capabilities. If one of these cannot be kept, or the folder does not allow replacing the file, it is written in
    place. Missing folders are created. A byte order mark is kept, and is not part of the text. The work is done in
    threads.

    A hard link to a file elsewhere cannot be distinguished from other files. It is served, and writing separates it
    from the other file unless it has to be written in place.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        read_only: bool = False,
        max_bytes: int = LIMIT,
        keep_line_ends: bool = True,
        missing: Missing = "error",
        max_held: int = HELD,
    ) -> None:
        """Raise `NotADirectoryError` if `root` is not a folder, and `ValueError` for an unknown `missing`."""
        if missing not in get_args(Missing):
            raise ValueError(f"missing={missing!r}: use one of {', '.join(get_args(Missing))}")
        self.root = RootFolder(root)
        self.read_only = read_only
        self.max_bytes = max_bytes
        self.keep_line_ends = keep_line_ends
        self.missing: Missing = missing
        self._working = Budget(max_held)
        """Memory of the files that are read or written right now."""
        self._answers = Budget(max_held)
        """Memory of answers that wait to be sent. Separate, so that a peer that does not read only blocks itself."""

    async def read(self, path: str, *, line: int | None = None, limit: int | None = None) -> str:
        """Read a file, or at most `limit` lines from line number `line` on, which counts from 1.

        Lines keep their ends. Beyond the last line the text is empty.
        """
        is_held = holds_until_answered()
        budget = self._answers if is_held else self._working

        def read_and_measure(max_size: int) -> tuple[str, int]:
            text = self._read(path, line, limit, max_size)
            return text, memory_size(text) if is_held else 0

        async def reserve_and_read(max_size: int) -> tuple[Reservation, tuple[str, int]]:
            return await self._run(path, budget, MAX_EXPANSION * max_size, lambda: read_and_measure(max_size))

        try:
            _, size = await self._run(path, self._working, 0, lambda: self._size(path, line))
            try:
                reservation, (text, held) = await reserve_and_read(size)
            except _TooSmallReservation:
                reservation, (text, held) = await reserve_and_read(self.max_bytes)
        except ResourceNotFound:
            if self.missing == "error":
                raise
            return ""
        reservation.hold(held)
        return text

    async def write(self, path: str, content: str) -> None:
        """Write a new or existing file."""
        reservation, _ = await self._run(path, self._working, 2 * len(content), lambda: self._write(path, content))
        reservation.release()

    def answering(self) -> AbstractContextManager[None]:
        """Within the block, what is read counts against `max_held` until the current request has been answered.

        `ServesFiles` reads within it, so that answers do not pile up when the peer does not read them.
        """
        return held_until_answered()

    async def _run(self, path: str, budget: Budget, size: int, work: Callable[[], T]) -> tuple[Reservation, T]:
        """Run a function in a thread within the budget; turn its errors into those that answer the request."""
        try:
            return await budget.run_in_thread(size, work)
        except RequestError:
            raise
        except UnicodeEncodeError:
            raise _invalid(path, "the path or the content has characters that cannot be encoded") from None
        except FileRefused as why:
            raise _invalid(path, str(why)) from None
        except OSError as why:
            raise _request_error(path, why) from why

    def _size(self, path: str, line: int | None) -> int:
        """Return how many bytes to reserve for a file; refuse a request that cannot be served."""
        if line is not None and line < 1:
            raise FileRefused("line numbers start at 1")
        with self.root.locate(path) as location:
            found = _check_regular(location.stat())
        if found.st_size > self.max_bytes:
            raise FileRefused(f"it is longer than {self.max_bytes} bytes")
        return min(max(found.st_size, MIN_RESERVED), self.max_bytes)

    def _read(self, path: str, line: int | None, limit: int | None, max_size: int) -> str:
        """Read a regular file of at most `max_size` bytes; never wait for a pipe or a device."""
        with self.root.locate(path) as location:
            _check_regular(location.stat())
            fd = location.open(os.O_RDONLY)
            with os.fdopen(fd, "rb", buffering=0) as file:
                if _check_regular(os.fstat(fd)).st_size > max_size:
                    raise self._too_long(max_size)
                chunks = iter(lambda: file.read(CHUNK), b"")
                return "".join(select_lines(decode_text(self._bounded(chunks, max_size)), line or 1, limit))

    def _bounded(self, chunks: Iterable[bytes], max_size: int) -> Iterator[bytes]:
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if size > max_size:
                raise self._too_long(max_size)
            yield chunk

    def _too_long(self, max_size: int) -> Exception:
        is_retried = max_size < self.max_bytes
        return _TooSmallReservation() if is_retried else FileRefused(f"it is longer than {self.max_bytes} bytes")

    def _write(self, path: str, content: str) -> None:
        if self.read_only:
            raise FileRefused("files are read-only here")
        data = content.encode()
        with self.root.locate(path, create=True) as location:
            found = location.stat()
            if found is None:
                create_file(location, data)
                return
            _check_regular(found)
            old = location.open(os.O_WRONLY)
            try:
                _check_regular(os.fstat(old))
                data = self._in_format_of(location, data)
            except BaseException:
                os.close(old)
                raise
            overwrite_file(location, data, old)

    def _in_format_of(self, location: FileLocation, data: bytes) -> bytes:
        """Return a text with the byte order mark and the line ends of the existing file."""
        has_mark, has_crlf = self._format(location)
        if has_crlf and self.keep_line_ends and b"\r" not in data:
            data = data.replace(b"\n", b"\r\n")
        return BOM + data if has_mark and not data.startswith(BOM) else data

    def _format(self, location: FileLocation) -> tuple[bool, bool]:
        """Return whether a file begins with a byte order mark, and whether all of its lines end with CRLF."""
        try:
            fd = location.open(os.O_RDONLY)
        except OSError:
            return False, False
        with os.fdopen(fd, "rb") as file:
            chunk = file.read(CHUNK)
            has_mark, lines, crlf_lines, last = chunk.startswith(BOM), 0, 0, b""
            if os.fstat(fd).st_size > self.max_bytes:
                return has_mark, False
            while chunk:
                lines += chunk.count(b"\n")
                crlf_lines += chunk.count(b"\r\n") + (last == b"\r" and chunk.startswith(b"\n"))
                last = chunk[-1:]
                chunk = file.read(CHUNK)
        return has_mark, 0 < lines == crlf_lines


def _check_regular(found: os.stat_result | None) -> os.stat_result:
    """Raise `OSError` unless this is a regular file."""
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "There is no such file")
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "It is a folder")
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, "It is a link")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.ENXIO, "It is not a regular file")
    return found


def _invalid(path: str, detail: str) -> InvalidParams:
    return InvalidParams(data={"path": path, "detail": detail})


def _request_error(path: str, why: OSError) -> RequestError:
    data: dict[str, Any] = {"path": path}
    if why.errno in _NOT_FOUND:
        return ResourceNotFound(data=data)
    detail = _REFUSED.get(why.errno or 0)
    if detail is not None:
        return _invalid(path, detail)
    return InternalError(data={**data, "detail": (why.strerror or type(why).__name__).lower()})
