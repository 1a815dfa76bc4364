"""The comparison of package and schema sees every change of a schema."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from tests.oracle.parity import Walk, constants_first, schema
from tests.oracle.schema_files import LABELS, read_json
from tests.oracle.schema_parts import FLAGS, PREFIX, Place, places
from tests.oracle.schema_walk import Schema
from tests.oracle.spelling import Node, is_array, is_object

pytestmark = pytest.mark.slow


class Mutation(NamedTuple):
    """A change at one place of a definition, which the walk must notice."""

    what: str
    pointer: str
    changed: Node


def mutations(key: str, whole: Node) -> Iterator[Mutation]:
    """Change each thing that a definition says, one at a time."""
    for place in places(whole, PREFIX + key):
        # What a `not` says is read only for the property and the values that it forbids.
        changes = _forbidden_changes(place.node) if "/not" in place.pointer else _changes(place)
        for what, changed in changes:
            yield Mutation(what, place.pointer, _replace(whole, place.pointer.split("/")[3:], changed))


def _replace(node: Any, path: list[str], changed: Node) -> Any:
    if not path:
        return changed
    if is_array(node):
        return [_replace(p, path[1:], changed) if path[0] == str(i) else p for i, p in enumerate(node)]
    return {**node, path[0]: _replace(node[path[0]], path[1:], changed)}


def _forbidden_changes(node: Node) -> Iterator[tuple[str, Node]]:
    if "anyOf" in node:
        for index in range(len(node["anyOf"])):
            yield "known tag dropped", {**node, "anyOf": node["anyOf"][:index] + node["anyOf"][index + 1 :]}
    if "const" in node:
        yield "known tag changed", {**node, "const": node["const"] + "x"}
    if "properties" in node:
        yield "forbidden property renamed", {**node, "properties": {f"{k}X": v for k, v in node["properties"].items()}}


def _changes(place: Place) -> Iterator[tuple[str, Node]]:
    node = place.node
    yield "unknown keyword", {**node, "x-unheard-of": True}
    if place.role in ("properties", "items", "additionalProperties"):
        yield from ((f"{flag} added", {**node, flag: True}) for flag in FLAGS if flag not in node)
    if place.role == "properties" and "const" not in node:
        yield from _field_changes(node)
    if "properties" in node:
        yield from _property_changes(node)
    # All numbers are the same to Python, and where the bounds are given no format adds to them.
    counts = node.get("format") != "double" and "maximum" not in node
    for word, value in node.items():
        without = {k: v for k, v in node.items() if k != word}
        match word:
            case "anyOf" | "oneOf" | "allOf":
                yield from ((f"{word} entry dropped", {**node, word: _less(value, i)}) for i in range(len(value)))
                if len(value) > 1 and _sort(value[0]) == _sort(value[1]):
                    yield f"{word} swapped", {**node, word: [value[1], value[0], *value[2:]]}
            case "const":
                yield "constant changed", {**node, word: value + ("x" if isinstance(value, str) else 1)}
            case "format" if counts:
                yield "format changed", {**node, word: {"int64": "int32", "uri": "date-time"}.get(value, "int64")}
            case "minimum" | "minItems" | "minLength":
                yield f"{word} raised", {**node, word: value + 1}
            case "maxLength":
                yield "maxLength lowered", {**node, word: value - 1}
            case "propertyNames":
                yield "propertyNames dropped", without
                yield "propertyNames changed", {**node, word: {"not": {"const": "x"}}}
            case "maximum":
                yield "maximum lowered", {**node, word: value - 1}
            case "pattern" | "contentEncoding":
                yield f"{word} changed", {**node, word: value + "x"}
                yield f"{word} dropped", without
            case "type" if isinstance(value, str):
                yield "type changed", {**node, word: "string" if value == "boolean" else "boolean"}
            case "$ref":
                yield "reference changed", {**node, word: f"{PREFIX}{'Error' if 'SessionId' in value else 'SessionId'}"}
            case "items":
                yield "items freed", {**node, word: {}}
            case "additionalProperties" | "unevaluatedProperties":
                yield f"{word} changed", {**node, word: True} if isinstance(value, dict) else without
            case "discriminator":
                yield "discriminator changed", {**node, word: {"propertyName": "x"}}
            case "required":
                yield "required dropped", without
            case _:
                pass


def _field_changes(node: Node) -> Iterator[tuple[str, Node]]:
    """Change what matters only for a property: leniency, null, the default."""
    for flag in FLAGS:
        if flag in node:
            yield f"{flag} dropped", {k: v for k, v in node.items() if k != flag}
    if "default" in node:
        value = node["default"]
        strange: dict[Any, Any] = {str: "x", list: ["x"], dict: {"x": 1}}
        others = [*_flipped(value), *(other for kind, other in strange.items() if type(value) is kind)]
        yield from (("default changed", {**node, "default": other}) for other in others)
        yield "default dropped", {k: v for k, v in node.items() if k != "default"}
    if isinstance(node.get("type"), list):
        yield "null dropped", {**node, "type": node["type"][0]}
    elif "type" in node or "allOf" in node:
        now = node.get("type")
        rest = {k: v for k, v in node.items() if k != "allOf"}
        nullable = {"type": [now, "null"]} if now else {"anyOf": [*node["allOf"], {"type": "null"}]}
        yield "null added", {**rest, **nullable}
        if "default" not in node:
            values: dict[Any, Any] = {"array": [], "object": {}, "boolean": False}
            yield "default added", {**node, "default": values.get(now, 1)}


def _flipped(value: Any) -> list[Any]:
    """Change each boolean inside a default."""
    if isinstance(value, bool):
        return [not value]
    return [{**value, k: other} for k, v in value.items() for other in _flipped(v)] if is_object(value) else []


def _sort(choice: Node) -> str:
    """Say among which others the order of a choice matters: none is tried before one of another sort."""
    if any("const" in v for v in choice.get("properties", {}).values()):
        return "tagged"
    return "constant" if "const" in choice else "null" if choice.get("type") == "null" else "other"


def _property_changes(node: Node) -> Iterator[tuple[str, Node]]:
    """Change the properties of an object."""
    properties, required = node["properties"], node.get("required", [])
    yield "property added", {**node, "properties": {**properties, "addedLater": {"type": "boolean"}}}
    names = [k for k, v in properties.items() if "const" not in v]
    for name in properties:
        rest, still = {k: v for k, v in properties.items() if k != name}, [k for k in required if k != name]
        yield "property dropped", {**node, "properties": rest, "required": still}
        renamed = {(f"{k}X" if k == name else k): v for k, v in properties.items()}
        moved = [f"{k}X" if k == name else k for k in required]
        yield "property renamed", {**node, "properties": renamed, "required": moved}
        if "default" not in properties[name]:
            yield "required flipped", {**node, "required": still if name in required else [*required, name]}
        if name in names[:-1]:  # a tag has no place among the fields
            yield "property moved", {**node, "properties": {**rest, name: properties[name]}}


def _less(values: list[Any], index: int) -> list[Any]:
    return values[:index] + values[index + 1 :]


def complaints(source: Schema, key: str) -> list[str]:
    """Compare one definition; a schema that cannot be read is a complaint, too."""
    try:
        return Walk(source).definition(key)
    except (KeyError, ValueError, AttributeError, TypeError, IndexError) as why:
        return [f"unreadable: {why!r}"]


def narrows(node: Node) -> bool:
    """Say whether branches of an object declare properties that it has declared itself."""
    branches: list[Node] = node.get("oneOf") or node.get("anyOf") or []
    return any(node.get("properties", {}).keys() & branch.get("properties", {}).keys() for branch in branches)


def shapes(source: Schema, key: str) -> list[list[str]]:
    """Tell all rows of all branches of a definition; nothing where they cannot be told."""
    try:
        return [[source.row(p) for p in constants_first(branch)] for branch in source.flatten(key)]
    except (KeyError, ValueError, AttributeError, TypeError, IndexError):
        return []


@pytest.mark.parametrize("labels", [("v2_unstable",), pytest.param(LABELS, marks=pytest.mark.endurance)])
def test_the_walk_sees_every_change_of_a_definition(labels: tuple[str, ...]) -> None:
    unseen: list[str] = []
    counts: Counter[str] = Counter()
    tried: list[Node] = []
    for source in map(schema, labels):
        for key, node in source.defs.items():
            if source.is_routing(key) or node in tried:
                continue  # many definitions are the same in several schemas
            tried.append(node)
            before = set(complaints(source, key))
            for mutation in mutations(key, node):
                changed = source.with_definition(key, mutation.changed)
                if narrows(node) and shapes(changed, key) == shapes(source, key):
                    continue  # every branch declares that property anew
                counts[mutation.what] += 1
                if not set(complaints(changed, key)) - before:
                    unseen.append(f"{source.label} {mutation.pointer}: {mutation.what}")
    assert not unseen, "\n".join(unseen)
    assert len(counts) >= 35


@pytest.mark.parametrize("label", ["v1_unstable", "v2_unstable"])
def test_the_walk_sees_definitions_come_and_go(label: str) -> None:
    source = schema(label)
    added = source.with_definition("AddedLater", {"type": "string"})
    assert f"{PREFIX}AddedLater: not exported" in Walk(added).whole()
    # What only the unstable schema defines is too much for the stable one. Payloads are missed as variants, not here.
    stable = Schema(label, read_json(label.removesuffix("_unstable")), source.overrides)
    gone = [k for k in source.defs if k not in stable.defs and source.kind(k) in ("struct", "union", "enum", "text")]
    missed = {p.split(":")[0] for p in Walk(stable).whole() if "no definition asks for it" in p}
    assert missed >= {k for k in gone if source.carried_tag(k) is None}


@pytest.mark.parametrize("label", LABELS)
def test_the_walk_sees_every_change_of_a_method(label: str) -> None:
    source = schema(label)
    for key, node in source.defs.items():
        for word in ("x-method", "x-side") if "x-method" in node else ():
            other = "client" if node[word] == "agent" else "agent"
            assert Walk(source.with_definition(key, {**node, word: other})).methods(), f"{PREFIX}{key}: {word} changed"
        if "x-method" in node:
            without = {k: v for k, v in node.items() if k != "x-method"}
            assert Walk(source.with_definition(key, without)).methods(), f"{PREFIX}{key}: x-method dropped"
    for routing in (key for key in source.routings if key in source.defs):
        for place in places(source.defs[routing], PREFIX + routing):
            listed = [p for p in place.node.get("anyOf", ()) if source.target(p)]
            for part in listed:
                rest = {**place.node, "anyOf": [p for p in place.node["anyOf"] if p is not part]}
                changed = _replace(source.defs[routing], place.pointer.split("/")[3:], rest)
                walk = Walk(source.with_definition(routing, changed))
                walk.routing(routing)
                # Extensions have no method, and what travels in several unions is found in the others.
                assert walk.methods() or part["title"].startswith("Ext") or "Mcp" in part["title"], part


@pytest.mark.parametrize("label", LABELS)
def test_the_walk_sees_every_change_of_the_overrides(label: str) -> None:
    source, given = schema(label), schema(label).overrides
    for key, wires in given.patch.items():
        others = [p.wire for b in source.flatten(key) for p in b.properties if p.wire not in wires]
        for changed in [*(_less(wires, i) for i in range(len(wires))), *([*wires, other] for other in others)]:
            overrides = replace(given, patch={**given.patch, key: changed})
            assert complaints(Schema(label, source.document, overrides), key), f"{key}: {changed}"
    for key, value in given.default.items():
        overrides = replace(given, default={**given.default, key: value + "x"})
        assert complaints(Schema(label, source.document, overrides), "ToolCall"), key
    for place, words in given.enforced.items():
        for changed in (_less(words, i) for i in range(len(words))):
            overrides = replace(given, enforced={**given.enforced, place: changed})
            assert complaints(Schema(label, source.document, overrides), place.split(".")[0]), f"{place}: {changed}"
    for key in source.defs:
        if source.kind(key) == "struct":
            overrides = replace(given, forbids={**given.forbids, key: ["x"]})
            assert complaints(Schema(label, source.document, overrides), key), f"{key}: forbids"
    for index, key in enumerate(given.tag_decides):
        overrides = replace(given, tag_decides=_less(given.tag_decides, index))
        assert complaints(Schema(label, source.document, overrides), key), f"{key}: tag_decides"
    for index, key in enumerate(given.verbatim):
        overrides = replace(given, verbatim=_less(given.verbatim, index))
        assert complaints(Schema(label, source.document, overrides), key), f"{key}: verbatim"
    assert Walk(Schema(label, source.document, replace(given, null_as_empty=False))).whole()
    for key in given.unknown_member:
        assert complaints(Schema(label, source.document, replace(given, unknown_member={})), key), key
