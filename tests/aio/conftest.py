"""Fixtures of the tests of connections."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.aio.files import LINKS, PATHS, SECRET, made


@pytest.fixture(params=["descended", "resolved"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a neighbour that nobody may see; with both ways to look files up."""
    monkeypatch.setattr(PATHS, "CAN_OPEN_RELATIVE", request.param == "descended" and PATHS.CAN_OPEN_RELATIVE)
    return made(tmp_path)


@pytest.fixture(params=["descended", "resolved"])
def public_root(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that everybody may enter, with one file; with both ways to look files up."""
    monkeypatch.setattr(PATHS, "CAN_OPEN_RELATIVE", request.param == "descended" and PATHS.CAN_OPEN_RELATIVE)
    folder = Path(tempfile.mkdtemp()).resolve()
    folder.chmod(0o755)
    (folder / "a.txt").write_text("old", encoding="utf-8")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def linked(root: Path) -> Iterator[Path]:
    for name, target in LINKS.items():
        (root / name).symlink_to(target.format(outside=root.parent))
    yield root
    assert (root.parent / "secret").read_text(encoding="utf-8") == SECRET
    assert sorted(p.name for p in root.parent.iterdir()) == ["root", "rootless", "secret"]
    assert [p.name for p in (root.parent / "rootless").iterdir()] == ["secret"]


def _children() -> set[int]:
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            found |= {int(n) for n in (task / "children").read_text(encoding="ascii").split()}
    return found


@pytest.fixture
def nothing_is_left() -> Iterator[None]:
    """No descriptor stays open and no child, dead or alive, is left."""
    if not Path("/proc/self/fd").is_dir():
        yield
        return
    children, files = _children(), len(list(Path("/proc/self/fd").iterdir()))
    yield
    assert _children() <= children
    assert len(list(Path("/proc/self/fd").iterdir())) <= files
