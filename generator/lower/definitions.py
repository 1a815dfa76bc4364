"""Definitions other than unions: values, which have no fields, and objects."""

from generator.engine import SchemaObject
from generator.errors import child
from generator.lower.alternatives import expand, guard_of
from generator.lower.categories import Category, category_of
from generator.lower.context import Context, Value
from generator.lower.enums import lower_enumeration
from generator.lower.exclusions import SUPPORTED
from generator.lower.fields import lower_fields
from generator.lower.kinds import ANY, choice_of, kind_of
from generator.lower.nodes import reference_of, text_of
from generator.model import Alias, CatchAll, Definition, Identifier, Named, Presence, Struct, Tag, Type

OBJECTS = (Category.STRUCT, Category.CATCH_ALL)
VALUES = tuple(c for c in Category if c not in (*OBJECTS, Category.UNION))


def claim_names(context: Context) -> None:
    """Claim the name of every definition, before any name that is derived from one."""
    for name in sorted({*context.schema.names} - context.routing):
        with context.attempt():
            context.names.claim(name, context.pointer(name))


def lower_values(context: Context) -> None:
    """Lower aliases, identifiers and enumerations; later passes look them up with `Context.made_as`."""
    for name, node, pointer in context.in_category(*VALUES):
        with context.attempt(name):
            context.values[name] = _value(context, name, node, pointer)


def _value(context: Context, name: str, node: SchemaObject, pointer: str) -> Value:
    kind: Type
    match category_of(node):
        case Category.IDENTIFIER:
            return Identifier(name, pointer)
        case Category.ENUMERATION:
            return lower_enumeration(context, name, node, pointer)
        case Category.REFERENCE:
            kind = Named(reference_of(node) or "")
        case Category.FREE:
            kind = ANY
        case Category.CHOICE:
            kind = choice_of(context, node, pointer)
        case _:
            kind = kind_of(context, node, pointer)
    return Alias(name, pointer, kind, text_of(node, "x-method"), text_of(node, "x-side"))


def lower_objects(context: Context, folded: dict[str, Tag]) -> list[Definition]:
    """Lower objects; `folded` are the payloads that carry a tag."""
    made: list[Definition] = []
    for name, node, pointer in context.in_category(*OBJECTS):
        with context.attempt(at=pointer):
            made.append(_object(context, name, node, pointer, folded.get(name)))
    return made


def _object(context: Context, name: str, node: SchemaObject, pointer: str, tag: Tag | None) -> Definition:
    found = expand(context, node, pointer, name)
    if len(found) != 1:
        raise context.fail(pointer, "an object that includes a union through allOf", "give it a branch")
    only = found[0]
    fields = lower_fields(context, only.properties, pointer)
    guard = guard_of(context, only, tag, pointer)
    if category_of(node) is Category.CATCH_ALL:
        return CatchAll(name, pointer, fields, only.other_of, only.known, forbids=only.forbids)
    if only.other_of is not None:
        raise context.fail(child(pointer, "not"), "a `not` that excludes values, outside of a union", SUPPORTED)
    method, side = text_of(node, "x-method"), text_of(node, "x-side")
    is_empty = not any(f.presence is Presence.REQUIRED for f in fields)
    takes_null = method is not None and is_empty and context.overrides.takes_null()
    return Struct(
        name, pointer, fields, tag, None, method, side, forbids=only.forbids, takes_null=takes_null, guard=guard
    )
