"""The comparison finds by watching what the overrides say, and names each difference by its rule."""

import importlib
import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from generator.manifest import update
from generator.pin import pin
from generator.pipeline import generate_pinned
from tests.oracle.compare import (
    LISTS,
    UNIONS,
    Comparison,
    Finding,
    accepted,
    compare_label,
    compare_modules,
    facts_of,
    main,
    merged,
    tables_of,
)
from tests.oracle.locate import MISSING, Locator, steps_of
from tests.oracle.recorded import files_of, folder_of
from tests.oracle.reference import Verdict
from tests.oracle.rules import Candidate, Fact, Judge, Ours, Rule, differences
from tests.oracle.schema_files import LABELS
from tests.oracle.schema_walk import Schema
from tests.oracle.told import as_json, as_text, toml_lines
from tests.support import CASES, imported

PINS = CASES / "pins"
FOUND = (*LISTS, "unknown_member")
"""The tables whose entries watching can find; without a default the generator stops, and asks for it."""
FLAGS = (*UNIONS, "null_as_empty")
SCHEMA: dict[str, Any] = {
    "$defs": {
        "Kind": {"oneOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "other"}]},
        "Key": {"type": "string", "maxLength": 3},
        "Part": {"type": "object", "properties": {"title": {"type": ["string", "null"]}}},
        "Empty": {"type": "object", "properties": {}, "x-method": "m", "x-side": "agent"},
        "Text": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "Either": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"type": {"type": "string", "const": "text"}},
                    "required": ["type"],
                    "allOf": [{"$ref": "#/$defs/Text"}],
                },
                {"allOf": [{"$ref": "#/$defs/Part"}]},
            ]
        },
        "Kept": {"anyOf": [{"$ref": "#/$defs/Part"}, {"title": "Other"}]},
        "One": {"type": "object", "properties": {"one": {"type": "string"}}, "required": ["one"]},
        "Scope": {"anyOf": [{"allOf": [{"$ref": "#/$defs/Text"}]}, {"allOf": [{"$ref": "#/$defs/One"}]}]},
        "Whole": {
            "type": "object",
            "properties": {
                "part": {"$ref": "#/$defs/Part"},
                "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}, "minItems": 1},
                "kind": {"$ref": "#/$defs/Kind"},
                "key": {"$ref": "#/$defs/Key"},
                "either": {"$ref": "#/$defs/Either"},
                "empty": {"$ref": "#/$defs/Empty"},
                "kept": {"$ref": "#/$defs/Kept"},
            },
        },
    }
}


def stripped(commit: str, tables: tuple[str, ...], target: Path) -> Path:
    """Write the overrides of a stored commit without some tables."""
    lines: list[str] = []
    within = skipping = False
    for line in (PINS / commit / "overrides.toml").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            within = line.strip("[]").rpartition(".")[2] in tables
        if line.partition(" = ")[0] in tables:
            skipping = "[" in line and "]" not in line
            continue
        if skipping:
            skipping = "]" not in line
        elif not within:
            lines.append(line)
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return target


def package_of(commit: str, overrides: Path, out: Path) -> None:
    """Generate the package of a stored commit with other overrides."""
    root = out / "project"
    pin(str(PINS / commit), commit, None, root=root)
    shutil.copy(overrides, root / "schema" / "overrides.toml")
    update(out, generate_pinned(lambda _: None, root, out).output, check=False)


def own_facts(commit: str, tables: tuple[str, ...]) -> dict[str, set[Fact]]:
    """Read the facts of each label's own table."""
    tree = tomllib.loads((PINS / commit / "overrides.toml").read_text(encoding="utf-8"))
    found: dict[str, set[Fact]] = {}
    for label in LABELS:
        inherited = facts_of(LABELS[LABELS.index(label) - 1], PINS / commit / "overrides.toml")
        facts = facts_of(label, PINS / commit / "overrides.toml")
        own = facts - inherited if label.endswith("_unstable") else facts
        kept = {fact for fact in own if (fact.table or fact.name) in tables}
        if label in tree and kept:
            found[label] = kept
    return found


@pytest.mark.endurance
@pytest.mark.parametrize("commit", sorted(path.name for path in PINS.iterdir() if files_of(folder_of(path.name))))
def test_facts_that_are_taken_away_are_proposed_again(commit: str, tmp_path: Path) -> None:
    tables = (*FOUND, *FLAGS)
    overrides = stripped(commit, tables, tmp_path / "overrides.toml")
    assert not any(own_facts_of(overrides, tables).values())
    package_of(commit, overrides, tmp_path)
    with imported(tmp_path, "v1", f"stripped_{commit}") as (package, _):
        modules = {label: importlib.import_module(f"{package.__name__}.{label}") for label in LABELS}
        outcome = compare_modules(package, modules, folder_of(commit), PINS / commit, overrides)
    # An entry of `not_patch` may also say what holds anyway, so that nobody is asked again.
    stated = own_facts(commit, tables)
    assert all(facts <= stated[label] for label, facts in outcome.facts.items())
    left = {fact for label, facts in stated.items() for fact in facts - outcome.facts.get(label, set())}
    assert {fact.table for fact in left} <= {"not_patch"}
    without = [finding for finding in outcome.open if finding.fact is None]
    assert not without, as_text(outcome, overrides)


def own_facts_of(path: Path, tables: tuple[str, ...]) -> dict[str, set[Fact]]:
    return {label: {f for f in facts_of(label, path) if (f.table or f.name) in tables} for label in LABELS}


def judge(*present: Fact) -> Judge:
    return Judge(Schema("v1", SCHEMA), present)


REFUSED = object()
CASES_OF_RULES: list[tuple[str, Any, Any, Ours, Candidate]] = [
    (
        "Whole",
        {"part": {"title": None}},
        {"part": {"title": None}},
        Ours(True, {"part": {}}),
        Candidate(Rule.PATCH, "Part.title", Fact("patch", "Part", "title")),
    ),
    (
        "Whole",
        {"parts": [{}, {"title": None}]},
        {"parts": [{}, {}]},
        Ours(True, {"parts": [{}, {"title": None}]}),
        Candidate(Rule.NOT_PATCH, "Part.title", Fact("not_patch", "Part", "title")),
    ),
    (
        "Whole",
        {"kind": "new"},
        {"kind": "new"},
        Ours(False, error="Invalid enum value", path="$.kind"),
        Candidate(Rule.LENIENT, "Kind"),
    ),
    (
        "Kind",
        "new",
        "other",
        Ours(False, error="Invalid enum value"),
        Candidate(Rule.UNKNOWN_MEMBER, "Kind", Fact("unknown_member", "Kind", "other")),
    ),
    (
        "Whole",
        {"kind": "new"},
        {"kind": "other"},
        Ours(True, {"kind": "new"}),
        Candidate(Rule.UNKNOWN_MEMBER, "Kind", Fact("unknown_member", "Kind", "other")),
    ),
    (
        "Whole",
        {},
        {"kind": "a"},
        Ours(True, {"kind": "other"}),
        Candidate(Rule.DEFAULT, "Kind", Fact("default", "Kind", "a")),
    ),
    (
        "Whole",
        {"key": "long"},
        REFUSED,
        Ours(True, {"key": "long"}),
        Candidate(Rule.LIMIT, "Key maxLength", Fact("enforced", "Key", "maxLength")),
    ),
    (
        "Whole",
        {"parts": []},
        REFUSED,
        Ours(True, {"parts": []}),
        Candidate(Rule.LIMIT, "Whole.parts minItems", Fact("enforced", "Whole.parts", "minItems")),
    ),
    (
        "Whole",
        {"parts": []},
        {"parts": []},
        Ours(False, error="too short", path="$.parts"),
        Candidate(Rule.NO_LIMIT, "Whole.parts minItems"),
    ),
    (
        "Empty",
        None,
        {},
        Ours(False, error="Expected `object`"),
        Candidate(Rule.NULL_PAYLOAD, "Empty", Fact("", "null_as_empty", "true")),
    ),
    (
        "Whole",
        {"empty": None},
        REFUSED,
        Ours(True, {"empty": {}}),
        Candidate(Rule.NO_NULL_PAYLOAD, "Empty", Fact("", "null_as_empty", "true", remove=True)),
    ),
    ("Whole", {"part": None}, {}, Ours(False, error="null", path="$.part"), Candidate(Rule.NULL, "Whole.part")),
    ("Whole", {"part": None}, REFUSED, Ours(True, {}), Candidate(Rule.NO_NULL, "Whole.part")),
    (
        "Text",
        {},
        {"text": ""},
        Ours(False, error="Object missing required field `text`"),
        Candidate(Rule.OPTIONAL, "Text.text"),
    ),
    ("Whole", {"part": 1}, {}, Ours(False, error="int", path="$.part"), Candidate(Rule.LENIENT, "Whole.part")),
    ("Whole", {"part": 1}, REFUSED, Ours(True, {}, repairs=(("$.part", 1),)), Candidate(Rule.STRICT, "Whole.part")),
    (
        "Whole",
        {"either": {"type": "text", "title": "t"}},
        REFUSED,
        Ours(True, {"either": {"title": "t"}}),
        Candidate(Rule.TAG_DECIDES, "Either", Fact("", "tag_decides", "Either")),
    ),
    (
        "Whole",
        {"kept": {"new": {}}},
        {"kept": {"new": {}}},
        Ours(True, {"kept": {}}),
        Candidate(Rule.VERBATIM, "Kept", Fact("", "verbatim", "Kept")),
    ),
    ("Part", {"new": 1}, {"new": 1}, Ours(True, {}), Candidate(Rule.EXTRA_KEYS, "Part")),
    ("Part", {"new": 1}, {}, Ours(True, {"new": 1}), Candidate(Rule.NO_EXTRA_KEYS, "Part")),
    ("Whole", {"parts": [{}, 1]}, {"parts": [{}]}, Ours(True, {"parts": []}), Candidate(Rule.ITEMS, "Whole.parts")),
    ("Part", {"title": "a"}, {"title": "b"}, Ours(True, {"title": "a"}), Candidate(Rule.VALUE, "Part.title")),
    ("Part", {"title": 1}, REFUSED, Ours(True, {"title": 1}), Candidate(Rule.UNEXPLAINED, "Part")),
    ("Part", {}, {}, Ours(False, error="KeyError: 'x'", crash=True), Candidate(Rule.CRASH, "Part: KeyError: 'x'")),
    ("Whole", {"part": []}, {"part": {}}, Ours(True, {}), Candidate(Rule.ON_PURPOSE, "Part")),
    ("Either", {"type": 0}, {"text": ""}, Ours(False), Candidate(Rule.ON_PURPOSE, "Either")),
    ("Kind", {"a": None}, "a", Ours(False), Candidate(Rule.ON_PURPOSE, "Kind")),
]


@pytest.mark.parametrize("case", CASES_OF_RULES, ids=lambda case: f"{case[4].rule.name} {case[4].subject}")
def test_rule(case: tuple[str, Any, Any, Ours, Candidate]) -> None:
    key, given, theirs, ours, expected = case
    ok = theirs is not REFUSED
    verdict = Verdict(key, json.dumps(given), ok, json.dumps(theirs) if ok else None)
    (found,) = judge().candidates(verdict, given, theirs if ok else None, ours)
    assert (found, found.fact) == (expected, expected.fact)


def test_variants_that_exclude_each_other_take_a_fact_each() -> None:
    given = {"text": "t", "one": "o"}
    found = judge().candidates(Verdict("Scope", json.dumps(given), False, None), given, None, Ours(True, given))
    assert {c.fact for c in found} == {Fact("forbids", "Text", "one"), Fact("forbids", "One", "text")}


def test_a_fact_that_is_wrong_is_to_be_removed() -> None:
    fact = Fact("patch", "Part", "title")
    verdict = Verdict("Part", '{"title":null}', True, "{}")
    (found,) = judge(fact).candidates(verdict, {"title": None}, {}, Ours(True, {"title": None}))
    assert found.fact == Fact("patch", "Part", "title", remove=True)
    limit = Fact("enforced", "Key", "maxLength")
    refused = Ours(False, error="too long", path="$")
    (found,) = judge(limit).candidates(Verdict("Key", '"long"', True, '"long"'), "long", "long", refused)
    assert found.fact == Fact("enforced", "Key", "maxLength", remove=True)


def test_of_several_causes_the_one_that_is_shown_alone_is_chosen() -> None:
    taken = {"key": "long", "part": None}

    def ours(verdict: Verdict) -> Ours:
        return Ours(True, json.loads(verdict.json))

    verdicts = [Verdict("Whole", json.dumps(taken), False, None), Verdict("Whole", '{"key":"long"}', False, None)]
    outcome = compare_label(judge(), ours, verdicts)
    assert [(f.rule, f.subject, f.count) for f in outcome.findings] == [(Rule.LIMIT, "Key maxLength", 2)]
    assert (outcome.asked, outcome.agree) == (2, 0)


def test_a_type_that_is_not_in_the_package_is_counted() -> None:
    outcome = compare_label(judge(), lambda _: None, [Verdict("Part", "{}", True, "{}")])
    assert outcome.skipped == {"v1.Part": 1}
    assert outcome.asked == 0


def test_an_unstable_label_takes_the_facts_of_its_stable_one() -> None:
    assert tables_of(["v1", "v1_unstable", "v2_unstable"]) == ["v1", "v2_unstable"]
    fact = Fact("patch", "Part", "title")
    stable = Comparison("", findings=[Finding(Rule.PATCH, "Part.title", fact, ["v1"], 1)])
    unstable = Comparison("", findings=[Finding(Rule.PATCH, "Part.title", fact, ["v1_unstable"], 2)])
    whole = merged("", [stable, unstable])
    assert [(f.labels, f.count) for f in whole.findings] == [(["v1", "v1_unstable"], 3)]
    assert whole.facts == {"v1": {fact}}


def test_what_holds_for_a_whole_table_is_said_once() -> None:
    fact = Fact("", "null_as_empty", "true")
    found = [
        Finding(Rule.NULL_PAYLOAD, "A", fact, ["v1"], 1),
        Finding(Rule.NULL_PAYLOAD, "B", fact, ["v1_unstable"], 1),
    ]
    assert Comparison("", findings=found).facts == {"v1": {fact}}


def test_entries_are_written_as_they_must_stand(tmp_path: Path) -> None:
    overrides = tmp_path / "overrides.toml"
    overrides.write_text('[v1.patch]\nPart = ["title"]\n[v1]\n', encoding="utf-8")
    facts = {
        Fact("patch", "Part", "size"),
        Fact("enforced", "Whole.parts", "minItems"),
        Fact("unknown_member", "Kind", "other"),
        Fact("", "null_as_empty", "true"),
        Fact("", "tag_decides", "Either"),
        Fact("not_patch", "Part", "old", remove=True),
    }
    lines = toml_lines("v1", facts, overrides)
    tree = tomllib.loads("[v1]\n" + "\n".join(lines))
    assert tree["v1"] == {
        "null_as_empty": True,
        "tag_decides": ["Either"],
        "patch": {"Part": ["title", "size"]},
        "enforced": {"Whole.parts": ["minItems"]},
        "unknown_member": {"Kind": "other"},
    }
    assert lines[-1] == "# remove: [v1.not_patch] Part: old"


def test_both_forms_tell_the_same(tmp_path: Path) -> None:
    overrides = tmp_path / "overrides.toml"
    overrides.write_text("", encoding="utf-8")
    finding = Finding(Rule.PATCH, "Part.title", Fact("patch", "Part", "title"), ["v1"], 1)
    finding.examples.append(Verdict("Part", '{"title":null}', True, '{"title":null}'))
    outcome = Comparison("0123456789abcdef", 2, 1, [finding])
    told = json.loads(as_json(outcome))
    assert told["facts"] == {"v1": [{"table": "patch", "name": "Part", "value": "title", "remove": False}]}
    assert told["findings"][0]["rule"] == "patch"
    text = as_text(outcome, overrides)
    assert 'Part = ["title"]' in text
    assert text.endswith("differences on purpose: 0; to be decided: 1")
    assert "1/2 agree with the reference at 0123456789ab" in text


DIFFERENT: list[tuple[Any, Any, list[Any]]] = [
    ({"a": 1}, {"a": 1.0}, []),
    ({"a": True}, {"a": 1}, [(("a",), True, 1)]),
    ({"a": [1, {"b": None}]}, {"a": [1, {}]}, [(("a", 1, "b"), None, MISSING)]),
    ({"a": [1]}, {"a": []}, [(("a",), [1], [])]),
    ({}, {"a": {}}, [(("a",), MISSING, {})]),
    (2**63, float(2**63), []),
]


@pytest.mark.parametrize(("theirs", "ours", "found"), DIFFERENT)
def test_differences(theirs: Any, ours: Any, found: list[Any]) -> None:
    assert list(differences(theirs, ours)) == found


def test_a_path_is_read_along_the_value() -> None:
    value = {"a": [{"b.c": {"a": 1}, "b": 2}], "a b": 3, "[0]": 4}
    for path, steps in (
        ("$.a[0]['b.c'].a", ("a", 0, "b.c", "a")),
        ("$['a b']", ("a b",)),
        ("$['[0]']", ("[0]",)),
        ("$.a[0].b", ("a", 0, "b")),
        ("$", ()),
        ("$.gone", ()),
    ):
        assert steps_of(path, value) == steps


def test_a_place_is_found_through_unions_lists_and_references() -> None:
    locator = Locator(Schema("v1", SCHEMA))
    value = {"either": {"title": "t"}, "parts": [{"title": None}]}
    assert [place.name for place in locator.at("Whole", value, ("either", "title"))] == ["Part.title"]
    assert [place.name for place in locator.at("Whole", value, ("parts", 0, "title"))] == ["Part.title"]
    assert [place.node for place in locator.at("Whole", {"x": 1}, ("x",))] == [None]


def test_the_tags_of_nested_unions_all_decide() -> None:
    state: dict[str, Any] = {"type": "string", "const": "idle"}
    other: dict[str, Any] = {
        "type": "object",
        "properties": {"state": {"type": "string"}, "title": {"type": "string"}},
        "required": ["state"],
        "not": {"anyOf": [{"properties": {"state": state}, "required": ["state"]}]},
    }

    def variant(tag: str, key: str) -> dict[str, Any]:
        tags = {"kind": {"type": "string", "const": tag}}
        return {"type": "object", "properties": tags, "required": ["kind"], "allOf": [{"$ref": f"#/$defs/{key}"}]}

    idle = {"type": "object", "properties": {"state": state}, "required": ["state"]}
    nested = {
        "State": {"anyOf": [idle, other]},
        "Update": {"oneOf": [variant("state", "State"), variant("part", "Part")]},
    }
    locator = Locator(Schema("v1", {"$defs": {**SCHEMA["$defs"], **nested}}))
    for kind, owner in (("part", "Part"), ("state", "State")):
        places = locator.at("Update", {"kind": kind, "title": None, "state": "new"}, ("title",))
        assert [place.name for place in places] == [f"{owner}.title"]


def test_without_verdicts_the_command_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--commit", "f" * 40]) == 2
    assert "no verdicts of ffffffffffff are recorded" in capsys.readouterr().err


def test_the_command_gives_facts_to_programs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    verdicts = tmp_path / "v1.jsonl"
    verdicts.write_text('{"type": "RequestId", "json": "1", "ok": true, "out": "1"}\n', encoding="utf-8")
    assert main(["--vectors", str(tmp_path), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["asked"], told["agree"], told["facts"]) == (1, 1, {})


def test_each_accepted_difference_has_a_rule_and_a_reason() -> None:
    for entry in (entry for path in PINS.iterdir() for entry in accepted(path.name)):
        assert Rule[entry["rule"].upper()]
        assert entry["subject"]
        assert entry["reason"]
