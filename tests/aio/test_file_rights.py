"""Who may do what with a file that is written: owner, group, mode, attributes, access lists."""

import errno
import os
import stat
import struct
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio

from tests.aio.files import busy, needs_root, write
from tests.aio.support import run

NOBODY = 65534
needs_attributes = pytest.mark.skipif(not hasattr(os, "setxattr"), reason="the system has no extended attributes")


@pytest.fixture
def root(public_root: Path) -> Path:
    return public_root


@contextmanager
def nobody() -> Generator[None]:
    """Be somebody without rights."""
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def access_list(user: int, permissions: int) -> bytes:
    entries = ((1, 6, -1), (2, permissions, user), (4, 4, -1), (0x10, 7, -1), (0x20, 0, -1))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


def set_access_list(path: Path, kind: str, value: bytes) -> None:
    try:
        os.setxattr(path, f"system.posix_acl_{kind}", value)
    except OSError as why:
        pytest.skip(f"the file system has no access lists: {why}")


@needs_root
def test_owner_and_group_stay(root: Path) -> None:
    file = root / "a.txt"
    os.chown(file, NOBODY, 12345)
    file.chmod(0o640)
    inode = file.stat().st_ino
    write(root)
    found = file.stat()
    assert (found.st_uid, found.st_gid, mode(file)) == (NOBODY, 12345, 0o640)
    assert found.st_ino != inode  # in one step
    assert file.read_text(encoding="utf-8") == "new"


@needs_root
def test_a_group_stays_where_the_folder_gives_another_one(root: Path) -> None:
    os.chown(root, 0, 12345)
    root.chmod(0o2755)
    write(root)
    assert (root / "a.txt").stat().st_gid == 0
    write(root, name="fresh")
    assert (root / "fresh").stat().st_gid == 12345


@needs_root
def test_an_owner_that_cannot_be_kept_is_kept_in_place(root: Path) -> None:
    """Somebody writes a file of another one by the right of all."""
    file = root / "a.txt"
    file.chmod(0o666)
    root.chmod(0o777)
    inode = file.stat().st_ino
    with nobody():
        write(root)
    found = file.stat()
    assert (found.st_uid, found.st_gid, found.st_ino, mode(file)) == (0, 0, inode, 0o666)
    assert file.read_text(encoding="utf-8") == "new"


@needs_root
@pytest.mark.parametrize("content", ["new", "", "much longer than before" * 1000])
def test_a_folder_that_takes_no_files(root: Path, content: str) -> None:
    file = root / "a.txt"
    os.chown(file, NOBODY, NOBODY)
    with nobody():
        write(root, content)
        assert file.read_text(encoding="utf-8") == content
        with pytest.raises(acp.InvalidParams) as caught:
            run(aio.Files(root).write(str(root / "another"), "x"))
        assert caught.value.data["detail"] == "permission denied"
    assert file.stat().st_uid == NOBODY


@needs_root
def test_a_file_that_may_not_be_written_is_not_replaced(root: Path) -> None:
    root.chmod(0o777)
    with nobody():
        with pytest.raises(acp.InvalidParams):
            run(aio.Files(root).write(str(root / "a.txt"), "x"))
        (root / "b.txt").write_text("mine", encoding="utf-8")
        (root / "b.txt").chmod(0o200)
        write(root, name="b.txt")
    assert mode(root / "b.txt") == 0o200
    assert (root / "b.txt").read_text(encoding="utf-8") == "new"


@needs_attributes
def test_extended_attributes_stay(root: Path) -> None:
    file = root / "a.txt"
    try:
        os.setxattr(file, "user.mark", b"\0\xff")
    except OSError as why:
        pytest.skip(f"the file system has none: {why}")
    inode = file.stat().st_ino
    write(root)
    assert os.getxattr(file, "user.mark") == b"\0\xff"
    assert file.stat().st_ino != inode


@needs_attributes
def test_attributes_that_cannot_be_kept_are_kept_in_place(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = root / "a.txt"
    try:
        os.setxattr(file, "user.mark", b"1")
    except OSError as why:
        pytest.skip(f"the file system has none: {why}")
    inode = file.stat().st_ino

    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "setxattr", refused)
    write(root)
    assert os.getxattr(file, "user.mark") == b"1"
    assert file.stat().st_ino == inode
    assert file.read_text(encoding="utf-8") == "new"


@needs_attributes
def test_access_lists_stay(root: Path) -> None:
    file = root / "a.txt"
    wanted = access_list(4321, 6)
    set_access_list(file, "access", wanted)
    before = mode(file)
    write(root)
    assert os.getxattr(file, "system.posix_acl_access") == wanted
    assert mode(file) == before


@needs_attributes
def test_nobody_gets_a_right_from_the_folder(root: Path) -> None:
    file = root / "a.txt"
    file.chmod(0o660)
    set_access_list(root, "default", access_list(4321, 6))
    write(root)
    assert "system.posix_acl_access" not in os.listxattr(file)
    assert mode(file) == 0o660
    write(root, name="fresh")
    assert "system.posix_acl_access" in os.listxattr(root / "fresh")


@needs_root
@needs_attributes
@pytest.mark.parametrize("in_place", [False, True])
def test_a_program_keeps_no_rights_of_others(root: Path, in_place: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    file = root / "a.txt"
    file.chmod(0o6755)
    try:
        os.setxattr(file, "security.capability", bytes.fromhex("0100000200040000000000000000000000000000"))
    except OSError as why:
        pytest.skip(f"programs have no rights here: {why}")
    if in_place:
        monkeypatch.setattr(os, "replace", busy)
    write(root)
    assert mode(file) == 0o755
    assert "security.capability" not in os.listxattr(file)


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
@pytest.mark.parametrize("mode_wanted", [0o600, 0o640, 0o644, 0o400 | 0o200, 0o777])
def test_nobody_reads_a_private_file_in_between(root: Path, mode_wanted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    file = root / "a.txt"
    file.chmod(mode_wanted)
    seen: list[int] = []
    opening, writing = os.open, os.fsync

    def look() -> None:
        seen.extend(mode(p) for p in root.iterdir() if p.name.startswith(".acp-"))

    def opened(*choices: Any, **more: Any) -> int:
        number = opening(*choices, **more)
        look()
        return number

    def synced(number: int) -> None:
        look()
        writing(number)

    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(os, "fsync", synced)
    before = os.umask(0)
    try:
        write(root)
    finally:
        os.umask(before)
    assert seen
    assert all(not m & ~mode_wanted for m in seen)
    assert seen[0] & 0o077 == 0
    assert mode(file) == mode_wanted


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_new_files_get_the_usual_mode(root: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write(root, name="fresh")
    finally:
        os.umask(before)
    assert mode(root / "fresh") == 0o666 & ~mask
