"""Probes: JSON texts that show how a reader treats each definition of a schema.

They are the questions that `make vectors` asks the reference: valid values, small and large; each property absent,
null, wrong and at its limits, on its own; the items of each list, the entries of each map and the tags of each union
the same way; and values with several changes at random places. The same schema gives the same probes, in any run.
"""

import json
from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Any

from tests.oracle.instances import UNKNOWN, Maker, Style
from tests.oracle.reference import Question
from tests.oracle.schema_parts import PREFIX, Branch, Property, core, limits
from tests.oracle.schema_walk import Schema
from tests.oracle.spelling import Node, is_array, is_object

SEED = "acp"
ANY: list[Any] = [None, True, 1, 1.5, "wrong", [], {}]
"""A value of each kind."""
PLAIN: dict[str, Any] = {"integer": 1, "number": 1.5, "string": "text", "boolean": True, "array": [], "object": {}}
NUMBERS: list[Any] = [-1, 0, 1.0, 1e2, 2**16, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63), -(2**63) - 1]
MUTATIONS = 16
"""Values with changes at random places, for each definition."""
SMALL = 400
"""Characters of a value that a random one may contain; longer ones would only repeat what others show."""
FEW = 4
LETTERS = "aé𝄞z"


class Prober:
    """Makes the probes of one schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.keys = [key for key in schema.defs if not schema.is_routing(key)]
        self.branches = {key: schema.flatten(key) for key in self.keys if schema.kind(key) in ("struct", "union")}
        # As definitions, the properties have instances of their own.
        entries = [entry for branches in self.branches.values() for branch in branches for entry in branch.properties]
        nodes = {_name(entry): entry.node for entry in entries}
        whole = Schema(schema.label, {**schema.document, "$defs": {**schema.defs, **nodes}}, schema.overrides)
        self._large, self._least = Maker(whole, Style.MAXIMAL), Maker(whole, Style.MINIMAL)
        self._styles = [Maker(schema, style) for style in Style]

    def questions(self) -> Iterator[Question]:
        """Give all probes, each once."""
        for key in self.keys:
            seen: set[str] = set()
            for value in self._values(key):
                text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
                if text not in seen:
                    seen.add(text)
                    yield Question(key, text)

    def _values(self, key: str) -> Iterator[Any]:
        yield from ANY
        for maker in self._styles:
            yield from (given for given, _ in maker.pairs(key))
        if key not in self.branches:
            yield from self._changed(self.schema.defs[key])
            return
        for branch in self.branches[key]:
            base = self._base(branch)
            yield from ({**base, **more} for more in self._singly(branch))
            yield from (_without(base, wire) for wire in base)
            yield {**base, UNKNOWN: FEW}
        yield from self._joined(self.branches[key])
        yield from self._mutations(key)

    def _base(self, branch: Branch) -> Node:
        """Make the least object of a branch."""
        return {entry.wire: self._some(entry, branch)[0] for entry in branch.properties if entry.required}

    def _some(self, entry: Property, branch: Branch, *, least: bool = True) -> list[Any]:
        """List valid values of a property."""
        if "const" in entry.node:
            return [entry.node["const"]]
        if entry.wire == branch.other_of:
            return [UNKNOWN]
        return [given for given, _ in (self._least if least else self._large).pairs(_name(entry))]

    def _joined(self, branches: list[Branch]) -> Iterator[Node]:
        """Join the least objects of two branches that no tag tells apart."""
        tags = [branch.tag and branch.tag.node["const"] for branch in branches]
        for (one, tag), (other, same) in combinations(zip(branches, tags, strict=True), 2):
            if tag == same:
                yield {**self._base(one), **self._base(other)}

    def _singly(self, branch: Branch) -> Iterator[Node]:
        """Give each property each value that it may have, or had better not have."""
        for entry in branch.properties:
            valid = self._some(entry, branch, least=False)
            for value in (*ANY, *valid, *self._changed(entry.node)):
                yield {entry.wire: value}

    def _changed(self, node: Node, depth: int = 0) -> Iterator[Any]:
        """Give values of a type at its limits and beyond, and lists and maps with something wrong inside."""
        for option in core(node)[0]:
            key = self.schema.target(option)
            if key is not None and self.schema.kind(key) not in ("struct", "union", "routing") and depth < FEW:
                yield from self._changed(self.schema.defs[key], depth + 1)
            for choice in self.schema.choices(option) if key is None and depth < FEW else ():
                yield from self._changed(choice, depth + 1)
            match option.get("type"):
                case "integer" | "number":
                    yield from self._numbers(option)
                case "string":
                    yield from _texts(option)
                case "array":
                    yield from self._lists(option)
                case "object" if is_object(option.get("additionalProperties")):
                    good = self._examples(option["additionalProperties"])[:1]
                    for value in ANY:
                        yield {"bad": value, **({"good": good[0]} if good else {})}
                case _:
                    pass

    def _numbers(self, node: Node) -> Iterator[Any]:
        yield from NUMBERS
        yield from ("1", True)
        edges = limits(node) if node["type"] == "integer" else (node.get("minimum"), node.get("maximum"))
        for edge in edges:
            if edge is not None:
                yield from (edge - 1, edge, edge + 1)

    def _lists(self, node: Node) -> Iterator[Any]:
        good = self._examples(node["items"])[:2]
        yield good
        for value in ANY:
            yield [value]
            yield [*good[:1], value, *good[1:]]
        for key in ("minItems", "maxItems"):
            if key in node and good:
                yield from ([good[0]] * count for count in (node[key] - 1, node[key], node[key] + 1) if count >= 0)

    def _examples(self, node: Node) -> list[Any]:
        """List short valid values of a type."""
        found: list[Any] = []
        for option in core(node)[0]:
            key = self.schema.target(option)
            if key is not None:
                found += [given for given, _ in self._least.pairs(key)]
            elif "const" in option:
                found.append(option["const"])
            else:
                found.append(PLAIN.get(str(option.get("type")), {"free": 1}))
        return found

    def _mutations(self, key: str) -> Iterator[Any]:
        """Give values with changes at random places."""
        random = Random(f"{SEED} {key}")
        for _ in range(MUTATIONS):
            value = self._random(random.choice(self.branches[key]), random)
            for _ in range(random.choice((0, 1, 1, 2))):
                value = mutated(value, random)
            yield value

    def _random(self, branch: Branch, random: Random) -> Node:
        value = self._base(branch)
        for entry in branch.properties:
            small = [v for v in self._some(entry, branch, least=False) if len(json.dumps(v)) < SMALL]
            if small and random.random() < (0.9 if entry.required else 0.5):
                value[entry.wire] = random.choice(small)
        return value


def mutated(value: Any, random: Random) -> Any:
    """Copy a value with one change at a random place."""
    if is_object(value) and value and random.random() < 0.8:
        key = random.choice([*value])
        if random.random() < 0.2:
            return _without(value, key)
        return {**value, key: mutated(value[key], random)}
    if is_array(value) and value and random.random() < 0.7:
        index = random.randrange(len(value))
        return [*value[:index], mutated(value[index], random), *value[index + 1 :]]
    return random.choice([*ANY, None, UNKNOWN, {UNKNOWN: None}, [None]])


def _without(value: Node, key: str) -> Node:
    return {k: v for k, v in value.items() if k != key}


def _name(entry: Property) -> str:
    """Name the definition that a property becomes; two places never share one."""
    return entry.pointer.removeprefix(PREFIX) + f" {json.dumps(entry.node, sort_keys=True)}"


def _texts(node: Node) -> Iterator[str]:
    yield from ("", LETTERS)
    for key in ("minLength", "maxLength"):
        if key in node:
            for count in (node[key] - 1, node[key], node[key] + 1):
                # Characters are counted, not bytes: each of these is of several.
                yield from (letter * count for letter in "a𝄞" if count >= 0)
