"""The parts that a copy can have, and the files that each needs.

A file belongs to a part by its place. A copy has every file of its parts, and what those files import.
"""

from collections.abc import Collection, Mapping, Sequence

from .imports import closure

PARTS = ("types", "messages", "state", "aio", "tools")
DEFAULT_PARTS = ("types", "messages")

_PLACES = {
    "_rpc": "messages",
    "messages.py": "messages",
    "state": "state",
    "aio": "aio",
    "aio.py": "aio",
    "conversation.py": "aio",
    "tools": "tools",
    "__main__.py": "tools",
}
"""The part of a folder or file. The outermost name in a path decides; any other file belongs to `types`."""

_LOADED_BY_NAME = {"tools": "messages"}
"""What a part needs without importing it: the inspector loads the schemas of a log by their names."""


def part_of(path: str) -> str:
    """Return the part that a file of the package belongs to."""
    return next((_PLACES[name] for name in path.split("/") if name in _PLACES), "types")


def select(files: Mapping[str, bytes], parts: Collection[str], export_only: Collection[str]) -> set[str]:
    """Return the paths of the files that a copy with these parts needs; every copy has the types.

    `export_only` are the files whose imports are not followed, as they only export what is there.
    """
    wanted = {"types", *parts}
    wanted |= {_LOADED_BY_NAME[part] for part in wanted if part in _LOADED_BY_NAME}
    return closure(files, {path for path in files if part_of(path) in wanted}, export_only)


def complete_parts(files: Collection[str], selected: Collection[str], available: Sequence[str]) -> list[str]:
    """List the available parts of which no file is left out, including those that another part needs."""
    incomplete = {part_of(path) for path in files if path not in selected}
    return [part for part in PARTS if part in available and part not in incomplete]


def describe_size(files: Mapping[str, bytes]) -> str:
    """Return the number of files and their size as text, in total and by part."""
    by_part = {part: [data for path, data in files.items() if part_of(path) == part] for part in PARTS}
    shown = [f"{part} {_size(contents)}" for part, contents in by_part.items() if contents]
    return f"{_size(list(files.values()))}: {'; '.join(shown)}"


def _size(contents: Sequence[bytes]) -> str:
    kib = -(-sum(map(len, contents)) // 1024)
    return f"{len(contents)} file{'' if len(contents) == 1 else 's'}, {kib} KiB"
