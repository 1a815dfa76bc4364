"""Paths and their `file:` addresses, against `urllib`, and for the systems that this is not."""

import importlib
import os
from pathlib import Path, PureWindowsPath
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import pytest
from acp_msgspec import v1
from hypothesis import given
from hypothesis import strategies as st

ADDRESSES: Any = importlib.import_module("acp_msgspec._build.addresses")
TYPES: Any = importlib.import_module("acp_msgspec._build.media_types")
NAMES = st.text(st.characters(exclude_characters='/\\\0:?*<>|"', exclude_categories=["Cs"]), min_size=1).filter(
    lambda name: name not in (".", "..")
)


@given(st.lists(NAMES))
def test_posix_paths(names: list[str]) -> None:
    path = "/" + "/".join(names)
    assert ADDRESSES.file_uri(path) == "file://" + quote(path)


@given(st.sampled_from(["C:\\", "z:\\", "\\\\server\\share\\"]), st.lists(NAMES))
def test_windows_paths(start: str, names: list[str]) -> None:
    path = PureWindowsPath(start + "\\".join(names)).as_posix()
    wanted = f"file:///{path[:2]}{quote(path[2:])}" if path[1] == ":" else f"file:{quote(path)}"
    assert ADDRESSES.file_uri(path.replace("/", "\\")) == wanted


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/a b/ü.txt", "file:///a%20b/%C3%BC.txt"),
        ("/100%/#1?x", "file:///100%25/%231%3Fx"),
        ("/", "file:///"),
        ("//./a", "file:////a"),
        ("//?/a", "file:////%3F/a"),
        ("C:\\a b\\ü", "file:///C:/a%20b/%C3%BC"),
        ("C:/a/b", "file:///C:/a/b"),
        ("c:\\a\\..\\b", "file:///c:/b"),
        ("\\\\server\\share\\a b", "file://server/share/a%20b"),
        ("\\\\?\\C:\\long name", "file:///C:/long%20name"),
        ("\\\\?\\UNC\\server\\share\\x", "file://server/share/x"),
    ],
)
def test_addresses(path: str, uri: str) -> None:
    assert ADDRESSES.file_uri(path) == uri
    assert v1.link(path).uri == uri


@pytest.mark.skipif(os.name == "nt", reason="names are bytes on POSIX alone")
def test_a_name_that_is_not_unicode_keeps_its_bytes() -> None:
    link = v1.link(os.fsdecode(b"/tmp/\xff\xfe.txt"))
    assert unquote_to_bytes(link.uri.removeprefix("file://")) == b"/tmp/\xff\xfe.txt"
    assert link.name == "\ufffd\ufffd.txt"


def test_relative_paths_begin_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real" / "inner")
    (tmp_path / "real" / "a.txt").write_text("a", encoding="utf-8")
    assert v1.link("real/a.txt").uri == (tmp_path / "real" / "a.txt").as_uri()
    # Behind a link, `..` leads to the folder of its target.
    assert v1.link("link/../a.txt").uri == (tmp_path / "real" / "a.txt").resolve().as_uri()
    assert v1.link("link/x").uri == (tmp_path / "link" / "x").as_uri()


@pytest.mark.parametrize("name", ["link", "embedded", "file_block", "diff"])
def test_a_path_with_nul(name: str) -> None:
    more = (None, "") if name == "diff" else ()
    with pytest.raises(ValueError, match="The path contains a NUL character"):
        getattr(v1, name)("/a\0b", *more)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.PNG", "image/png"),
        ("photo.jpeg", "image/jpeg"),
        ("a.tar.gz", "application/gzip"),
        ("app.ts", "text/x-typescript"),
        ("README.md", "text/markdown"),
        ("pyproject.toml", "application/toml"),
        (".gitignore", "text/plain"),
        ("C:\\a.b\\c.wav", "audio/wav"),
        ("Makefile", None),
        ("a.b/Makefile", None),
        ("a.", None),
        ("", None),
        ("x.nobody-knows", None),
    ],
)
def test_media_types(name: str, kind: str | None) -> None:
    assert TYPES.media_type_of(name) == kind


def test_no_suffix_has_two_types() -> None:
    suffixes = [suffix for line in TYPES._TABLE.strip().splitlines() for suffix in line.split()[1:]]
    assert len(suffixes) == len(set(suffixes)) > 150
