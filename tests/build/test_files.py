"""Files as blocks of a prompt: each form, each capability, each limit."""

import base64
import importlib
import os
from itertools import product
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from hypothesis import given
from hypothesis import strategies as st

FILES: Any = importlib.import_module("acp_msgspec._build.files")
LABELS = ("v1", "v1_unstable", "v2", "v2_unstable")
FLAGS = ("image", "audio", "embedded_context")
CONTENT = {
    "a.png": b"\x89PNG\r\n\x1a\n\0",
    "a.svg": b"<svg/>",
    "a.wav": b"RIFF\0\0",
    "a.py": "print('ä')\r\n".encode(),
    "a.pdf": b"%PDF plain",
    "bare": "über".encode(),
    "latin.txt": b"\xfcber",
    "raw": b"\0\1\2",
    "utf16.txt": "text".encode("utf-16"),
    "empty.txt": b"",
}
RICHEST = {
    "a.png": "image",
    "a.svg": "text",
    "a.wav": "audio",
    "a.py": "text",
    "a.pdf": "blob",
    "bare": "text",
    "latin.txt": "blob",
    "raw": "blob",
    "utf16.txt": "blob",
    "empty.txt": "text",
}
"""The form of each file if an agent takes everything."""
NEEDS = {"image": "image", "audio": "audio"}


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files with ü")
    for name, data in CONTENT.items():
        (folder / name).write_bytes(data)
    (folder / "inner").mkdir()
    return folder


def _module(label: str) -> Any:
    return importlib.import_module(f"acp_msgspec.{label}")


def _capabilities(module: Any, taken: set[str]) -> Any:
    return acp.convert(
        {
            key: True if module.__name__.partition(".")[2].startswith("v1") else {}
            for flag, key in zip(FLAGS, ("image", "audio", "embeddedContext"), strict=True)
            if flag in taken
        },
        type=module.PromptCapabilities,
    )


def _form(module: Any, block: Any) -> str:
    match block:
        case module.TextContent():
            return "as text"
        case module.ImageContent():
            return "image"
        case module.AudioContent():
            return "audio"
        case module.ResourceLink():
            return "link"
        case module.EmbeddedResource(resource=module.TextResourceContents()):
            return "text"
        case _:
            assert isinstance(block.resource, module.BlobResourceContents)
            return "blob"


def _wanted(name: str, taken: set[str], *, as_text: bool) -> str:
    richest = RICHEST[name]
    if NEEDS.get(richest) in taken:
        return richest
    if "embedded_context" in taken:
        return "text" if richest == "text" else "blob"
    return "as text" if as_text and richest == "text" else "link"


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("name", CONTENT)
def test_every_form(label: str, name: str, folder: Path) -> None:
    module, data, path = _module(label), CONTENT[name], folder / name
    for chosen in product([False, True], repeat=4):
        taken = {flag for flag, is_taken in zip(FLAGS, chosen, strict=False) if is_taken}
        block = module.file_block(path, _capabilities(module, taken), as_text=chosen[3])
        assert _form(module, block) == _wanted(name, taken, as_text=chosen[3]), (taken, chosen[3])
        acp.validate(block, type=module.ContentBlock)
        assert acp.decode_strict(acp.encode(block), type=module.ContentBlock) == block
        content = getattr(block, "resource", block)
        if (encoded := getattr(content, "data", getattr(content, "blob", None))) is not None:
            assert base64.b64decode(encoded, validate=True) == data
        if (text := getattr(content, "text", None)) is not None:
            assert text.encode() == data
        if hasattr(content, "uri"):
            assert content.uri == path.as_uri()
    assert _form(module, module.file_block(path)) == "link"


def test_what_a_link_says(folder: Path) -> None:
    v1 = _module("v1")
    link = v1.file_block(folder / "a.py")
    assert (link.name, link.mime_type, link.size) == ("a.py", "text/x-python", len(CONTENT["a.py"]))
    for make in (v1.link, v1.file_block):
        inner = make(folder / "inner")
        assert (inner.name, inner.mime_type, inner.size) == ("inner", "inode/directory", None)
    gone = v1.link(folder / "gone.md")
    assert (gone.name, gone.mime_type, gone.size) == ("gone.md", "text/markdown", None)
    assert v1.link("C:\\x\\a.md").name == "a.md"
    assert v1.link("/").name == "/"


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 20])
@pytest.mark.parametrize("name", ["a.txt", "a.bin", "a.png", "bare"])
def test_a_limit(size: int, name: str, tmp_path: Path) -> None:
    v1 = _module("v1")
    path = tmp_path / name
    path.write_bytes((b"\0" if name == "a.bin" else b"x") * size)
    everything = _capabilities(v1, {*FLAGS})
    block = v1.file_block(path, everything, max_bytes=10)
    assert isinstance(block, v1.ResourceLink) is (size > 10)
    if size > 10:
        assert block.size == size
        with pytest.raises(ValueError, match=rf"is too large: {size} bytes"):
            v1.embedded(path, max_bytes=10)
    elif name != "a.png":
        assert v1.embedded(path, max_bytes=10) == block


def test_the_default_limits_are_another_for_text(tmp_path: Path) -> None:
    v1 = _module("v1")
    everything = _capabilities(v1, {*FLAGS})
    for name, data, form in (
        ("a", b"x" * FILES.MAX_TEXT, "text"),
        ("b", b"x" * (FILES.MAX_TEXT + 1), "link"),
        ("c", b"x" * (FILES.MAX_TEXT - 1) + "ä".encode(), "link"),
        ("d", b"\0" * (FILES.MAX_TEXT + 1), "blob"),
        ("e.png", b"x" * FILES.MAX_BINARY, "image"),
        ("f.png", b"x" * (FILES.MAX_BINARY + 1), "link"),
        ("g", b"x" * FILES.MAX_BINARY + "ä".encode(), "link"),
    ):
        (tmp_path / name).write_bytes(data)
        assert _form(v1, v1.file_block(tmp_path / name, everything)) == form, name
    with pytest.raises(ValueError, match="max_bytes=-1: it may not be negative"):
        v1.file_block(tmp_path / "a", max_bytes=-1)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    v1 = _module("v1")
    everything = _capabilities(v1, {*FLAGS})
    (tmp_path / "plain").write_bytes(b"")
    for capabilities in (None, everything):
        with pytest.raises(FileNotFoundError):
            v1.file_block(tmp_path / "gone", capabilities)
        with pytest.raises(NotADirectoryError):
            v1.file_block(tmp_path / "plain" / "x", capabilities)
    with pytest.raises(FileNotFoundError):
        v1.embedded(tmp_path / "gone")
    with pytest.raises(ValueError, match="is a folder"):
        v1.embedded(tmp_path)
    with pytest.raises(FileNotFoundError):
        v1.file_block("C:\\gone.txt", everything)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    v1 = _module("v1")
    os.mkfifo(tmp_path / "pipe")
    for capabilities in (None, _capabilities(v1, {*FLAGS})):
        with pytest.raises(ValueError, match="is neither a folder nor a regular file"):
            v1.file_block(tmp_path / "pipe", capabilities)
    with pytest.raises(ValueError, match="is neither a folder nor a regular file"):
        v1.embedded(tmp_path / "pipe")
    assert v1.link(tmp_path / "pipe").size is None


@given(data=st.binary(max_size=64))
def test_bytes_come_back(data: bytes) -> None:
    for label in LABELS:
        module = _module(label)
        for block in (module.image(data, "image/png", uri="file:///a.png"), module.audio(data, "audio/wav")):
            acp.validate(block, type=module.ContentBlock)
            assert base64.b64decode(block.data, validate=True) == data


def test_text_is_exact() -> None:
    for label in LABELS:
        module = _module(label)
        for text in ("", "a\r\nb", "\ufeffx", " ü "):
            assert module.text(text) == module.TextContent(text=text)
