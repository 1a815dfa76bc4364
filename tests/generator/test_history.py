"""The judge of past schema files, on schemas that are here: the cases of `tests/cases`, and a checkout made for it."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.generator import history
from tests.support import CASES

pytestmark = pytest.mark.slow

SHAPES = [p for p in sorted((CASES / "shapes").glob("*/schema.json")) if not p.with_name("overrides.toml").exists()]
"""The cases that need no overrides of their own: past schemas have none."""
PAST = history.collect(str(CASES / "history"))
"""The definitions of past schemas that show what today's no longer have."""
REFUSED = "2025-08-04_a485ce70"
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TAG = {"type": "object", "properties": {"type": {"type": "string", "const": "text"}}, "required": ["type"]}
PAYLOAD = {"oneOf": [{**TAG, "allOf": [{"$ref": "#/$defs/Text"}]}]}
BOTH = {"type": {"type": "string", "const": "text"}, "text": {"type": "string"}}
INLINE = {"oneOf": [{"type": "object", "properties": BOTH, "required": ["type", "text"]}]}
HOLDER = {"type": "object", "properties": {"text": {"$ref": "#/$defs/Text"}}, "required": ["text"]}

Put = Callable[..., None]


def _text(**definitions: Any) -> str:
    return json.dumps({"$defs": definitions})


@pytest.fixture
def put(tmp_path: Path) -> Put:
    def write(name: str, **definitions: Any) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_text(**definitions), encoding="utf-8")

    return write


def _judged(source: Path) -> list[history.Outcome]:
    return history.with_losses([history.judge(past) for past in history.collect(str(source))])


@pytest.mark.parametrize("path", SHAPES, ids=lambda p: p.parent.name)
def test_every_shape_makes_the_round_trip(path: Path) -> None:
    [outcome] = _judged(path)
    assert (outcome.state, outcome.why) == ("ok", "")
    assert outcome.definitions == len(json.loads(path.read_text(encoding="utf-8"))["$defs"])


@pytest.mark.parametrize("past", PAST, ids=lambda p: p.version)
def test_what_upstream_once_had(past: history.Past) -> None:
    outcome = history.judge(past)
    if past.version == REFUSED:
        assert outcome.state == "refused"
        assert outcome.why.count("#/$defs/SessionUpdate/oneOf/") == outcome.why.count("neither a tag nor a title") == 2
    else:
        assert (outcome.state, outcome.why) == ("ok", "")


def test_files_are_ordered_by_version_and_told_apart_by_content(put: Put, tmp_path: Path) -> None:
    put("p-0.10.0/schema/schema.json", A={"type": "string"})
    put("p-0.9.0/schema/schema.json", A={"type": "integer"})
    put("p-0.9.0-alpha.2/schema/schema.json", A={"type": "boolean"})
    put("p-0.11.0/schema/schema.json", A={"type": "string"})  # as in 0.10.0
    put("p-1.0.0/schema/v2/schema.unstable.json", A={"type": "string"})
    put("p-1.0.0/schema/v2/meta.unstable.json")
    put("p-1.0.0/schema/v2/other.json")
    put("p-1.0.0/schema/schema.v2.json", A={"type": "string"})
    found = history.collect(str(tmp_path))
    assert [(p.label, p.version) for p in found] == [
        ("v1", "0.9.0-alpha.2"),
        ("v1", "0.9.0"),
        ("v1", "0.10.0"),
        ("v2", "1.0.0"),
        ("v2_unstable", "1.0.0"),
    ]
    assert [p.meta is not None for p in found] == [False, False, False, False, True]


def test_the_files_of_a_flat_folder(put: Put, tmp_path: Path) -> None:
    put("2026-06-09_719d00e6_v2-schema.unstable.json", A={"type": "string"})
    put("2026-06-08_719d00e7_schema.v2.unstable.json", A={"type": "integer"})
    put("2025-08-01_0a0a0a0a_schema.json", A={"type": "string"})
    put("2025-08-01_0a0a0a0a_other.json", A={"type": "string"})
    assert [(p.label, p.version) for p in history.collect(str(tmp_path))] == [
        ("v1", "2025-08-01_0a0a0a0a"),
        ("v2_unstable", "2026-06-08_719d00e7"),
        ("v2_unstable", "2026-06-09_719d00e6"),
    ]


def test_a_refusal_names_file_pointer_and_reason(put: Put, tmp_path: Path) -> None:
    put("schema.json", A={"type": "string", "x-deserialize-unheard-of": True})
    [outcome] = _judged(tmp_path)
    assert outcome.state == "refused"
    assert outcome.why.startswith(f"{tmp_path}/schema.json#/$defs/A: unknown keyword 'x-deserialize-unheard-of'")
    put("schema.json", A={"type": "string"})
    (tmp_path / "meta.json").write_text('{"agentMethods": []}', encoding="utf-8")
    [outcome] = _judged(tmp_path)
    assert outcome.why == f"{tmp_path}/meta.json#/agentMethods: is not an object"
    (tmp_path / "meta.json").write_text("no JSON", encoding="utf-8")
    [outcome] = _judged(tmp_path)
    assert outcome.state == "failed"


def test_a_name_that_the_rules_lose_is_told_from_one_that_upstream_moves(put: Put, tmp_path: Path) -> None:
    put("v0.1/schema.json", Text=TEXT, Block=PAYLOAD, Holder=HOLDER)
    put("v0.2/schema.json", Text=TEXT, Block=PAYLOAD)  # the one use of Text left: it bears the tag itself
    put("v0.3/schema.json", Block=INLINE)
    put("v0.4/schema.json", Words=TEXT, Block={"oneOf": [{**TAG, "allOf": [{"$ref": "#/$defs/Words"}]}]})
    outcomes = _judged(tmp_path)
    assert [o.state for o in outcomes] == ["ok"] * 4
    assert [o.lost for o in outcomes] == [(), ("BlockText -> Text (variant Block/text)",), (), ()]
    moved = ("Text -> BlockText (variant Block/text)",)
    assert outcomes[2].moved == moved
    assert outcomes[3].moved == ("BlockText -> Words (variant Block/text)",)
    shown = history.table(outcomes).splitlines()
    assert shown[0].split() == ["file", "module", "version", "definitions", "lost", "moved", "result"]
    assert shown[2].split()[1:] == ["v1", "v0.2", "2", "1", "0", "ok"]
    assert f"moved by upstream in {tmp_path}/v0.3/schema.json: {moved[0]}" in shown
    assert history.summary(outcomes) == (
        "4 distinct files: 4 ok, 0 refused, 0 failed; 3 consecutive pairs, 1 names lost, 2 moved by upstream"
    )


def test_a_package_that_does_not_keep_its_word_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text(_text(Text=TEXT), encoding="utf-8")
    monkeypatch.setattr("tests.oracle.instances.TEXTS", [1])
    [outcome] = _judged(tmp_path)
    assert outcome.state == "failed"
    assert outcome.why.startswith("#/$defs/Text (minimal): ValidationError: Expected `str`, got `int`")


def test_the_commits_of_a_checkout(put: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", tmp_path, *who, *arguments], check=True, capture_output=True)

    git("init", "-q")
    put("schema/schema.json", A={"type": "string"})
    git("add", ".")
    git("commit", "-qm", "one")
    put("schema/v1/schema.json", A={"type": "string"})
    put("schema/v2/schema.json", A={"type": "string"})
    git("rm", "-q", "-f", "schema/schema.json")
    git("add", ".")
    git("commit", "-qm", "two")
    put("schema/v2/schema.json", A={"type": "integer"})  # not committed
    names = [p.shown.partition("@")[2].partition("/")[2] for p in history.collect(str(tmp_path))]
    assert names == ["schema/schema.json", "schema/v2/schema.json"]
    assert history.main([str(tmp_path), "--jobs", "1"]) == 0
    assert "2 distinct files: 2 ok, 0 refused, 0 failed; 0 consecutive pairs" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "why"), [("nowhere", "is neither a file nor a folder"), ("", "holds no schema file")])
def test_a_source_without_schemas(name: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=f"error: .*: {why}"):
        history.main([str(tmp_path / name)])
