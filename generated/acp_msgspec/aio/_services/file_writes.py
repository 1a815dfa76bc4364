"""Files written in one step with all that belongs to them, or in place where that cannot be."""

import errno
import os
import secrets
import stat
import threading
from contextlib import suppress

from .paths import Outside, Place

RESTORED = 16 * 1024 * 1024
"""The greatest file whose content is put back, in bytes, where it could not be overwritten as a whole."""
ACL = "system.posix_acl_access"
_BOUND = frozenset({"security.capability", "security.ima", "security.evm"})
"""Extended attributes that hold for the old content only: rights of a program, and signatures."""
_HELD = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV, errno.ENAMETOOLONG})
"""Why a folder does not take a file that replaces another one, though that one may be written."""
_FULL = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})
_UNSUPPORTED = getattr(errno, "ENOTSUP", errno.EINVAL)
_UNSYNCED = frozenset({errno.EINVAL, _UNSUPPORTED, errno.EROFS})
"""Why a file system does not flush a file: it has nothing to flush to."""
_IN_PLACE = threading.Lock()
"""Held while a file is written in place, so that two writers do not mix."""


class _Unkept(OSError):
    """Something that belongs to a file cannot be given to another one."""


def create(place: Place, data: bytes) -> None:
    """Write a new file in one step."""
    _put(place, _written(place, data, 0o666, None))


def rewrite(place: Place, data: bytes, old: int) -> None:
    """Write a file anew; `old` is its descriptor, open for writing, and gets closed.

    The file is replaced by one that has its owner, group, mode, access list and extended attributes. Where one of these
    cannot be kept, or the folder does not take another file in its stead, it is written in place.
    """
    found = os.fstat(old)
    try:
        try:
            fresh = _written(place, data, 0o600, old)
        finally:
            os.close(old)  # some systems do not replace a file that is open
        _put(place, fresh)
    except OSError as why:
        if why.errno not in _HELD and not isinstance(why, _Unkept):
            raise
        with _IN_PLACE:
            _write_in_place(place, data, found)


def _written(place: Place, data: bytes, mode: int, old: int | None) -> Place:
    """Write a file beside the place; nobody else may read it before it has all that belongs to the old one."""
    fresh = place.beside(f".acp-{secrets.token_hex(8)}.tmp")
    number = fresh.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            if old is not None:
                _keep(number, old)
            _sync(number)
    except BaseException:
        fresh.remove()
        raise
    return fresh


def _put(place: Place, fresh: Place) -> None:
    try:
        place.replace_by(fresh)
    except BaseException:
        fresh.remove()
        raise
    place.sync()


def _keep(fresh: int, old: int) -> None:
    """Give a file all that belongs to another one, but for rights of the program that it was."""
    try:
        found, made = os.fstat(old), os.fstat(fresh)
        if (found.st_uid, found.st_gid) != (made.st_uid, made.st_gid):
            os.fchown(fresh, found.st_uid, found.st_gid)
        if hasattr(os, "listxattr"):
            _keep_attributes(fresh, old)
        if hasattr(os, "fchmod"):
            os.fchmod(fresh, found.st_mode & 0o777)
    except OSError as why:
        raise _Unkept(why.errno, why.strerror) from why


def _keep_attributes(fresh: int, old: int) -> None:
    wanted = {name: os.getxattr(old, name) for name in _attributes(old) if name not in _BOUND}
    made = {name: os.getxattr(fresh, name) for name in _attributes(fresh)}
    for name in (made.keys() - wanted.keys()) & {ACL}:  # the folder gives it to new files
        os.removexattr(fresh, name)
    for name, value in wanted.items():
        if made.get(name) != value:
            os.setxattr(fresh, name, value)


def _attributes(number: int) -> list[str]:
    try:
        return os.listxattr(number)
    except OSError as why:
        if why.errno == _UNSUPPORTED:
            return []
        raise


def _write_in_place(place: Place, data: bytes, found: os.stat_result) -> None:
    """Write over the old content; what fails on the way leaves it as it was, as far as that can be."""
    old = _content(place)
    number = place.open(os.O_WRONLY)
    try:
        now = os.fstat(number)
        if not os.path.samestat(now, found):
            raise Outside("the path changes")
        _drop_rights(number, now)
        _reserve(number, len(data), now.st_size)
        try:
            _overwrite(number, data)
        except OSError:
            if old is not None:
                with suppress(OSError):
                    _overwrite(number, old)
            raise
    finally:
        os.close(number)


def _content(place: Place) -> bytes | None:
    """Read a file that may have to be restored; None where it is too long for that or may not be read."""
    try:
        with os.fdopen(place.open(os.O_RDONLY), "rb") as file:
            data = file.read(RESTORED + 1)
    except OSError:
        return None
    return data if len(data) <= RESTORED else None


def _overwrite(number: int, data: bytes) -> None:
    os.lseek(number, 0, os.SEEK_SET)
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(number, rest) :]
    os.ftruncate(number, len(data))
    _sync(number)


def _reserve(number: int, size: int, old: int) -> None:
    """Fail before anything is lost where the disk has no room for a longer file."""
    if size <= old or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(number, 0, size)
    except OSError as why:
        if why.errno in _FULL:
            os.ftruncate(number, old)
            raise


def _drop_rights(number: int, found: os.stat_result) -> None:
    """Take the rights of its owner from a program; the system does that itself, unless it is the superuser's."""
    if stat.S_IMODE(found.st_mode) & ~0o777 and hasattr(os, "fchmod"):
        with suppress(OSError):
            os.fchmod(number, found.st_mode & 0o777)
    if hasattr(os, "removexattr"):
        with suppress(OSError):
            os.removexattr(number, "security.capability")


def _sync(number: int) -> None:
    try:
        os.fsync(number)
    except OSError as why:
        if why.errno not in _UNSYNCED:
            raise
