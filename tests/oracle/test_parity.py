"""Nothing of the schema is lost: each definition of the raw schemas is held against the types of the package.

`schema_walk` tells what the schema says, `Package` tells the emitted types in the same words. The second half of the
file proves that the comparison can fail: it changes the schema at every place and demands a complaint each time.
"""

import enum
import importlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, NewType, Union, get_args, get_origin, get_type_hints

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import CatchAll
from acp_msgspec._types import leniency as _marks
from acp_msgspec._types import numbers as _numbers
from acp_msgspec._types import unions as _unions
from acp_msgspec._types.structs import GUARD
from acp_msgspec._types.variants import declared
from msgspec import NODEFAULT, UNSET, Meta, Struct, UnsetType, inspect

from tests.oracle.schema_walk import (
    FLAGS,
    LABELS,
    PREFIX,
    PROTOCOL_LEVEL,
    ROUTING,
    Branch,
    Call,
    Node,
    Place,
    Property,
    Schema,
    advice_text,
    is_array,
    is_object,
    misplaced,
    places,
    read_json,
    read_meta,
    union_text,
)

LENIENCY = {
    _marks.Leniency.ON_ERROR: "lenient",
    _marks.Leniency.ON_NULL: "null-lenient",
    _marks.Leniency.SKIP_ITEMS: "skipping",
}
SIMPLE: dict[Any, str] = {
    Any: "Any",
    str: "str",
    bool: "bool",
    int: "int",
    float: "float",
    None: "null",
    type(None): "null",
    UnsetType: "UNSET",
    msgspec.Raw: "Raw",
    vars(_numbers)["UInt64"]: f"int[0..{2**64 - 1}]",  # a class to msgspec, `int` to a type checker
}
UNIONS = (Union, UnionType)


def split(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Take a type and its marks apart."""
    return (hint.__origin__, hint.__metadata__) if get_origin(hint) is Annotated else (hint, ())


class Package:
    """The emitted module of one label, told in the words of `schema_walk`."""

    def __init__(self, label: str) -> None:
        self.module: Any = importlib.import_module(f"acp_msgspec.{label}")
        self.exports: dict[str, Any] = {name: getattr(self.module, name) for name in self.module.__all__}
        self.aliases: dict[Any, str] = {}
        for name, kind in self.exports.items():
            if _unions.spec_of(kind) is not None or get_origin(kind) in UNIONS:
                self.aliases.setdefault(split(kind), name)
        self.rows = cache(self._rows)

    def text(self, hint: Any) -> str:
        """Tell a type."""
        base, marks = split(hint)
        lenient = [LENIENCY[m] for m in marks if isinstance(m, _marks.Leniency)]
        lenient.sort(key=list(LENIENCY.values()).index)
        rest = tuple(m for m in marks if not isinstance(m, _marks.Leniency))
        return " ".join([*lenient, self.aliases.get((base, rest)) or self._bare(base, rest)])

    def _bare(self, base: Any, marks: tuple[Any, ...]) -> str:
        given = [(k, getattr(m, k)) for m in marks if isinstance(m, _marks.Advice) for k in m.__struct_fields__]
        advice = {k: v for k, v in given if v is not None}
        bounds = [f"[{m.ge}..{m.le}]" for m in marks if isinstance(m, Meta)]
        odd = [m for m in marks if not isinstance(m, Meta | _marks.Advice)]
        args = get_args(base)
        origin = get_origin(base)
        if origin in UNIONS:
            told = union_text([self.text(a) for a in args])
        elif origin is list:
            told = f"list[{self.text(args[0])}]"
        elif origin is dict and args[0] is str:
            told = f"dict[{self.text(args[1])}]"
        elif origin is Literal:
            told = f"Literal[{', '.join(map(repr, args))}]"
        else:
            told = SIMPLE.get(base) or self._named(base)
        return "".join([told, *bounds, advice_text(advice), *map(repr, odd)])

    def _named(self, kind: Any) -> str:
        name = getattr(kind, "__name__", "")
        return name if name and self.exports.get(name) is kind else f"{kind!r} (not exported under that name)"

    def _rows(self, cls: type[Any]) -> list[str]:
        """Tell the fields of a class, in order."""
        if issubclass(cls, Struct):
            return [
                self._row(f.name, f.encode_name, f.type, f.default, f.default_factory, (list, dict, set))
                for f in msgspec.structs.fields(cls)
                if f.name != GUARD
            ]
        hints = get_type_hints(cls, include_extras=True)
        return [
            self._row(n, d.wire, hints[n], d.default, d.factory or NODEFAULT, () if d.written else (list, dict, set))
            for n, d in declared(cls).items()
            if n != "extra"
        ]

    def _row(self, name: str, wire: str, hint: Any, default: Any, factory: Any, plain: tuple[type, ...]) -> str:
        known_as = re.sub(r"(?<=[a-z0-9])[A-Z]", lambda m: "_" + m[0], wire).lower().removeprefix("_")
        shown = wire if name.removesuffix("_") == known_as else f"{wire} (as {name})"
        value = factory() if factory is not NODEFAULT else default
        if get_origin(hint) is Literal and value in (NODEFAULT, *get_args(hint)):
            return f"{shown}: {self.text(hint)}"  # an inner tag: whether Python callers may leave it out is no matter
        if value is NODEFAULT:
            absent = " required"
        elif value is UNSET:
            absent = " = UNSET"
        else:
            always = "always " if factory is not NODEFAULT and factory not in plain else ""
            absent = f" = {always}{json.dumps(acp.to_builtins(value))}"
        return f"{shown}: {self.text(hint)}{absent}"


@cache
def package(label: str) -> Package:
    return Package(label)


@cache
def schema(label: str) -> Schema:
    return Schema(label)


def constants_first(branch: Branch) -> list[Property]:
    """Order the properties as a class has its fields: the tags on the way to it, then the schema's order."""
    return sorted(branch.properties, key=lambda p: not ("const" in p.node and p.required))


class Walk:
    """One look at one schema; `problems` says what the package has otherwise, each with its place."""

    def __init__(self, source: Schema) -> None:
        self.source = source
        self.package = package(source.label)
        self.problems: list[str] = []
        self.reached: set[str] = set()

    def expect(self, place: str, what: str, wanted: Any, found: Any) -> None:
        if wanted != found:
            self.problems.append(f"{place}: {what}: the schema says {wanted!r}, the package {found!r}")

    def definition(self, key: str) -> list[str]:
        """Compare one definition and give all problems found so far."""
        place, node = PREFIX + key, self.source.defs[key]
        self.reached.add(key)
        unread = [f"{p.pointer}: nothing reads {word!r} here" for p in places(node, place) for word in misplaced(p)]
        if unread or key not in self.package.exports:
            self.problems += unread or [f"{place}: not exported"]
            return self.problems
        kind = self.package.exports[key]
        match self.source.kind(key):
            case "routing":
                self.routing(key)
            case "enum":
                self.enumeration(key, kind)
            case "struct":
                branch = self.source.flatten(key)[0]
                if branch.open:
                    self.catch_all(branch, kind, [])
                else:
                    self.struct(place, kind, branch, self.source.carried_tag(key))
            case "union":
                self.union(key, _unions.spec_of(kind))
            case "choice":
                spec = _unions.spec_of(kind)
                members = spec.fallbacks if spec else get_args(kind)
                wanted = [self.source.text(choice) for choice in self.source.choices(node)]
                self.expect(place, "options", wanted, [self.package.text(m) for m in members])
            case "text":
                self.expect(place, "type", self.source.text(node), self.package.text(getattr(kind, "__supertype__", 0)))
                self.expect(place, "a type of its own", True, isinstance(kind, NewType) and kind.__name__ == key)
            case "plain" | "free":
                self.expect(place, "type", self.source.text(node), self.package.text(kind))
        return self.problems

    def struct(self, place: str, cls: Any, branch: Branch, tag: tuple[str, str] | None) -> None:
        """Compare the fields and the tag of one class."""
        if not (isinstance(cls, type) and issubclass(cls, Struct)):
            self.problems.append(f"{place}: {cls!r} is no Struct")
            return
        self.reached.add(cls.__name__)
        self.expect(place, "exported class", cls, self.package.exports.get(cls.__name__))
        info = _inspected(cls)
        self.expect(place, "tag", tag or (None, None), (info.tag_field, info.tag))
        self.expect(place, "form", (False, False), (info.array_like, info.forbid_unknown_fields))
        entries = [p for p in constants_first(branch) if not (tag and p.wire == tag[0])]
        if not self.compare_rows(place, [self.source.row(p) for p in entries], self.package.rows(cls)):
            return
        fields = [f for f in info.fields if f.name != GUARD]
        for row, entry in zip(entries, fields, strict=True):  # what msgspec itself makes of the annotations
            if "const" not in row.node:
                self.expect(row.pointer, "required for msgspec", row.required, entry.required)
                self.expect(row.pointer, "null for msgspec", self.source.takes_null(row.node), _takes_null(entry.type))
        # msgspec's constructor checks no types, so None will do: this is about the keys that are written.
        fresh = cls(**{f.name: None for f in info.fields if f.required})
        always = [p.wire for p in entries if p.required or "default" in p.node]
        self.expect(place, "keys always written", [*filter(None, (tag or ())[:1]), *always], [*acp.to_builtins(fresh)])

    def compare_rows(self, place: str, wanted: list[str], found: list[str]) -> bool:
        """Compare all fields at once, and name only those that differ."""
        if wanted != found:
            lost = [row for row in wanted if row not in found] or ["(another order)"]
            extra = [row for row in found if row not in wanted] or ["(another order)"]
            self.problems.append(f"{place}: fields: the schema says {lost}, the package {extra}")
        return wanted == found

    def union(self, key: str, spec: _unions.UnionSpec | None) -> None:
        """Compare the variants of a union of objects."""
        place, node = PREFIX + key, self.source.defs[key]
        branches = self.source.flatten(key)
        if spec is None:
            self.problems.append(f"{place}: the package has no union")
            return
        tag_field = node.get("discriminator", {}).get("propertyName") or spec.tag_field or ""
        tagged: dict[str, list[Branch]] = {}
        others: list[Branch] = []
        fallbacks: list[Branch] = []
        for branch in branches:
            if branch.tag is not None:
                self.expect(branch.pointer, "tag must be there", True, branch.tag.required)
                self.expect(branch.pointer, "type of the tag", "string", branch.tag.node.get("type"))
                self.expect(branch.pointer, "tag", spec.tag_field, branch.tag.wire)
                tagged.setdefault(branch.tag.node["const"], []).append(branch)
            else:
                (others if branch.other_of else fallbacks).append(branch)
        self.expect(place, "discriminator", tag_field, spec.tag_field or "")
        self.expect(place, "tags", list(tagged), list(spec.tagged))
        self.expect(place, "closed", bool(tagged) and not others, spec.closed)
        groups: list[tuple[Branch, str | None]] = [(branch, tag) for tag, found in tagged.items() for branch in found]
        groups += [(branch, None) for branch in (*others, *fallbacks)]
        classes = [c for found in spec.tagged.values() for c in found] + [*spec.catch_alls, *spec.fallbacks]
        self.expect(place, "number of variants", len(groups), len(classes))
        self.expect(place, "number of catch-alls", len(others), len(spec.catch_alls))
        for (branch, tag), cls in zip(groups, classes, strict=False):
            if branch.other_of is not None:
                self.catch_all(branch, cls, [b for b in branches if b.other_of == branch.other_of])
            else:
                payload = self.source.payload(branch)
                own = self.source.carried_tag(payload) if payload else None
                self.struct(branch.pointer, cls, branch, (tag_field, tag) if tag else own)
                # Only a class that adds nothing to a definition bears its name; all others bear the union's.
                lone = payload if own or (tag is None and "properties" not in node) else None
                start = cls.__name__ if lone else cls.__name__[: len(key)]
                self.expect(branch.pointer, "name" if lone else "start of the name", lone or key, start)

    def catch_all(self, branch: Branch, cls: Any, sisters: list[Branch]) -> None:
        """Compare a class that stands for unknown tags."""
        place = branch.pointer
        if not (isinstance(cls, type) and issubclass(cls, CatchAll)):
            self.problems.append(f"{place}: {cls!r} is no CatchAll")
            return
        self.reached.add(cls.__name__)
        self.expect(place, "exported class", cls, self.package.exports.get(cls.__name__))
        shape, tag = cls.__shape__, branch.tag
        own = {p.wire for p in branch.properties}
        reserved = {p.wire for sister in sisters for p in sister.properties} - own
        self.expect(place, "keeps other keys", True, branch.open)
        self.expect(place, "property of the unknown tag", branch.other_of, shape.other_of)
        self.expect(place, "known tags", sorted(branch.known), sorted(shape.known))
        self.expect(place, "keys of the sister classes", sorted(reserved), sorted(shape.reserved))
        wanted = (tag.wire, tag.node["const"]) if tag else (None, None)
        self.expect(place, "tag", wanted, (shape.tag_field, shape.tag))
        entries = [p for p in constants_first(branch) if p is not tag]
        self.compare_rows(place, [self.source.row(p) for p in entries], self.package.rows(cls))

    def enumeration(self, key: str, cls: Any) -> None:
        """Compare the members, and what becomes of a value that is none."""
        place = PREFIX + key
        if not (isinstance(cls, type) and issubclass(cls, enum.Enum)):
            self.problems.append(f"{place}: {cls!r} is no enumeration")
            return
        choices = self.source.choices(self.source.defs[key])
        known = [c["const"] for c in choices if "const" in c]
        others = [c for c in choices if "const" not in c]
        self.expect(place, "members", known, [m.value for m in cls])
        forms = {(c.get("type"), c.get("format")) for c in choices}
        self.expect(place, "one type", 1, len(forms))
        kind, form = forms.pop()
        self.expect(place, "type", {kind}, {{str: "string", int: "integer"}.get(base) for base in cls.__mro__} - {None})
        strangers: list[Any] = [-(2**31), 2**31 - 1] if kind == "integer" else ["no such value"]
        self.expect(place, "format", {"string": None, "integer": "int32"}.get(kind or ""), form)
        replaced = self.source.overrides.unknown_member.get(key)
        for stranger in strangers:
            self.expect(place, f"{stranger!r} is kept", bool(others), _accepts(cls, stranger))
            if replaced is not None:
                self.expect(place, f"{stranger!r} is read as", replaced, acp.convert(stranger, type=cls).value)
        misfits: list[Any] = [None, 1.5, True, {}, *([2**31, "1"] if kind == "integer" else [1])]
        for misfit in misfits:
            self.expect(place, f"{misfit!r} is taken", False, _accepts(cls, misfit))
        if replaced is None:
            self.expect(place, "replaces unknown values", False, hasattr(cls, "for_unknown"))

    def routing(self, key: str) -> None:
        """Compare a union of envelopes, or of responses."""
        place, spec = PREFIX + key, _unions.spec_of(self.package.exports.get(key))
        calls = self.source.calls(key)
        self.reached.add(key)
        if spec is None:
            self.problems.append(f"{place}: the package has no union")
        elif ROUTING[key] == "response":
            module = self.package.module
            self.expect(place, "responses", (module.Response, module.ErrorResponse), spec.fallbacks)
            ids = self.source.answer_ids(key)
            wanted = [["jsonrpc: Literal['2.0']", f"id: {ids[0]} required", "result: "]]
            wanted += [["jsonrpc: Literal['2.0']", f"id: {ids[1]} required", "error: Error required"]]
            for rows, cls in zip(wanted, spec.fallbacks, strict=True):
                # Fields of which every value is refused tell a response from the other messages.
                found = [row for row in self.package.rows(cls) if "Absent" not in row]
                starts = [row[: len(start)] for row, start in zip(found, rows, strict=False)]
                self.expect(place, cls.__name__, rows, [*starts, *found[len(rows) :]])
        else:
            self.expect(place, "discriminator", "method", spec.tag_field)
            self.expect(place, "methods", [c.method for c in calls], list(spec.tagged))
            for call in calls:
                self.envelope(call, spec.tagged.get(call.method, ()))

    def envelope(self, call: Call, classes: tuple[Any, ...]) -> None:
        """Compare the envelope of one method."""
        place, name = PREFIX + call.key, f"{call.key}Message"
        self.reached.add(name)
        self.expect(place, "envelopes", [self.package.exports.get(name)], list(classes))
        for cls in classes:
            info = _inspected(cls)
            base = self.package.module.Request if call.kind == "request" else self.package.module.Notification
            self.expect(place, "base of the envelope", True, issubclass(cls, base))
            self.expect(place, "tag of the envelope", ("method", call.method), (info.tag_field, info.tag))
            rows = [r.split(" = ")[0].removesuffix(" required") for r in self.package.rows(cls)]
            if call.kind == "notification":
                # A field for the id, of which every value is refused: what has one is no notification.
                self.expect(place, "id of the notification", True, "Absent" in rows.pop())
            params = self.source.text({"$ref": PREFIX + call.key})
            wanted = ["jsonrpc: Literal['2.0']", *["id: RequestId"] * (call.kind == "request"), f"params: {params}"]
            self.expect(place, "envelope", wanted, rows)

    def methods(self) -> list[str]:
        """Compare what is said of methods: `METHODS`, the enumerations, and who may send what."""
        wanted: dict[str, dict[str, Any]] = {}
        listed: set[str] = set()
        for routing in self.source.routings:
            for call in self.source.calls(routing):
                listed.add(call.key)
                entry = wanted.setdefault(call.method, {"handled_by": set[str]()})
                entry["handled_by"] |= call.sides
                entry[call.kind] = self.package.exports.get(call.key)
                # A client sends what an agent handles, and answers what a client handles.
                sender = routing.removesuffix(call.kind.title()).lower()
                handler = {"client": "agent", "agent": "client", "proxy": "proxy"}.get(sender, "agent")
                side = sender if call.kind == "response" else handler
                self.expect(PREFIX + call.key, f"side of {routing}", True, side in call.sides)
        for key, node in self.source.defs.items():
            if "x-method" in node:
                self.expect(PREFIX + key, "carried by a routing union", True, key in listed)
        found: dict[str, acp.Method] = dict(self.package.exports["METHODS"])
        self.expect(PREFIX, "methods", sorted(wanted), sorted(found))
        for name in wanted.keys() & found.keys():
            parts = {part: getattr(found[name], part) for part in ("handled_by", "request", "response", "notification")}
            self.expect(PREFIX, name, {**dict.fromkeys(parts), **wanted[name]}, parts)
            self.expect(PREFIX, name, name, found[name].name)
        meta = read_meta(self.source.label)
        level = {c.method for c in self.source.calls(PROTOCOL_LEVEL)} if PROTOCOL_LEVEL in self.source.routings else ()
        for side in ("agent", "client"):
            members = {m.value for m in self.package.exports[f"{side.title()}Method"]}
            if meta is not None:
                self.expect("meta", f"methods of the {side}", set(meta[f"{side}Methods"].values()), members)
                self.expect("meta", "methods of either side", set(meta.get("protocolMethods", {}).values()), set(level))
            handled = {n for n, m in wanted.items() if side in m["handled_by"]}
            listed_there = members.union(level)
            self.expect("meta", f"methods that the {side} handles", handled, listed_there)
        return self.problems

    def whole(self) -> list[str]:
        """Compare all definitions, and look for emitted types that none of them accounts for."""
        for key in self.source.defs:
            self.definition(key)
        if PROTOCOL_LEVEL in self.source.routings:  # it may be no definition, but stand at the top alone
            self.routing(PROTOCOL_LEVEL)
        self.methods()
        for name, kind in self.package.exports.items():
            # `Result` is the union of all results, for those who build responses.
            if _home(kind) in ("types", "enums") and name not in self.reached | {"Result"}:
                self.problems.append(f"{name}: exported, but no definition asks for it")
        return self.problems


def _home(kind: Any) -> str:
    """Find the emitted module that a type comes from; a union comes from where its members do."""
    spec = _unions.spec_of(kind)
    for member in [*spec.tagged.values(), spec.catch_alls, spec.fallbacks] if spec else ():
        if member:
            return _home(member[0])
    return getattr(kind, "__module__", "").rpartition(".")[2]


@cache
def _inspected(cls: type[Struct]) -> inspect.StructType:
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    return info


def _takes_null(kind: inspect.Type) -> bool:
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    if isinstance(kind, inspect.UnionType):
        return any(_takes_null(k) for k in kind.types)
    return isinstance(kind, inspect.AnyType | inspect.NoneType)


def _accepts(kind: Any, value: Any) -> bool:
    try:
        acp.decode_strict(json.dumps(value), type=kind)
    except msgspec.ValidationError:
        return False
    return True


@pytest.mark.parametrize("label", LABELS)
def test_every_definition_is_there_with_all_that_the_schema_says(label: str) -> None:
    problems = Walk(schema(label)).whole()
    assert not problems, "\n".join(problems)


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


def test_the_walk_sees_every_change_of_a_definition() -> None:
    unseen: list[str] = []
    counts: Counter[str] = Counter()
    tried: list[Node] = []
    for source in map(schema, LABELS):
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
    for key in given.unknown_member:
        assert complaints(Schema(label, source.document, replace(given, unknown_member={})), key), key
