"""Bad schemas: one clear line each, exit status 1, and nothing written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from generator.errors import GeneratorError
from generator.pipeline import generate_single
from tests.generator.command import Run, generator, generator_process
from tests.support import CASES, golden

BAD = sorted(p.stem for p in (CASES / "bad").glob("*.json"))


@pytest.mark.parametrize("name", BAD)
def test_message(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CASES / "bad")
    with pytest.raises(GeneratorError) as caught:
        generate_single(Path(f"{name}.json"), "case", None, lambda _: None, tmp_path)
    text = str(caught.value)
    lines = text.splitlines()
    assert len(lines) == len(caught.value.problems)
    assert all(line.startswith(f"{name}.json") for line in lines)
    golden(CASES / "bad" / f"{name}.txt", f"{text}\n")


@pytest.mark.parametrize("name", ["unknown_keyword_of_property", "dangling_reference", "broken", "duplicate_tag"])
def test_command_line(name: str, tmp_path: Path) -> None:
    _refused(generator, name, tmp_path / "out")


@pytest.mark.slow
def test_a_process_of_its_own_says_the_same(tmp_path: Path) -> None:
    _refused(generator_process, "duplicate_tag", tmp_path / "out")


def _refused(command: Callable[..., Run], name: str, out: Path) -> None:
    """Demand one line on standard error, exit status 1, and nothing written."""
    schema = CASES / "bad" / f"{name}.json"
    run = command("generate", "--schema", schema, "--label", "case", "--out", out)
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr.count("\n") == 1
    assert run.stderr.startswith(f"error: {schema}")
    assert not out.exists()
