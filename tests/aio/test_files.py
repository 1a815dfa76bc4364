"""Files served from a folder: lines, errors, and no way out."""

import asyncio
import os
import stat
import time
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1
from hypothesis import given
from hypothesis import strategies as st

from tests.aio.files import PATHS, SESSION, read, refused, refused_write
from tests.aio.support import run


@pytest.mark.parametrize(
    ("line", "limit", "text"),
    [
        (None, None, "one\ntwo\r\nthree\n\nfive"),
        (1, None, "one\ntwo\r\nthree\n\nfive"),
        (1, 1, "one\n"),
        (None, 2, "one\ntwo\r\n"),
        (2, 1, "two\r\n"),
        (4, 1, "\n"),
        (5, 1, "five"),
        (5, None, "five"),
        (4, 100, "\nfive"),
        (6, None, ""),
        (1000000, 1, ""),
        (1, 0, ""),
        (2, 4294967295, "two\r\nthree\n\nfive"),
    ],
)
def test_lines(root: Path, line: int | None, limit: int | None, text: str) -> None:
    assert read(aio.Files(root), root / "a.txt", line, limit) == text


@given(st.text("ab\r\n\u2028é"), st.integers(1, 6), st.none() | st.integers(0, 6))
def test_lines_are_those_that_end_with_a_line_feed(text: str, line: int, limit: int | None) -> None:
    lines: Any = __import__("acp_msgspec.aio._services.files", fromlist=["x"])
    parts = [p + "\n" for p in text.split("\n")[:-1]] + [text.split("\n")[-1]]
    end = None if limit is None else line - 1 + limit
    assert lines._lines(text, line, limit) == "".join(parts[line - 1 : end])


@given(st.text("a\n\u20ac", max_size=80), st.integers(1, 90), st.none() | st.integers(0, 90), st.integers(1, 9))
def test_lines_of_a_text_in_several_chunks(text: str, line: int, limit: int | None, chunk: int) -> None:
    lines: Any = __import__("acp_msgspec.aio._services.files", fromlist=["x"])
    parts = text.splitlines(keepends=True)
    end = None if limit is None else line - 1 + limit
    chunks = (text[n : n + chunk] for n in range(0, len(text), chunk))
    assert "".join(lines._cut(chunks, line, limit)) == "".join(parts[line - 1 : end])


@given(st.text("a\n\u20ac\ufeff\U0001f600", max_size=20), st.binary(max_size=4), st.integers(1, 9))
def test_bytes_in_several_chunks_are_decoded_as_in_one(text: str, more: bytes, chunk: int) -> None:
    files: Any = __import__("acp_msgspec.aio._services.files", fromlist=["x"])
    data = text.encode() + more.replace(b"\0", b"")
    chunks = (data[n : n + chunk] for n in range(0, len(data), chunk))
    try:
        wanted = data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as why:
        with pytest.raises(files.Unfit, match=f"it is no UTF-8 text, from byte {why.start} on"):
            list(files._decoded(chunks))
    else:
        assert "".join(files._decoded(chunks)) == wanted


@pytest.mark.parametrize("line", [1, 2**24, 2**24 + 1, 2**24 + 2, 2**32 - 1])
@pytest.mark.parametrize("limit", [None, 1, 2**32 - 1])
def test_any_number_of_a_line_is_cheap(line: int, limit: int | None) -> None:
    lines: Any = __import__("acp_msgspec.aio._services.files", fromlist=["x"])
    text = "\n" * 2**24
    start = time.process_time()
    found = lines._lines(text, line, limit)
    assert time.process_time() - start < 1  # line by line it took four times as long
    assert len(found) == max(0, min(limit or 2**24, 2**24 - line + 1))


def test_what_is_no_text_is_refused(root: Path) -> None:
    files = aio.Files(root, max_bytes=10)
    (root / "latin").write_bytes(b"caf\xe9 x")
    (root / "binary").write_bytes(b"a\0b")
    (root / "full").write_bytes(b"x" * 10)
    (root / "long").write_bytes(b"x" * 11)
    assert refused(files, root / "latin") == "it is no UTF-8 text, from byte 3 on"
    assert refused(files, root / "binary") == "it is a binary file"
    assert refused(files, root / "long") == "it is longer than 10 bytes"
    assert refused(files, root / "long", line=1, limit=1) == "it is longer than 10 bytes"
    assert read(files, root / "full") == "x" * 10
    assert refused(files, root / "sub") == "it is a folder"
    assert refused(files, root) == "it is a folder"
    assert refused(files, root / "full", line=0) == "lines count from 1"
    for path in (root / "missing", root / "missing" / "deep", root / "a.txt" / "below"):
        with pytest.raises(acp.ResourceNotFound) as caught:
            read(files, path)
        assert caught.value.code == -32002
        assert caught.value.data == {"path": str(path)}


def test_paths_that_are_none(root: Path) -> None:
    files = aio.Files(root)
    for path in ("a.txt", "", ".", "./a.txt", "~/a.txt"):
        assert refused(files, path) == "the path is not absolute"
    assert refused(files, f"{root}/a\0b") == "a path has no NUL in it"
    assert refused(files, root / ("x" * 300)) == "the name is too long, or there are too many folders"
    assert "characters" in refused(files, f"{root}/\ud800")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_pipes_and_devices_are_not_waited_for(root: Path) -> None:
    files = aio.Files(root)
    os.mkfifo(root / "pipe")
    assert refused(files, root / "pipe") == "it is no ordinary file"
    assert refused_write(files, root / "pipe") == "it is no ordinary file"
    slash = aio.Files("/")
    assert refused(slash, "/dev/zero") == "it is no ordinary file"
    assert refused(slash, "/dev/null") == "it is no ordinary file"
    assert refused_write(slash, "/dev/null") == "it is no ordinary file"


def test_writing(root: Path) -> None:
    files = aio.Files(root)
    run(files.write(str(root / "new" / "deep" / "file.txt"), "héllo\n"))
    assert (root / "new" / "deep" / "file.txt").read_bytes() == "héllo\n".encode()
    run(files.write(str(root / "a.txt"), ""))
    assert (root / "a.txt").read_bytes() == b""
    assert refused_write(files, root / "sub") == "it is a folder"
    assert "characters" in refused_write(files, root / "a.txt", "\ud800")
    assert (root / "a.txt").read_bytes() == b""
    with pytest.raises(acp.RequestError):
        run(files.write(str(root / "a.txt" / "below"), "x"))
    assert {p.name for p in root.iterdir()} == {"a.txt", "sub", "new"}


def test_writing_keeps_the_mode_and_the_ends_of_lines(root: Path) -> None:
    files = aio.Files(root)
    script, dos = root / "script", root / "dos"
    script.write_text("x", encoding="utf-8")
    script.chmod(0o751)
    run(files.write(str(script), "y"))
    assert stat.S_IMODE(script.stat().st_mode) == 0o751
    dos.write_bytes(b"a\r\nb\r\n")
    run(files.write(str(dos), "c\nd\n"))
    assert dos.read_bytes() == b"c\r\nd\r\n"
    run(files.write(str(dos), "e\r\nf\n"))  # whoever writes both means it
    assert dos.read_bytes() == b"e\r\nf\n"
    run(files.write(str(dos), "g\n"))
    assert dos.read_bytes() == b"g\n"
    dos.write_bytes(b"a\r\n")
    run(aio.Files(root, keep_line_ends=False).write(str(dos), "b\n"))
    assert dos.read_bytes() == b"b\n"


def test_a_file_is_never_half_written(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = aio.Files(root)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(PATHS.Place, "replace_by", full)
    with pytest.raises(acp.InternalError) as caught:
        run(files.write(str(root / "a.txt"), "new"))
    assert caught.value.data == {"path": str(root / "a.txt"), "detail": "no space left on device"}
    assert (root / "a.txt").read_bytes().startswith(b"one")
    assert {p.name for p in root.iterdir()} == {"a.txt", "sub"}


def test_read_only(root: Path) -> None:
    files = aio.Files(root, read_only=True)
    assert refused_write(files, root / "new" / "file") == "files are read-only here"
    assert not (root / "new").exists()
    assert read(files, root / "sub" / "b.txt") == "b"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may do everything")
def test_modes_are_respected(root: Path) -> None:
    (root / "a.txt").chmod(0o444)
    assert refused_write(aio.Files(root), root / "a.txt") == "permission denied"


def test_a_root_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError):
        aio.Files(tmp_path / "missing")


def test_no_descriptor_stays_open(linked: Path) -> None:
    files = aio.Files(linked)
    names = ["a.txt", "sub/b.txt", "missing", "sub", "up", "folder/secret", "sub/far", "new/deep/file"]

    async def turn() -> None:
        before = len(list(Path("/proc/self/fd").iterdir()))
        for name in names * 3:
            for work in (files.read(str(linked / name)), files.write(str(linked / name), "x")):
                await asyncio.gather(work, return_exceptions=True)
        assert len(list(Path("/proc/self/fd").iterdir())) == before

    if Path("/proc/self/fd").is_dir():
        run(turn())


def test_a_client_serves_files(root: Path) -> None:
    class Client(aio.ServesFiles):
        def __init__(self, files: aio.Files) -> None:
            self.files = files

    async def turn() -> None:
        for read_only in (False, True):
            here, there = aio.memory_pair()
            files = aio.Files(root, read_only=read_only)
            async with (
                aio.AgentConnection(there, aio.Agent()) as agent,
                aio.ClientConnection(here, Client(files)) as client,
            ):
                await client.negotiate()
                assert agent.handshake is not None
                offers = agent.handshake.request.client_capabilities.fs
                assert offers == v1.FileSystemCapabilities(read_text_file=True, write_text_file=not read_only)
                asked = v1.ReadTextFileRequest(session_id=SESSION, path=str(root / "a.txt"), line=2, limit=1)
                assert (await agent.fs_read_text_file(asked)).content == "two\r\n"
                write = v1.WriteTextFileRequest(session_id=SESSION, path=str(root / "new"), content="x")
                if read_only:
                    with pytest.raises(aio.NotAdvertised):
                        await agent.fs_write_text_file(write)
                    with pytest.raises(acp.InvalidParams):
                        await agent.fs_write_text_file(write, force=True)
                else:
                    await agent.fs_write_text_file(write)
                    assert (root / "new").read_text(encoding="utf-8") == "x"
                missing = v1.ReadTextFileRequest(session_id=SESSION, path=str(root / "missing"))
                with pytest.raises(acp.ResourceNotFound):
                    await agent.fs_read_text_file(missing)

    run(turn())


def test_a_way_through_too_many_folders_is_refused(root: Path) -> None:
    """Each folder on the way is held open, and there are only so many descriptors."""
    if not PATHS.CAN_WALK:
        return
    long = "/".join("d" * 1000)
    assert "too many folders" in refused_write(aio.Files(root), f"{root}/{long}")
    assert not (root / "d").exists()
    assert "too many folders" in refused(aio.Files(root), f"{root}/{long}")
    (root / "link").symlink_to(long)
    assert "too many folders" in refused(aio.Files(root), root / "link")


def test_a_file_that_an_agent_wrote_runs_with_nobody_elses_rights(root: Path) -> None:
    script = root / "a.txt"
    script.chmod(0o4755)
    run(aio.Files(root).write(str(script), "mine"))
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
