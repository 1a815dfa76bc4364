"""Many problems in one run: none hides the next, what only follows from one is not told, and each is told once."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generator.errors import GeneratorError, GeneratorErrors, Problems
from generator.jsonutil import digest
from generator.lower import lower_collecting
from generator.overrides import load_overrides
from generator.pipeline import generate_pinned, generate_single
from generator.read import read_collecting
from generator.source import Source
from tests.generator.command import generator
from tests.support import CASES, ROOT

ALONE = {
    "keyword_name": "its name is the problem",
    "name_that_is_no_identifier": "its name is the problem",
    "reserved_name": "its name is the problem",
    "cycle_of_aliases": "found by emission, which needs all of lowering",
    "cycle_of_unions": "found by emission, which needs all of lowering",
    "reference_to_itself": "found by emission, which needs all of lowering",
}
"""The bad cases that cannot be tried beside others."""
TEXT = {"type": "string"}
NONE = {"type": "integer", "minimum": 9, "maximum": 3}
"""A property that lowering refuses: no integer fits."""


def _refused(definitions: dict[str, Any], folder: Path) -> list[str]:
    """Return the lines for a schema with these definitions, without the name of the file."""
    path = folder / "schema.json"
    path.write_text(json.dumps({"$defs": definitions}), encoding="utf-8")
    with pytest.raises(GeneratorError) as caught:
        generate_single(path, "case", None, lambda _: None, folder / "out")
    lines = str(caught.value).splitlines()
    assert lines == [str(p) for p in caught.value.problems]
    return [line.removeprefix(f"{path}#") for line in lines]


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _bad_cases() -> Iterator[tuple[dict[str, Any], list[str]]]:
    """List the bad schemas whose definitions can be renamed: the definitions, and the lines of the errors."""
    for path in sorted((CASES / "bad").glob("*.json")):
        lines = path.with_suffix(".txt").read_text(encoding="utf-8").strip()
        prefix = f"{path.name}#/$defs/"
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.stem in ALONE or not lines.startswith(prefix) or "x-docs-ignore" in text:
            continue
        given = json.loads(text)["$defs"]
        own = "".join(word.title() for word in path.stem.split("_"))
        names = re.compile(rf"\b({'|'.join(given)})\b")
        renamed = names.sub(rf"{own}\1", json.dumps(given))
        told = names.sub(rf"{own}\1", lines.replace(f"{path.name}#", "")).splitlines()
        yield json.loads(renamed), told


def test_all_bad_cases_in_one_schema(tmp_path: Path) -> None:
    definitions: dict[str, Any] = {}
    wanted: list[str] = []
    for given, lines in _bad_cases():
        definitions |= given
        wanted += lines
    assert len(wanted) > 40
    assert sorted(_refused(definitions, tmp_path)) == sorted(wanted)


def test_the_problems_of_one_definition(tmp_path: Path) -> None:
    bad = {
        "A": {
            **_object(
                one={**TEXT, "x-deserialize-new": 1, "x-deserialize-newer": 2},
                two=TEXT,
                three={"type": "integer", "format": "int7"},
                four={"type": "array", "items": {**TEXT, "x-deserialize-new": 1}},
            ),
            "x-deserialize-newest": True,
        },
        "B": _object(one=NONE, two={"type": "integer", "default": "x"}, three=NONE),
    }
    lines = _refused(bad, tmp_path)
    assert [line.partition(": ")[0] for line in lines] == [
        "/$defs/A",
        "/$defs/A/properties/four/items",
        "/$defs/A/properties/one",
        "/$defs/A/properties/one",
        "/$defs/A/properties/three/format",
        "/$defs/B/properties/one",
        "/$defs/B/properties/three",
        "/$defs/B/properties/two/default",
    ]
    assert ["'x-deserialize-new'" in lines[2], "'x-deserialize-newer'" in lines[3]] == [True, True]


def test_what_has_an_unknown_keyword_is_lowered_without_it(tmp_path: Path) -> None:
    bad = {"A": {**_object(one={**TEXT, "x-deserialize-new": 1}, two=NONE), "required": ["one"]}}
    assert [line.partition(": ")[0] for line in _refused(bad, tmp_path)] == [
        "/$defs/A/properties/one",
        "/$defs/A/properties/two",
    ]


def test_what_only_follows_is_not_told(tmp_path: Path) -> None:
    refers = {"$ref": "#/$defs/Broken"}
    bad = {
        "Broken": {"type": "date"},
        "Alias": refers,
        "Holder": _object(a=refers, b={"$ref": "#/$defs/Alias"}),
        "Extended": {**_object(a=TEXT), "required": ["a"], "allOf": [refers]},
        "Union": {"oneOf": [{**_object(type={**TEXT, "const": "x"}), "required": ["type"], "allOf": [refers]}]},
        "Untagged": {"anyOf": [{"title": "one", **_object(a=refers)}, refers]},
    }
    assert [line.partition(": ")[0] for line in _refused(bad, tmp_path)] == ["/$defs/Broken/type"]


def test_the_branches_of_one_union(tmp_path: Path) -> None:
    nameless = {**_object(a=TEXT), "required": ["a"]}
    tagged = {**_object(type={**TEXT, "const": "x"}, a=NONE), "required": ["type"]}
    shared = {**_object(b=TEXT), "required": ["b"], "oneOf": [nameless, tagged, nameless]}
    bad = {"Alone": {"oneOf": [nameless, tagged, nameless]}, "Shared": shared}
    assert [line.partition(": ")[0] for line in _refused(bad, tmp_path)] == [
        f"/$defs/{name}/oneOf/{place}" for name in bad for place in ("0", "1/properties/a", "2")
    ]


def test_stale_overrides_beside_other_problems(tmp_path: Path) -> None:
    file = tmp_path / "overrides.toml"
    capabilities = {
        "ask": "agentCapabilities.ask",
        "ask#kind": "agentCapabilities.kinds",
        "gone": "agentCapabilities.gone",
        "initialize": "agentCapabilities.none",
    }
    lines = [f'"{key}" = "{path}"' for key, path in capabilities.items()]
    patch = "[v1.patch]\nBroken = ['a']\nWhole = ['b', 'c']\nGone = ['a']\n"
    file.write_text("\n".join([patch, "[v1.capabilities]", *lines]), encoding="utf-8")
    nullable = {"type": ["string", "null"]}
    capable = {"$ref": "#/$defs/Capable"}
    definitions = {
        "Broken": {"type": "date"},
        "Whole": _object(b=nullable),
        "Partly": _object(a=TEXT),
        "Capable": _object(ask={"$ref": "#/$defs/Broken"}),
        "InitializeRequest": {**_object(), "x-method": "initialize", "x-side": "agent"},
        "InitializeResponse": {**_object(agentCapabilities=capable), "required": ["agentCapabilities"]}
        | {"x-method": "initialize", "x-side": "agent"},
        "AskRequest": {**_object(kind={"$ref": "#/$defs/Broken"}), "x-method": "ask", "x-side": "agent"},
        "ClientRequest": {
            "x-docs-ignore": True,
            "anyOf": [{"$ref": "#/$defs/InitializeRequest"}, {"$ref": "#/$defs/AskRequest"}],
        },
    }
    source = Source("v1", "schema.json", "", {"$defs": definitions}, None, "", None, pinned=True)
    problems = Problems()
    lowered = lower_collecting(read_collecting(source, problems), load_overrides(source, file), problems)
    assert not lowered.is_complete
    assert sorted(str(p).partition(" (hint")[0] for p in problems) == [
        f"{file}: stale entries capabilities.gone, patch.Gone.a, patch.Whole.c: schema.json has no such place, or the "
        "entry has no effect",
        "schema.json#/$defs/Broken/type: unknown type 'date'",
        "schema.json#/$defs/Partly/properties/a: an optional property that is not nullable has no default",
    ]


def test_the_problems_of_all_pinned_schemas(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "schema", tmp_path / "schema")
    lock = json.loads((tmp_path / "schema" / "lock.json").read_text(encoding="utf-8"))
    wanted: list[str] = []
    for name in (n for n in lock["files"] if "schema" in n):
        path = tmp_path / "schema" / name
        raw = json.loads(path.read_text(encoding="utf-8"))
        raw["$defs"]["Strange"] = {**_object(a=TEXT), "x-deserialize-strange": name}
        path.write_text(json.dumps(raw), encoding="utf-8")
        lock["files"][name]["sha256"] = digest(path.read_bytes())
        wanted += [f"schema/{name}#/$defs/Strange", f"schema/{name}#/$defs/Strange/properties/a"]
    (tmp_path / "schema" / "lock.json").write_text(json.dumps(lock), encoding="utf-8")
    with pytest.raises(GeneratorErrors) as caught:
        generate_pinned(lambda _: None, tmp_path)
    assert [str(p).partition(": ")[0] for p in caught.value.problems] == wanted


def test_the_command_line_prints_each_and_their_number(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_text(json.dumps({"$defs": {"A": {"type": "date"}, "B": _object(a=NONE)}}), encoding="utf-8")
    run = generator("generate", "--schema", path, "--label", "case", "--out", tmp_path / "out")
    assert (run.returncode, run.stdout) == (1, "")
    first, second, last = run.stderr.splitlines()
    assert first.startswith(f"error: {path}#/$defs/A/type: unknown type 'date'")
    assert second.startswith(f"error: {path}#/$defs/B/properties/a: no integer lies between 9 and 3")
    assert last == "2 problems"
    assert not (tmp_path / "out").exists()


def test_problems_are_kept_once_and_sorted_by_place() -> None:
    problems = Problems()
    problems.stop()
    for pointer in ("/b", "/a/10", "/a/2", "/a/2", ""):
        problems.add(GeneratorError("is odd", file="x.json", pointer=pointer))
    with problems.collect():
        raise GeneratorErrors([GeneratorError("is odd", file="w.json"), GeneratorError("is odd", file="x.json")])
    assert len(problems) == 5
    with pytest.raises(GeneratorErrors) as caught:
        problems.stop()
    lines = ["w.json: is odd", "x.json: is odd", "x.json#/a/2: is odd", "x.json#/a/10: is odd", "x.json#/b: is odd"]
    assert str(caught.value) == "\n".join(lines)
    assert caught.value.file == "w.json"
    assert str(caught.value.within("y.json")).splitlines()[3] == "y.json#/a/10: is odd"
