"""Absolute paths and their `file:` addresses, for the paths of POSIX and of Windows."""

import ntpath
import os
import re

Path = str | os.PathLike[str]

_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
"""What stands in an address as it is; everything else is escaped."""
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_EXTENDED = re.compile(r"\\\\[?.]\\(UNC\\)?", re.IGNORECASE)
"""The start of a Windows path that is longer than usual."""


def is_windows_path(path: str) -> bool:
    r"""Return whether a path is an absolute one of Windows: `C:\a`, `C:/a`, `\\server\share`, `\\?\C:\a`."""
    return _DRIVE.match(path) is not None or path.startswith("\\\\")


def is_absolute(path: str) -> bool:
    """Return whether a path is absolute on POSIX or on Windows, whichever system this is."""
    return path.startswith("/") or is_windows_path(path)


def absolute(path: Path) -> str:
    """Return a path as an absolute one without `..`; one that is relative begins in the current folder.

    The links in a path are kept, except where it has `..`: only the system knows what that leads to behind a link.
    Absolute paths of another system stay as they are, `..` aside. Raises `ValueError` for a path with a NUL character.
    """
    text = os.fspath(path)
    if "\0" in text:
        raise ValueError("The path contains a NUL character")
    if os.name != "nt" and is_windows_path(text):
        return text if _EXTENDED.match(text) else ntpath.normpath(text)
    return os.path.realpath(text) if ".." in re.split(r"[\\/]", text) else os.path.abspath(text)


def checked_absolute(path: Path) -> str:
    """Return an absolute path as it was given. Raises `ValueError` for any other path, and for a NUL character."""
    text = os.fspath(path)
    if "\0" in text:
        raise ValueError("The path contains a NUL character")
    if not is_absolute(text):
        raise ValueError(f"The path {text!r} is not absolute: join it to the folder of the session")
    return text


def file_uri(path: Path) -> str:
    r"""Return the `file:` address of a path: `/a b` is `file:///a%20b`, `C:\a` is `file:///C:/a`.

    `\\server\share\a` is `file://server/share/a`. Bytes that are not ASCII are escaped as UTF-8; bytes of a POSIX name
    that are not UTF-8 are kept.
    """
    text = absolute(path)
    if not is_windows_path(text):
        return "file://" + _escaped(text, "surrogateescape")
    rest = _EXTENDED.sub(lambda match: "//" if match[1] else "", text, count=1).replace("\\", "/")
    if rest.startswith("//"):
        return "file:" + _escaped(rest, "surrogatepass")
    return f"file:///{rest[:2]}{_escaped(rest[2:], 'surrogatepass')}"


def _escaped(path: str, errors: str) -> str:
    return "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in path.encode("utf-8", errors))


def name_of(path: str) -> str:
    """Return the last part of an absolute path, or the whole of a root; bytes that are not UTF-8 are replaced."""
    split = ntpath.split if is_windows_path(path) else os.path.split
    name = split(path)[1] or path
    return name.encode("utf-8", "surrogateescape" if not is_windows_path(path) else "replace").decode("utf-8", "replace")
