"""No way out of a folder: not by names, not by links, not while links are swapped."""

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.aio.files import LINKS, PATHS, SECRET, made, read, refused, refused_write
from tests.aio.support import run
from tests.examples import examples


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


@examples(300, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
@pytest.mark.slow
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

    monkeypatch.setattr(PATHS._Walk, "_link", no_link)
    monkeypatch.setattr(PATHS.Place, "stat", followed)
    assert refused(files, root / "up") == "it is a link, or there are too many of them"
    assert refused_write(files, root / "up") == "it is a link, or there are too many of them"
    for work in (files.read(str(root / "folder" / "secret")), files.write(str(root / "folder" / "secret"), "x")):
        with pytest.raises(acp.ResourceNotFound):
            run(work)
    assert (root.parent / "secret").read_text(encoding="utf-8") == SECRET
