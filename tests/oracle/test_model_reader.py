"""The published data suffices for an SDK in any language: a reader made of the model alone, and the described files."""

import importlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1

from generator.model_json import model_document
from generator.source import load_pinned
from tests.oracle.model_reader import Invalid, ModelReader
from tests.oracle.verdicts import FOLDER, LABELS, commits, verdicts
from tests.support import EACH_LABEL, ROOT, same

README = (FOLDER / "README.md").read_text(encoding="utf-8")
MESSAGES = sorted((ROOT / "tests" / "messages").glob("*.jsonl"))


@cache
def _modules() -> dict[str, Any]:
    document = json.loads(json.dumps(model_document(load_pinned()[0])))
    return {module["label"]: module for module in document["modules"]}


def _ours(kind: Any, text: str) -> tuple[bool, Any]:
    try:
        return True, json.loads(acp.encode(acp.decode(text, type=kind)))
    except msgspec.DecodeError:
        return False, None


def _of_the_model(reader: ModelReader, name: str, text: str) -> tuple[bool, Any]:
    try:
        return True, reader.rewrite(name, json.loads(text))
    except Invalid:
        return False, None


@pytest.mark.slow
@pytest.mark.parametrize("label", EACH_LABEL)
def test_a_reader_made_of_the_model_reads_as_the_package_does(label: str) -> None:
    reader, package = ModelReader(_modules()[label]), importlib.import_module(f"acp_msgspec.{label}")
    recorded = verdicts(acp.UPSTREAM_COMMIT, label)
    assert len(recorded) > 1000
    wrong: list[str] = []
    for verdict in recorded:
        ours = _ours(getattr(package, verdict["type"]), verdict["json"])
        told = _of_the_model(reader, verdict["type"], verdict["json"])
        if ours[0] != told[0] or not same(ours[1], told[1]):
            wrong.append(f"{verdict['type']} {verdict['json']}: package {ours}, model {told}")
    assert not wrong, f"{len(wrong)} of {len(recorded)}, the first ones:\n" + "\n".join(wrong[:10])


def _rows(heading: str) -> dict[str, str]:
    """Read the table below a heading of the README: each key in the first column, and the rest of its row."""
    section = README.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| (.*) \|$", section, re.MULTILINE)
    return {key: rest for names, rest in rows for key in re.findall(r"`([^`]+)`", names)}


@pytest.mark.slow
def test_the_readme_describes_every_file_and_key() -> None:
    files = {path.name for commit in commits() for path in (FOLDER / commit).iterdir()}
    assert files <= _rows("Files").keys()
    assert {f"{label}.jsonl.gz" for label in LABELS} <= files
    for commit in commits():
        for label in LABELS:
            for verdict in verdicts(commit, label):
                assert verdict.keys() == {"type", "json", "ok", "out"} - ({"out"} if not verdict["ok"] else set())
    assert _rows("Lines").keys() == {"type", "json", "ok", "out"}
    cases = [json.loads(line) for path in MESSAGES for line in path.read_text(encoding="ascii").splitlines()]
    assert {key for case in cases for key in case} == _rows("Whole messages").keys()
    assert len({case["id"] for case in cases}) == len(cases)
    for path in MESSAGES:
        assert f"tests/messages/{path.name}" in README
    for case in cases:
        kinds = (str, str, str, dict)
        assert all(isinstance(case[k], t) for k, t in zip(("kind", "line", "why", "check"), kinds, strict=True))
        assert case["reader"] in ("agent", "client")
        assert case["expect"] in ("accept", "reject")
        assert ("code" in case) == ("reply" in case) == (case["expect"] == "reject")


def test_examples_of_the_pages_are_true() -> None:
    pages = README + (ROOT / "docs/guides/other-languages.md").read_text(encoding="utf-8")
    lines = {line for block in re.findall(r"```json\n(.*?)```", pages, re.DOTALL) for line in block.splitlines()}
    cases = [json.loads(line) for path in MESSAGES for line in path.read_text(encoding="ascii").splitlines()]
    assert len(lines) >= 3
    for line in lines:
        shown: dict[str, Any] = json.loads(line)
        if "type" in shown:
            ok, out = _ours(getattr(v1, shown["type"]), shown["json"])
            assert (ok, json.dumps(out)) == (shown["ok"], shown.get("out", "null"))
        else:
            assert any(shown.items() <= case.items() for case in cases), line


def test_links_of_the_readme_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)", README):
        assert (FOLDER / target).resolve().is_file(), target
    assert Path(ROOT / "docs/reference/model.schema.json").is_file()
