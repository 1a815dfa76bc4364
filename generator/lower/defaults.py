"""Default values: JSON values of the schema become the values of `values.py`, according to the type of the field.

Whether a field has a default, and which one if the schema has none, is decided in `fields`.
"""

from typing import Any

from generator.errors import child
from generator.jsonutil import is_array, is_object
from generator.lower.alternatives import expand
from generator.lower.context import Context
from generator.lower.kinds import RANGES, kind_of
from generator.lower.nodes import Node, default_of
from generator.model import (
    Alias,
    Choice,
    Constrained,
    Enumeration,
    Identifier,
    Integer,
    ListOf,
    MapOf,
    Named,
    Nullable,
    Plain,
    Type,
)
from generator.names import field_of
from generator.values import ListValue, Literal, MapValue, MemberOf, New, Value, of_json


def default_value(context: Context, kind: Type, raw: Any, pointer: str) -> Value:
    """Convert a JSON value to a value of a type; a mismatch is an error."""
    match kind:
        case Plain(name="Any"):
            return of_json(raw)
        case Plain(name=name) if _is_plain(name, raw):
            return Literal(raw)
        case Integer() if type(raw) is int and _is_in_range(kind, raw):
            return Literal(raw)
        case Nullable() if raw is None:
            return Literal(None)
        case Nullable(inner=inner) | Constrained(inner=inner):
            return default_value(context, inner, raw, pointer)
        case ListOf(item=item) if is_array(raw):
            return ListValue(tuple(default_value(context, item, v, child(pointer, i)) for i, v in enumerate(raw)))
        case MapOf(item=item) if is_object(raw):
            return MapValue(tuple((k, default_value(context, item, v, child(pointer, k))) for k, v in raw.items()))
        case Named(name=name):
            return _named_value(context, name, raw, pointer)
        case Choice(options=options):
            for option in options:
                if _has_type(option, raw):
                    return default_value(context, option, raw, pointer)
        case _:
            pass
    raise context.fail(pointer, f"the default {raw!r} does not match its type")


def _named_value(context: Context, name: str, raw: Any, pointer: str) -> Value:
    """Convert a JSON value to a value of a definition."""
    match context.made_as(name):
        case Enumeration(members=members):
            for member in members:
                if member.value == raw:
                    return MemberOf(name, member.name)
            raise context.fail(pointer, f"{name} has no value {raw!r}")
        case Identifier() if isinstance(raw, str):
            return Literal(raw, newtype=name)
        case Alias(kind=kind):
            return default_value(context, kind, raw, pointer)
        case _:
            return _new(context, name, raw, pointer)


def _new(context: Context, name: str, raw: Any, pointer: str) -> New:
    """Convert a JSON object to an instance of a class; properties equal to their own defaults are left out."""
    if not is_object(raw) or not context.is_struct(name):
        raise context.fail(pointer, f"a default of the type {name} cannot be written", "see lower/defaults.py")
    node, place = context.definition(name), context.pointer(name)
    declared = expand(context, node, place, name)[0].properties
    properties: dict[str, Node] = {p.key: p.node for p in declared}
    arguments: list[tuple[str, Value]] = []
    for key, value in raw.items():
        if key not in properties:
            raise context.fail(child(pointer, key), f"{name} has no property {key!r}")
        has_default, default = default_of(properties[key])
        if has_default and default == value:
            continue
        kind = kind_of(context, properties[key], child(place, "properties", key))
        made = default_value(context, kind, value, child(pointer, key))
        arguments.append((field_of(key, context.schema.names), made))
    missing = [p.key for p in declared if p.required and p.key not in raw]
    if missing:
        raise context.fail(pointer, f"the default lacks {missing[0]!r}, which {name} requires")
    return New(name, tuple(arguments))


def _is_plain(name: str, raw: Any) -> bool:
    """Return whether a JSON value matches a built-in type; an integer also matches `float`."""
    if name == "None":
        return raw is None
    return type(raw).__name__ == name or (name == "float" and type(raw) is int)


def _is_in_range(kind: Integer, raw: int) -> bool:
    least, most = RANGES[kind.format]
    return (least if kind.low is None else kind.low) <= raw <= (most if kind.high is None else kind.high)


def _has_type(kind: Type, raw: Any) -> bool:
    """Return whether an option of a union of scalars accepts the JSON type of a value."""
    match kind:
        case Plain(name=name):
            return type(raw).__name__ == name or (name == "None" and raw is None)
        case Integer():
            return type(raw) is int
        case ListOf():
            return isinstance(raw, list)
        case _:
            return False
