"""Linters, formatters and type checkers on a project that has a copy.

The copy has everything but the stable schema, so that no part can lean on it; `make check` judges the package itself.
"""

import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import msgspec
import pytest

from tests.support import ROOT
from tests.tools.vendor_support import Command, tree

pytestmark = pytest.mark.slow

MAIN = '''"""Uses each part of the copy."""

from myproject import _acp as acp
from myproject._acp import aio, state, v2
from myproject._acp.v2.aio import Agent, AgentConnection

block = acp.decode(b'{"type":"text","text":"hi"}', type=v2.ContentBlock)
message = v2.decode_client_message(b'{"jsonrpc":"2.0","method":"session/cancel"}')
agent, session = Agent(), state.SessionState()
connections = AgentConnection, aio.Connection
'''


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Make a project without any configuration, with a copy of all parts and nothing but msgspec installed."""
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "src" / "myproject"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('"""A project."""\n', encoding="utf-8")
    (package / "main.py").write_text(MAIN, encoding="utf-8")
    Command(capsys).done("src/myproject/_acp", "--only", "v2", "--parts", "all")
    venv.create(tmp_path / "env", with_pip=False)
    packages = next(tmp_path.glob("env/lib/python*/site-packages"))
    (packages / "msgspec").symlink_to(Path(msgspec.__file__).parent, target_is_directory=True)
    return tmp_path


def _run(*command: str) -> str:
    run = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_ruff_and_black_leave_a_copy_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(project / "src")
    _run("ruff", "check", "--isolated", "--fix", "--unsafe-fixes", "src")
    _run("ruff", "format", "--isolated", "src")
    _run("black", "--quiet", "src")
    assert tree(project / "src") == before
    # Rules that a project adds apply to its own files alone.
    _run("ruff", "check", "--isolated", "--select", "E,F,I,D1,RUF,PLR,ANN", "--ignore", "E501", "src/myproject/_acp")
    Command(capsys).done("src/myproject/_acp", "--check")


@pytest.mark.endurance
def test_type_checkers_find_nothing(project: Path) -> None:
    """Be strict: what their defaults report, this reports as well."""
    python = str(project / "env" / "bin" / "python")
    strict = '{"typeCheckingMode": "strict", "include": ["src"]}'
    (project / "pyrightconfig.json").write_text(strict, encoding="utf-8")
    assert _run("pyright", "--pythonpath", python).startswith("0 errors, 0 warnings")
    assert _run("mypy", "--strict", "--python-executable", python, "src").startswith("Success")


def test_the_documented_lines_keep_tools_out(project: Path) -> None:
    page = (ROOT / "docs" / "guides" / "vendoring.md").read_text(encoding="utf-8")
    lines = dict(re.findall(r"^\| \w+ \| `(\[.*?\])` \| `(.*?)` \|$", page, re.MULTILINE))
    assert list(lines) == ["[tool.ruff]", "[tool.pyright]", "[tool.mypy]", "[tool.coverage.run]"]
    Path("pyproject.toml").write_text("\n".join(f"{t}\n{line}" for t, line in lines.items()), encoding="utf-8")
    # Any file of the copy shows it, and tools read those that they report nothing of as well: one has to do.
    shutil.rmtree(project / "src/myproject/_acp")
    (project / "src/myproject/_acp").mkdir()
    (project / "src/myproject/main.py").unlink()
    (project / "src/myproject/_acp/bad.py").write_text("import nowhere\nx: int = ''\n", encoding="utf-8")
    python = str(project / "env" / "bin" / "python")
    assert "bad.py" not in _run("ruff", "check", "--select", "ALL", "--exit-zero", "src")
    assert _run("pyright", "--pythonpath", python).startswith("0 errors")
    assert _run("mypy", "--python-executable", python, "src").startswith("Success")
