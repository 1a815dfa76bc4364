"""The model as JSON: complete, as its schema says, and with the values that the package has."""

import dataclasses
import importlib
import json
import types
import typing
from collections.abc import Callable
from copy import deepcopy
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from generator import model
from generator.jsonutil import is_array, is_object
from generator.model_json import FORMAT, model_document
from generator.pipeline import load_module
from generator.source import Source, load_pinned, load_single
from tests.generator.command import generator
from tests.support import CASES, ROOT

SCHEMA = json.loads((ROOT / "docs/reference/model.schema.json").read_text(encoding="utf-8"))
DEFS: dict[str, Any] = SCHEMA["$defs"]
LABELS = ("v1", "v1_unstable", "v2", "v2_unstable")
JSONSCHEMA: Any = importlib.import_module("jsonschema")
CLASSES = {
    name: found
    for name, found in vars(model).items()
    if dataclasses.is_dataclass(found) and getattr(found, "__module__", "") == model.__name__
}
ONLY_IN_JSON = {"kind", "doc", "source", "deprecated_names"}
"""Keys that no dataclass has: what tells kinds apart, texts, and where a module comes from."""
RENAMED = {("Field", "kind"): "type", ("Alias", "kind"): "type"}
SPELLED = {"str": "string", "bool": "boolean", "float": "number", "int": "integer", "None": "null", "Any": "any"}
"""The plain types, as JSON Schema calls them."""


@cache
def _sources() -> dict[str, Source]:
    return {source.label: source for source in load_pinned()[0]}


@cache
def _document() -> dict[str, Any]:
    # What a reader of the file gets, and not what Python had before.
    found: dict[str, Any] = json.loads(json.dumps(model_document(_sources().values())))
    return found


def _problems(document: Any) -> list[str]:
    validator: Any = JSONSCHEMA.Draft202012Validator(SCHEMA)
    found: list[Any] = list(validator.iter_errors(document))
    return [f"{why.json_path}: {why.message[:200]}" for why in found]


def test_the_schema_is_strict_and_says_what_everything_is() -> None:
    JSONSCHEMA.Draft202012Validator.check_schema(SCHEMA)
    waiting: list[Any] = [SCHEMA]
    seen: set[str] = set()
    while waiting:
        node = waiting.pop()
        if is_array(node):
            waiting += node
        elif is_object(node):
            waiting += node.values()
            seen.add(node.get("$ref", ""))
            if "properties" in node and node.get("type") == "object":
                assert node["additionalProperties"] is False
                assert node["required"] == list(node["properties"])
    assert seen - {""} == {f"#/$defs/{name}" for name in DEFS}
    for name, definition in DEFS.items():
        assert definition["description"].endswith("."), name
        for key, node in definition.get("properties", {}).items():
            assert key == "kind" or node["description"].endswith("."), f"{name}.{key}"


def _keys(name: str) -> set[str]:
    return {RENAMED.get((name, entry.name), entry.name) for entry in dataclasses.fields(CLASSES[name])}


@pytest.mark.parametrize("name", CLASSES)
def test_every_field_of_the_model_is_in_the_schema(name: str) -> None:
    properties = DEFS[name]["properties"].keys()
    own = {key for key in properties if key in ONLY_IN_JSON} - _keys(name)
    assert properties - own == _keys(name)
    for part in ("Type", "Definition"):
        if CLASSES[name] in typing.get_args(getattr(model, part)):
            assert {"$ref": f"#/$defs/{name}"} in DEFS[part]["oneOf"]
            assert next(iter(properties)) == "kind"


def test_every_value_of_an_enumeration_is_in_the_schema() -> None:
    def spelled(kind: type[Enum]) -> list[str]:
        return [m.value if isinstance(m.value, str) else m.name.lower().replace("_", "-") for m in kind]

    assert DEFS["Presence"]["enum"] == spelled(model.Presence)
    assert DEFS["Leniency"]["enum"] == spelled(model.Leniency)
    assert DEFS["Routing"]["properties"]["kind"]["enum"] == spelled(model.RoutingKind)
    for kind in (model.Presence, model.Leniency):
        assert all(f"`{name}`" in DEFS[kind.__name__]["description"] for name in spelled(kind))


def _hold(made: Any, told: Any, place: str, seen: set[str]) -> None:
    """Hold a part of a model against the JSON for it."""
    if dataclasses.is_dataclass(made) and type(made).__module__ == model.__name__:
        name = type(made).__name__
        for entry in dataclasses.fields(made):
            key = RENAMED.get((name, entry.name), entry.name)
            assert key in told, f"{place}.{key}"
            seen.add(f"{name}.{entry.name}")
            value = getattr(made, entry.name)
            if key == "annotations":
                value = tuple(sorted(value, key=lambda a: (a.pointer, a.keyword)))
            _hold(value, told[key], f"{place}.{key}", seen)
    elif isinstance(made, Enum):
        assert told == (made.value if isinstance(made.value, str) else made.name.lower().replace("_", "-")), place
    elif isinstance(made, frozenset):
        assert told == _in_order(made), place
    elif isinstance(made, tuple):
        _hold_items(made, told, place, seen)
    elif isinstance(made, str | int | float | None):
        assert told in (made, SPELLED.get(str(made), made)), place
    else:
        assert told.keys() == {"json"}, place


def _in_order(made: Any) -> list[str]:
    return sorted(str(item) for item in made)


def _hold_items(made: Any, told: Any, place: str, seen: set[str]) -> None:
    """Hold a tuple against a list, or against an object: of pairs, or of a few parts with names."""
    if is_object(told) and all(isinstance(pair, tuple) for pair in made):
        assert dict(made) == told, place
        return
    assert len(made) == len(told), place
    for number, (one, other) in enumerate(zip(made, told.values() if is_object(told) else told, strict=True)):
        if isinstance(one, tuple) and is_object(other):
            assert [*one] == list(other.values()), place
        else:
            _hold(one, other, f"{place}[{number}]", seen)


@pytest.mark.slow
def test_the_document_is_complete_and_valid() -> None:
    document = _document()
    assert _problems(document) == []
    assert [m["label"] for m in document["modules"]] == list(LABELS)
    seen: set[str] = set()
    for told, source in zip(document["modules"], _sources().values(), strict=True):
        _hold(load_module(source), told, told["label"], seen)
        assert told["source"] == {"commit": source.commit, "sha256": source.sha256}
    for schema in sorted((CASES / "shapes").glob("*/schema.json")):
        source = load_single(schema, "case", None)
        told = json.loads(json.dumps(model_document([source])))
        assert _problems(told) == [], schema.parent.name
        _hold(load_module(source), told["modules"][0], schema.parent.name, seen)
    assert seen == {f"{name}.{entry.name}" for name, cls in CLASSES.items() for entry in dataclasses.fields(cls)}


@pytest.mark.slow
def test_a_damaged_document_is_refused() -> None:
    module = _document()["modules"][0]
    document: dict[str, Any] = {"format": FORMAT, "modules": [{**module, "definitions": module["definitions"][:3]}]}
    assert _problems(document) == []
    damages: tuple[Callable[[Any], object], ...] = (
        lambda m: m["definitions"][0].pop("fields"),
        lambda m: m["definitions"][0].update(kind="object"),
        lambda m: m["definitions"][0]["fields"][0].update(presence="sometimes"),
        lambda m: m["definitions"][0].update(more=1),
        lambda m: m["methods"][0].update(requests_handled_by=["nobody"]),
        lambda m: m.update(version="1"),
    )
    for damage in damages:
        broken = deepcopy(document)
        damage(broken["modules"][0])
        assert _problems(broken)


@pytest.mark.slow
@pytest.mark.parametrize("label", LABELS)
def test_defaults_are_those_that_the_package_writes(label: str) -> None:
    package: types.ModuleType = importlib.import_module(f"acp_msgspec.{label}")
    told = next(m for m in _document()["modules"] if m["label"] == label)
    compared = 0
    for definition in told["definitions"]:
        cls = getattr(package, definition["name"])
        if definition["kind"] != "struct":
            continue  # a class that keeps undeclared keys is none that msgspec can list
        has = {entry.name: entry for entry in msgspec.structs.fields(cls)}
        for entry in definition["fields"]:
            if entry["default"] is None:
                continue
            found = has[entry["name"]]
            value = found.default if found.default is not msgspec.NODEFAULT else found.default_factory()
            compared += 1
            assert msgspec.to_builtins(value) == entry["default"]["json"], f"{definition['name']}.{entry['name']}"
    assert compared > 10


@pytest.mark.slow
def test_the_order_of_the_input_does_not_matter() -> None:
    source = _sources()["v2_unstable"]
    turned = {**source.raw, "$defs": dict(reversed(source.raw["$defs"].items()))}
    assert model_document([dataclasses.replace(source, raw=turned)]) == model_document([source])


@pytest.mark.slow
def test_command(tmp_path: Path) -> None:
    one = generator("model", "--format", "json", "--label", "v1")
    assert one.returncode == 0
    assert json.loads(one.stdout) == {"format": FORMAT, "modules": _document()["modules"][:1]}
    out = tmp_path / "model.json"
    assert generator("model", "--out", out).stdout == ""
    assert json.loads(out.read_text(encoding="utf-8")) == _document()
    for arguments, problem in (
        (["--label", "v9"], "there is no module 'v9' (hint: one of v1, v1_unstable, v2, v2_unstable)"),
        (["--format", "yaml"], "unknown format 'yaml' (hint: one of json)"),
        (["--out", str(tmp_path)], f"{tmp_path}: is a folder (hint: name a file in it)"),
    ):
        refused = generator("model", *arguments)
        assert (refused.returncode, refused.stdout, refused.stderr) == (1, "", f"error: {problem}\n")


def test_names_are_those_of_the_package() -> None:
    for module in _document()["modules"]:
        package = importlib.import_module(f"acp_msgspec.{module['label']}")
        assert set(module["exports"]) <= set(dir(package))
        assert {m["name"] for m in module["methods"]} == package.METHODS.keys()
