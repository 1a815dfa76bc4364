"""From the schema of a value to a type expression."""

from math import ceil, floor
from typing import TYPE_CHECKING, Any, cast

from generator.engine import SchemaObject, camel, number
from generator.errors import child
from generator.lower.context import (
    Node,
    branches_of,
    flag,
    is_free,
    reference_of,
    type_of,
)
from generator.model import Advised, Alias, Choice, Integer, ListOf, MapOf, Named, Nullable, Plain, Type
from generator.read import SKIP_ITEMS

if TYPE_CHECKING:
    from generator.lower.definitions import Lowering

RANGES: dict[str, tuple[int, int]] = {
    f"{sign}int{bits}": (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
ANY = Plain("Any")
FREE_OBJECT = MapOf(ANY)


def kind_of(low: "Lowering", node: Node, pointer: str, owner: str, key: str) -> Type:
    """Lower the schema of one value.

    An object or enumeration that stands inline becomes a class named after its owner and key.
    """
    if is_free(node):
        return ANY
    if not isinstance(node, SchemaObject):
        raise low.context.fail(pointer, "no value fits the schema `false`")
    target = reference_of(node)
    if target is not None:
        return Named(target)
    if node.anyOf or node.oneOf:
        return _kind_of_union(low, node, pointer, owner, key)
    json_type, nullable = type_of(node)
    kind = _kind_of_type(low, json_type, node, pointer, owner, key)
    return Nullable(kind) if nullable else kind


def is_null(node: Node) -> bool:
    """Say whether a schema takes null and nothing else."""
    return isinstance(node, SchemaObject) and node.type == "null"


def _kind_of_union(low: "Lowering", node: SchemaObject, pointer: str, owner: str, key: str) -> Type:
    keyword, branches = branches_of(node)
    rest = [(i, b) for i, b in enumerate(branches) if not is_null(b)]
    nullable = len(rest) < len(branches)
    if len(rest) == 1 and nullable:
        index, branch = rest[0]
        return Nullable(kind_of(low, branch, child(pointer, keyword, index), owner, key))
    if all(is_scalar(b) for _, b in rest):
        return choice_of(low, node, pointer)
    if nullable:
        raise low.context.fail(pointer, "null among several alternatives of a property", "give the union a definition")
    return Named(low.define_inline(owner + camel(key), node, pointer))


def is_scalar(node: Node) -> bool:
    """Say whether a branch is a scalar, or a list of scalars."""
    if not isinstance(node, SchemaObject) or const_like(node):
        return False
    json_type, _ = type_of(node)
    if json_type == "array":
        return isinstance(node.items, SchemaObject) and is_scalar(node.items)
    return json_type in ("string", "integer", "number", "boolean", "null")


def const_like(node: SchemaObject) -> bool:
    """Say whether a schema names its values one by one."""
    return "const" in node.extras or bool(node.enum)


def choice_of(low: "Lowering", node: SchemaObject, pointer: str) -> Type:
    """Lower a union of scalars; msgspec decodes it as it stands."""
    keyword, branches = branches_of(node)
    options: list[Type] = []
    for index, branch in enumerate(branches):
        options.append(kind_of(low, branch, child(pointer, keyword, index), "", ""))
    if sum(isinstance(o, ListOf) for o in options) > 1:
        raise low.context.fail(pointer, "two lists in a union of scalars")
    return Choice(tuple(options))


def _kind_of_type(
    low: "Lowering", json_type: str | None, node: SchemaObject, pointer: str, owner: str, key: str
) -> Type:
    match json_type:
        case "string" if node.enum or "const" in node.extras:
            return Named(low.define_inline(owner + camel(key), node, pointer))
        case "string":
            return advised(Plain("str"), node)
        case "boolean":
            return Plain("bool")
        case "number":
            return advised(Plain("float"), node)
        case "integer":
            return integer_of(low, node, pointer)
        case "null":
            return Plain("None")
        case "array":
            return _list_of(low, node, pointer, owner, key)
        case "object":
            return _object_of(low, node, pointer, owner, key)
        case _:
            raise low.context.fail(pointer, f"a value of type {json_type!r} is unknown here")


def integer_of(low: "Lowering", node: SchemaObject, pointer: str) -> Integer:
    """Lower an integer: its format's range, narrowed by `minimum` and `maximum`."""
    fmt = node.format or "int64"
    low_end, high_end = RANGES[fmt]
    minimum, maximum = number(node.minimum), number(node.maximum)
    bounds = (
        max(low_end, ceil(minimum)) if minimum is not None else low_end,
        min(high_end, floor(maximum)) if maximum is not None else high_end,
    )
    if bounds[0] > bounds[1]:
        raise low.context.fail(pointer, f"no integer lies between {bounds[0]} and {bounds[1]}")
    if bounds == (low_end, high_end):
        return Integer(fmt)
    if bounds[1] > RANGES["int64"][1]:
        raise low.context.fail(pointer, f"the bounds {bounds} of a {fmt} are unknown", "only the whole range is")
    return Integer(fmt, *bounds)


def advised(kind: Type, node: SchemaObject) -> Type:
    """Keep the limits that the reference does not enforce as advice to senders."""
    found: list[tuple[str, str | int | float]] = []
    for name, value in (
        ("minimum", number(node.minimum)),
        ("maximum", number(node.maximum)),
        ("min_items", node.minItems),
        ("min_length", node.minLength),
        ("pattern", node.pattern),
        ("format", node.format if kind == Plain("str") else None),
        ("content_encoding", node.extras.get("contentEncoding")),
    ):
        if value is not None:
            found.append((name, cast("str | int | float", value)))
    return Advised(kind, tuple(found)) if found else kind


def _list_of(low: "Lowering", node: SchemaObject, pointer: str, owner: str, key: str) -> Type:
    if node.items is None or isinstance(node.items, list):
        raise low.context.fail(pointer, "an array without a schema of its items")
    item = kind_of(low, node.items, child(pointer, "items"), owner, f"{key}_item")
    return advised(ListOf(item, skips=flag(node, SKIP_ITEMS)), node)


def _object_of(low: "Lowering", node: SchemaObject, pointer: str, owner: str, key: str) -> Type:
    if node.properties or node.allOf or node.additionalProperties is None:
        return Named(low.define_inline(owner + camel(key), node, pointer))
    if node.additionalProperties is True:
        return FREE_OBJECT
    values: Any = node.additionalProperties
    return MapOf(kind_of(low, values, child(pointer, "additionalProperties"), owner, f"{key}_value"))


def resolve(low: "Lowering", kind: Type) -> Type:
    """Look through advice and aliases."""
    match kind:
        case Advised(inner=inner):
            return resolve(low, inner)
        case Named(name=name):
            target = low.lowered(name)
            return resolve(low, target.kind) if isinstance(target, Alias) else kind
        case _:
            return kind
