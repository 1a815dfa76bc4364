"""Writing files: moved into place in one step with the metadata of the old file, or in place if that is impossible."""

import errno
import os
import secrets
import stat
import threading
from contextlib import suppress

from .errors import FileRefused
from .paths import FileLocation

RESTORABLE = 16 * 1024 * 1024
"""Files of up to this many bytes are restored when writing in place fails."""
ACL = "system.posix_acl_access"
_CONTENT_BOUND = frozenset({"security.capability", "security.ima", "security.evm"})
"""Extended attributes that are only valid for the old content: capabilities of a program, and signatures."""
_NOT_REPLACEABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV, errno.ENAMETOOLONG})
"""Errors of a folder that does not allow replacing a file; the file itself may still be writable."""
_DISK_FULL = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})
_UNSUPPORTED = getattr(errno, "ENOTSUP", errno.EINVAL)
_CANNOT_SYNC = frozenset({errno.EINVAL, _UNSUPPORTED, errno.EROFS})
"""Errors of a file system that cannot flush a file because it has no disk."""
_IN_PLACE = threading.Lock()
"""Held while a file is written in place, so that two writers do not mix."""


class _MetadataNotCopied(OSError):
    """Owner, group, mode or an extended attribute of a file cannot be given to another one."""


def create_file(location: FileLocation, data: bytes) -> None:
    """Write a new file in one step."""
    _move_into_place(location, _write_temporary(location, data, 0o666, None))


def overwrite_file(location: FileLocation, data: bytes, old: int) -> None:
    """Write an existing file; `old` is its descriptor, open for writing, and is closed here.

    The file is replaced by a new one with the same owner, group, mode, access list and extended attributes. If one of
    these cannot be copied, or the folder does not allow replacing the file, it is written in place.
    """
    found = os.fstat(old)
    try:
        try:
            temporary = _write_temporary(location, data, 0o600, old)
        finally:
            os.close(old)  # some systems cannot replace an open file
        _move_into_place(location, temporary)
    except OSError as why:
        if why.errno not in _NOT_REPLACEABLE and not isinstance(why, _MetadataNotCopied):
            raise
        with _IN_PLACE:
            _write_in_place(location, data, found)


def _write_temporary(location: FileLocation, data: bytes, mode: int, old: int | None) -> FileLocation:
    """Write a file in the same folder. Until it has the metadata of the old file, only its owner can read it."""
    temporary = location.sibling(f".acp-{secrets.token_hex(8)}.tmp")
    fd = temporary.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            if old is not None:
                _copy_metadata(old, fd)
            _sync(fd)
    except BaseException:
        temporary.remove()
        raise
    return temporary


def _move_into_place(location: FileLocation, temporary: FileLocation) -> None:
    try:
        location.replace_by(temporary)
    except BaseException:
        temporary.remove()
        raise
    location.sync_folder()


def _copy_metadata(source: int, target: int) -> None:
    """Copy owner, group, permissions and extended attributes, but not the privileges of a program."""
    try:
        wanted, found = os.fstat(source), os.fstat(target)
        if (wanted.st_uid, wanted.st_gid) != (found.st_uid, found.st_gid):
            os.fchown(target, wanted.st_uid, wanted.st_gid)
        if hasattr(os, "listxattr"):
            _copy_extended_attributes(source, target)
        if hasattr(os, "fchmod"):
            os.fchmod(target, wanted.st_mode & 0o777)
    except OSError as why:
        raise _MetadataNotCopied(why.errno, why.strerror) from why


def _copy_extended_attributes(source: int, target: int) -> None:
    wanted = {name: os.getxattr(source, name) for name in _extended_attributes(source) if name not in _CONTENT_BOUND}
    found = {name: os.getxattr(target, name) for name in _extended_attributes(target)}
    for name in (found.keys() - wanted.keys()) & {ACL}:  # the folder gives one to new files
        os.removexattr(target, name)
    for name, value in wanted.items():
        if found.get(name) != value:
            os.setxattr(target, name, value)


def _extended_attributes(fd: int) -> list[str]:
    try:
        return os.listxattr(fd)
    except OSError as why:
        if why.errno == _UNSUPPORTED:
            return []
        raise


def _write_in_place(location: FileLocation, data: bytes, expected: os.stat_result) -> None:
    """Overwrite the content of a file; if that fails, restore the old content as far as possible."""
    old = _content_to_restore(location)
    fd = location.open(os.O_WRONLY)
    try:
        found = os.fstat(fd)
        if not os.path.samestat(found, expected):
            raise FileRefused("the path changed during the request")
        _drop_privileges(fd, found)
        _reserve_space(fd, len(data), found.st_size)
        try:
            _overwrite(fd, data)
        except OSError:
            if old is not None:
                with suppress(OSError):
                    _overwrite(fd, old)
            raise
    finally:
        os.close(fd)


def _content_to_restore(location: FileLocation) -> bytes | None:
    """Read a file before it is overwritten; None if it is too long to be restored or not readable."""
    try:
        with os.fdopen(location.open(os.O_RDONLY), "rb") as file:
            data = file.read(RESTORABLE + 1)
    except OSError:
        return None
    return data if len(data) <= RESTORABLE else None


def _overwrite(fd: int, data: bytes) -> None:
    os.lseek(fd, 0, os.SEEK_SET)
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
    os.ftruncate(fd, len(data))
    _sync(fd)


def _reserve_space(fd: int, size: int, old_size: int) -> None:
    """Fail before the old content is lost if the disk has no room for a longer file."""
    if size <= old_size or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(fd, 0, size)
    except OSError as why:
        if why.errno in _DISK_FULL:
            os.ftruncate(fd, old_size)
            raise


def _drop_privileges(fd: int, found: os.stat_result) -> None:
    """Remove setuid, setgid and capabilities of a program; the system does so too, except for the superuser."""
    if stat.S_IMODE(found.st_mode) & ~0o777 and hasattr(os, "fchmod"):
        with suppress(OSError):
            os.fchmod(fd, found.st_mode & 0o777)
    if hasattr(os, "removexattr"):
        with suppress(OSError):
            os.removexattr(fd, "security.capability")


def _sync(fd: int) -> None:
    try:
        os.fsync(fd)
    except OSError as why:
        if why.errno not in _CANNOT_SYNC:
            raise
