"""Comparing schemas: every rule once, every format, every kind of input, and the page in a browser."""

import json
import os
import re
import shutil
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from generator.diff import FORMATS, Report, diff
from generator.diff.compare.modules import compare_modules
from generator.diff.compare.rules import EFFECTS, RULES, Effect
from generator.errors import GeneratorError
from generator.model import Module
from generator.pin import pin
from generator.pipeline import load_module
from generator.source import load_pinned
from tests.page_support import Page, shown_in_browser
from tests.support import CASES, ROOT, golden

CASE_NAMES = sorted(p.name for p in (CASES / "diff").iterdir())
HOSTILE = "</script><script>document.title='run'</script><img src=x onerror=alert(1)>\"'`|*\x1b[31m\u202e\n| end"


def _case(name: str, monkeypatch: pytest.MonkeyPatch, fmt: str = "text") -> Report:
    monkeypatch.chdir(CASES / "diff" / name)
    end = ".json" if Path("old.json").exists() else ""
    return diff(f"old{end}", f"new{end}", fmt)


@pytest.mark.parametrize("name", CASE_NAMES)
def test_case(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report = _case(name, monkeypatch)
    golden(CASES / "diff" / name / "expected.txt", f"{report.text}\nexit status {report.status}\n")


@pytest.mark.slow
def test_every_rule_has_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    hit = {change.rule.kind for name in CASE_NAMES for change in _case(name, monkeypatch).comparison.changes}
    assert sorted(RULES.keys() - hit) == []
    for rule in RULES.values():
        assert rule.sentence.endswith(".")
        assert rule.reason.endswith(".")
        assert rule.noticed or rule.severity is Effect.COMPATIBLE, f"{rule.kind} is a patch, yet somebody is affected"


@pytest.mark.parametrize("fmt", FORMATS)
def test_status(fmt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {"no_change": ("none", 0), "order_changed": ("patch", 3), "value_added": ("minor", 3)}
    for name, (version, status) in {**wanted, "value_removed": ("major", 4)}.items():
        report = _case(name, monkeypatch, fmt)
        assert (report.comparison.version, report.status) == (version, status)
        assert version in report.text


def test_json(monkeypatch: pytest.MonkeyPatch) -> None:
    report = _case("flattened", monkeypatch, "json")
    document = json.loads(report.text)
    counts = {"breaking": 1, "tightened": 0, "loosened": 1, "compatible": 0}
    assert [document[k] for k in ("format", "old", "labels", "version", "status")] == [
        *(1, "old.json", ["schema"], "major", 4)
    ]
    assert document["counts"]["reader"] == counts
    assert document["counts"]["writer"] == {**counts, "loosened": 0, "compatible": 1}
    pointer = "/$defs/Text/properties/text"
    assert document["changes"][1] == {
        "kind": "null.allowed",
        "label": "schema",
        "repeats": None,
        "owner": "Text",
        "name": "Text.text",
        "reader": "loosened",
        "writer": "compatible",
        "severity": "loosened",
        "version": "minor",
        "sentence": "Text.text may be null.",
        "reason": RULES["null.allowed"].reason,
        "pointers": {"old": pointer, "new": pointer},
        "before": "text: str",
        "after": "text: str | None",
        # Once at the payload that declares it, for all that are made of it.
        "used_in": ["OptionA", "OptionB", "Plain.text"],
        "methods": [],
        "also": [],
        "evidence": "",
    }
    # The module's docstring documents every key.
    described = sys.modules["generator.diff.render.json_document"].__doc__ or ""
    for key in (*document, *document["head"][0], *document["changes"][0]):
        assert re.search(rf"^ +(\w+, )?{key}\b", described, re.MULTILINE), key


def _hostile(folder: Path) -> tuple[str, str]:
    """Write two schemas whose every free text tries to break out of a report."""
    kinds = {"Kind": {"type": "string", "enum": [f"a{HOSTILE}", "same"]}}
    file: dict[str, Any] = {"type": "object", "properties": {HOSTILE: {"type": "string", "pattern": HOSTILE}}}
    file["required"] = [HOSTILE]
    tagged = {"type": "object", "properties": {"kind": {"type": "string", "const": HOSTILE}}, "required": ["kind"]}
    old: dict[str, Any] = {**kinds, "File": file, "Shape": {"oneOf": [tagged]}}
    new = deepcopy(old)
    new["Kind"]["enum"] = ["same", f"b{HOSTILE}"]
    new["File"]["properties"][HOSTILE]["pattern"] = f"{HOSTILE}$"
    new["Shape"]["oneOf"][0]["properties"]["kind"]["const"] = f"{HOSTILE}2"
    names = (str(folder / "old<b>&`|.json"), str(folder / "new<b>&`|.json"))
    for name, definitions in zip(names, (old, new), strict=True):
        Path(name).write_text(json.dumps({"$defs": definitions}), encoding="utf-8")
    return names


class DiffPage(Page):
    """A page of changes."""

    @property
    def visible(self) -> list[dict[str, str | None]]:
        return [a for a in self.of("article", "change") if "hidden" not in a]


def test_hostile_texts(tmp_path: Path) -> None:
    old, new = _hostile(tmp_path)
    for fmt in ("text", "markdown"):
        text = diff(old, new, fmt).text
        assert "\x1b" not in text
        assert "\u202e" not in text
    rows = [line for line in diff(old, new, "markdown").text.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(diff(old, new, "text").comparison.changes)
    # Five cells each, however many bars the texts have, and no HTML outside of code.
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 6, row
        assert not re.search(r"(?<!\\)<", re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", row.replace("\\`", ""))), row
    page = DiffPage(diff(old, new, "html").text)
    assert len(page.of("script")) == len(page.of("style")) == 1
    assert not page.of("img")
    assert not page.of("b", "json")
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on")]
    assert json.loads(diff(old, new, "json").text)["changes"][0]["kind"] in RULES


def _small(folder: Path) -> Path:
    """Write what a checkout of upstream has: here, one enum in each file."""
    values = [{"type": "string", "const": word} for word in ("end_turn", "cancelled")]
    for name in ("v1/schema.json", "v1/schema.unstable.json", "v2/schema.json", "v2/schema.unstable.json"):
        path = folder / "schema" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"$defs": {"StopReason": {"oneOf": values}}}), encoding="utf-8")
        meta: dict[str, Any] = {"version": int(name[1]), "agentMethods": {}, "clientMethods": {}, "protocolMethods": {}}
        (path.parent / path.name.replace("schema", "meta")).write_text(json.dumps(meta), encoding="utf-8")
    return folder


@pytest.mark.slow
def test_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, schema = tmp_path / "whole", tmp_path / "project" / "schema"
    pin(str(_small(tmp_path / "source")), "0" * 40, None, whole)
    shutil.copytree(whole / "schema", schema)
    early = tmp_path / "early"
    early.mkdir()
    shutil.copy(schema / "v1" / "schema.json", early / "schema.json")
    shutil.copy(schema / "v1" / "schema.unstable.json", early / "schema.unstable.json")
    for what in ("GLOBAL", "SYSTEM"):
        monkeypatch.setenv(f"GIT_CONFIG_{what}", os.devnull)
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    for arguments in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "one"], ["tag", "first"]):
        subprocess.run(["git", *arguments], cwd=schema.parent, capture_output=True, check=True)
    raw = json.loads((schema / "v1" / "schema.json").read_text(encoding="utf-8"))
    raw["$defs"]["StopReason"]["oneOf"].pop()
    (schema / "v1" / "schema.json").write_text(json.dumps(raw), encoding="utf-8")
    # The work tree has lost a value; the lock, which vouches for its files, does not vouch for this one.
    for old in ("first", str(whole / "schema" / "lock.json"), str(whole)):
        report = diff(old, str(schema if old == "first" else schema.parent), "text", schema.parent)
        assert [c.rule.kind for c in report.comparison.changes] == ["value.removed"], old
        assert report.comparison.labels == ("v1", "v1_unstable", "v2", "v2_unstable")
    with pytest.raises(GeneratorError, match=r"v1/schema\.json: differs from its sha256 in the lock"):
        diff("first", str(schema / "lock.json"), "text", schema.parent)
    assert diff("first", "HEAD", "text", schema.parent).status == 0
    # The older layout has no v2, and a file stands for the module of its path's label.
    report = diff(str(early), str(schema), "text")
    kinds = [(c.rule.kind, c.label) for c in report.comparison.changes]
    assert kinds == [("value.removed", "v1"), ("module.added", "v2"), ("module.added", "v2_unstable")]
    file = str(schema / "v1" / "schema.json")
    assert diff(str(early / "schema.json"), file, "text").comparison.labels == ("v1",)
    assert [c.rule.kind for c in diff("first", file, "text", schema.parent).comparison.changes] == ["value.removed"]


@pytest.mark.parametrize(
    ("old", "fmt", "message"),
    [
        ("nowhere", "text", "'nowhere' is not a file, a folder or a git revision of this project (hint: a lock"),
        ("", "text", "'' is not a file, a folder or a git revision"),
        ("--help", "text", "'--help' is not a file, a folder or a git revision"),
        ("empty", "text", "empty: holds no schema (hint: v1/schema.json, schema/v1/… or schema.json)"),
        ("broken.json", "text", "broken.json: is not JSON: "),
        ("lock.json", "text", "v1/schema.json: is missing (hint: see lock.json, or name the folder instead)"),
        ("good.json", "text", "good.json: cannot tell which of v1, v1_unstable, v2, v2_unstable in "),
        ("good.json", "yaml", "unknown format 'yaml' (hint: one of text, markdown, json, html)"),
        ("x" * 5000, "text", "cannot be read: file name too long"),
    ],
)
@pytest.mark.slow
def test_bad_input(old: str, fmt: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    (tmp_path / "good.json").write_text('{"$defs": {"A": {"type": "string"}}}', encoding="utf-8")
    (tmp_path / "lock.json").write_text('{"files": {"v1/schema.json": {"sha256": "0"}}}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for names in ((old, str(ROOT / "schema")), (str(ROOT / "schema"), old)):
        with pytest.raises(GeneratorError) as caught:
            diff(*names, fmt)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_the_pinned_schemas() -> None:
    report = diff(str(ROOT / "schema/v1/schema.json"), str(ROOT / "schema/v1/schema.unstable.json"), "text")
    changes = report.comparison.changes
    assert len(changes) > 100
    assert {c.rule.severity for c in changes} >= {Effect.LOOSENED, Effect.COMPATIBLE}
    assert len({(c.rule.kind, c.name, c.before, c.after, c.sentence) for c in changes}) == len(changes)


@pytest.mark.slow
def test_no_difference_goes_unreported() -> None:
    source = load_pinned()[0][0]

    def lowered(raw: dict[str, Any]) -> Module:
        return load_module(replace(source, raw=raw, meta=None, pinned=False))

    before, compared = lowered(source.raw), 0
    texts = [json.dumps(definition) for definition in source.raw["$defs"].values()]
    for name in [n for n, d in source.raw["$defs"].items() if d.get("properties") and "x-docs-ignore" not in d][::6]:
        raw = deepcopy(source.raw)
        definition = raw["$defs"][name]
        key = next(iter(definition["properties"]))
        del definition["properties"][key]
        definition["properties"]["brandNew"] = {"type": "boolean", "default": False}
        definition["required"] = [k for k in definition.get("required", []) if k != key]
        if any(f'"default": {{"{key}"' in text for text in texts):
            continue  # somebody's default begins with the property that is gone
        after = lowered(raw)
        compared += 1
        found = compare_modules(before, after, "v1", ({}, {}), has_meta=False)
        kinds = [(c.rule.kind, c.owner) for c in found if c.rule.kind != "variant.removed"]
        assert kinds == [("field.removed", name), ("field.added_optional", name)]
        assert {c.owner for c in compare_modules(after, before, "v1", ({}, {}), has_meta=False)} == {name}
    assert compared >= 10


@pytest.mark.slow
def test_same_bytes_for_any_hash_seed() -> None:
    code = (
        "import sys; from generator.diff import FORMATS, diff; "
        "[print(diff('schema/v1/schema.json', 'schema/v2/schema.json', f).text) for f in FORMATS]"
    )
    run = partial(subprocess.run, [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    outputs = [run(env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")]
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 100_000


@pytest.mark.browser
def test_page_in_a_browser(tmp_path: Path) -> None:
    report = diff(str(ROOT / "schema/v1/schema.json"), str(ROOT / "schema/v2/schema.json"), "html")
    page = tmp_path / "report.html"
    page.write_text(report.text, encoding="utf-8")
    assert not re.search(r"(src|href|url)\s*[=(]", report.text.partition("<body>")[0])
    whole = DiffPage(shown_in_browser(page, tmp_path / "profile", ""))
    assert len(whole.visible) == len(whole.of("article", "change")) == len(report.comparison.changes)
    assert all("disabled" not in button for button in whole.of("button"))

    for effect in EFFECTS:
        filtered = DiffPage(shown_in_browser(page, tmp_path / "profile", f"#reader={effect}"))
        assert len(filtered.visible) == report.comparison.count("reader", effect) > 0
        assert {a["data-reader"] for a in filtered.visible} == {effect}
        pressed = [b for b in filtered.of("button") if b.get("aria-pressed") == "true"]
        assert [(b["data-side"], b["data-value"]) for b in pressed] == [("reader", effect)]
        types = filtered.of("details", "type")
        assert 0 < sum("hidden" not in t for t in types) < len(types)

    both = DiffPage(
        shown_in_browser(page, tmp_path / "profile", "#reader=compatible&writer=tightened,breaking&text=MEDIATYPE")
    )
    assert {a["data-writer"] for a in both.visible} == {"tightened"}
    assert 0 < len(both.visible) < report.comparison.count("writer", Effect.TIGHTENED)

    page.write_text(diff(*_hostile(tmp_path), "html").text, encoding="utf-8")
    hostile = DiffPage(shown_in_browser(page, tmp_path / "profile", "#text=%3Cscript%3E"))
    assert len(hostile.visible) >= 3
    assert len(hostile.of("script")) == 1
    assert not hostile.of("img")
