"""The content of a prompt: text, paths and blocks become blocks of the schema."""

from collections.abc import Iterable
from os import PathLike, fspath
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import quote

from .outline import Outline


def blocks_of(parts: Iterable[Any], outline: Outline, cwd: str) -> list[Any]:
    """Return the blocks of a prompt: text for a string, a link for a path, and blocks as they are.

    Raises `TypeError` for anything else that a prompt cannot hold, and `ValueError` for an empty prompt.
    """
    blocks: list[Any] = []
    for part in parts:
        if isinstance(part, str):
            blocks.append(outline.text_block(text=part))
        elif isinstance(part, PathLike):
            blocks.append(_link(fspath(part), outline, cwd))  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(part, list | tuple):
            blocks += part
        else:
            blocks.append(part)
    if not blocks:
        raise ValueError("A prompt needs text, a path or a block")
    return blocks


def _link(path: str, outline: Outline, cwd: str) -> Any:
    if outline.link_block is None:
        raise TypeError("This schema has no links to files: pass the text of the file")
    kind = PureWindowsPath if _is_windows(path if is_absolute(path) else cwd) else PurePosixPath
    whole = kind(cwd, path)
    text = quote(whole.as_posix(), safe="/:" if whole.drive else "/")
    # A share is the host of its address, and a drive stands behind an empty host.
    start = "file:" if text.startswith("//") else "file:///" if whole.drive else "file://"
    return outline.link_block(uri=f"{start}{text}", name=whole.name)


def absolute(path: str | PathLike[str]) -> str:
    """Return a path as it is if it is absolute on any system, as the agent's may be another one; else made absolute."""
    plain = fspath(path)
    return plain if is_absolute(plain) else str(Path(plain).absolute())


def is_absolute(path: str) -> bool:
    """Return whether a path is absolute on any system."""
    return PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()


def _is_windows(path: str) -> bool:
    return not PurePosixPath(path).is_absolute() and PureWindowsPath(path).is_absolute()
