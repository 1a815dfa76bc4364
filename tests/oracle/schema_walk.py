"""The raw schemas as the tests read them: by code of their own, so that no mistake of the generator is repeated here.

Nothing here knows the emitted package. A type is told as a line of text (`lenient skipping list[Role] | null`), a
field as one more (`audience: lenient … = null`); `test_parity` tells the emitted types in the same words and compares.
"""

import json
from dataclasses import replace
from functools import cached_property
from itertools import chain, product
from typing import Any

from tests.oracle.schema_files import Overrides, read_json, read_overrides
from tests.oracle.schema_parts import (
    CONSTRAINTS,
    FLAGS,
    LIMITS,
    ON_ERROR,
    ON_NULL,
    OUTGOING,
    PREFIX,
    PROTOCOL_LEVEL,
    ROUTING,
    SIDES,
    SKIP,
    STATE,
    Branch,
    Call,
    Kind,
    Property,
    constraint_text,
    core,
    enforced_text,
    is_upsert,
    limits,
    places,
    union_text,
)
from tests.oracle.spelling import Node, is_tagged


class Schema:
    """One schema file and its overrides."""

    def __init__(self, label: str, document: Node | None = None, overrides: Overrides | None = None) -> None:
        self.label = label
        self.document = read_json(label) if document is None else document
        self.defs: dict[str, Node] = self.document["$defs"]
        self.overrides = overrides or read_overrides(label)
        self._upserts: set[str] | None = None

    def is_patch(self, entry: Property) -> bool:
        """Say whether a property has three states: the overrides say so, or `x-state` does of its object."""
        if self._upserts is None:
            self._upserts = set()
            for place in chain.from_iterable(self.updates.values()):
                self._included(place, self._upserts)
        if entry.verbatim:
            return not entry.required and self.takes_null(entry.node)
        if entry.wire in self.overrides.patch.get(entry.owner, ()):
            return True
        may_be = not entry.required and "default" not in entry.node and self.takes_null(entry.node)
        marked = entry.owner in self._upserts and may_be
        return marked and entry.wire not in self.overrides.not_patch.get(entry.owner, ())

    @cached_property
    def updates(self) -> dict[str, list[Node]]:
        """List the objects of each definition that `x-state` calls updates of something that exists."""
        return {key: self._updates(node) for key, node in self.defs.items()}

    def _updates(self, node: Node) -> list[Node]:
        places = (node, *self.choices(node))
        return [p for p in places if any(is_upsert(e) for entries in p.get(STATE, {}).values() for e in entries)]

    def _included(self, node: Node, found: set[str]) -> None:
        """Add each definition that an object consists of, its branches included."""
        for part in (node, *node.get("allOf", ())):
            key = part.get("$ref", "").removeprefix(PREFIX)
            if key and key not in found:
                found.add(key)
                self._included(self.defs[key], found)
        for choice in self.choices(node):
            self._included(choice, found)

    def target(self, node: Node) -> str | None:
        """Find the definition that a node refers to, be it only for the sake of flags beside `allOf`."""
        parts = node.get("allOf", ())
        ref = parts[0].get("$ref") if len(parts) == 1 and "properties" not in node else node.get("$ref")
        return ref.removeprefix(PREFIX) if ref else None

    def kind(self, key: str) -> Kind:
        """Sort a definition by its shape."""
        node = self.defs[key]
        choices = self.choices(node)
        if self.is_routing(key):
            return "routing"
        if "const" in node or any("const" in c for c in choices):
            return "enum"
        if choices and all(self.is_of_objects(c) for c in choices):
            return "union"
        if choices:
            return "choice"
        if node.get("type") == "object" and ("properties" in node or "additionalProperties" not in node):
            return "struct"
        if node.get("type") == "string" and not self.enforced(node, key):
            return "text"  # a type of its own carries no limits for readers
        return "plain" if "type" in node or self.target(node) else "free"

    def choices(self, node: Node) -> list[Node]:
        found: list[Node] = node.get("oneOf") or node.get("anyOf") or []
        return found

    def is_of_objects(self, node: Node) -> bool:
        key = self.target(node)
        return self.kind(key) in ("struct", "union") if key else node.get("type") == "object"

    def flatten(self, key: str) -> list[Branch]:
        """List the shapes of an object definition: its own properties, then `allOf`'s, then a choice's."""
        return self._flatten(self.defs[key], PREFIX + key)

    def flatten_inline(self, node: Node) -> list[Branch]:
        """List the shapes of an object that stands inside a definition; of its pointers nothing is made."""
        return self._flatten(node, PREFIX)

    def _flatten(self, node: Node, pointer: str) -> list[Branch]:
        if "$ref" in node:
            return self.flatten(node["$ref"].removeprefix(PREFIX))
        if node.get("type", "object") != "object":
            raise ValueError(f"{pointer} is no object")
        must = node.get("required", ())
        own = [
            # What is required and has a default all the same is so for writers; a reader does without.
            Property(k, v, f"{pointer}/properties/{k}", k in must and "default" not in v)
            for k, v in node.get("properties", {}).items()
        ]
        other, known = self._forbidden(node)
        keeps = node.get("additionalProperties") is True or node.get("unevaluatedProperties") is True
        found = [Branch(pointer, tuple(own), other, known, keeps, self._excluding(node, pointer))]
        for index, part in enumerate(node.get("allOf", ())):
            found = [a + b for a, b in product(found, self._flatten(part, f"{pointer}/allOf/{index}"))]
        for word in sorted((w for w in ("oneOf", "anyOf") if w in node), key=lambda w: not is_tagged(node[w])):
            more = [b for i, part in enumerate(node[word]) for b in self._flatten(part, f"{pointer}/{word}/{i}")]
            found = [a + b for a, b in product(found, more)]
        return found

    def _forbidden(self, node: Node) -> tuple[str | None, frozenset[str]]:
        parts = node.get("not", {}).get("anyOf", ())
        pairs = [(k, v["const"]) for part in parts for k, v in part["properties"].items() if k in part["required"]]
        names = {name for name, _ in pairs}
        if len(names) > 1:
            raise ValueError(f"a `not` forbids values of {sorted(names)}")
        return next(iter(names), None), frozenset(value for _, value in pairs)

    def _excluding(self, node: Node, pointer: str) -> frozenset[str]:
        """Give the keys that exclude an object: `propertyNames` says so, or the overrides of a definition do."""
        names = node.get("propertyNames", {"not": {"oneOf": []}})
        if names.keys() != {"not"}:
            raise ValueError(f"{pointer}: nothing reads {names} of `propertyNames`")
        keys = {part["const"] for part in names["not"].get("oneOf", [names["not"]])}
        return frozenset(keys).union(self.overrides.forbids.get(pointer.removeprefix(PREFIX), ()))

    def verbatim(self, key: str) -> dict[int, Branch]:
        """List the objects of a union that are written as they were read, by the position of their choices.

        Nothing in them is repaired, for what does not fit is another choice's; unknown keys and null are kept.
        """
        found: dict[int, Branch] = {}
        for index, choice in enumerate(self.choices(self.defs[key]) if key in self.overrides.verbatim else ()):
            target = self.target(choice)
            if target is not None and self.kind(target) == "struct":
                (branch,) = self.flatten(target)
                if any("default" in p.node for p in branch.properties):
                    raise ValueError(f"{PREFIX}{key}: what has a default is not written as it was read")
                kept = [
                    replace(p, node={k: v for k, v in p.node.items() if k not in FLAGS}, verbatim=True)
                    for p in branch.properties
                ]
                found[index] = replace(branch, properties=tuple(kept), open=True)
        return found

    def enforced(self, node: Node, place: str) -> list[str]:
        """List the limits of a value that readers enforce; `place` is how the overrides name it."""
        return [word for word in self.overrides.enforced.get(place, ()) if word in node]

    def null_is_empty(self, key: str) -> bool:
        """Say whether null stands for `{}`: for the payloads of methods that require nothing."""
        if not self.overrides.null_as_empty or "x-method" not in self.defs[key] or self.kind(key) != "struct":
            return False
        (branch,) = self.flatten(key)
        return not branch.open and not any(p.required for p in branch.properties)

    def contenders(self, key: str, given: Node) -> list[Branch]:
        """List the shapes of an object definition that may take a value: a known tag may decide for its own alone."""
        branches = self.flatten(key)
        if key not in self.overrides.tag_decides:
            return branches
        tags = [(branch, branch.tag) for branch in branches]
        return [b for b, tag in tags if tag and given.get(tag.wire) == tag.node["const"]] or branches

    def carried_tag(self, key: str) -> tuple[str, str] | None:
        """Find the tag that a payload's own class writes: that of the one place in the schema that uses it."""
        places = self.users.get(key, [])
        return places[0] if len(places) == 1 and self.kind(key) == "struct" else None

    @cached_property
    def users(self) -> dict[str, list[tuple[str, str] | None]]:
        """List for each definition its uses: property and tag where it is the payload of a plain variant, else None."""
        found: dict[str, list[tuple[str, str] | None]] = {}
        for key, node in self.defs.items():
            if self.is_routing(key):
                continue
            tags: dict[str, tuple[str, str]] = {}
            for word in ("anyOf", "oneOf") if "properties" not in node else ():
                for index, part in enumerate(node.get(word, ())):
                    pairs = [(k, v["const"]) for k, v in part.get("properties", {}).items() if "const" in v]
                    if pairs and len(part["properties"]) == 1:
                        tags[f"{PREFIX}{key}/{word}/{index}/allOf/0"] = pairs[0]
            for place in places(node, PREFIX + key):
                if "$ref" in place.node:
                    found.setdefault(place.node["$ref"].removeprefix(PREFIX), []).append(tags.get(place.pointer))
        return found

    def with_definition(self, key: str, node: Node | None) -> "Schema":
        """Copy the schema with one definition changed, added or (None) removed; where payloads are used stays."""
        defs = {k: v for k, v in {**self.defs, key: node}.items() if v is not None}
        changed = Schema(self.label, {**self.document, "$defs": defs}, self.overrides)
        changed.__dict__["users"] = self.users
        updates = {**self.updates, key: [] if node is None else self._updates(node)}
        changed.__dict__["updates"] = updates
        return changed

    def payload(self, branch: Branch) -> str | None:
        """Find the definition that a branch of a union adds to its tag, or is."""
        node: Any = {"$defs": self.defs}
        for step in branch.pointer.split("/")[1:]:
            node = node[int(step) if step.isdecimal() else step]
        parts: list[Node] = node.get("allOf", [])
        return parts[0].get("$ref", "").removeprefix(PREFIX) if len(parts) == 1 else None

    def is_routing(self, key: str) -> bool:
        """Say whether a definition describes whole messages; upstream hides those from its docs."""
        node = self.defs.get(key, {})
        return key in (*ROUTING, *OUTGOING) and "x-docs-ignore" in node

    def answer_ids(self, routing: str) -> list[str]:
        """Tell the types of the ids of a routing union's results and errors; an error may answer what had none."""
        branches = self.choices(self.defs.get(routing, {}))
        framed = [b["properties"]["id"] for b in branches if "id" in b.get("properties", {})]
        return [self.text(node) for node in framed] or ["RequestId", "RequestId"]

    @property
    def null_id(self) -> bool:
        """Say whether null is a request's id; a schema that does not say so leaves it to JSON-RPC."""
        return "RequestId" not in self.defs or self.takes_null(self.defs["RequestId"])

    @property
    def routings(self) -> list[str]:
        """List the routing unions that the package has of this schema."""
        level = any(node.get("x-side") == "protocol" for node in self.defs.values())
        return [key for key in ROUTING if self.is_routing(key) or (key == PROTOCOL_LEVEL and level)]

    def listed(self, routing: str) -> list[str]:
        """List the definitions that a routing union carries, in order."""
        node = self.defs.get(routing)
        if node is None:  # v1 has the protocol level at the top only, in some files without a title
            return [key for key, definition in self.defs.items() if definition.get("x-side") == "protocol"]
        first = node["anyOf"][0] if "anyOf" in node else node
        if "result" in first.get("properties", {}):
            parts = first["properties"]["result"]["anyOf"]
        elif "params" in node.get("properties", {}):
            parts = node["properties"]["params"]["anyOf"][0]["anyOf"]
        else:  # the first schemas name the params and results alone, without a frame
            parts = node["anyOf"]
        return [key for part in parts if (key := self.target(part)) is not None]

    def calls(self, routing: str) -> list[Call]:
        """List what a routing union carries by method; extensions and unsettled drafts have none."""
        kind = ROUTING[routing]
        found: list[Call] = []
        keys = self.listed(routing)
        # Early responses have no methods at all; they go by the names of their requests.
        early = kind == "response" and not any("x-method" in self.defs[key] for key in keys)
        for key in keys:
            node = self.defs[key]
            if early:
                node = self.defs.get(f"{key.removesuffix('Response')}Request", {})
            if "x-method" in node:
                found.append(Call(key, kind, routing, node["x-method"], frozenset(SIDES[node["x-side"]])))
        return found

    def text(self, node: Node, *more: str, place: str = "") -> str:
        """Tell the type of a value, `more` being further options; `place` is how the overrides name it."""
        options, nullable = core(node)
        return union_text([*(self._text(option, place) for option in options), *["null"] * nullable, *more])

    def _text(self, node: Node, place: str = "") -> str:
        key = self.target(node)
        if key is not None:
            kind = self.kind(key)
            return "Any" if kind == "free" else self.text(self.defs[key], place=key) if kind == "plain" else key
        if "const" in node:
            return f"Literal[{node['const']!r}]"
        firm = self.enforced(node, place)
        constraints = {told: node[word] for word, told in CONSTRAINTS.items() if word in node and word not in firm}
        enforced = enforced_text({LIMITS[word]: node[word] for word in firm})
        match node.get("type"):
            case None:
                return "Any"
            case "integer":
                return "int[{}..{}]".format(*limits(node))
            case "number":
                constraints.pop("format", None)
                return "float" + constraint_text(constraints)
            case "string":
                return "str" + enforced + constraint_text(constraints)
            case "boolean":
                return "bool"
            case "array":
                told = f"list[{self.text(node['items'])}]{enforced}{constraint_text(constraints)}"
                return f"skipping {told}" if node.get(SKIP) else told
            case "object" if "additionalProperties" in node:
                values = node["additionalProperties"]
                return f"dict[{'Any' if values is True else self.text(values)}]"
            case "object":
                return "object"
            case other:
                raise ValueError(f"no text for the type {other!r}")

    def row(self, entry: Property) -> str:
        """Tell a whole field: name, leniency, type, and what stands for an absent value."""
        if "const" in entry.node:
            return f"{entry.wire}: {self._text(entry.node)}"
        marks = [word for flag, word in ((ON_ERROR, "lenient"), (ON_NULL, "null-lenient")) if entry.node.get(flag)]
        patch = ["UNSET"] * (self.is_patch(entry))
        if (
            patch
            and not entry.verbatim
            and entry.wire in self.overrides.merged
            and "object" in entry.node.get("type", ())
        ):
            marks.append("merging")
        told = self.text(entry.node, *patch, place=entry.place)
        return f"{entry.wire}: {' '.join([*marks, told])}{self._absent(entry)}"

    def _absent(self, entry: Property) -> str:
        if entry.required:
            return " required"
        if "default" in entry.node:
            return f" = always {json.dumps(self.complete(entry.node, entry.node['default']))}"
        if self.is_patch(entry):
            return " = UNSET"
        value = self.empty(entry.node)
        return f" = {json.dumps(value[0])}" if value else " = what?"

    def empty(self, node: Node) -> tuple[Any] | None:
        """Give what an absent property without a `default` stands for, in a tuple; None if nothing says it."""
        _, nullable = core(node)
        key = self.target(node)
        if nullable or self.text(node) == "Any":
            return (None,)
        if node.get("type") in ("array", "object"):
            return ([],) if node["type"] == "array" else ({},)
        return (self.overrides.default[key],) if key in self.overrides.default else None

    def takes_null(self, node: Node) -> bool:
        """Say whether null is a value here: it is named, or what is referred to or free takes it."""
        options, nullable = core(node)
        named = [key for option in options if (key := self.target(option)) and self.kind(key) in ("choice", "free")]
        is_inline = bool(node.keys() & {"type", "oneOf", "anyOf"})  # what stands inline has no text of its own
        free = self.text(node) == "Any" and not is_inline
        return nullable or free or any(self.takes_null(self.defs[key]) for key in named)

    def complete(self, node: Node, value: Any) -> Any:
        """Add to a `default` the fields that the objects inside it always write."""
        key = self.target(node)
        if key is None or self.kind(key) != "struct":
            return value
        full: Node = {}
        entries = self.flatten(key)[0].properties
        if value.keys() - {entry.wire for entry in entries}:
            raise ValueError(f"the default {value} has other properties than {key}")
        for entry in entries:
            if entry.wire in value or "default" in entry.node:
                full[entry.wire] = self.complete(entry.node, value.get(entry.wire, entry.node.get("default")))
        return full
