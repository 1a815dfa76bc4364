"""From the alternatives of an object to a union of classes."""

from typing import TYPE_CHECKING

from generator.engine import SchemaObject
from generator.errors import child
from generator.lower.alternatives import Alternative, branch_alternatives, check_tags, constants_of, expand
from generator.lower.context import all_of, branches_of, const_of, definition_refs, reference_of, text_of
from generator.lower.fields import lower_fields
from generator.lower.kinds import kind_of
from generator.model import CatchAll, Definition, Field, Leniency, Named, Plain, Presence, Struct, Tag, Type, Union
from generator.names import field_of, variant_name

if TYPE_CHECKING:
    from generator.lower.definitions import Lowering


def fold_tags(low: "Lowering", refs: dict[str, int]) -> dict[str, Tag]:
    """Find the payloads that one variant alone uses; each carries that variant's tag itself."""
    out: dict[str, Tag] = {}
    for name, node in low.context.schema.definitions.items():
        if name in low.routing or node.properties or node.allOf:
            continue
        for branch in branches_of(node)[1]:
            payload, tag = _sole_payload(branch) if isinstance(branch, SchemaObject) else (None, None)
            if payload is None or tag is None or refs[payload] != 1:
                continue
            target = low.context.definition(payload)
            if (
                low.is_struct(payload)
                and tag.field not in (target.properties or {})
                and "x-method" not in target.extras
            ):
                out[payload] = tag
    return out


def _sole_payload(branch: SchemaObject) -> tuple[str | None, Tag | None]:
    tags, targets = constants_of(branch), all_of(branch)
    adds = len(branch.properties or {}) > 1 or branch.anyOf or branch.oneOf or branch.additionalProperties
    if len(tags) != 1 or len(targets) != 1 or adds or "not" in branch.extras:
        return None, None
    return targets[0], Tag(*tags[0])


def count_refs(low: "Lowering") -> dict[str, int]:
    """Count how often each definition is referred to, routing definitions aside."""
    raw = low.context.schema.source.raw["$defs"]
    out = dict.fromkeys(raw, 0)
    for name, node in raw.items():
        if name not in low.routing:
            for target in definition_refs(node):
                out[target] += 1
    return out


def lower_union(low: "Lowering", name: str, node: SchemaObject, pointer: str) -> Union:
    """Lower an object or union schema with several alternatives."""
    alternatives: list[Alternative] = []
    fallbacks: list[Type] = []
    if node.properties or node.allOf or node.additionalProperties is True:
        alternatives = expand(low, node, pointer, name)
    else:
        check_tags(low, node, pointer)
        keyword, branches = branches_of(node)
        for index, branch in enumerate(branches):
            place = child(pointer, keyword, index)
            target = reference_of(branch)
            if target is not None:
                fallbacks.append(Named(target))
            elif isinstance(branch, SchemaObject) and (branch.type == "object" or branch.properties):
                alternatives.extend(branch_alternatives(low, branch, place, name))
            else:
                made = kind_of(low, branch, place, name, text_of(branch, "title") or "")
                # The oldest schemas have null for each response that says nothing.
                fallbacks += [made] if made != Plain("None") or made not in fallbacks else []
    tag_field = _tag_field(low, node, alternatives, pointer)
    tagged: list[Named] = []
    others: list[Named] = []
    variants: list[tuple[str, str]] = []
    for alternative in alternatives:
        made = _variant(low, name, alternative, tag_field, alternatives)
        variants.append(("/".join(alternative.steps), made.name))
        if _outer_tag(alternative, tag_field) is not None:
            tagged.append(made)
        elif alternative.other_of is not None:
            others.append(made)
        else:
            fallbacks.append(made)
    if any(tuple(fallbacks.count(f) for f in fallbacks if fallbacks.count(f) > 1)):
        raise low.context.fail(pointer, "one type stands twice among the alternatives")
    return Union(
        name,
        pointer,
        tag_field,
        tuple(tagged),
        tuple(others),
        tuple(fallbacks),
        method=text_of(node, "x-method"),
        side=text_of(node, "x-side"),
        variants=tuple(variants),
    )


def fallback_guards(made: list[Definition]) -> dict[str, str]:
    """Find the objects that a tagged union falls back to, each with the key whose absence tells it."""
    structs = {d.name: d for d in made if isinstance(d, Struct) and d.tag is None and d.base is None}
    out: dict[str, str] = {}
    for union in (d for d in made if isinstance(d, Union)):
        if union.tag_field is None or len(union.fallbacks) != 1:
            continue
        only = union.fallbacks[0]
        target = structs.get(only.name) if isinstance(only, Named) else None
        if target is not None and union.tag_field not in [f.wire for f in target.fields]:
            out.setdefault(target.name, union.tag_field)
    return out


def _tag_field(low: "Lowering", node: SchemaObject, found: list[Alternative], pointer: str) -> str | None:
    keys = {a.tags[0].field for a in found if a.tags} | {a.other_of for a in found if not a.tags and a.other_of}
    if len(keys) > 1:
        raise low.context.fail(
            pointer, f"branches told apart by different properties: {', '.join(sorted(keys))}", "one tag per union"
        )
    discriminator = node.discriminator
    named = getattr(discriminator, "propertyName", discriminator)
    if named is not None and named not in keys:
        raise low.context.fail(child(pointer, "discriminator"), f"no branch has a constant {named!r}")
    return keys.pop() if keys else None


def _outer_tag(alternative: Alternative, tag_field: str | None) -> Tag | None:
    return alternative.tags[0] if alternative.tags and alternative.tags[0].field == tag_field else None


def _variant(
    low: "Lowering", union: str, alternative: Alternative, tag_field: str | None, sisters: list[Alternative]
) -> Named:
    """Make the class of one alternative, or find the one that serves already."""
    tag = _outer_tag(alternative, tag_field)
    payload = alternative.payload
    if payload is not None and low.is_struct(payload) and alternative.other_of is None and not alternative.keeps_extra:
        if not alternative.tags or (payload in low.folded and len(alternative.tags) == 1):
            return Named(payload)
        has_tag_key = alternative.tags[0].field in (low.context.definition(payload).properties or {})
        if len(alternative.tags) == 1 and payload not in low.folded and not has_tag_key:
            name = low.context.names.claim(variant_name(union, *alternative.steps), alternative.pointer)
            low.context.made.append(Struct(name, alternative.pointer, (), tag, base=payload))
            return Named(name)
    name = low.context.names.claim(variant_name(union, *alternative.steps), alternative.pointer)
    constants = tuple(_constant(low, t, alternative) for t in alternative.tags if t != tag)
    fields = (*constants, *lower_fields(low, list(alternative.properties), name, alternative.pointer))
    if alternative.other_of is None and not alternative.keeps_extra:
        low.context.made.append(Struct(name, alternative.pointer, fields, tag))
        return Named(name)
    reserved = _reserved(alternative, sisters)
    low.context.made.append(
        CatchAll(name, alternative.pointer, fields, alternative.other_of, alternative.known, tag, reserved)
    )
    return Named(name)


def _constant(low: "Lowering", tag: Tag, alternative: Alternative) -> Field:
    return Field(
        tag.field,
        field_of(tag.field, low.context.schema.names),
        Plain("str"),
        Presence.REQUIRED,
        Leniency.NONE,
        alternative.pointer,
        constant=tag.value,
    )


def _reserved(alternative: Alternative, sisters: list[Alternative]) -> tuple[str, ...]:
    """List the keys of the other catch-alls for the same tag: they say which of them it is, and are never extra."""
    if alternative.other_of is None:
        return ()
    own = {p.key for p in alternative.properties}
    keys = {p.key for s in sisters if s.other_of and s.tags == alternative.tags for p in s.properties}
    return tuple(sorted(keys - own))


__all__ = ["const_of", "count_refs", "fold_tags", "lower_union"]
