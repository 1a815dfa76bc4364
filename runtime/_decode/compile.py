"""From types to readers: each type is compiled once, at its first use."""

from enum import Enum
from typing import Annotated, Any, Literal, NewType, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct, UnsetType

from .._types.hooks import StandIn
from .._types.leniency import Advice, Leniency
from .._types.numbers import UINT64_MAX, UInt64
from .._types.structs import GUARD
from .._types.unions import NativePart, spec_of
from .._types.unwrap import union_members, unwrap
from .._types.variants import CatchAll, declared
from .context import TypeReader
from .objects import Choice, Entry, Fields, Remainder, Tagged, Whole
from .values import (
    Advised,
    ByHook,
    Constant,
    Exact,
    Float,
    FreeJson,
    Integer,
    Items,
    Member,
    Patterned,
    RawJson,
    Values,
)

_READERS: dict[Any, TypeReader] = {}
_SIMPLE: dict[Any, TypeReader] = {
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


def reader_of(kind: Any) -> TypeReader:
    """Give the reader of a type, compiled at the first call."""
    reader = _READERS.get(kind)
    if reader is None:
        reader = _READERS[kind] = _compile(kind)
    return reader


def _compile(kind: Any) -> TypeReader:
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    spec = spec_of(kind)
    if spec is not None:
        return Tagged(spec, reader_of)
    if isinstance(kind, NewType):
        return reader_of(kind.__supertype__)
    if isinstance(kind, TypeVar):
        return FreeJson()  # a generic Struct without its parameter
    if isinstance(kind, type):
        return _compile_class(kind)
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _compile_annotated(args[0], args[1:])
    if origin is list:
        return Items(reader_of(args[0]), skips=False, many=kind)
    if origin is dict:
        return Values(reader_of(args[1]))
    if isinstance(origin, type) and issubclass(origin, Struct):
        return Fields(kind, _struct_entries)
    if origin is Literal:
        return Constant(args)
    if members := union_members(kind):
        options = [a for a in members if a is not UnsetType]
        return Choice(tuple(reader_of(a) for a in options), " | ".join(_name(a) for a in options))
    raise TypeError(f"{kind!r} is no type that this package decodes")


def _compile_class(kind: type[Any]) -> TypeReader:
    if issubclass(kind, Struct):
        return Whole(kind, _struct_entries)
    if issubclass(kind, CatchAll):
        return Remainder(kind, _catch_all_entries)
    if issubclass(kind, Enum):
        plain = int if issubclass(kind, int) else str
        for_unknown = getattr(kind, "for_unknown", None)
        is_closed = for_unknown is None and kind._missing_.__func__ is Enum._missing_.__func__  # type: ignore[attr-defined]
        known = frozenset(m.value for m in kind) if is_closed else None
        return Member(kind, plain, for_unknown, known)
    if kind in (list, dict):
        return Items(FreeJson(), skips=False, many=list) if kind is list else Values(FreeJson())
    if isinstance(kind, StandIn):
        return ByHook(kind)
    raise TypeError(f"{kind!r} is no type that this package decodes")


def _compile_annotated(inner: Any, marks: tuple[Any, ...]) -> TypeReader:
    advice = next((m for m in marks if isinstance(m, Advice)), None)
    if advice is not None:
        return Advised(_compile_annotated(inner, tuple(m for m in marks if m is not advice)), advice)
    if inner is str:
        for meta in (m for m in marks if isinstance(m, Meta) and m.pattern is not None):
            return Patterned(str(meta.pattern))
    if inner is int:
        for meta in (m for m in marks if isinstance(m, Meta)):
            return Integer(cast("int | None", meta.ge), cast("int | None", meta.le))
    if get_origin(inner) is list and Leniency.SKIP_ITEMS in marks:
        return Items(reader_of(get_args(inner)[0]), skips=True, many=inner)
    return reader_of(inner)


def _struct_entries(kind: type[Any]) -> list[Entry]:
    out: list[Entry] = []
    for info in (f for f in msgspec.structs.fields(kind) if f.name != GUARD):
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
    if get_origin(kind) is Literal:
        required = True  # a tag has a default for those who build the object, but a reader must find it
    if get_origin(kind) is Annotated:
        marks = [m for m in kind.__metadata__ if m in (Leniency.ON_ERROR, Leniency.ON_NULL)]
        leniency = marks[0] if marks else None
    if required and leniency is not None:
        make = _empty_of(kind)
    return Entry(name, wire, reader_of(kind), required, leniency, make)


def _empty_of(kind: Any) -> Any:
    """Find what a required field becomes when it is forgiven: an empty list or map, or null where that is allowed."""
    kind = unwrap(kind)
    if isinstance(kind, NativePart):
        kind = kind.__args__[0]  # a list, if anything that can be empty
    if type(None) in union_members(kind):
        return _constant(None)
    origin = get_origin(kind)
    return origin if origin in (list, dict) else None


def _constant(value: Any) -> Any:
    return lambda: value


def _name(kind: Any) -> str:
    """Name a type in messages, as msgspec does."""
    spec = spec_of(kind)
    if spec is not None:
        return "object" if spec.tag_field is not None else " | ".join(dict.fromkeys(map(_name, spec.fallbacks)))
    kind = unwrap(kind)
    if kind is type(None):
        return "null"
    origin: Any = get_origin(kind) or kind
    if origin in (list, dict):
        return "array" if origin is list else "object"
    if members := union_members(kind):
        return " | ".join(dict.fromkeys(map(_name, members)))
    if kind is UInt64 or not isinstance(kind, type):
        return "int" if kind is UInt64 else "str" if origin is Literal else "value"
    cls = cast("type[Any]", kind)
    return "object" if issubclass(cls, Struct | CatchAll) else cls.__name__
