"""What the tests of files share: reading and writing under a folder that has neighbours."""

import errno
import os
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1

from tests.aio.support import run

PATHS: Any = __import__("acp_msgspec.aio._services.paths", fromlist=["x"])
SECRET = "not for agents"
needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser can be somebody else"
)


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


def write(root: Path, content: str = "new", name: str = "a.txt") -> None:
    """Write a file, which must work and leave nothing beside it."""
    before = {p.name for p in root.iterdir()} | {name}
    run(aio.Files(root).write(str(root / name), content))
    assert {p.name for p in root.iterdir()} == before


def busy(*_: Any, **__: Any) -> None:
    raise OSError(errno.EBUSY, "Device or resource busy")


LINKS = {
    "up": "../secret",
    "away": "{outside}/secret",
    "sub/far": "../../secret",
    "folder": "..",
    "beside": "../rootless",
    "twice": "up",
    "devious": "sub/../../secret",
}


SESSION = v1.SessionId("s")
