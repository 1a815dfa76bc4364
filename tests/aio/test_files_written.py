"""How a file is written: at once, in place where that is impossible, with its byte order mark and line ends."""

import errno
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio

from tests.aio.files import PATHS, busy, needs_root, write
from tests.aio.support import run
from tests.support import ROOT


@pytest.fixture
def root(public_root: Path) -> Path:
    return public_root


@pytest.mark.parametrize("name", ["a.txt", "fresh"])
def test_what_was_written_is_on_the_disk_before_it_is_seen(
    root: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    syncing, replacing = os.fsync, os.replace

    def synced(number: int) -> None:
        found = os.fstat(number)
        is_whole = stat.S_ISREG(found.st_mode) and found.st_size == 3
        done.append("folder" if stat.S_ISDIR(found.st_mode) else "file" if is_whole else "part")
        syncing(number)

    def replaced(*choices: Any, **more: Any) -> None:
        done.append("replace")
        replacing(*choices, **more)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    write(root, name=name)
    assert done == ["file", "replace", "folder"][: 2 if os.name == "nt" else 3]


@pytest.mark.parametrize("code", [errno.EBUSY, errno.EXDEV, errno.EACCES, errno.EPERM, errno.EROFS])
@pytest.mark.parametrize("content", ["new", "", "longer than it was"])
def test_a_file_that_cannot_be_replaced_is_written_in_place(
    root: Path, code: int, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inode = (root / "a.txt").stat().st_ino

    def refused(*_: Any, **__: Any) -> None:
        raise OSError(code, "no")

    monkeypatch.setattr(os, "replace", refused)
    write(root, content)
    assert (root / "a.txt").read_text(encoding="utf-8") == content
    assert (root / "a.txt").stat().st_ino == inode


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("where", ["replace", "write", "fsync"])
def test_the_old_content_stays_where_the_disk_fails(
    root: Path, code: int, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        raise OSError(code, "It failed")

    if where != "replace":  # in place
        monkeypatch.setattr(os, "replace", busy)
    calls = {"write": 1, "fsync": 0, "replace": 1}[where]  # the first fsync is that of the other file
    real: Any = getattr(os, where)

    def once(*choices: Any, **more: Any) -> Any:
        nonlocal calls
        calls += 1
        return failing() if calls == 2 else real(*choices, **more)

    monkeypatch.setattr(os, where, once)
    with pytest.raises(acp.InternalError):
        run(aio.Files(root).write(str(root / "a.txt"), "new content"))
    assert (root / "a.txt").read_text(encoding="utf-8") == "old"
    assert {p.name for p in root.iterdir()} == {"a.txt"}


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system reserves no room")
def test_room_is_made_sure_of_before_a_file_is_written_over(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int, start: int, size: int) -> None:
        os.ftruncate(number, start + size // 2)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", busy)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(acp.InternalError):
        run(aio.Files(root).write(str(root / "a.txt"), "x" * 1000))
    assert (root / "a.txt").read_text(encoding="utf-8") == "old"
    write(root, "n")  # a shorter one needs none
    assert (root / "a.txt").read_text(encoding="utf-8") == "n"


def test_another_file_is_not_written_in_place_of_the_one_that_was_looked_at(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = root / "other"
    other.write_text("other", encoding="utf-8")

    def swapped(*_: Any, **__: Any) -> None:
        (root / "a.txt").unlink()
        os.link(other, root / "a.txt")
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(os, "replace", swapped)
    with pytest.raises(acp.InvalidParams, match="changed"):
        run(aio.Files(root).write(str(root / "a.txt"), "x"))
    assert other.read_text(encoding="utf-8") == "other"


@needs_root
@pytest.mark.slow
def test_a_file_with_another_one_mounted_over_it(root: Path) -> None:
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("nothing is mounted here")
    (root / "outer").write_text("outer", encoding="utf-8")
    code = f"""
import asyncio, subprocess
from acp_msgspec import aio
subprocess.run(["mount", "--bind", "{root}/outer", "{root}/a.txt"], check=True)
asyncio.run(aio.Files("{root}").write("{root}/a.txt", "mine"))
"""
    command = [unshare, "--mount", sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generated")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip(f"nothing may be mounted here: {done.stderr}")
    assert not done.stderr
    assert (root / "outer").read_text(encoding="utf-8") == "mine"
    assert (root / "a.txt").read_text(encoding="utf-8") == "old"
    assert {p.name for p in root.iterdir()} == {"a.txt", "outer"}


def test_a_hard_link_is_parted_unless_the_file_is_written_in_place(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = root.parent / f"{root.name}-other"
    try:
        os.link(root / "a.txt", other)
        write(root)
        assert other.read_text(encoding="utf-8") == "old"
    finally:
        other.unlink(missing_ok=True)


MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("before", "shown", "written", "after"),
    [
        (MARK + b"one\ntwo\n", "one\ntwo\n", "one\n", MARK + b"one\n"),
        (MARK + b"one\r\ntwo\r\n", "one\r\ntwo\r\n", "one\n", MARK + b"one\r\n"),
        (MARK, "", "x", MARK + b"x"),
        (MARK + b"x", "x", "", MARK),
        (MARK + b"x", "x", "\ufeffy", MARK + b"y"),
        (MARK + MARK + b"x", "\ufeffx", "y", MARK + b"y"),
        (b"x" + MARK, "x\ufeff", "y", b"y"),
        (b"x", "x", "\ufeffy", MARK + b"y"),
        (b"", "", "y", b"y"),
        (b"a\r\n" * 50_000, "a\r\n" * 50_000, "b\n", b"b\r\n"),
        (b"a" * 65535 + b"\r\n" + b"b\r\n", "a" * 65535 + "\r\nb\r\n", "b\n", b"b\r\n"),
        (b"a" * 65535 + b"\r\n" + b"b\n", "a" * 65535 + "\r\nb\n", "b\n", b"b\n"),
        (b"a" * 65536 + b"\n" + b"b\r\n", "a" * 65536 + "\nb\r\n", "b\n", b"b\n"),
    ],
)
def test_a_byte_order_mark_stays_and_is_not_shown(
    root: Path, before: bytes, shown: str, written: str, after: bytes
) -> None:
    file = root / "a.txt"
    file.write_bytes(before)
    files = aio.Files(root)
    assert run(files.read(str(file))) == shown
    assert run(files.read(str(file), line=1)) == shown
    assert run(files.read(str(file), line=1, limit=1)) == shown.split("\n")[0] + ("\n" if "\n" in shown else "")
    write(root, written)
    assert file.read_bytes() == after


def test_a_mark_stays_whatever_is_wanted_of_line_ends(root: Path) -> None:
    file = root / "a.txt"
    file.write_bytes(MARK + b"a\r\n")
    run(aio.Files(root, keep_line_ends=False, max_bytes=4).write(str(file), "b\n"))
    assert file.read_bytes() == MARK + b"b\n"


@pytest.mark.parametrize("text", ["x", "\N{GRINNING FACE}"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_are_refused(root: Path, text: str, encoding: str) -> None:
    (root / "a.txt").write_bytes(text.encode(encoding))
    with pytest.raises(acp.InvalidParams):
        run(aio.Files(root).read(str(root / "a.txt")))


@pytest.mark.parametrize(
    "name", ["new/", "new//", "a.txt/", "a.txt/.", "a.txt//", "sub/new/", "sub/.", "sub/", "a.txt/.."]
)
def test_what_names_a_folder_is_refused(root: Path, name: str) -> None:
    (root / "sub").mkdir()
    files = aio.Files(root, missing="empty")
    for work in (files.read(f"{root}/{name}"), files.write(f"{root}/{name}", "x")):
        with pytest.raises(acp.InvalidParams) as caught:
            run(work)
        assert "folder" in caught.value.data["detail"]
    assert {p.relative_to(root).as_posix() for p in root.rglob("*")} == {"a.txt", "sub"}
    assert (root / "a.txt").read_text(encoding="utf-8") == "old"


def test_a_link_that_names_a_folder_is_refused(root: Path) -> None:
    if not PATHS.CAN_OPEN_RELATIVE:
        return
    for number, target in enumerate(("a.txt/", "a.txt/.", f"{root}/a.txt/", "missing/")):
        link = root / f"link{number}"
        link.symlink_to(target)
        with pytest.raises(acp.InvalidParams):
            run(aio.Files(root).read(str(link)))
        with pytest.raises(acp.InvalidParams):
            run(aio.Files(root).write(str(link), "x"))
    assert (root / "a.txt").read_text(encoding="utf-8") == "old"
    (root / "sub").mkdir()
    (root / "sub" / "b").write_text("b", encoding="utf-8")
    (root / "way").symlink_to("sub/")
    assert run(aio.Files(root).read(f"{root}/way/b")) == "b"


def test_missing_files_may_be_empty(root: Path) -> None:
    files = aio.Files(root, missing="empty")
    (root / "dangling").symlink_to("nothing")
    for name in ("missing", "missing/deep", "a.txt/below", "dangling"):
        assert run(files.read(f"{root}/{name}")) == ""
        assert run(files.read(f"{root}/{name}", line=3, limit=1)) == ""
        with pytest.raises(acp.ResourceNotFound):
            run(aio.Files(root).read(f"{root}/{name}"))
    (root / "sub").mkdir()
    (root / "out").symlink_to("../nothing")
    for name in ("sub", "out", "../nothing", "missing/"):
        with pytest.raises(acp.InvalidParams):
            run(files.read(f"{root}/{name}"))
    with pytest.raises(acp.InvalidParams):
        run(files.read(f"{root}/missing", line=0))
    wrong: Any = "ignore"
    with pytest.raises(ValueError, match="use one of error, empty"):
        aio.Files(root, missing=wrong)


def test_a_system_that_can_do_less(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without descriptors of folders, modes of descriptors, attributes and reserved room."""
    for name in ("fchmod", "fchown", "listxattr", "getxattr", "setxattr", "removexattr", "posix_fallocate"):
        monkeypatch.delattr(os, name, raising=False)
    monkeypatch.setattr(PATHS, "CAN_OPEN_RELATIVE", False)
    write(root)
    assert (root / "a.txt").read_text(encoding="utf-8") == "new"
    write(root, "fresh", name="fresh")
    monkeypatch.setattr(os, "replace", busy)
    write(root, "longer than before")
    assert (root / "a.txt").read_text(encoding="utf-8") == "longer than before"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files cannot be listed")
def test_a_file_is_closed_when_it_is_replaced(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows refuses to replace an open file."""
    replacing = os.replace

    def replaced(*choices: Any, **more: Any) -> None:
        links = [number.readlink() for number in Path("/proc/self/fd").iterdir() if number.is_symlink()]
        assert not [link for link in links if link.parent == root and link.suffix in (".txt", ".tmp")]
        replacing(*choices, **more)

    monkeypatch.setattr(os, "replace", replaced)
    write(root)
    assert (root / "a.txt").read_text(encoding="utf-8") == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def swapped(*_: Any, **__: Any) -> None:
        (root / "a.txt").unlink()
        os.mkfifo(root / "a.txt")
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(os, "replace", swapped)
    with pytest.raises(acp.InvalidParams):
        run(aio.Files(root).write(str(root / "a.txt"), "x"), seconds=10)
