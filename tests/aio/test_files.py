"""Files served from a folder: lines, errors, and no way out."""

import asyncio
import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.aio.support import RawPeer, run

PATHS: Any = __import__("acp_msgspec.aio._services.paths", fromlist=["x"])
SECRET = "not for agents"
SESSION = v1.SessionId("s")


@pytest.fixture(params=["descended", "resolved"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a neighbour that nobody may see; with both ways to look files up."""
    monkeypatch.setattr(PATHS, "CAN_OPEN_RELATIVE", request.param == "descended" and PATHS.CAN_OPEN_RELATIVE)
    return made(tmp_path)


def made(folder: Path) -> Path:
    inside = folder / "root"
    (inside / "sub").mkdir(parents=True)
    (folder / "rootless").mkdir()
    for path in (folder / "secret", folder / "rootless" / "secret"):
        path.write_text(SECRET, encoding="utf-8")
    (inside / "a.txt").write_bytes(b"one\ntwo\r\nthree\n\nfive")
    (inside / "sub" / "b.txt").write_text("b", encoding="utf-8")
    return inside


def read(files: aio.Files, path: Path | str, line: int | None = None, limit: int | None = None) -> str:
    return run(files.read(str(path), line=line, limit=limit))


def refused(files: aio.Files, path: Path | str, **choices: Any) -> str:
    with pytest.raises(acp.InvalidParams) as caught:
        run(files.read(str(path), **choices))
    assert caught.value.data["path"] == str(path)
    return str(caught.value.data["detail"])


def refused_write(files: aio.Files, path: Path | str, content: str = "x") -> str:
    with pytest.raises(acp.InvalidParams) as caught:
        run(files.write(str(path), content))
    return str(caught.value.data["detail"])


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
    lines: Any = __import__("acp_msgspec.aio._services.text_lines", fromlist=["x"])
    parts = [p + "\n" for p in text.split("\n")[:-1]] + [text.split("\n")[-1]]
    end = None if limit is None else line - 1 + limit
    assert lines.slice_lines(text, line, limit) == "".join(parts[line - 1 : end])


@given(st.text("a\n\u20ac", max_size=80), st.integers(1, 90), st.none() | st.integers(0, 90), st.integers(1, 9))
def test_lines_of_a_text_in_several_chunks(text: str, line: int, limit: int | None, chunk: int) -> None:
    lines: Any = __import__("acp_msgspec.aio._services.text_lines", fromlist=["x"])
    parts = text.splitlines(keepends=True)
    end = None if limit is None else line - 1 + limit
    chunks = (text[n : n + chunk] for n in range(0, len(text), chunk))
    assert "".join(lines.select_lines(chunks, line, limit)) == "".join(parts[line - 1 : end])


@given(st.text("a\n\u20ac\ufeff\U0001f600", max_size=20), st.binary(max_size=4), st.integers(1, 9))
def test_bytes_in_several_chunks_are_decoded_as_in_one(text: str, more: bytes, chunk: int) -> None:
    lines: Any = __import__("acp_msgspec.aio._services.text_lines", fromlist=["x"])
    data = text.encode() + more.replace(b"\0", b"")
    chunks = (data[n : n + chunk] for n in range(0, len(data), chunk))
    try:
        wanted = data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as why:
        with pytest.raises(lines.FileRefused, match=f"it is not valid UTF-8 from byte {why.start} on"):
            list(lines.decode_text(chunks))
    else:
        assert "".join(lines.decode_text(chunks)) == wanted


@pytest.mark.parametrize("line", [1, 2**24, 2**24 + 1, 2**24 + 2, 2**32 - 1])
@pytest.mark.parametrize("limit", [None, 1, 2**32 - 1])
def test_any_number_of_a_line_is_cheap(line: int, limit: int | None) -> None:
    lines: Any = __import__("acp_msgspec.aio._services.text_lines", fromlist=["x"])
    text = "\n" * 2**24
    start = time.perf_counter()
    found = lines.slice_lines(text, line, limit)
    assert time.perf_counter() - start < 1  # line by line it took four times as long
    assert len(found) == max(0, min(limit or 2**24, 2**24 - line + 1))


def test_what_is_no_text_is_refused(root: Path) -> None:
    files = aio.Files(root, max_bytes=10)
    (root / "latin").write_bytes(b"caf\xe9 x")
    (root / "binary").write_bytes(b"a\0b")
    (root / "full").write_bytes(b"x" * 10)
    (root / "long").write_bytes(b"x" * 11)
    assert refused(files, root / "latin") == "it is not valid UTF-8 from byte 3 on"
    assert refused(files, root / "binary") == "it is a binary file"
    assert refused(files, root / "long") == "it is longer than 10 bytes"
    assert refused(files, root / "long", line=1, limit=1) == "it is longer than 10 bytes"
    assert read(files, root / "full") == "x" * 10
    assert refused(files, root / "sub") == "it is a folder"
    assert refused(files, root) == "it is a folder"
    assert refused(files, root / "full", line=0) == "line numbers start at 1"
    for path in (root / "missing", root / "missing" / "deep", root / "a.txt" / "below"):
        with pytest.raises(acp.ResourceNotFound) as caught:
            read(files, path)
        assert caught.value.code == -32002
        assert caught.value.data == {"path": str(path)}


def test_paths_that_are_none(root: Path) -> None:
    files = aio.Files(root)
    for path in ("a.txt", "", ".", "./a.txt", "~/a.txt"):
        assert refused(files, path) == "the path is not absolute"
    assert refused(files, f"{root}/a\0b") == "the path contains a NUL character"
    assert refused(files, root / ("x" * 300)) == "the name is too long, or there are too many folders"
    assert "characters" in refused(files, f"{root}/\ud800")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_pipes_and_devices_are_not_waited_for(root: Path) -> None:
    files = aio.Files(root)
    os.mkfifo(root / "pipe")
    assert refused(files, root / "pipe") == "it is not a regular file"
    assert refused_write(files, root / "pipe") == "it is not a regular file"
    slash = aio.Files("/")
    assert refused(slash, "/dev/zero") == "it is not a regular file"
    assert refused(slash, "/dev/null") == "it is not a regular file"
    assert refused_write(slash, "/dev/null") == "it is not a regular file"


def test_no_way_out(root: Path) -> None:
    files = aio.Files(root)
    outside = root.parent
    for path in (
        outside / "secret",
        root / ".." / "secret",
        root / "sub" / ".." / ".." / "secret",
        f"{root}less/secret",
        "/etc/passwd",
        f"{root}/../root/../secret",
        outside,
        "/",
    ):
        assert refused(files, path) == "the path is not below the root folder"
        assert refused_write(files, path) == "the path is not below the root folder"
    assert read(files, root / "sub" / ".." / "a.txt").startswith("one")
    assert read(files, f"{root}/../root/a.txt").startswith("one")
    assert (outside / "secret").read_text(encoding="utf-8") == SECRET


LINKS = {
    "up": "../secret",
    "away": "{outside}/secret",
    "sub/far": "../../secret",
    "folder": "..",
    "beside": "../rootless",
    "twice": "up",
    "devious": "sub/../../secret",
}


@pytest.fixture
def linked(root: Path) -> Iterator[Path]:
    for name, target in LINKS.items():
        (root / name).symlink_to(target.format(outside=root.parent))
    yield root
    assert (root.parent / "secret").read_text(encoding="utf-8") == SECRET
    assert sorted(p.name for p in root.parent.iterdir()) == ["root", "rootless", "secret"]
    assert [p.name for p in (root.parent / "rootless").iterdir()] == ["secret"]


@pytest.mark.parametrize(
    "path", [*(n for n in LINKS if n not in ("folder", "beside")), "folder/secret", "beside/secret", "folder/new/file"]
)
def test_no_link_leads_out(linked: Path, path: str) -> None:
    files = aio.Files(linked)
    out = ("the path leads out of the root folder", "the path is not below the root folder")
    assert refused(files, linked / path) in out
    assert refused_write(files, linked / path) in out


def test_links_that_stay_inside_are_followed(root: Path) -> None:
    files = aio.Files(root)
    (root / "sub" / "back").symlink_to("../a.txt")
    (root / "whole").symlink_to(root / "sub")
    (root / "loop").symlink_to("loop")
    assert read(files, root / "sub" / "back").startswith("one")
    assert read(files, root / "whole" / "b.txt") == "b"
    assert read(files, root / "whole" / "back").startswith("one")
    with pytest.raises(acp.RequestError):
        read(files, root / "loop")
    run(files.write(str(root / "sub" / "back"), "new"))
    assert (root / "sub" / "back").is_symlink()
    assert (root / "a.txt").read_text(encoding="utf-8") == "new"
    alias = root.parent / "alias"
    alias.symlink_to(root)
    aliased = aio.Files(alias)
    assert read(aliased, alias / "a.txt") == read(aliased, root / "a.txt") == "new"


NAMES = st.sampled_from(["..", ".", "", "sub", "a.txt", "up", "away", "folder", "beside", "secret", "root", "rootless"])


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(parts=st.lists(NAMES, max_size=8), write=st.booleans())
def test_no_path_leads_out(linked: Path, parts: list[str], write: bool) -> None:
    files = aio.Files(linked)
    path = "/".join([str(linked), *parts])
    # Nothing else is raised, whatever is there.
    with suppress(acp.InvalidParams, acp.ResourceNotFound):
        if write:
            run(files.write(path, "written"))
        else:
            assert SECRET not in run(files.read(path))
    assert (linked.parent / "secret").read_text(encoding="utf-8") == SECRET
    assert (linked.parent / "rootless" / "secret").read_text(encoding="utf-8") == SECRET


@pytest.mark.parametrize("what", ["a folder and a link", "two links"])
def test_links_that_are_swapped_meanwhile(what: str, tmp_path: Path) -> None:
    root = made(tmp_path)
    place, mine = root / "place", root / "mine"
    mine.mkdir()
    (mine / "secret").write_text("mine", encoding="utf-8")
    files = aio.Files(root)
    done = threading.Event()

    def swap() -> None:
        link = root / "link"
        while not done.is_set():
            if what == "two links":
                for target in (mine, root.parent):
                    link.symlink_to(target)
                    link.replace(place)
            else:
                mine.rename(place)
                place.rename(mine)
                link.symlink_to(root.parent)
                link.rename(place)
                place.unlink()

    async def turn() -> None:
        found: dict[str, int] = {}
        tries = 0
        while tries < 1000 or not (found.get("mine") and found.get("-32602")):
            tries += 1
            try:
                text = await files.read(str(place / "secret"))
                found[text] = found.get(text, 0) + 1
                if what == "two links":  # else the folder would be made anew
                    await files.write(str(place / "secret"), "mine")
            except acp.RequestError as why:
                found[str(why.code)] = found.get(str(why.code), 0) + 1
        assert found.keys() <= {"mine", "-32602", "-32002"}

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        run(turn())
    finally:
        done.set()
        thread.join()
    assert (root.parent / "secret").read_text(encoding="utf-8") == SECRET


def test_links_that_look_like_something_else_for_a_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = made(tmp_path)
    files = aio.Files(root)
    (root / "up").symlink_to("../secret")
    (root / "folder").symlink_to("..")

    def no_link(*_: object) -> None: ...

    def followed(place: Any) -> os.stat_result:
        return os.stat(place.name, dir_fd=place.folder)

    monkeypatch.setattr(PATHS._Descent, "_read_link", no_link)
    monkeypatch.setattr(PATHS.FileLocation, "stat", followed)
    assert refused(files, root / "up") == "it is a link, or the path has too many links"
    assert refused_write(files, root / "up") == "it is a link, or the path has too many links"
    for work in (files.read(str(root / "folder" / "secret")), files.write(str(root / "folder" / "secret"), "x")):
        with pytest.raises(acp.ResourceNotFound):
            run(work)
    assert (root.parent / "secret").read_text(encoding="utf-8") == SECRET


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

    monkeypatch.setattr(PATHS.FileLocation, "replace_by", full)
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
    if not PATHS.CAN_OPEN_RELATIVE:
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


BUDGET: Any = __import__("acp_msgspec.aio._services.budget", fromlist=["x"])
JSON_SIZE: Any = __import__("acp_msgspec.aio._services.json_size", fromlist=["x"])


@given(st.text() | st.text(st.characters(max_codepoint=127)), st.integers(1, 5))
def test_the_size_of_a_text_as_json(text: str, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JSON_SIZE, "_CHUNK", chunk)
        assert JSON_SIZE.json_size(text) == len(acp.encode(text))


def test_shares_are_given_in_order() -> None:
    async def turn() -> None:
        budget = BUDGET.Budget(10)
        given: list[int] = []
        first = await budget.reserve(6)

        async def taking(size: int) -> Any:
            share = await budget.reserve(size)
            given.append(size)
            return share

        tasks = [asyncio.create_task(taking(size)) for size in (5, 100, 4, 1, 1)]
        await asyncio.sleep(0)
        assert given == []  # what comes later does not overtake
        tasks[3].cancel()
        first.release()
        second = await tasks[0]
        await asyncio.sleep(0)
        assert given == [5]
        second.release()
        whole = await tasks[1]
        assert whole.size == 10
        whole.shrink(9)
        whole.shrink(9)
        await asyncio.sleep(0)
        assert given == [5, 100]
        whole.release()
        for number in (2, 4):
            (await tasks[number]).release()
        assert budget.free == 10

    run(turn())


@pytest.mark.parametrize("when", ["waiting", "granted", "first of those who wait"])
def test_a_share_that_is_cancelled_is_lost_to_nobody(when: str) -> None:
    async def turn() -> None:
        budget = BUDGET.Budget(10)
        first = await budget.reserve(10 if when != "first of those who wait" else 5)
        waiting = asyncio.create_task(budget.reserve(10))
        behind = asyncio.create_task(budget.reserve(5))
        await asyncio.sleep(0)
        if when == "granted":
            first.release()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        if when == "waiting":
            first.release()
        (await behind).release()
        first.release()
        assert budget.free == 10

    run(turn())


def test_a_thread_keeps_its_share_though_nobody_waits_for_it() -> None:
    go = threading.Event()

    async def turn() -> None:
        budget = BUDGET.Budget(10)
        running = asyncio.create_task(budget.run_in_thread(10, lambda: go.wait(10) and 1 / 0))
        await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.wait([running])
        assert budget.free == 0
        go.set()
        (await budget.reserve(10)).release()
        assert budget.free == 10
        with pytest.raises(ZeroDivisionError):
            await budget.run_in_thread(10, lambda: 1 / 0)
        await asyncio.sleep(0)
        assert budget.free == 10

    run(turn())


class Serving(aio.ServesFiles):
    def __init__(self, files: aio.Files) -> None:
        self.files = files


def test_a_peer_that_takes_no_answers_holds_up_itself_alone(root: Path) -> None:
    """A raw peer asks for more than may be held, and reads nothing for a while."""
    size, count = 600_000, 12
    text = "\x01" * size
    (root / "big").write_text(text, encoding="utf-8")
    files = aio.Files(root, max_held=8_000_000)
    budget: Any = files

    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        params = {"sessionId": "s", "path": str(root / "big")}
        asked = [{"jsonrpc": "2.0", "id": n, "method": "fs/read_text_file", "params": params} for n in range(count)]
        async with aio.ClientConnection(here, Serving(files)) as client:
            await peer.send(*asked)
            async with asyncio.timeout(10):
                while budget._answers.free > WORST_LEFT:
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            known: Any = client
            waiting = known._outbox.size
            assert waiting <= 8_000_000
            # This side reads and writes all the same.
            assert await files.read(str(root / "big")) == text
            await files.write(str(root / "other"), text)
            for _ in range(count):
                answer = await peer.next()
                assert len(answer["result"]["content"]) == size
            while budget._answers.free < 8_000_000:
                await asyncio.sleep(0.01)
        assert budget._working.free == budget._answers.free == 8_000_000

    run(turn())


WORST_LEFT = 8_000_000 - 3_600_000


def test_what_is_held_ends_with_the_connection(root: Path) -> None:
    (root / "big").write_text("x" * 1_000_000, encoding="utf-8")
    files = aio.Files(root, max_held=1_500_000)
    budget: Any = files

    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        params = {"sessionId": "s", "path": str(root / "big")}
        async with aio.ClientConnection(here, Serving(files), grace=0.1):
            await peer.send(
                *({"jsonrpc": "2.0", "id": n, "method": "fs/read_text_file", "params": params} for n in range(9))
            )
            while budget._answers.free == 1_500_000:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
        await asyncio.sleep(0.1)
        assert budget._answers.free == 1_500_000

    run(turn())


def test_one_task_may_read_and_answer_as_often_as_it_likes(root: Path) -> None:
    (root / "big").write_text("x" * 10_000, encoding="utf-8")
    files = aio.Files(root, max_held=15_000)
    here, there = aio.memory_pair()

    class Twice(Serving):
        async def fs_read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
            parts = [await super().fs_read_text_file(params), await super().fs_read_text_file(params)]
            parts += await asyncio.gather(*(super(Twice, self).fs_read_text_file(params) for _ in range(3)))
            return parts[0]

    client = Twice(files)
    request = v1.ReadTextFileRequest(session_id=SESSION, path=str(root / "big"))

    async def turn() -> None:
        for _ in range(5):
            assert await files.read(request.path) == (await client.fs_read_text_file(request)).content
        answers = await asyncio.gather(*(client.fs_read_text_file(request) for _ in range(5)))
        assert len(answers) == 5
        async with aio.ClientConnection(here, client), aio.AgentConnection(there) as agent:
            for _ in range(3):
                answers = await asyncio.gather(*(agent.fs_read_text_file(request) for _ in range(5)))
                assert len(answers) == 5
        known: Any = files
        assert known._working.free == known._answers.free == 15_000

    run(turn())


def test_a_file_that_grows_while_it_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_small(*_: object) -> int:
        return 10

    files = aio.Files(root, max_bytes=200_000)
    (root / "big").write_text("x" * 199_999, encoding="utf-8")
    monkeypatch.setattr(aio.Files, "_size", too_small)
    assert len(read(files, root / "big")) == 199_999
    (root / "big").write_text("x" * 200_001, encoding="utf-8")
    assert refused(files, root / "big") == "it is longer than 200000 bytes"
