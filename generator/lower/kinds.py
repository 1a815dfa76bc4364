"""Type expressions: what the schema of one value becomes."""

from math import ceil, floor
from typing import Any

from generator.aliases import unwrap
from generator.engine import SchemaObject, number
from generator.errors import child
from generator.lower.categories import constraints_of, is_scalar
from generator.lower.context import Context
from generator.lower.nodes import Node, branches_of, branches_without_null, has_flag, is_free, reference_of, type_of
from generator.model import Choice, Constrained, Integer, ListOf, MapOf, Named, Nullable, Plain, Type
from generator.read import SKIP_ITEMS

RANGES: dict[str, tuple[int, int]] = {
    f"{sign}int{bits}": (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
"""The least and the greatest value of each integer format."""
LIMITS = {"min_items": "minItems", "min_length": "minLength", "max_length": "maxLength"}
"""The limits that readers can enforce, and their keywords."""
ANY = Plain("Any")
FREE_OBJECT = MapOf(ANY)


def kind_of(context: Context, node: Node, pointer: str) -> Type:
    """Lower the schema of one value; inline classes are hoisted already."""
    if is_free(node):
        return ANY
    if not isinstance(node, SchemaObject):
        raise context.fail(pointer, "the schema `false` allows no value")
    target = reference_of(node)
    if target is not None:
        return Named(target)
    if node.anyOf or node.oneOf:
        return _kind_of_union(context, node, pointer)
    json_type, nullable = type_of(node)
    kind = _kind_of_type(context, json_type, node, pointer)
    return Nullable(kind) if nullable else kind


def _kind_of_union(context: Context, node: SchemaObject, pointer: str) -> Type:
    rest, nullable = branches_without_null(node)
    if len(rest) == 1 and nullable:
        index, branch = rest[0]
        return Nullable(kind_of(context, branch, child(pointer, branches_of(node)[0], index)))
    if all(is_scalar(b) for _, b in rest):
        return choice_of(context, node, pointer)
    raise context.fail(pointer, "null among several alternatives of a property", "give the union a definition")


def choice_of(context: Context, node: SchemaObject, pointer: str) -> Type:
    """Lower a union of scalars; msgspec decodes it without help."""
    keyword, branches = branches_of(node)
    options = tuple(kind_of(context, b, child(pointer, keyword, i)) for i, b in enumerate(branches))
    if sum(isinstance(o, ListOf) for o in options) > 1:
        raise context.fail(pointer, "two lists in a union of scalars")
    return Choice(options)


def _kind_of_type(context: Context, json_type: str | None, node: SchemaObject, pointer: str) -> Type:
    match json_type:
        case "string":
            return constrained(context, Plain("str"), node, pointer)
        case "boolean":
            return Plain("bool")
        case "number":
            return constrained(context, Plain("float"), node, pointer)
        case "integer":
            return _integer_of(context, node, pointer)
        case "null":
            return Plain("None")
        case "array":
            return _list_of(context, node, pointer)
        case "object" if node.additionalProperties is True:
            return FREE_OBJECT
        case "object":
            values: Any = node.additionalProperties
            return MapOf(kind_of(context, values, child(pointer, "additionalProperties")))
        case _:
            raise context.fail(pointer, f"values of type {json_type!r} are not supported here")


def _integer_of(context: Context, node: SchemaObject, pointer: str) -> Integer:
    """Lower an integer: its format's range, narrowed by `minimum` and `maximum`."""
    fmt = node.format or "int64"
    least, greatest = RANGES[fmt]
    minimum, maximum = number(node.minimum), number(node.maximum)
    low = max(least, ceil(minimum)) if minimum is not None else least
    high = min(greatest, floor(maximum)) if maximum is not None else greatest
    if low > high:
        raise context.fail(pointer, f"no integer lies between {low} and {high}")
    if (low, high) == (least, greatest):
        return Integer(fmt)
    if high > RANGES["int64"][1]:
        raise context.fail(
            pointer, f"the bounds {(low, high)} of a {fmt} are not supported", "above int64, only the whole range is"
        )
    return Integer(fmt, low, high)


def constrained(context: Context, kind: Type, node: SchemaObject, pointer: str) -> Type:
    """Add the limits of the schema at `pointer` to a type: sender constraints, and those that the overrides enforce."""
    place = _place(pointer)
    found = constraints_of(node)
    if not found:
        return kind
    enforced = {n for n, _ in found if place and n in LIMITS and context.overrides.enforces(place, LIMITS[n])}
    rest = tuple((name, value) for name, value in found if name not in enforced)
    return Constrained(kind, rest, tuple((name, value) for name, value in found if name in enforced))


def _place(pointer: str) -> str:
    """Return the definition, or `Definition.property`, whose value a schema describes, null aside; else nothing."""
    steps = pointer.split("/")[2:]
    if len(steps) > 2 and steps[-2] in ("anyOf", "oneOf"):
        steps = steps[:-2]
    match steps:
        case [name]:
            return name
        case [name, "properties", key]:
            return f"{name}.{key.replace('~1', '/').replace('~0', '~')}"
        case _:
            return ""


def _list_of(context: Context, node: SchemaObject, pointer: str) -> Type:
    if node.items is None or isinstance(node.items, list):
        raise context.fail(pointer, "an array without a schema of its items")
    item = kind_of(context, node.items, child(pointer, "items"))
    return constrained(context, ListOf(item, skips=has_flag(node, SKIP_ITEMS)), node, pointer)


def resolve(context: Context, kind: Type) -> Type:
    """Strip sender constraints and aliases off a type."""
    return unwrap(kind, context.made_as)
