"""The plans: one small reader per kind of type, and their compiler."""

from dataclasses import dataclass, field
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, NewType, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct, UnsetType

from ._marks import Leniency
from ._numbers import UINT64_MAX, UInt64
from ._repair import Mismatch, Plan, Walk, candidates, kind_of
from ._unions import UnionSpec, spec_of
from ._variants import CatchAll, UnknownVariant, declared

_MISSING: Any = object()


class FreeJson:
    """Any JSON value, untouched."""

    def read(self, value: Any, walk: Walk) -> Any:
        return value

    def viable(self, value: Any) -> bool:
        return True


class RawJson(FreeJson):
    """Any JSON value, written again as `msgspec.Raw`."""

    def read(self, value: Any, walk: Walk) -> Any:
        return msgspec.Raw(msgspec.json.encode(value))


@dataclass(frozen=True, slots=True)
class Exact:
    """A value of one Python type: text, a boolean, null."""

    kind: type
    name: str

    def read(self, value: Any, walk: Walk) -> Any:
        return value if isinstance(value, self.kind) else walk.expected(self.name, value)

    def viable(self, value: Any) -> bool:
        return isinstance(value, self.kind)


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer within bounds; `1.0` and `true` are none."""

    low: int | None
    high: int | None

    def read(self, value: Any, walk: Walk) -> Any:
        if not isinstance(value, int) or isinstance(value, bool):
            walk.expected("int", value)
        if self.low is not None and value < self.low:
            walk.fail(f"Expected `int` >= {self.low}")
        if self.high is not None and value > self.high:
            walk.fail(f"Expected `int` <= {self.high}")
        return value

    def viable(self, value: Any) -> bool:
        return isinstance(value, int)


class Float:
    """A number; an integer counts."""

    def read(self, value: Any, walk: Walk) -> Any:
        if not isinstance(value, int | float) or isinstance(value, bool):
            walk.expected("float", value)
        try:
            return float(value)
        except OverflowError:
            walk.fail("Number out of range")

    def viable(self, value: Any) -> bool:
        return isinstance(value, int | float)


@dataclass(frozen=True, slots=True)
class Constant:
    """One of a few literal values."""

    values: tuple[Any, ...]

    def read(self, value: Any, walk: Walk) -> Any:
        return value if self.viable(value) else walk.fail(f"Invalid enum value {value!r}")

    def viable(self, value: Any) -> bool:
        return any(type(value) is type(v) and value == v for v in self.values)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an enumeration; `for_unknown`, where the class has it, says what an unknown value becomes."""

    kind: type[Enum]
    plain: type
    for_unknown: Any

    def read(self, value: Any, walk: Walk) -> Any:
        if not self.viable(value):
            walk.expected("int" if self.plain is int else "str", value)
        try:
            return self.kind(value)
        except ValueError:
            if self.for_unknown is None or walk.strict:
                walk.fail(f"Invalid enum value {value!r}")
        walk.skip(value, Mismatch(f"Invalid enum value {value!r}", tuple(walk.path)), "default")
        return self.for_unknown(value)

    def viable(self, value: Any) -> bool:
        return isinstance(value, self.plain) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Items:
    """A list; with `skips`, items that do not fit are dropped."""

    item: Plan
    skips: bool

    def read(self, value: Any, walk: Walk) -> Any:
        if not isinstance(value, list | tuple):
            walk.expected("array", value)
        out: list[Any] = []
        for index, entry in enumerate(cast("list[Any]", value)):
            walk.path.append(index)
            try:
                out.append(walk.attempt(self.item.read, entry))
            except Mismatch as why:
                if not self.skips or walk.strict:
                    raise
                walk.skip(entry, why, "dropped")
            walk.path.pop()
        return out

    def viable(self, value: Any) -> bool:
        if not isinstance(value, list | tuple):
            return False
        return self.skips or all(self.item.viable(v) for v in cast("list[Any]", value))


@dataclass(frozen=True, slots=True)
class Values:
    """An object used as a map with text keys: one bad value fails it."""

    item: Plan

    def read(self, value: Any, walk: Walk) -> Any:
        if not isinstance(value, dict):
            walk.expected("object", value)
        out: dict[str, Any] = {}
        for key, entry in cast("dict[str, Any]", value).items():
            walk.path.append(key)
            out[key] = self.item.read(entry, walk)
            walk.path.pop()
        return out

    def viable(self, value: Any) -> bool:
        return isinstance(value, dict)


@dataclass(frozen=True, slots=True)
class Choice:
    """A union without tags: the options in order."""

    options: tuple[Plan, ...]
    names: str

    def read(self, value: Any, walk: Walk) -> Any:
        viable = [p for p in self.options if p.viable(value)]
        for plan in viable[:-1]:
            try:
                return walk.attempt(plan.read, value)
            except Mismatch:
                continue
        return viable[-1].read(value, walk) if viable else walk.expected(self.names, value)

    def viable(self, value: Any) -> bool:
        return any(p.viable(value) for p in self.options)


@dataclass(frozen=True, slots=True)
class Entry:
    """One field of an object."""

    name: str
    wire: str
    plan: Plan
    required: bool
    leniency: Leniency | None
    fallback: Any
    """Makes the value of a forgiven field; None where there is none."""

    def read(self, value: Any, walk: Walk) -> Any:
        walk.path.append(self.wire)
        if self.leniency is None or self.fallback is None or walk.strict:
            out = self.plan.read(value, walk)
        else:
            try:
                out = walk.attempt(self.plan.read, value)
            except Mismatch as why:
                if self.leniency is Leniency.ON_NULL and value is not None:
                    raise
                walk.skip(value, why, "default")
                out = self.fallback()
        walk.path.pop()
        return out


@dataclass(slots=True)
class Fields:
    """An object with declared fields: a Struct or a catch-all. Its own tag, if any, was looked at before."""

    kind: type[Any]
    entries: tuple[Entry, ...] = ()
    required: tuple[str, ...] = ()
    constants: tuple[Entry, ...] = ()
    compiled: bool = field(default=False, init=False)

    def compile(self) -> None:
        """Find the fields; late, so that types may refer to themselves."""
        listed = _catch_all_entries if issubclass(self.kind, CatchAll) else _struct_entries
        self.entries = tuple(listed(self.kind))
        self.required = tuple(e.wire for e in self.entries if e.required)
        self.constants = tuple(e for e in self.entries if isinstance(e.plan, Constant))
        self.compiled = True

    def read(self, value: Any, walk: Walk) -> Any:
        if not self.compiled:
            self.compile()
        if not isinstance(value, dict):
            walk.expected("object", value)
        given = cast("dict[str, Any]", value)
        found: dict[str, Any] = {}
        for entry in self.entries:
            raw = given.get(entry.wire, _MISSING)
            if raw is not _MISSING:
                found[entry.name] = entry.read(raw, walk)
            elif entry.required:
                walk.fail(f"Object missing required field `{entry.wire}`")
        return self.build(given, found, walk)

    def build(self, given: dict[str, Any], found: dict[str, Any], walk: Walk) -> Any:
        """Make the object of its fields."""
        return self.kind(**found)

    def viable(self, value: Any) -> bool:
        if not self.compiled:
            self.compile()
        if not isinstance(value, dict):
            return False
        given = cast("dict[str, Any]", value)
        return all(k in given for k in self.required) and all(
            c.plan.viable(given[c.wire]) for c in self.constants if c.wire in given
        )


class Remainder(Fields):
    """A catch-all: declared fields, and every other key as it came."""

    def build(self, given: dict[str, Any], found: dict[str, Any], walk: Walk) -> Any:
        cls: type[CatchAll] = self.kind
        shape = cls.__shape__
        if shape.other_of is not None and given[shape.other_of] in shape.known:
            walk.fail(f"Invalid value {given[shape.other_of]!r}", shape.other_of)
        own = {e.wire for e in self.entries} | shape.reserved | {shape.tag_field}
        return cls(**found, extra={k: v for k, v in given.items() if k not in own})

    def viable(self, value: Any) -> bool:
        shape = self.kind.__shape__
        return Fields.viable(self, value) and (shape.other_of is None or value[shape.other_of] not in shape.known)


@dataclass(frozen=True, slots=True)
class Tagged:
    """A union described by a `UnionSpec`."""

    spec: UnionSpec

    def read(self, value: Any, walk: Walk) -> Any:
        first: Mismatch | None = None
        for kind in candidates(self.spec, value):
            plan = plan_of(kind)
            try:
                return walk.attempt(plan.read, value)
            except Mismatch as why:
                first = first if first is not None and not plan.viable(value) else why
        tag_field = self.spec.tag_field
        if tag_field is None:
            raise first or Mismatch("No variant of the union fits", tuple(walk.path))
        if not isinstance(value, dict):
            walk.expected("object", value)
        tag = cast("dict[str, Any]", value).get(tag_field, _MISSING)
        if isinstance(tag, str) and tag not in self.spec.tagged and self.spec.closed and walk.keep_unknown:
            return UnknownVariant(tag_field, tag, cast("dict[str, Any]", value))
        if first is not None:
            raise first
        if tag is _MISSING:
            walk.fail(f"Object missing required field `{tag_field}`")
        if not isinstance(tag, str):
            walk.fail(f"Expected `str`, got `{kind_of(tag)}`", tag_field)
        return walk.fail(f"Invalid value {tag!r}", tag_field)

    def viable(self, value: Any) -> bool:
        return any(plan_of(kind).viable(value) for kind in candidates(self.spec, value))


_PLANS: dict[Any, Plan] = {}
_SIMPLE: dict[Any, Plan] = {
    Any: FreeJson(),
    msgspec.Raw: RawJson(),
    str: Exact(str, "str"),
    bool: Exact(bool, "bool"),
    None: Exact(type(None), "null"),
    type(None): Exact(type(None), "null"),
    int: Integer(None, None),
    float: Float(),
    UInt64: Integer(0, UINT64_MAX),
}


def plan_of(kind: Any) -> Plan:
    """Give the plan of a type, compiled at the first call."""
    plan = _PLANS.get(kind)
    if plan is None:
        plan = _PLANS[kind] = _compile(kind)
    return plan


def _compile(kind: Any) -> Plan:
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    spec = spec_of(kind)
    if spec is not None:
        return Tagged(spec)
    if isinstance(kind, NewType):
        return plan_of(kind.__supertype__)
    if isinstance(kind, type):
        return _compile_class(kind)
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _compile_annotated(args[0], args[1:])
    if origin is list:
        return Items(plan_of(args[0]), skips=False)
    if origin is dict:
        return Values(plan_of(args[1]))
    if origin is Literal:
        return Constant(args)
    if origin in (Union, UnionType):
        options = [a for a in args if a is not UnsetType]
        return Choice(tuple(plan_of(a) for a in options), " | ".join(_name(a) for a in options))
    raise TypeError(f"{kind!r} is no type that this package decodes")


def _compile_class(kind: type[Any]) -> Plan:
    if issubclass(kind, Struct):
        return Fields(kind)
    if issubclass(kind, CatchAll):
        return Remainder(kind)
    if issubclass(kind, Enum):
        plain = int if issubclass(kind, int) else str
        return Member(kind, plain, getattr(kind, "for_unknown", None))
    if kind in (list, dict):
        return Items(FreeJson(), skips=False) if kind is list else Values(FreeJson())
    raise TypeError(f"{kind!r} is no type that this package decodes")


def _compile_annotated(inner: Any, marks: tuple[Any, ...]) -> Plan:
    if inner is int:
        for meta in (m for m in marks if isinstance(m, Meta)):
            return Integer(cast("int | None", meta.ge), cast("int | None", meta.le))
    if get_origin(inner) is list and Leniency.SKIP_ITEMS in marks:
        return Items(plan_of(get_args(inner)[0]), skips=True)
    return plan_of(inner)


def _struct_entries(kind: type[Any]) -> list[Entry]:
    out: list[Entry] = []
    for info in msgspec.structs.fields(kind):
        make: Any = None
        if info.default_factory is not msgspec.NODEFAULT:
            make = info.default_factory
        elif info.default is not msgspec.NODEFAULT:
            make = _constant(info.default)
        out.append(_entry(info.name, info.encode_name, info.type, info.required, make))
    return out


def _catch_all_entries(kind: type[CatchAll]) -> list[Entry]:
    hints = get_type_hints(kind, include_extras=True)
    fields = [(n, d) for n, d in declared(kind).items() if n != "extra"]
    return [_entry(n, d.wire, hints[n], d.required, None if d.required else d.make) for n, d in fields]


def _entry(name: str, wire: str, kind: Any, required: bool, make: Any) -> Entry:
    leniency: Leniency | None = None
    if get_origin(kind) is Annotated:
        marks = [m for m in kind.__metadata__ if m in (Leniency.ON_ERROR, Leniency.ON_NULL)]
        leniency = marks[0] if marks else None
    if required and leniency is not None:
        make = _empty_of(kind)
    return Entry(name, wire, plan_of(kind), required, leniency, make)


def _empty_of(kind: Any) -> Any:
    """Find what a required field becomes when it is forgiven: an empty list or map, or null where that is allowed."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    origin = get_origin(kind)
    if origin in (Union, UnionType) and type(None) in get_args(kind):
        return _constant(None)
    return origin if origin in (list, dict) else None


def _constant(value: Any) -> Any:
    return lambda: value


def _name(kind: Any) -> str:
    """Name a type in messages, as msgspec does."""
    spec = spec_of(kind)
    if spec is not None:
        return "object" if spec.tag_field is not None else " | ".join(dict.fromkeys(map(_name, spec.fallbacks)))
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if kind is type(None):
        return "null"
    origin: Any = get_origin(kind) or kind
    if origin in (list, dict):
        return "array" if origin is list else "object"
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(map(_name, get_args(kind))))
    if isinstance(kind, NewType):
        return _name(kind.__supertype__)
    if kind is UInt64 or not isinstance(kind, type):
        return "int" if kind is UInt64 else "str" if origin is Literal else "value"
    cls = cast("type[Any]", kind)
    return "object" if issubclass(cls, Struct | CatchAll) else cls.__name__
