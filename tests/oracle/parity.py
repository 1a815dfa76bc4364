"""Holds the emitted package against the raw schema: `Package` tells the one, `Schema` the other, `Walk` compares."""

import enum
import importlib
import json
import re
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

import acp_msgspec as acp
import msgspec
from acp_msgspec import CatchAll
from acp_msgspec._types import hooks, leniency, merging, unions
from acp_msgspec._types.structs import GUARD
from acp_msgspec._types.variants import declared
from msgspec import NODEFAULT, UNSET, Meta, Struct, UnsetType, inspect

from tests.oracle.schema_files import read_meta
from tests.oracle.schema_parts import (
    PREFIX,
    PROTOCOL_LEVEL,
    ROUTING,
    Branch,
    Call,
    Property,
    constraint_text,
    enforced_text,
    misplaced,
    places,
    union_text,
)
from tests.oracle.schema_walk import Schema

LENIENCY = {
    leniency.Leniency.ON_ERROR: "lenient",
    leniency.Leniency.ON_NULL: "null-lenient",
    leniency.Leniency.SKIP_ITEMS: "skipping",
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
    vars(hooks)["UInt64"]: f"int[0..{2**64 - 1}]",  # a class to msgspec, `int` to a type checker
}
UNIONS = (Union, UnionType)
META = ("gt", "lt", "multiple_of", "pattern", "min_length", "max_length", "tz")
"""What msgspec can demand of a value, the bounds of integers aside."""


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
            if unions.spec_of(kind) is not None or get_origin(kind) in UNIONS:
                self.aliases.setdefault(split(kind), name)
        self.rows = cache(self._rows)

    def text(self, hint: Any) -> str:
        """Tell a type."""
        base, marks = split(hint)
        lenient = [LENIENCY[m] for m in marks if isinstance(m, leniency.Leniency)]
        lenient.sort(key=list(LENIENCY.values()).index)
        lenient.extend("merging" for m in marks if isinstance(m, merging.Merging))
        rest = tuple(m for m in marks if not isinstance(m, leniency.Leniency | merging.Merging))
        return " ".join([*lenient, self.aliases.get((base, rest)) or self._bare(base, rest)])

    def _bare(self, base: Any, marks: tuple[Any, ...]) -> str:
        given = [
            (k, getattr(m, k)) for m in marks if isinstance(m, leniency.SenderConstraint) for k in m.__struct_fields__
        ]
        constraints = {k: v for k, v in given if v is not None}
        demands = [m for m in marks if isinstance(m, Meta)]
        bounds = [f"[{m.ge}..{m.le}]" for m in demands if (m.ge, m.le) != (None, None)]
        asked = [(word, getattr(m, word)) for m in demands for word in META]
        enforced = {word: value for word, value in asked if value is not None}
        odd = [m for m in marks if not isinstance(m, Meta | leniency.SenderConstraint)]
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
        return "".join([told, *bounds, enforced_text(enforced), constraint_text(constraints), *map(repr, odd)])

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
                empty = getattr(kind, "__takes_null__", False)
                self.expect(place, "null stands for {}", self.source.null_is_empty(key), empty)
            case "union":
                self.union(key, unions.spec_of(kind))
            case "choice":
                self.choice(key, kind)
            case "text":
                self.expect(place, "type", self.source.text(node), self.package.text(getattr(kind, "__supertype__", 0)))
                self.expect(place, "a type of its own", True, isinstance(kind, NewType) and kind.__name__ == key)
            case "plain" | "free":
                self.expect(place, "type", self.source.text(node, place=key), self.package.text(kind))
        return self.problems

    def choice(self, key: str, kind: Any) -> None:
        """Compare the options of a union of more than objects; those written as they were read have own classes."""
        place, spec = PREFIX + key, unions.spec_of(kind)
        members = spec.fallbacks if spec else get_args(kind)
        choices, verbatim = self.source.choices(self.source.defs[key]), self.source.verbatim(key)
        named = {i: f"{key}{choices[i].get('title') or self.source.target(choices[i])}" for i in verbatim}
        wanted = [named.get(i) or self.source.text(choice, place=key) for i, choice in enumerate(choices)]
        self.expect(place, "options", wanted, [self.package.text(m) for m in members])
        for index, branch in verbatim.items():
            self.catch_all(branch, members[index] if index < len(members) else None, [])

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
        self.expect(place, "keys that exclude it", branch.forbids, unions.forbidden(cls))
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

    def union(self, key: str, spec: unions.UnionSpec | None) -> None:
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
        decides = bool(tagged and fallbacks and not others) and key in self.source.overrides.tag_decides
        self.expect(place, "a known tag decides", decides, spec.by_tag)
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
        self.expect(place, "keys that exclude it", branch.forbids, unions.forbidden(cls))
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
        place, spec = PREFIX + key, unions.spec_of(self.package.exports.get(key))
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
    spec = unions.spec_of(kind)
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
