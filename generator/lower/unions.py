"""Unions: the key of a union's tag, a class for each of its alternatives, and the union of these classes.

A payload that carries its tag itself (`tags`) is such a class already. `names.variant_name` names the others.
"""

from dataclasses import dataclass, replace

from generator.engine import SchemaObject
from generator.errors import child
from generator.lower.alternatives import Alternative, branch_alternatives, check_tags, expand, guard_of
from generator.lower.categories import Category, has_shared_part
from generator.lower.context import Context
from generator.lower.fields import lower_fields
from generator.lower.kinds import kind_of
from generator.lower.nodes import branches_of, forbidden_keys, is_object_branch, reference_of, step_in, text_of
from generator.model import CatchAll, Definition, Field, Leniency, Named, Plain, Presence, Struct, Tag, Type, Union
from generator.names import field_of, variant_name


def lower_unions(context: Context, folded: dict[str, Tag]) -> list[Definition]:
    """Lower every union, each after the classes of its variants; `folded` are the payloads that carry a tag."""
    made: list[Definition] = []
    for name, node, pointer in context.in_category(Category.UNION):
        with context.attempt(at=pointer):
            made += _lower(context, name, node, pointer, folded)
    return made


def with_fallback_guards(made: list[Definition]) -> list[Definition]:
    """Set the key that each untagged fallback of a tagged union must not have: the union's tag."""
    structs = {d.name: d for d in made if isinstance(d, Struct) and d.tag is None and d.base is None}
    guards: dict[str, str] = {}
    for union in (d for d in made if isinstance(d, Union)):
        if union.tag_field is None or len(union.fallbacks) != 1:
            continue
        only = union.fallbacks[0]
        target = structs.get(only.name) if isinstance(only, Named) else None
        if target is not None and target.guard is None and union.tag_field not in [f.wire for f in target.fields]:
            guards.setdefault(target.name, union.tag_field)
    return [replace(d, untagged_by=guards[d.name]) if isinstance(d, Struct) and d.name in guards else d for d in made]


def _lower(
    context: Context, name: str, node: SchemaObject, pointer: str, folded: dict[str, Tag]
) -> tuple[Definition, ...]:
    """Lower one union: the classes that its variants need, then the union."""
    found = _branches(context, name, node, pointer)
    alternatives = [a for a in found if isinstance(a, Alternative)]
    variants = _Variants(context, name, _tag_field(context, node, alternatives, pointer), alternatives, folded)
    tagged: list[Named] = []
    others: list[Named] = []
    fallbacks: list[Type] = []
    made: list[Definition] = []
    steps: list[tuple[str, str]] = []
    for alternative in found:
        if not isinstance(alternative, Alternative):
            fallbacks.append(alternative)
            continue
        target, own = variants.make(alternative)
        made += [own] if own is not None else []
        steps.append(("/".join(alternative.steps), target.name))
        if variants.outer_tag(alternative) is not None:
            tagged.append(target)
        elif alternative.other_of is not None:
            others.append(target)
        else:
            fallbacks.append(target)
    if not tagged:  # the branch for other tags has none beside it, so it is tried in order like the rest
        fallbacks, others = [*others, *fallbacks], []
    if any(fallbacks.count(f) > 1 for f in fallbacks):
        raise context.fail(pointer, "one type appears twice among the alternatives")
    union = Union(
        name,
        pointer,
        variants.tag_field if tagged else None,
        tuple(tagged),
        tuple(others),
        tuple(fallbacks),
        method=text_of(node, "x-method"),
        side=text_of(node, "x-side"),
        tag_decides=bool(tagged and fallbacks and not others) and context.overrides.lists_union("tag_decides", name),
        variants=tuple(steps),
    )
    return *made, union


def _branches(context: Context, name: str, node: SchemaObject, pointer: str) -> list[Alternative | Type]:
    """List the objects of a union and the other types in it, in order."""
    if has_shared_part(node):
        return [*expand(context, node, pointer, name)]
    check_tags(context, node, pointer)
    out: list[Alternative | Type] = []
    keyword, branches = branches_of(node)
    for index, branch in enumerate(branches):
        place = child(pointer, keyword, index)
        with context.attempt(at=pointer):
            if isinstance(branch, SchemaObject) and is_object_branch(branch):
                out.extend(branch_alternatives(context, branch, step_in(node, branch), place, name))
            elif isinstance(branch, SchemaObject) and _is_verbatim(context, name, branch):
                found = branch_alternatives(context, branch, None, place, name)
                out.extend(replace(a, keeps_extra=True, is_verbatim=True) for a in found)
            else:
                kind = kind_of(context, branch, place)
                # In the oldest schemas, a union of responses has null once for each empty response.
                out.extend([kind] if kind != Plain("None") or kind not in out else [])
    return out


def _is_verbatim(context: Context, union: str, branch: SchemaObject) -> bool:
    """Return whether the object that a branch refers to is written again as it was given."""
    return context.is_struct(reference_of(branch)) and context.overrides.lists_union("verbatim", union)


def _verbatim(context: Context, fields: tuple[Field, ...], pointer: str) -> tuple[Field, ...]:
    """Change fields so that nothing is repaired, and null is kept: a value that does not fit is none of this class."""
    for entry in fields:
        if entry.presence in (Presence.DEFAULTED, Presence.EMPTY):
            raise context.fail(pointer, f"a verbatim union has a property with a default: {entry.wire!r}")
    made = (replace(f, leniency=Leniency.NONE) for f in fields)
    return tuple(replace(f, presence=Presence.PATCH) if f.presence is Presence.OPTION else f for f in made)


def _tag_field(context: Context, node: SchemaObject, found: list[Alternative], pointer: str) -> str | None:
    """Find the key of the tag that distinguishes the alternatives."""
    keys = {a.tags[0].field for a in found if a.tags} | {a.other_of for a in found if not a.tags and a.other_of}
    if len(keys) > 1:
        names = ", ".join(sorted(keys))
        raise context.fail(pointer, f"branches are distinguished by different properties: {names}", "one tag per union")
    discriminator = node.discriminator
    named = getattr(discriminator, "propertyName", discriminator)
    if named is not None and named not in keys:
        raise context.fail(child(pointer, "discriminator"), f"no branch has a constant {named!r}")
    return keys.pop() if keys else None


@dataclass(frozen=True, slots=True)
class _Variants:
    """Builds the classes of one union's alternatives."""

    context: Context
    union: str
    tag_field: str | None
    alternatives: list[Alternative]
    folded: dict[str, Tag]

    def outer_tag(self, alternative: Alternative) -> Tag | None:
        """Return the tag that belongs to the union itself, not to a nested one."""
        return alternative.tags[0] if alternative.tags and alternative.tags[0].field == self.tag_field else None

    def make(self, alternative: Alternative) -> tuple[Named, Definition | None]:
        """Return the class of one alternative, and its definition unless the payload serves as it is."""
        payload, context = self._payload(alternative), self.context
        if payload is not None and (not alternative.tags or payload in self.folded):
            beyond = set(alternative.forbids) - set(forbidden_keys(context.definition(payload)))
            if not beyond - set(context.overrides.forbidden(payload, ())):
                return Named(payload), None
            if alternative.tags:
                raise context.fail(
                    alternative.pointer, "a tagged branch that excludes keys which its only payload does not exclude"
                )
            payload = None  # the branch excludes more than its payload, so it needs a class of its own
        tag, pointer = self.outer_tag(alternative), alternative.pointer
        name = context.names.claim(variant_name(self.union, *alternative.steps), pointer)
        if payload is not None:
            return Named(name), Struct(name, pointer, (), tag, base=payload, forbids=alternative.forbids)
        constants = tuple(self._constant(t, pointer) for t in alternative.tags if t != tag)
        fields = (*constants, *lower_fields(context, alternative.properties, pointer))
        if alternative.is_verbatim:
            fields = _verbatim(context, fields, pointer)
        guard = guard_of(context, alternative, tag, pointer)
        if alternative.other_of is None and not alternative.keeps_extra:
            return Named(name), Struct(name, pointer, fields, tag, forbids=alternative.forbids, guard=guard)
        known, reserved = alternative.known, self._reserved(alternative)
        return Named(name), CatchAll(
            name, pointer, fields, alternative.other_of, known, tag, reserved, alternative.forbids
        )

    def _payload(self, alternative: Alternative) -> str | None:
        """Return the payload if it can be the class of an alternative, or its base, if it adds no fields."""
        payload = alternative.payload
        if payload is None or alternative.other_of is not None or alternative.keeps_extra:
            return None
        if not self.context.is_struct(payload) or len(alternative.tags) > 1:
            return None
        if alternative.tags and payload not in self.folded:
            # The payload cannot be the base of a class whose tag it declares, or must not have.
            taken = {p.key for p in alternative.properties} | {g.key for g in alternative.guards}
            return None if alternative.tags[0].field in taken else payload
        return payload

    def _constant(self, tag: Tag, pointer: str) -> Field:
        """Return the field for the tag of a nested union."""
        name = field_of(tag.field, self.context.schema.names)
        return Field(tag.field, name, Plain("str"), Presence.REQUIRED, Leniency.NONE, pointer, constant=tag.value)

    def _reserved(self, alternative: Alternative) -> tuple[str, ...]:
        """List the keys of other catch-alls for the same tag: they identify those, and are never extra keys here."""
        if alternative.other_of is None:
            return ()
        own = {p.key for p in alternative.properties}
        others = (a for a in self.alternatives if a.other_of and a.tags == alternative.tags)
        return tuple(sorted({p.key for a in others for p in a.properties} - own))
