"""From a property to a field: which of the kinds of presence it has, what it forgives, what it defaults to."""

from typing import TYPE_CHECKING

from generator.errors import child
from generator.lower.context import Property, const_of, default_of, flag
from generator.lower.defaults import default_value
from generator.lower.kinds import ANY, kind_of, resolve
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

if TYPE_CHECKING:
    from generator.lower.definitions import Lowering


def lower_fields(low: "Lowering", properties: list[Property], class_name: str, pointer: str) -> tuple[Field, ...]:
    """Lower the properties of one class."""
    schema = low.context.schema
    names = fields_of([p.key for p in properties], schema.source.file, pointer, schema.names)
    return tuple(_lower(low, p, names[p.key], class_name) for p in properties)


def _lower(low: "Lowering", prop: Property, name: str, class_name: str) -> Field:
    constant = const_of(prop.node)
    if isinstance(constant, str):
        return _constant(prop, name, constant)
    kind = kind_of(low, prop.node, prop.pointer, class_name, prop.key)
    leniency = _leniency(prop)
    presence = _presence(low, prop, kind)
    has_default, raw = default_of(prop.node)
    default: Value | None = None
    match presence:
        case Presence.REQUIRED:
            if leniency is not Leniency.NONE and not _has_empty(low, kind):
                raise low.context.fail(
                    prop.pointer, "a required property that forgives has no empty value to fall back to"
                )
        case Presence.DEFAULTED if has_default:
            default = default_value(low, kind, raw, child(prop.pointer, "default"))
        case Presence.EMPTY:
            default = _empty(low, prop, kind)
        case _:
            pass
    return Field(prop.key, name, kind, presence, leniency, prop.pointer, default)


def _constant(prop: Property, name: str, constant: str) -> Field:
    presence = Presence.REQUIRED if prop.required else Presence.OPTION
    return Field(prop.key, name, Plain("str"), presence, Leniency.NONE, prop.pointer, constant=constant)


def _leniency(prop: Property) -> Leniency:
    # A required inner property decides between branches, so it must not be forgiven there.
    for node in (prop.node, False if prop.required or prop.lenient_as is None else prop.lenient_as):
        if flag(node, ON_ERROR):
            return Leniency.ON_ERROR
        if flag(node, ON_NULL):
            return Leniency.ON_NULL
    return Leniency.NONE


def _presence(low: "Lowering", prop: Property, kind: Type) -> Presence:
    has_default, raw = default_of(prop.node)
    is_patch = low.context.overrides.is_patch(prop.owner, prop.key)
    resolved = resolve(low, kind)
    takes_null = isinstance(resolved, Nullable) or resolved in (ANY, Plain("None"))
    if is_patch:
        if takes_null and not has_default and not prop.required:
            return Presence.PATCH
        if low.context.overrides.strict:
            raise low.context.fail(prop.pointer, "a patch field must be optional and nullable", "see overrides")
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


def _empty(low: "Lowering", prop: Property, kind: Type) -> Value:
    """Find what stands for an absent property that is neither nullable nor has a default."""
    resolved = resolve(low, kind)
    if isinstance(resolved, ListOf):
        return ListValue()
    if isinstance(resolved, MapOf):
        return MapValue()
    target = low.lowered(kind.name) if isinstance(kind, Named) else None
    wanted = low.context.overrides.default_of(target.name) if isinstance(target, Enumeration) else None
    if isinstance(target, Enumeration) and wanted is not None:
        for member in target.members:
            if member.value == wanted:
                return MemberOf(target.name, member.name)
        raise low.context.fail(prop.pointer, f"the override names {wanted!r}, which {target.name} lacks")
    raise low.context.fail(
        prop.pointer,
        "an optional property that is not nullable has no default",
        "where its type is an enumeration, say in schema/overrides.toml which value it stands for",
    )


def _has_empty(low: "Lowering", kind: Type) -> bool:
    return isinstance(kind, Nullable) or isinstance(resolve(low, kind), ListOf | MapOf)
