"""The wheel as its users get it: msgspec alone beside it, typed, and free of the generator."""

import json
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.support import ROOT, made_once

pytestmark = pytest.mark.slow

PIP = ["-m", "pip", "--disable-pip-version-check"]
LINE = '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"},"messageId":5}'
USE = f"""
import acp_msgspec as acp
from acp_msgspec import v1

update: v1.SessionUpdate = acp.decode({LINE!r}, type=v1.SessionUpdate)
match update:
    case v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=text)):
        print(text, acp.encode(update).decode())
    case _:
        raise SystemExit(1)
"""


def _build(folder: Path) -> None:
    command: list[str | Path] = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "dist", _build)


@pytest.fixture(scope="module")
def clean(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an environment with the wheel and what it asks for."""
    (wheel,) = dist.glob("*.whl")
    return made_once(tmp_path_factory, "clean", lambda folder: _install(wheel, folder))


def _install(wheel: Path, folder: Path) -> None:
    venv.create(folder, with_pip=True)
    command: list[str | Path] = [
        folder / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        wheel,
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def _names(archive: Path) -> set[str]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            return set(opened.namelist())
    with tarfile.open(archive) as opened:
        return {name.partition("/")[2] for name in opened.getnames()}


def test_contents(dist: Path) -> None:
    (wheel,) = dist.glob("acp_msgspec-*.whl")
    (sdist,) = dist.glob("acp_msgspec-*.tar.gz")
    wanted = {
        p.relative_to(ROOT / "generated").as_posix()
        for p in (ROOT / "generated" / "acp_msgspec").rglob("*")
        if p.is_file() and "__pycache__" not in p.parts
    }
    names = _names(wheel)
    assert {n for n in names if ".dist-info/" not in n} == wanted
    assert any(n.endswith(".dist-info/licenses/LICENSE") for n in names)
    packed = _names(sdist)
    assert {f"generated/{n}" for n in wanted} <= packed
    assert {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "PKG-INFO"} <= packed
    assert not any(n.startswith(("generator", "tests", "schema", "templates", "runtime")) for n in packed)


def test_dependencies(clean: Path) -> None:
    command: list[str | Path] = [
        clean / "bin" / "python",
        "-m",
        "pip",
        "list",
        "--format=json",
        "--disable-pip-version-check",
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert {p["name"] for p in json.loads(run.stdout)} - {"pip", "setuptools", "wheel"} == {"acp-msgspec", "msgspec"}


def test_use(clean: Path, tmp_path: Path) -> None:
    script = tmp_path / "use.py"
    script.write_text(USE, encoding="utf-8")
    command: list[str | Path] = [clean / "bin" / "python", "-I", "-W", "error", script]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    written = '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}'
    assert run.stdout == f"hi {written}\n"


def test_types_from_outside(clean: Path, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(USE, encoding="utf-8")
    bad.write_text(USE + "number: int = v1.TextContent(text='x').text\n", encoding="utf-8")
    python = clean / "bin" / "python"
    pyright: list[str | Path] = [sys.executable, "-m", "pyright", "--pythonpath", python]
    mypy: list[str | Path] = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python]
    commands: list[list[str | Path]] = [pyright, mypy]
    for command in commands:
        run = subprocess.run([*command, good, bad], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.returncode == 1, run.stdout + run.stderr
        errors = [line for line in run.stdout.splitlines() if " error: " in line]
        assert len(errors) == 1, run.stdout
        assert "bad.py" in errors[0]
