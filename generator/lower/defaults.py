"""Defaults: from the JSON of the schema to a Python expression."""

from typing import Any

from generator.errors import child
from generator.jsonutil import is_array, is_object
from generator.lower.alternatives import expand
from generator.lower.context import Context
from generator.lower.kinds import RANGES, kind_of, resolve
from generator.lower.nodes import Node, default_of
from generator.model import (
    Advised,
    Alias,
    Choice,
    Default,
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


def default_expression(context: Context, kind: Type, raw: Any, pointer: str) -> Default:
    """Write a default as Python: a value, or the factory of a fresh one."""
    if raw == [] and isinstance(resolve(context, kind), ListOf):
        return Default("list", fresh=True)
    if raw == {} and isinstance(resolve(context, kind), MapOf):
        return Default("dict", fresh=True)
    text = value_text(context, kind, raw, pointer)
    if text.endswith("()"):
        return Default(text.removesuffix("()"), fresh=True)
    return Default(f"lambda: {text}", fresh=True) if isinstance(raw, dict | list) else Default(text)


def value_text(context: Context, kind: Type, raw: Any, pointer: str) -> str:
    """Write a JSON value of a type as a Python expression; a value that does not fit is an error."""
    match kind:
        case Plain(name="Any"):
            return repr(raw)
        case Plain(name=name) if type(raw).__name__ == name or (name == "float" and type(raw) is int):
            return repr(raw)
        case Plain(name="None") if raw is None:
            return "None"
        case Integer(format=fmt, low=least, high=most) if type(raw) is int:
            if (
                (least if least is not None else RANGES[fmt][0])
                <= raw
                <= (most if most is not None else RANGES[fmt][1])
            ):
                return repr(raw)
        case Nullable(inner=inner):
            return "None" if raw is None else value_text(context, inner, raw, pointer)
        case Advised(inner=inner):
            return value_text(context, inner, raw, pointer)
        case ListOf(item=item) if is_array(raw):
            entries = [value_text(context, item, v, child(pointer, i)) for i, v in enumerate(raw)]
            return f"[{', '.join(entries)}]"
        case MapOf(item=item) if is_object(raw):
            pairs = raw.items()
            return "{" + ", ".join(f"{k!r}: {value_text(context, item, v, child(pointer, k))}" for k, v in pairs) + "}"
        case Named(name=name):
            return _named_text(context, name, raw, pointer)
        case Choice(options=options):
            for option in options:
                if _fits(option, raw):
                    return value_text(context, option, raw, pointer)
        case _:
            pass
    raise context.fail(pointer, f"the default {raw!r} does not fit its type")


def _named_text(context: Context, name: str, raw: Any, pointer: str) -> str:
    target = context.made_as(name)
    match target:
        case Enumeration(members=members):
            for member in members:
                if member.value == raw:
                    return f"{name}.{member.name}"
            raise context.fail(pointer, f"{raw!r} is no value of {name}")
        case Identifier() if isinstance(raw, str):
            return f"{name}({raw!r})"
        case Alias(kind=kind):
            return value_text(context, kind, raw, pointer)
        case _:
            pass
    if not is_object(raw) or not context.is_struct(name):
        raise context.fail(pointer, f"a default of the type {name} cannot be written", "see defaults.py")
    node = context.definition(name)
    properties: dict[str, Node] = {
        p.key: p.node for p in expand(context, node, context.pointer(name), name)[0].properties
    }
    arguments: list[str] = []
    for key, value in raw.items():
        if key not in properties:
            raise context.fail(child(pointer, key), f"{name} has no property {key!r}")
        has_default, default = default_of(properties[key])
        if has_default and default == value:
            continue
        kind = kind_of(context, properties[key], child(context.pointer(name), "properties", key))
        arguments.append(
            f"{field_of(key, context.schema.names)}={value_text(context, kind, value, child(pointer, key))}"
        )
    missing = [k for k in node.required if k not in raw]
    if missing:
        raise context.fail(pointer, f"the default lacks {missing[0]!r}, which {name} requires")
    return f"{name}({', '.join(arguments)})"


def _fits(kind: Type, raw: Any) -> bool:
    match kind:
        case Plain(name=name):
            return type(raw).__name__ == name or (name == "None" and raw is None)
        case Integer():
            return type(raw) is int
        case ListOf():
            return isinstance(raw, list)
        case _:
            return False
