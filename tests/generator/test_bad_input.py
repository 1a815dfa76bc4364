"""Bad schemas: one clear line each, exit status 1, and nothing written."""

import subprocess
import sys
from pathlib import Path

import pytest

from generator.errors import GeneratorError
from generator.pipeline import generate_single
from tests.support import CASES, ROOT, golden

BAD = sorted(p.stem for p in (CASES / "bad").glob("*.json"))


@pytest.mark.parametrize("name", BAD)
def test_message(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CASES / "bad")
    with pytest.raises(GeneratorError) as caught:
        generate_single(Path(f"{name}.json"), "case", None, lambda _: None, tmp_path)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(f"{name}.json")
    golden(CASES / "bad" / f"{name}.txt", f"{text}\n")


@pytest.mark.parametrize("name", ["unknown_keyword_of_property", "dangling_reference", "broken", "duplicate_tag"])
def test_command_line(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    schema = CASES / "bad" / f"{name}.json"
    run = subprocess.run(
        [sys.executable, "-m", "generator", "generate", "--schema", schema, "--label", "case", "--out", out],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr.count("\n") == 1
    assert run.stderr.startswith(f"error: {schema}")
    assert not out.exists()
