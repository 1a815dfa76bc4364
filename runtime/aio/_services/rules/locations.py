r"""Where a path leads, seen from a root folder: below it, by which parts, or outside.

Links are followed and `..` is resolved as the system does it. A path that is not the same file to a program that
resolves `..` by its text alone is not understood, nor is a name that Windows would read as another one.
"""

import os
import re
import unicodedata
from types import ModuleType

from msgspec import Struct

from .wildcards import ANY, sequence_matches, text_matches

Parts = tuple[str, ...]

_ODD_ON_WINDOWS = re.compile(r"[:<>\"|?*\x00-\x1f]|[. ]$|~\d|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
"""Names that Windows reads as those of other files: streams, short names, devices, dots and spaces at the end."""
_DRIVE = re.compile(r"[A-Za-z]:")


class Place(Struct, frozen=True):
    """Where a path leads."""

    path: str
    parts: Parts | None
    """The parts below the root, links followed; None if it is outside or not understood."""
    problem: str = ""
    """Why there are no parts."""
    spellings: tuple[Parts, ...] = ()
    """All readings of the path below the root, for a rule that is not to be evaded."""


class Root:
    """The folder that the patterns of paths begin in; `flavour` is `posixpath` or `ntpath`."""

    def __init__(self, folder: str | os.PathLike[str], flavour: ModuleType = os.path) -> None:
        """Resolve the folder, which need not exist."""
        self._flavour = flavour
        self._is_windows = flavour.sep == "\\"
        given: str = flavour.abspath(os.fspath(folder))
        self.path: str = flavour.realpath(given)
        self._names = (self.path, given)

    def place(self, path: str, *, relative: bool = False) -> Place:
        """Find where a path leads; `relative` accepts one that begins in the root."""
        if "\0" in path:
            return Place(path, None, "contains a NUL character")
        is_absolute = self._is_absolute(path)
        whole = path if is_absolute else self._flavour.join(self.path, path)
        try:
            resolved: str = self._flavour.realpath(whole)
            lexical: str = self._flavour.normpath(whole)
            is_ambiguous = ".." in self._split(whole) and self._flavour.realpath(lexical) != resolved
        except (OSError, ValueError) as why:
            return Place(path, None, f"cannot be resolved: {why.__class__.__name__}")
        found = [self._below(name) for name in (resolved, lexical)]
        spellings = tuple({parts for parts in found if parts is not None})
        problem = ""
        if found[0] is None:
            problem = "is outside of the root folder"
        elif not (is_absolute or relative):
            problem = "is not absolute"
        elif is_ambiguous:
            problem = "is another file without its links"
        elif self._is_windows and any(_ODD_ON_WINDOWS.search(part) for part in found[0]):
            problem = "has a name that Windows reads as another"
        return Place(path, None if problem else found[0], problem, spellings)

    def matches(self, pattern: Parts, parts: Parts) -> bool:
        """Match the parts of a path exactly, on Windows regardless of case."""
        fold = str.lower if self._is_windows else str
        return _match(tuple(map(fold, pattern)), tuple(map(fold, parts)))

    def _is_absolute(self, path: str) -> bool:
        if self._is_windows:  # `/a` and `\a` are on whichever drive is the current one
            return bool(_DRIVE.match(path) or path.startswith(("\\\\", "//"))) and self._flavour.isabs(path)
        return bool(self._flavour.isabs(path))

    def _split(self, path: str) -> list[str]:
        return re.split(r"[\\/]" if self._is_windows else "/", path)

    def _below(self, whole: str) -> Parts | None:
        """Return the parts of a path below the root; None if it is elsewhere."""
        folded = self._flavour.normcase(whole)
        for name in self._names:
            start = name if name.endswith(self._flavour.sep) else name + self._flavour.sep
            if folded == self._flavour.normcase(name):
                return ()
            if folded.startswith(self._flavour.normcase(start)):
                return tuple(self._split(whole[len(start) :]))
        return None


def matches_loosely(pattern: Parts, place: Place) -> bool:
    """Match any reading of a path regardless of case and of the form of its characters."""
    folded = tuple(map(_folded, pattern))
    return any(_match(folded, tuple(map(_folded, parts))) for parts in place.spellings)


def _folded(part: str) -> str:
    return unicodedata.normalize("NFKC", part).casefold().rstrip(". ") or part


def _match(pattern: Parts, parts: Parts) -> bool:
    return sequence_matches(pattern, parts, lambda part: part == ANY, text_matches)


def path_pattern(text: str) -> Parts:
    """Read the pattern of a path. Raises `ValueError` for one that is not below the root or could never match."""
    if not text:
        raise ValueError("is empty")
    if "\\" in text:
        raise ValueError("has a backslash: write / between folders")
    if text.startswith(("/", "~")) or _DRIVE.match(text):
        raise ValueError("is not relative: patterns begin in the root folder")
    parts = tuple(text.split("/"))
    for part in parts:
        if part in ("", ".", "..") or "\0" in part:
            raise ValueError(f"has the part {part!r}, which no path below the root has")
        if ANY in part and part != ANY:
            raise ValueError(f"has {part!r}: ** stands alone between two /")
    return parts
