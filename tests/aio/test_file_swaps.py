"""Parts of a path that another process replaces between two calls of the system: each outcome is a defined answer."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio

from tests.aio.files import PATHS, SECRET, made
from tests.aio.support import run

CALLS = ("open", "stat", "lstat", "readlink", "mkdir", "replace", "fstat")
"""The calls before which something is replaced."""
STARTS: dict[str, tuple[str, str | None, str]] = {
    "a folder": ("sub", None, "sub/b.txt"),
    "a link to a folder": ("way", "sub", "way/b.txt"),
    "a file": ("sub/b.txt", None, "sub/b.txt"),
    "a link to a file": ("name", "sub/b.txt", "name"),
    "nothing": ("fresh", None, "fresh"),
    "no folder": ("new", None, "new/b.txt"),
}
"""What is replaced: its name, its target if it is a link, and the path that is asked for."""


def _nothing(place: Path) -> None: ...


def _file(place: Path) -> None:
    place.write_text("other", encoding="utf-8")


def _folder(place: Path) -> None:
    place.mkdir()
    (place / "b.txt").write_text("other", encoding="utf-8")


def _link_out(place: Path) -> None:
    place.symlink_to(_outside(place) / "rootless")


def _link_to_secret(place: Path) -> None:
    place.symlink_to(_outside(place) / "secret")


def _outside(place: Path) -> Path:
    return next(folder for folder in place.parents if folder.name == "root").parent


def _link_inside(place: Path) -> None:
    place.symlink_to("beside")


def _loop(place: Path) -> None:
    place.symlink_to(place.name)


ENDS: dict[str, Callable[[Path], None]] = {
    "nothing": _nothing,
    "a file": _file,
    "a folder": _folder,
    "a link out": _link_out,
    "a link to a file outside": _link_to_secret,
    "a link inside": _link_inside,
    "a loop": _loop,
}


def _remove(place: Path) -> None:
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.is_dir():
        shutil.rmtree(place)


def _swapped(at: int, swap: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Have something replaced right before the call number `at` that a thread of the service makes."""
    count, done = 0, list[bool]()

    def wrapped(call: Any) -> Any:
        def around(*given: Any, **named: Any) -> Any:
            nonlocal count
            if threading.current_thread() is not threading.main_thread() and not done:
                count += 1
                if count > at:
                    done.append(True)
                    swap()
            return call(*given, **named)

        return around

    for name in CALLS:
        monkeypatch.setattr(os, name, wrapped(getattr(os, name)))
    return done


def _outcomes(start: str, end: str, what: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give the outcome for each call before which the swap can happen."""
    name, target, asked = STARTS[start]
    for at in range(1000):
        root = made(folder / str(at))
        place = root / name
        if target is not None:
            place.symlink_to(target)
        files = aio.Files(root)

        def swap(place: Path = place) -> None:
            _remove(place)
            ENDS[end](place)

        with monkeypatch.context() as patch:
            done = _swapped(at, swap, patch)
            try:
                if what == "read":
                    outcome = run(files.read(str(root / asked)))
                else:
                    run(files.write(str(root / asked), "written"))
                    outcome = "written"
            except acp.RequestError as why:
                outcome = str(why.code)
        for path in ("secret", "rootless/secret"):
            assert (root.parent / path).read_text(encoding="utf-8") == SECRET
        assert not (root.parent / "rootless" / "b.txt").exists()
        if not done:
            return
        yield outcome


@pytest.mark.parametrize("way", ["descended", pytest.param("resolved", marks=pytest.mark.endurance)])
@pytest.mark.parametrize("what", ["read", "write"])
@pytest.mark.parametrize("end", list(ENDS))
@pytest.mark.parametrize("start", list(STARTS))
@pytest.mark.slow
def test_each_swap_has_a_defined_answer(
    start: str, end: str, what: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PATHS, "CAN_OPEN_RELATIVE", way == "descended" and PATHS.CAN_OPEN_RELATIVE)
    found = list(_outcomes(start, end, what, tmp_path, monkeypatch))
    assert len(found) > 2
    assert set(found) <= {"b", "other", "written", "-32602", "-32002"}
