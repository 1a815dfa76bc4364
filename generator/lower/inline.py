"""Hoisting: each inline object, enumeration or union becomes a definition, and a reference takes its place.

Later passes meet references only. The definition is named after the class that contains it and the property's key:
`Plan.entries` with inline items gives `PlanEntriesItem`.
"""

from typing import Any

from generator.engine import SchemaObject, camel, changed, typed
from generator.errors import child
from generator.lower.categories import Category, category_of, has_shared_part, is_inline_class
from generator.lower.context import Context
from generator.lower.nodes import (
    PREFIX,
    Node,
    branch_groups,
    branches_of,
    branches_without_null,
    const_of,
    default_of,
    has_flag,
    is_null,
    is_object_branch,
    reference_of,
    sole_branch,
    step_in,
    text_of,
    type_of,
)
from generator.names import variant_name
from generator.read import ON_ERROR, ON_NULL


def hoist_inline(context: Context) -> None:
    """Move every inline schema that needs a class into a new definition."""
    for name in context.lowered_names():
        with context.attempt(name):
            context.replace(name, _definition(context, name, context.definition(name), context.pointer(name)))


def _definition(context: Context, name: str, node: SchemaObject, pointer: str) -> SchemaObject:
    match category_of(node):
        case Category.VALUE:
            return _value(context, node, pointer, name, "value")
        case Category.UNION:
            return _union(context, node, pointer, name)
        case Category.STRUCT | Category.CATCH_ALL:
            return _object(context, node, pointer, name)
        case _:
            return node


def _union(context: Context, node: SchemaObject, pointer: str, name: str) -> SchemaObject:
    """Hoist from a union: its branches are objects, or values where nothing is shared between them."""
    if has_shared_part(node):
        return _object(context, node, pointer, name)
    keyword, branches = branches_of(node)
    found: list[Node] = []
    for index, branch in enumerate(branches):
        place = child(pointer, keyword, index)
        if isinstance(branch, SchemaObject) and is_object_branch(branch):
            found.append(_branch(context, branch, step_in(node, branch), place, name))
        else:
            found.append(_node(context, branch, place, name, text_of(branch, "title") or ""))
    return changed(node, {keyword: found})


def _object(context: Context, node: SchemaObject, pointer: str, name: str) -> SchemaObject:
    """Hoist from the properties of an object, and from those of its branches."""
    keywords: dict[str, Any] = {}
    if node.properties:
        keywords["properties"] = {
            # A constant text is a tag or a constant field, and not an enumeration.
            key: p if isinstance(const_of(p), str) else _node(context, p, child(pointer, "properties", key), name, key)
            for key, p in node.properties.items()
        }
    sole = sole_branch(node)
    for keyword, branches in branch_groups(node):
        keywords[keyword] = [
            _branch(context, branch, step_in(node, branch), child(pointer, keyword, index), name)
            if sole is None
            else _object(context, sole, child(pointer, keyword, index), name)
            for index, branch in enumerate(branches)
        ]
    return changed(node, keywords)


def _branch(context: Context, node: Node, step: str | None, pointer: str, name: str) -> Node:
    if not isinstance(node, SchemaObject) or reference_of(node) is not None:
        return node
    # A branch without a name is an error, which the pass for unions reports.
    return node if step is None else _object(context, node, pointer, variant_name(name, step))


def _node(context: Context, node: Node, pointer: str, owner: str, key: str) -> Node:
    return _value(context, node, pointer, owner, key) if isinstance(node, SchemaObject) else node


def _value(context: Context, node: SchemaObject, pointer: str, owner: str, key: str) -> SchemaObject:
    """Hoist from the schema of a value: the value itself, or the items of a list or map."""
    if is_inline_class(node):
        return _hoisted(context, node, pointer, owner + camel(key))
    if node.anyOf or node.oneOf:
        keyword, branches = branches_of(node)
        rest, nullable = branches_without_null(node)
        if not nullable or len(rest) != 1:
            return node
        found = [
            b if is_null(b) else _node(context, b, child(pointer, keyword, i), owner, key)
            for i, b in enumerate(branches)
        ]
        return changed(node, {keyword: found})
    match type_of(node)[0], node.items, node.additionalProperties:
        case "array", SchemaObject() as items, _:
            item = _value(context, items, child(pointer, "items"), owner, f"{key}_item")
            return changed(node, {"items": item})
        case "object", _, SchemaObject() as values:
            item = _value(context, values, child(pointer, "additionalProperties"), owner, f"{key}_value")
            return changed(node, {"additionalProperties": item})
        case _:
            return node


def _hoisted(context: Context, node: SchemaObject, pointer: str, name: str) -> SchemaObject:
    """Make a definition of an inline schema and return the reference to it, with what belongs to the property."""
    context.names.claim(name, pointer)
    json_type, nullable = type_of(node)
    nullable = nullable and not branches_of(node)[1]  # else the branches decide whether null is allowed
    own = changed(node, {"type": json_type}) if nullable else node
    context.add_inline(name, _definition(context, name, own, pointer), pointer)
    reference: dict[str, Any] = {"$ref": f"{PREFIX}{name}"}
    if nullable:
        reference = {"anyOf": [reference, {"type": "null"}]}
    has_default, default = default_of(node)
    if has_default:
        reference["default"] = default
    return typed({**reference, **{flag: True for flag in (ON_ERROR, ON_NULL) if has_flag(node, flag)}})
