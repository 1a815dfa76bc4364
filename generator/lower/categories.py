"""What a schema becomes: the classification of definitions and of inline schemas. Nothing is lowered here."""

from enum import Enum, auto

from generator.engine import SchemaObject, number
from generator.lower.nodes import (
    Node,
    branches_of,
    branches_without_null,
    const_of,
    has_values,
    is_free,
    reference_of,
    sole_branch,
    type_of,
)


class Category(Enum):
    """What a definition becomes."""

    REFERENCE = auto()
    """An alias of another definition."""
    FREE = auto()
    """An alias of `Any`."""
    IDENTIFIER = auto()
    """Plain text of a named type."""
    ENUMERATION = auto()
    """Named values; open where one branch has no constant."""
    VALUE = auto()
    """An alias of a type expression."""
    CHOICE = auto()
    """An alias of a union of scalars."""
    UNION = auto()
    """A union with classes, or of other definitions."""
    STRUCT = auto()
    """An object with declared properties."""
    CATCH_ALL = auto()
    """An object that keeps undeclared keys."""


def category_of(node: SchemaObject) -> Category:
    """Classify a definition."""
    if reference_of(node) is not None:
        return Category.REFERENCE
    if is_free(node):
        return Category.FREE
    branches = branches_of(node)[1]
    json_type, nullable = type_of(node)
    if json_type == "object" and not nullable:
        return _object_category(node)
    if branches:
        if all(_is_member(b) for b in branches):
            return Category.ENUMERATION if any(_has_values(b) for b in branches) else Category.CHOICE
        if sole_branch(node) is not None:
            return _object_category(node)
        return Category.CHOICE if all(is_scalar(b) for b in branches) else Category.UNION
    if node.enum or const_of(node) is not None:
        return Category.ENUMERATION
    if json_type == "string" and not nullable and not constraints_of(node):
        return Category.IDENTIFIER
    return Category.VALUE


def _object_category(node: SchemaObject) -> Category:
    sole = sole_branch(node)
    if sole is None and branches_of(node)[1]:
        return Category.UNION
    if sole is not None:
        return Category.CATCH_ALL if True in (node.additionalProperties, sole.additionalProperties) else Category.STRUCT
    if not node.properties and not node.allOf and node.additionalProperties is not None:
        return Category.VALUE
    return Category.CATCH_ALL if node.additionalProperties is True else Category.STRUCT


def _is_member(node: Node) -> bool:
    """Return whether a branch is a constant, or the open end of an enumeration."""
    if not isinstance(node, SchemaObject) or node.properties or node.allOf or node.ref:
        return False
    return const_of(node) is not None or type_of(node)[0] in ("string", "integer")


def _has_values(node: Node) -> bool:
    return isinstance(node, SchemaObject) and has_values(node)


def is_scalar(node: Node) -> bool:
    """Return whether a branch is a scalar, or a list of scalars, without listed values."""
    if not isinstance(node, SchemaObject) or has_values(node):
        return False
    json_type, _ = type_of(node)
    if json_type == "array":
        return isinstance(node.items, SchemaObject) and is_scalar(node.items)
    return json_type in ("string", "integer", "number", "boolean", "null")


def is_inline_class(node: SchemaObject) -> bool:
    """Return whether the schema of a value needs a class: an object, an enumeration or a union with classes."""
    if is_free(node) or reference_of(node) is not None:
        return False
    if node.anyOf or node.oneOf:
        rest, nullable = branches_without_null(node)
        return not nullable and not all(is_scalar(b) for _, b in rest)
    json_type, _ = type_of(node)
    if json_type == "string":
        return has_values(node)
    return json_type == "object" and bool(node.properties or node.allOf or node.additionalProperties is None)


def has_shared_part(node: SchemaObject) -> bool:
    """Return whether a union declares something that all its branches share; each branch is an object then."""
    has_two = bool(node.anyOf and node.oneOf)
    return bool(node.properties or node.allOf or node.additionalProperties is True or has_two)


def constraints_of(node: SchemaObject) -> tuple[tuple[str, str | int | float], ...]:
    """List the sender constraints of a value: limits that the reference declares and does not enforce."""
    found: list[tuple[str, str | int | float | None]] = [
        ("minimum", number(node.minimum)),
        ("maximum", number(node.maximum)),
        ("min_items", node.minItems),
        ("min_length", node.minLength),
        ("max_length", node.maxLength),
        ("pattern", node.pattern),
        ("format", node.format if type_of(node)[0] == "string" and node.format != "byte" else None),
        ("content_encoding", "base64" if node.format == "byte" else node.extras.get("contentEncoding")),
    ]
    return tuple((name, value) for name, value in found if value is not None)
