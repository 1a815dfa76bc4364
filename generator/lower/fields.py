"""Fields: what an absent, null or invalid property becomes, and its default.

A repaired field gets the same default as an absent one; a required one, which has none, gets an empty list or map, or
null (`_field` in the runtime's `_decode/compile.py`).
"""

from collections.abc import Sequence

from generator.errors import child
from generator.lower.alternatives import Property
from generator.lower.context import Context
from generator.lower.defaults import default_value
from generator.lower.kinds import ANY, kind_of, resolve
from generator.lower.nodes import const_of, default_of, has_flag
from generator.model import (
    Choice,
    Enumeration,
    Field,
    Leniency,
    ListOf,
    MapOf,
    Named,
    Nullable,
    Plain,
    Presence,
    Type,
)
from generator.names import fields_of
from generator.read import ON_ERROR, ON_NULL
from generator.values import ListValue, MapValue, MemberOf, Value


def lower_fields(context: Context, properties: Sequence[Property], pointer: str) -> tuple[Field, ...]:
    """Lower the properties of one class; those with a problem are left out."""
    schema = context.schema
    names = fields_of([p.key for p in properties], schema.source.file, pointer, schema.names)
    made: list[Field] = []
    for prop in properties:
        with context.attempt(at=pointer):
            made.append(_lower(context, prop, names[prop.key]))
    return tuple(made)


def _lower(context: Context, prop: Property, name: str) -> Field:
    constant = const_of(prop.node)
    if isinstance(constant, str):
        return _constant(prop, name, constant)
    kind = kind_of(context, prop.node, prop.pointer)
    leniency = _leniency(prop)
    presence = _presence(context, prop, kind)
    has_default, raw = default_of(prop.node)
    default: Value | None = None
    match presence:
        case Presence.REQUIRED:
            if leniency is not Leniency.NONE and not _has_empty(context, kind):
                raise context.fail(prop.pointer, "a required lenient property has no empty value to fall back to")
        case Presence.DEFAULTED if has_default:
            default = default_value(context, kind, raw, child(prop.pointer, "default"))
        case Presence.EMPTY:
            default = _empty(context, prop, kind)
            presence = Presence.EMPTY if default is not None else Presence.ABSENT
        case _:
            pass
    is_map = isinstance(kind, Nullable) and isinstance(resolve(context, kind.inner), MapOf)
    is_merged = presence is Presence.PATCH and is_map and context.overrides.merges(prop.key)
    return Field(prop.key, name, kind, presence, leniency, prop.pointer, default, merged=is_merged)


def _constant(prop: Property, name: str, constant: str) -> Field:
    presence = Presence.REQUIRED if prop.required else Presence.OPTION
    return Field(prop.key, name, Plain("str"), presence, Leniency.NONE, prop.pointer, constant=constant)


def _leniency(prop: Property) -> Leniency:
    # A required inner property decides between branches, so it is never lenient because of the outer declaration.
    for node in (prop.node, False if prop.required or prop.lenient_as is None else prop.lenient_as):
        if has_flag(node, ON_ERROR):
            return Leniency.ON_ERROR
        if has_flag(node, ON_NULL):
            return Leniency.ON_NULL
    return Leniency.NONE


def _presence(context: Context, prop: Property, kind: Type) -> Presence:
    has_default, raw = default_of(prop.node)
    resolved = resolve(context, kind)
    takes_null = isinstance(resolved, Nullable) or resolved in (ANY, Plain("None"))
    is_eligible = takes_null and not has_default and not prop.required
    is_patch = context.overrides.is_patch(prop.owner, prop.key, marked=_is_marked(prop, takes_null=takes_null))
    if is_patch:
        if is_eligible:
            return Presence.PATCH
        if context.overrides.strict:
            raise context.fail(prop.pointer, "a patch field must be optional and nullable", "see overrides")
        context.overrides.unused(f"patch.{prop.owner}.{prop.key}")
    elif is_eligible:
        context.overrides.ask_for_state(prop.owner, prop.key, prop.pointer)
    # The oldest schemas list as required what a writer always writes, and a reader has a default for.
    if prop.required and not has_default:
        return Presence.REQUIRED
    if has_default and not (raw is None and takes_null):
        return Presence.DEFAULTED
    if takes_null:
        return Presence.OPTION
    if isinstance(resolved, Choice) and Plain("None") in resolved.options:
        return Presence.OPTION
    return Presence.EMPTY


def _is_marked(prop: Property, *, takes_null: bool) -> bool:
    """Return whether the schema makes a property a patch field: optional and nullable in an update."""
    return prop.upserted and takes_null and not prop.required and not default_of(prop.node)[0]


def _empty(context: Context, prop: Property, kind: Type) -> Value | None:
    """Find the default of an absent property that is not nullable and for which the schema has none.

    Without one, absent is a state of its own: for objects, which are nothing by themselves, and in schemas that are not
    pinned, for which nobody decides. In pinned ones it is a decision.
    """
    resolved = resolve(context, kind)
    if isinstance(resolved, ListOf):
        return ListValue()
    if isinstance(resolved, MapOf):
        return MapValue()
    target = context.made_as(kind.name) if isinstance(kind, Named) else None
    wanted = context.overrides.default_of(target.name) if isinstance(target, Enumeration) else None
    if isinstance(target, Enumeration) and wanted is not None:
        for member in target.members:
            if member.value == wanted:
                return MemberOf(target.name, member.name)
    is_class = isinstance(resolved, Named) and context.made_as(resolved.name) is None
    if is_class or not context.overrides.strict:
        return None
    if target is not None and wanted is not None:
        raise context.fail(prop.pointer, f"the override names {wanted!r}, which {target.name} lacks")
    raise context.fail(
        prop.pointer,
        "an optional property that is not nullable has no default",
        "if its type is an enumeration, name the default value in schema/overrides.toml",
    )


def _has_empty(context: Context, kind: Type) -> bool:
    return isinstance(kind, Nullable) or isinstance(resolve(context, kind), ListOf | MapOf)
