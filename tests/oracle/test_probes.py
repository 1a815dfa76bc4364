"""The probes leave nothing out, and are the same in every run."""

import json
from functools import cache
from random import Random
from typing import Any

import pytest

from tests.oracle.locate import LIMITS, Locator
from tests.oracle.probes import ANY, Prober, mutated
from tests.oracle.recorded import schema_of
from tests.oracle.schema_files import REPO
from tests.oracle.schema_walk import Schema
from tests.oracle.spelling import Node, is_object
from tests.support import EACH_LABEL


@cache
def questions(label: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for question in Prober(schema_of(label, REPO / "schema")).questions():
        found.setdefault(question.type, []).append(json.loads(question.json))
    return found


def small(node: Node) -> Schema:
    return Schema("v1", {"$defs": {"Probed": node}})


@pytest.mark.slow
@pytest.mark.parametrize("label", EACH_LABEL)
def test_each_definition_is_asked_about_as_a_whole(label: str) -> None:
    schema = schema_of(label, REPO / "schema")
    assert questions(label).keys() == {key for key in schema.defs if not schema.is_routing(key)}
    for values in questions(label).values():
        assert all(any(type(value) is type(kind) and value == kind for value in values) for kind in ANY)


@pytest.mark.slow
@pytest.mark.parametrize("label", EACH_LABEL)
def test_each_property_is_asked_about_absent_null_and_wrong(label: str) -> None:
    schema = schema_of(label, REPO / "schema")
    for key, values in questions(label).items():
        objects = [value for value in values if is_object(value)]
        for branch in schema.flatten(key) if schema.kind(key) in ("struct", "union") else ():
            for entry in branch.properties:
                given = [value[entry.wire] for value in objects if entry.wire in value]
                assert any(entry.wire not in value for value in objects), (key, entry.wire)
                assert {type(value) for value in given} >= {type(value) for value in ANY}, (key, entry.wire)


@pytest.mark.slow
@pytest.mark.parametrize("label", EACH_LABEL)
def test_each_limit_is_exceeded(label: str) -> None:
    schema = schema_of(label, REPO / "schema")
    locator = Locator(schema)
    broken = {
        (place.name, word)
        for key, values in questions(label).items()
        for value in values
        for visit in locator.visit(key, value)
        for place, word in locator.broken(visit)
    }
    words = (word for word in LIMITS if word != "propertyNames")
    for word in words:
        for key, node in schema.defs.items():
            # An unsigned integer has no value below its least one that the format allows.
            if word in node and not (word == "minimum" and node.get("format", "").startswith("uint")):
                assert (key, word) in broken, (key, word)


def test_the_same_schema_gives_the_same_probes() -> None:
    node: Node = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}
    first, second = ([*Prober(small(node)).questions()] for _ in range(2))
    assert first == second
    assert len(first) == len(set(first)) > 20


@pytest.mark.parametrize(
    ("node", "asked"),
    [
        ({"type": "string", "maxLength": 2}, ["aa", "aaa", "𝄞𝄞", "𝄞𝄞𝄞"]),
        ({"type": "string", "minLength": 1}, ["", "a"]),
        ({"type": "integer", "format": "uint16"}, [65535, 65536, -1, 1.0, "1"]),
        ({"type": "integer", "format": "int64", "minimum": 3}, [2, 3, 2**63 - 1, 2**63]),
        ({"type": "number", "minimum": 0, "maximum": 1}, [-1, 0, 1, 2, 2**64]),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 2}, [[True], [True, True], [None], [True, 1]]),
        ({"type": "object", "additionalProperties": {"type": "string"}}, [{"bad": None, "good": "text"}]),
        ({"anyOf": [{"type": "string", "maxLength": 1}, {"type": "null"}]}, ["aa", None]),
    ],
)
def test_limits_items_and_entries(node: Node, asked: list[Any]) -> None:
    texts = {question.json for question in Prober(small(node)).questions()}
    for value in asked:
        assert json.dumps(value, ensure_ascii=False, separators=(",", ":")) in texts


def test_a_mutation_changes_a_copy() -> None:
    value = {"a": [1, {"b": None}], "c": "text"}
    before = json.dumps(value)
    changed = [mutated(value, Random(seed)) for seed in range(50)]
    assert json.dumps(value) == before
    assert sum(each != value for each in changed) > 40
    assert any(is_object(each) and "c" not in each for each in changed)
