"""Text files below a root folder, read and written for an agent."""

import codecs
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import chain
from typing import Any, Literal, TypeVar, get_args

from ..._rpc.errors import InternalError, InvalidParams, RequestError, ResourceNotFound
from .budget import WORST, Budget, Share, answering, held_size, is_answering
from .file_writes import create, rewrite
from .paths import Outside, Place, Root

T = TypeVar("T")

LIMIT = 16 * 1024 * 1024
HELD = 32 * 1024 * 1024
SMALL = 64 * 1024
"""What is set aside for a file at least: some files are longer than they say."""
CHUNK = 64 * 1024
"""How many bytes of a file are looked at in one go."""
BOM = b"\xef\xbb\xbf"
Missing = Literal["error", "empty"]
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


class _Grown(Exception):
    """A file is longer than what was set aside for it."""


class Files:
    """Serves the text files below a folder.

    Paths are absolute. Nothing outside of `root` is read or written, whatever links and `..` a path goes through,
    also where these change meanwhile. Ordinary files of UTF-8 text alone are served; whatever else a path names is
    refused with `InvalidParams`, and what does not exist with `ResourceNotFound`.

    - `read_only`: refuses to write.
    - `max_bytes`: the greatest size of a file that is read, in bytes.
    - `keep_line_ends`: a file all of whose lines end with CRLF keeps these when text with LF is written to it.
    - `missing`: "empty" reads a file that does not exist as an empty text, for agents that do not understand the error.
    - `max_held`: how many bytes may be read at the same time, and how many of answers may wait to be sent, counted as
      JSON. Further reads wait. A file beyond it is read alone.

    A file is written beside its place, flushed to the disk and then put there in one step, so that nobody sees half of
    it. It keeps its owner, group, mode, access list and extended attributes; a program loses the rights of its owner.
    Where one of these cannot be kept, or the folder does not let the file be replaced, it is written in place. Missing
    folders are made. A byte order mark is not part of the text, and stays. The work is done in threads.

    A hard link to a file elsewhere cannot be told from other files: it is served, and what is written parts it from the
    other one, unless it has to be written in place.
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
        """Take the folder; raise `NotADirectoryError` where there is none, `ValueError` for an unknown `missing`."""
        if missing not in get_args(Missing):
            raise ValueError(f"missing={missing!r}: use one of {', '.join(get_args(Missing))}")
        self.root = Root(root)
        self.read_only = read_only
        self.max_bytes = max_bytes
        self.keep_line_ends = keep_line_ends
        self.missing: Missing = missing
        self._working = Budget(max_held)
        self._answers = Budget(max_held)
        """Apart from the other one, so that a peer that reads nothing holds up itself alone."""

    async def read(self, path: str, *, line: int | None = None, limit: int | None = None) -> str:
        """Read a file, or at most `limit` lines from the line with the number `line` on, which counts from 1.

        Lines keep their ends. Beyond the last line there is no text.
        """
        keeps = is_answering()
        budget = self._answers if keeps else self._working

        def work(most: int) -> tuple[str, int]:
            text = self._read(path, line, limit, most)
            return text, held_size(text) if keeps else 0

        try:
            _, size = await self._served(path, self._working, 0, lambda: self._size(path, line))
            try:
                share, (text, taken) = await self._served(path, budget, WORST * size, lambda: work(size))
            except _Grown:
                most = self.max_bytes
                share, (text, taken) = await self._served(path, budget, WORST * most, lambda: work(most))
        except ResourceNotFound:
            if self.missing == "error":
                raise
            return ""
        share.keep(taken)
        return text

    async def write(self, path: str, content: str) -> None:
        """Write a file, be it a new or an existing one."""
        share, _ = await self._served(path, self._working, 2 * len(content), lambda: self._write(path, content))
        share.release()

    def answering(self) -> AbstractContextManager[None]:
        """Within it, what is read counts against `max_held` until the request under way has been answered.

        `ServesFiles` reads within it, so that answers that the peer does not take do not pile up.
        """
        return answering()

    async def _served(self, path: str, budget: Budget, size: int, work: Callable[[], T]) -> tuple[Share, T]:
        try:
            return await budget.run(size, work)
        except RequestError:
            raise
        except UnicodeEncodeError:
            raise _invalid(path, "it has characters that no file can have") from None
        except (Outside, Unfit) as why:
            raise _invalid(path, str(why)) from None
        except OSError as why:
            raise _refusal(path, why) from why

    def _size(self, path: str, line: int | None) -> int:
        """Say how many bytes to set aside for a file, and refuse what is not worth it."""
        if line is not None and line < 1:
            raise Unfit("lines count from 1")
        with self.root.place(path) as place:
            found = _ordinary(place.stat())
        if found.st_size > self.max_bytes:
            raise Unfit(f"it is longer than {self.max_bytes} bytes")
        return min(max(found.st_size, SMALL), self.max_bytes)

    def _read(self, path: str, line: int | None, limit: int | None, most: int) -> str:
        """Read an ordinary file of at most `most` bytes; anything else is not even waited for."""
        with self.root.place(path) as place:
            _ordinary(place.stat())
            number = place.open(os.O_RDONLY)
            with os.fdopen(number, "rb", buffering=0) as file:
                if _ordinary(os.fstat(number)).st_size > most:
                    raise self._too_long(most)
                chunks = iter(lambda: file.read(CHUNK), b"")
                return "".join(_cut(_decoded(self._within(chunks, most)), line or 1, limit))

    def _within(self, chunks: Iterable[bytes], most: int) -> Iterator[bytes]:
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if size > most:
                raise self._too_long(most)
            yield chunk

    def _too_long(self, most: int) -> Exception:
        return _Grown() if most < self.max_bytes else Unfit(f"it is longer than {self.max_bytes} bytes")

    def _write(self, path: str, content: str) -> None:
        if self.read_only:
            raise Unfit("files are read-only here")
        data = content.encode()
        with self.root.place(path, create=True) as place:
            found = place.stat()
            if found is None:
                create(place, data)
                return
            _ordinary(found)
            old = place.open(os.O_WRONLY)
            try:
                _ordinary(os.fstat(old))
                data = self._as_before(place, data)
            except BaseException:
                os.close(old)
                raise
            rewrite(place, data, old)

    def _as_before(self, place: Place, data: bytes) -> bytes:
        """Give a text the byte order mark and the ends of lines that the file has."""
        has_mark, has_crlf = self._habits(place)
        if has_crlf and self.keep_line_ends and b"\r" not in data:
            data = data.replace(b"\n", b"\r\n")
        return BOM + data if has_mark and not data.startswith(BOM) else data

    def _habits(self, place: Place) -> tuple[bool, bool]:
        """Say whether a file begins with a byte order mark, and whether all of its lines end with CRLF."""
        try:
            number = place.open(os.O_RDONLY)
        except OSError:
            return False, False
        with os.fdopen(number, "rb") as file:
            part = file.read(CHUNK)
            has_mark, lines, pairs, last = part.startswith(BOM), 0, 0, b""
            if os.fstat(number).st_size > self.max_bytes:
                return has_mark, False
            while part:
                lines += part.count(b"\n")
                pairs += part.count(b"\r\n") + (last == b"\r" and part.startswith(b"\n"))
                last = part[-1:]
                part = file.read(CHUNK)
        return has_mark, 0 < lines == pairs


def _ordinary(found: os.stat_result | None) -> os.stat_result:
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "There is no such file")
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "It is a folder")
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, "It is a link")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.ENXIO, "It is no ordinary file")
    return found


def _decoded(chunks: Iterable[bytes]) -> Iterator[str]:
    """Decode UTF-8 without its byte order mark; raise `Unfit` for anything else."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    place = 0
    is_first = True
    for chunk in chain(chunks, (b"",)):
        if b"\0" in chunk:
            raise Unfit("it is a binary file")
        begun = len(decoder.getstate()[0])
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as why:
            raise Unfit(f"it is no UTF-8 text, from byte {place - begun + why.start} on") from None
        place += len(chunk)
        yield text.removeprefix("\ufeff") if is_first else text
        is_first = is_first and not text


def _cut(parts: Iterable[str], line: int, limit: int | None) -> Iterator[str]:
    """Cut lines out of a text in parts; all of it is gone through, as any part may be refused."""
    for part in parts:
        if line == 1 and limit is None:
            yield part
            continue
        ends = part.count("\n")
        if line - 1 <= ends and limit != 0:
            yield _lines(part, line, limit)
        skipped = min(line - 1, ends)
        line -= skipped
        limit = None if limit is None else max(0, limit - (ends - skipped))


def _lines(text: str, line: int, limit: int | None) -> str:
    """Cut lines out of a text."""
    start = _behind(text, 0, line - 1)
    return text[start:] if limit is None else text[start : _behind(text, start, limit)]


def _behind(text: str, start: int, count: int) -> int:
    """Give the place behind so many ends of lines, or the end of the text; by halves, as there may be many."""
    stop = len(text)
    if text.count("\n", start) < count:
        return stop
    while count and stop - start > 1:
        middle = (start + stop) // 2
        found = text.count("\n", start, middle)
        if found >= count:
            stop = middle
        else:
            count -= found
            start = middle
    return stop if count else start


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
