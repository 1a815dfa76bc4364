"""The committed package is what the generator writes, whatever the process around it looks like."""

import dataclasses
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from generator import cli
from generator.errors import GeneratorError
from generator.manifest import update
from generator.pipeline import Generated, Step, generate_pinned
from tests.generator.command import generator, generator_process
from tests.support import ROOT, generate_case, raw_schema, tree

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC"},
        {"PYTHONHASHSEED": "4242", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "0", "COLUMNS": "20"},
    ],
)
def test_same_bytes_in_a_fresh_process(environment: dict[str, str], tmp_path: Path) -> None:
    run = generator_process("generate", "--out", tmp_path / "made", cwd=tmp_path, **environment)
    assert run.returncode == 0, run.stderr
    assert tree(tmp_path / "made") == tree(ROOT / "generated")


@pytest.mark.parametrize("label", ["v2_unstable", pytest.param("v1", marks=pytest.mark.endurance)])
def test_order_of_definitions_plays_no_part(label: str, tmp_path: Path) -> None:
    raw = raw_schema(label)
    texts: list[dict[str, str]] = []
    for seed in (1, 2):
        names = list(raw["$defs"])
        random.Random(seed).shuffle(names)
        folder = tmp_path / str(seed)
        folder.mkdir()
        file = folder / "schema.json"
        file.write_text(json.dumps({**raw, "$defs": {n: raw["$defs"][n] for n in names}}), encoding="utf-8")
        made = generate_case(file, "case", folder)
        # The header names the digest of the input, and the input's bytes do differ.
        texts.append({n: t.partition('"""')[2] for n, t in made.items()})
    assert texts[0] == texts[1]


def test_check_says_what_differs_and_writes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "made"
    shutil.copytree(ROOT / "generated", out, ignore=shutil.ignore_patterns("__pycache__"))
    types = out / "acp_msgspec" / "v1" / "types.py"
    types.write_text(types.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    (out / "acp_msgspec" / "v1" / "left_over.py").write_text("", encoding="utf-8")
    (out / "acp_msgspec" / "py.typed").unlink()
    before = tree(out)
    run = generator("generate", "--check", "--out", out)
    assert run.returncode == 1
    assert {
        "differs: acp_msgspec/v1/types.py",
        "kept: acp_msgspec/v1/left_over.py (not written by `generate`)",
        "missing: acp_msgspec/py.typed",
    } <= set(run.stdout.splitlines())
    assert run.stderr.count("\n") == 1
    assert "python -m generator generate" in run.stderr
    assert tree(out) == before
    run = generator("generate", "--out", out)
    assert run.returncode == 0
    assert "kept: acp_msgspec/v1/left_over.py (not written by `generate`)\nwrote 2 changes\n" in run.stdout
    (out / "acp_msgspec" / "v1" / "left_over.py").unlink()
    assert tree(out) == tree(ROOT / "generated")


def test_a_changed_schema_file_is_refused(tmp_path: Path) -> None:
    for path, data in tree(ROOT / "schema").items():
        (tmp_path / "schema" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "schema" / path).write_bytes(data)
    made = generate_pinned(lambda _: None, tmp_path)
    assert not update(ROOT / "generated", made.output, check=True).changes
    file = tmp_path / "schema" / "v2" / "schema.json"
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(GeneratorError, match=r"^schema/v2/schema\.json: differs from its sha256 in schema/lock\.json"):
        generate_pinned(lambda _: None, tmp_path)
    file.unlink()
    with pytest.raises(GeneratorError, match=r"^schema/v2/schema\.json: cannot be read: no such file"):
        generate_pinned(lambda _: None, tmp_path)


def test_a_module_beside_others(tmp_path: Path) -> None:
    schema = ROOT / "schema" / "v1" / "schema.json"
    assert generator("generate", "--schema", schema, "--label", "one", "--out", tmp_path).returncode == 0
    assert generator("generate", "--schema", schema, "--label", "two", "--out", tmp_path).returncode == 0
    code = "from acp_msgspec import one, two; print(one.StopReason.REFUSAL, two.StopReason.REFUSAL)"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout == "refusal refusal\n"


def test_check_wants_docstrings_everywhere(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    made = generate_pinned(lambda _: None)
    lacking = dataclasses.replace(made.summaries[0], undocumented=("Diff.fields.path", "Diff.doc"))

    def generated(step: Step, *, out: Path) -> Generated:
        return dataclasses.replace(made, summaries=(lacking,))

    monkeypatch.setattr(cli, "generate_pinned", generated)
    with pytest.raises(GeneratorError, match=r"^schema/docs: 2 places of v1 have no docstring, the first of them Diff"):
        cli.generate(check=True)
    cli.generate(check=False, out=ROOT / "generated")
    out = capsys.readouterr().out
    assert "undocumented: v1.Diff.fields.path\nundocumented: v1.Diff.doc\n" in out
    assert "up to date" in out
    lacking = dataclasses.replace(lacking, undocumented=tuple(f"A{i}.doc" for i in range(25)))
    cli.generate(check=False, out=ROOT / "generated")
    out = capsys.readouterr().out
    assert "undocumented: v1.A19.doc\nundocumented: 5 more places of v1\n" in out
