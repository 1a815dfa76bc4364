"""What the package says that it runs on, and that CI tries just that."""

import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.tools import versions
from tests.tools.versions import Interpreter


def test_the_declared_minimum_is_one_that_is_tried() -> None:
    assert versions.minimum_msgspec() == "0.23.0"
    assert versions.PINNED["msgspec"] == version("msgspec")
    assert "make versions" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert all((ROOT / file).is_file() for file in versions.chosen_files())
    assert all(name in versions.PINNED for name in versions.NEEDED)


@pytest.mark.parametrize("dependencies", [["msgspec"], ["msgspec>=0.23,<1"], ["msgspec==0.23"]])
def test_a_dependency_without_a_plain_minimum(dependencies: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(versions.CONFIG, "dependencies", dependencies)
    with pytest.raises(SystemExit, match=r"^error: pyproject\.toml depends on 'msgspec.*', which names"):
        versions.minimum_msgspec()


def test_the_promised_pythons_are_those_of_the_workflow() -> None:
    text = (ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8")
    (line,) = re.findall(r"python: \[(.*)\]", text)
    assert [f"3.{m}" for m in versions.promised_minors()] == re.findall(r'"([0-9.]+)"', line)
    assert f">=3.{min(versions.promised_minors())}" == versions.CONFIG["requires-python"]


def test_pairs_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    here = [Interpreter(11, "a"), Interpreter(12, "b"), Interpreter(14, "c")]
    monkeypatch.setattr(versions, "interpreters", lambda: here)
    monkeypatch.setitem(versions.PINNED, "msgspec", "0.23.0")
    assert versions.pairs(minimum=True, pythons=True) == [(p, "0.23.0") for p in here]
    monkeypatch.setitem(versions.PINNED, "msgspec", "0.24.0")
    assert versions.pairs(minimum=True, pythons=False) == [(here[0], "0.23.0")]
    oldest, newest = (here[0], "0.23.0"), (here[2], "0.23.0")
    assert versions.pairs(minimum=True, pythons=True) == sorted([oldest, newest, *((p, "0.24.0") for p in here)])


def test_a_command_that_leads_nowhere_is_left_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = tmp_path / "python3.12"
    shim.write_text("#!/bin/sh\necho 'python3.12: command not found' >&2\nexit 127\n", encoding="utf-8")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "nowhere"))
    versions.interpreters.cache_clear()
    try:
        assert [p.minor for p in versions.interpreters()] == [sys.version_info.minor]
    finally:
        versions.interpreters.cache_clear()


def test_a_failure_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(versions, "interpreters", lambda: [Interpreter(11, "a"), Interpreter(12, "b")])

    def run(python: Interpreter, _msgspec: str, _folder: Path) -> bool:
        return python.minor in passing

    passing = {11}
    monkeypatch.setattr(versions, "run", run)
    assert versions.main(["--pythons"]) == 1
    assert capsys.readouterr().out == (
        "not installed here, and not tried: Python 3.13\nfailed: Python 3.12, msgspec 0.23.0\n"
    )
    passing.add(12)
    assert versions.main(["--pythons"]) == 0
    assert versions.main(["--pythons", "--all"]) == 1
    assert versions.main(["--minimum"]) == 0
