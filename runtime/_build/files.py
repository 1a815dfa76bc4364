"""Reading a file for a prompt: as text, as an image, as a sound, embedded, or only as a link."""

import binascii
import os
import stat
from typing import Literal

from msgspec import Struct

from .addresses import Path, absolute, file_uri, is_windows_path, name_of
from .media_types import BINARY, FOLDER, TEXT, may_be_text, media_type_of

Form = Literal["text", "image", "audio", "embedded_text", "embedded_blob", "link"]
"""How a file goes into a prompt."""
MAX_TEXT = 256 * 1024
"""Default maximum size of a text in bytes, as it takes room in the context of a model."""
MAX_BINARY = 8 * 1024 * 1024
"""Default maximum size of anything else in bytes."""
_FLAGS = sum(getattr(os, flag, 0) for flag in ("O_CLOEXEC", "O_BINARY", "O_NONBLOCK", "O_NOCTTY"))
"""Flags for opening a file: do not wait for a pipe or a device."""


class PromptFile(Struct, frozen=True, kw_only=True):
    """A file or folder: where it is, and its content if that was read."""

    uri: str
    name: str
    mime_type: str | None
    """None for a file whose name has no known suffix, unless it was read."""
    size: int | None
    """In bytes; None for a folder, and for what is not on this machine."""
    form: Form = "link"
    text: str = ""
    base64: str = ""


class _Accepted(Struct, frozen=True):
    """What the reader of a prompt takes besides text and links."""

    image: bool
    audio: bool
    embedded: bool
    text: bool


def base64_text(data: bytes) -> str:
    """Encode bytes as Base64 text, without line breaks."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def describe_file(path: Path) -> PromptFile:
    """Describe a file or folder without reading it; it need not exist, and may be a path of another machine.

    Raises `ValueError` for a path with a NUL character.
    """
    whole = absolute(path)
    found = _status(whole)
    is_folder = found is not None and stat.S_ISDIR(found.st_mode)
    is_file = found is not None and stat.S_ISREG(found.st_mode)
    return PromptFile(
        uri=file_uri(whole),
        name=name_of(whole),
        mime_type=FOLDER if is_folder else media_type_of(whole),
        size=found.st_size if found is not None and is_file else None,
    )


def embed_file(path: Path, *, max_bytes: int | None = None) -> PromptFile:
    """Read a file to be embedded: as text if it is UTF-8, else as Base64.

    Raises `OSError` if it cannot be read, and `ValueError` if it is too large or not a regular file.
    """
    accepted = _Accepted(image=False, audio=False, embedded=True, text=False)
    found = _read(path, accepted, max_bytes)
    if found.form == "link":
        kind = "a folder" if found.mime_type == FOLDER else f"too large: {found.size} bytes"
        raise ValueError(f"{os.fspath(path)} is {kind}")
    return found


def read_file(
    path: Path, *, image: bool, audio: bool, embedded: bool, as_text: bool, max_bytes: int | None = None
) -> PromptFile:
    """Read a file in the richest form that the reader of the prompt takes; a folder or a large file becomes a link.

    Raises `OSError` if it cannot be read, and `ValueError` for what is neither a folder nor a regular file.
    """
    return _read(path, _Accepted(image, audio, embedded, as_text), max_bytes)


def _read(path: Path, accepted: _Accepted, max_bytes: int | None) -> PromptFile:
    """Read as much as decides on the form; `max_bytes` replaces both default limits."""
    if max_bytes is not None and max_bytes < 0:
        raise ValueError(f"max_bytes={max_bytes}: it may not be negative")
    whole = absolute(path)
    described = describe_file(whole)
    if described.mime_type == FOLDER:
        return described
    media = _media_form(described.mime_type, accepted)
    can_be_text = media is None and may_be_text(described.mime_type)
    if media is None and not (accepted.embedded or (accepted.text and can_be_text)):
        _check_readable(whole)
        return described
    limits = (MAX_TEXT, MAX_BINARY) if max_bytes is None else (max_bytes, max_bytes)
    data, size = _content(whole, max(limits))
    return _with_content(described, accepted, media, data, size, limits)


def _with_content(
    described: PromptFile,
    accepted: _Accepted,
    media: Form | None,
    data: bytes,
    size: int,
    limits: tuple[int, int],
) -> PromptFile:
    """Choose the form of a file by what was read of it, at most one byte more than the limit."""
    uri, name, mime_type = described.uri, described.name, described.mime_type
    text = _text_of(data) if media is None and may_be_text(mime_type) else None
    is_text = text is not None
    kind = mime_type or (TEXT if is_text else BINARY)
    if len(data) > limits[0 if is_text else 1]:
        return PromptFile(uri=uri, name=name, mime_type=kind if is_text else mime_type, size=size)
    form: Form = media or "link"
    if text is not None and (accepted.embedded or accepted.text):
        form = "embedded_text" if accepted.embedded else "text"
    elif media is None and accepted.embedded:
        form = "embedded_blob"
    encoded = base64_text(data) if form in ("image", "audio", "embedded_blob") else ""
    return PromptFile(
        uri=uri, name=name, mime_type=kind, size=size, form=form, text=text or "", base64=encoded
    )


def _media_form(mime_type: str | None, accepted: _Accepted) -> Form | None:
    """Return the form of an image or sound that the reader takes as such; a drawing in SVG is text."""
    if mime_type is None or may_be_text(mime_type):
        return None
    if accepted.image and mime_type.startswith("image/"):
        return "image"
    return "audio" if accepted.audio and mime_type.startswith("audio/") else None


def _text_of(data: bytes) -> str | None:
    """Return UTF-8 as text; None for anything else, and for text with NUL, which is UTF-8 by chance."""
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _content(path: str, limit: int) -> tuple[bytes, int]:
    """Read a regular file up to one byte more than the limit, and return its size."""
    fd = os.open(path, os.O_RDONLY | _FLAGS)
    with open(fd, "rb") as file:
        status = os.fstat(fd)
        _check_regular(path, status)
        data = file.read(limit + 1)
    return data, max(status.st_size, len(data))


def _check_readable(path: str) -> None:
    if is_windows_path(path) and os.name != "nt":
        raise FileNotFoundError(path)
    _check_regular(path, os.stat(path))


def _check_regular(path: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} is neither a folder nor a regular file")


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:  # the link may be for another machine
        return None
