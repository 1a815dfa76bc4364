"""Compiles types to readers: each type once, at its first use.

`_field` decides what a repaired field gets: the default of its class, or an empty value if it is required.
"""

from enum import Enum
from typing import Annotated, Any, Literal, NewType, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct, UnsetType

from .._types.hooks import UINT64_MAX, Absent, UInt64
from .._types.leniency import Leniency, SenderConstraint
from .._types.structs import GUARD
from .._types.unions import NativePart, spec_of
from .._types.unwrap import union_members, unwrap
from .._types.variants import CatchAll, declared
from .context import TypeReader
from .objects import CatchAllReader, ChoiceReader, FieldReader, ObjectReader, StructReader, UnionReader
from .values import (
    AnyReader,
    ConstrainedReader,
    EnumReader,
    ExactReader,
    FloatReader,
    ForbiddenReader,
    IntReader,
    LengthReader,
    ListReader,
    LiteralReader,
    MapReader,
    PatternReader,
    RawReader,
)

_READERS: dict[Any, TypeReader] = {}
_SIMPLE: dict[Any, TypeReader] = {
    Any: AnyReader(),
    msgspec.Raw: RawReader(),
    str: ExactReader(str, "str"),
    bool: ExactReader(bool, "bool"),
    None: ExactReader(type(None), "null"),
    type(None): ExactReader(type(None), "null"),
    int: IntReader(None, None),
    float: FloatReader(),
    UInt64: IntReader(0, UINT64_MAX),
}


def reader_of(kind: Any) -> TypeReader:
    """Return the reader of a type, compiled at the first call; raise `TypeError` for a type that cannot be decoded."""
    reader = _READERS.get(kind)
    if reader is None:
        reader = _READERS[kind] = _compile(kind)
    return reader


def _compile(kind: Any) -> TypeReader:
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    spec = spec_of(kind)
    if spec is not None:
        return UnionReader(spec, reader_of)
    if isinstance(kind, NewType):
        return reader_of(kind.__supertype__)
    if isinstance(kind, TypeVar):
        return AnyReader()  # a generic Struct without its parameter
    if isinstance(kind, type):
        return _compile_class(kind)
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _compile_annotated(args[0], args[1:])
    if origin is list:
        return ListReader(reader_of(args[0]), skips=False, many=kind)
    if origin is dict:
        return MapReader(reader_of(args[1]))
    if isinstance(origin, type) and issubclass(origin, Struct):
        return ObjectReader(kind, _struct_fields)
    if origin is Literal:
        return LiteralReader(args)
    if members := union_members(kind):
        options = [a for a in members if a is not UnsetType]
        names = " | ".join(_name(a) for a in options)
        options.sort(key=lambda a: a is not type(None))  # null is None, also where an object takes null
        return ChoiceReader(tuple(reader_of(a) for a in options), names)
    raise TypeError(f"{kind!r} is not a type that this package decodes")


def _compile_class(kind: type[Any]) -> TypeReader:
    if issubclass(kind, Struct):
        return StructReader(kind, _struct_fields)
    if issubclass(kind, CatchAll):
        return CatchAllReader(kind, _catch_all_fields)
    if issubclass(kind, Enum):
        plain = int if issubclass(kind, int) else str
        for_unknown = getattr(kind, "for_unknown", None)
        is_closed = for_unknown is None and kind._missing_.__func__ is Enum._missing_.__func__  # type: ignore[attr-defined]
        known = frozenset(m.value for m in kind) if is_closed else None
        return EnumReader(kind, plain, for_unknown, known)
    if kind in (list, dict):
        return ListReader(AnyReader(), skips=False, many=list) if kind is list else MapReader(AnyReader())
    if kind is Absent:
        return ForbiddenReader(None)
    raise TypeError(f"{kind!r} is not a type that this package decodes")


def _compile_annotated(inner: Any, metadata: tuple[Any, ...]) -> TypeReader:
    constraint = next((m for m in metadata if isinstance(m, SenderConstraint)), None)
    if constraint is not None:
        others = tuple(m for m in metadata if m is not constraint)
        return ConstrainedReader(_compile_annotated(inner, others), constraint)
    limit = next((m for m in metadata if isinstance(m, Meta) and (m.min_length, m.max_length) != (None, None)), None)
    if limit is not None:
        reader = _compile_annotated(inner, tuple(m for m in metadata if m is not limit))
        return LengthReader(reader, "str" if inner is str else "array", limit.min_length or 0, limit.max_length)
    if inner is str:
        for meta in (m for m in metadata if isinstance(m, Meta) and m.pattern is not None):
            return PatternReader(str(meta.pattern))
    if inner is int:
        for meta in (m for m in metadata if isinstance(m, Meta)):
            return IntReader(cast("int | None", meta.ge), cast("int | None", meta.le))
    if get_origin(inner) is list and Leniency.SKIP_ITEMS in metadata:
        return ListReader(reader_of(get_args(inner)[0]), skips=True, many=inner)
    return reader_of(inner)


def _struct_fields(kind: type[Any]) -> list[FieldReader]:
    out: list[FieldReader] = []
    without: tuple[str, str | None] | None = getattr(kind, "__without__", None)
    if without is not None:
        out.append(FieldReader(GUARD, without[0], ForbiddenReader(without[1]), False, None, None))
    for info in (f for f in msgspec.structs.fields(kind) if f.name != GUARD):
        make: Any = None
        if info.default_factory is not msgspec.NODEFAULT:
            make = info.default_factory
        elif info.default is not msgspec.NODEFAULT:
            make = _constant(info.default)
        out.append(_field(info.name, info.encode_name, info.type, info.required, make))
    return out


def _catch_all_fields(kind: type[CatchAll]) -> list[FieldReader]:
    hints = get_type_hints(kind, include_extras=True)
    fields = [(n, d) for n, d in declared(kind).items() if n != "extra"]
    return [_field(n, d.wire, hints[n], d.required, None if d.required else d.make) for n, d in fields]


def _field(name: str, wire: str, kind: Any, required: bool, make: Any) -> FieldReader:
    leniency: Leniency | None = None
    if get_origin(kind) is Literal:
        required = True  # a tag has a default for the constructor, but readers require it
    if get_origin(kind) is Annotated:
        leniency = next((m for m in kind.__metadata__ if m in (Leniency.ON_ERROR, Leniency.ON_NULL)), None)
    if required and leniency is not None:
        make = _fallback_of(kind)
    return FieldReader(name, wire, reader_of(kind), required, leniency, make)


def _fallback_of(kind: Any) -> Any:
    """Return the factory of the value that a repaired required field gets: an empty list or map, or null if allowed."""
    kind = unwrap(kind)
    if isinstance(kind, NativePart):
        kind = kind.__args__[0]  # a list, if it is something that can be empty
    if type(None) in union_members(kind):
        return _constant(None)
    origin = get_origin(kind)
    return origin if origin in (list, dict) else None


def _constant(value: Any) -> Any:
    return lambda: value


def _name(kind: Any) -> str:
    """Name a type as the error messages of msgspec do."""
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
