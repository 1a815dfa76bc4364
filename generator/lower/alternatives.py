"""The alternatives of an object schema: every way to choose one branch at each union in it, flattened.

`SessionConfigOption` has properties of its own and one of two payloads: two alternatives, each with all properties. A
payload may be a union again, with a tag of its own; then each of its alternatives is one of the whole.
"""

from dataclasses import dataclass, replace

from generator.engine import SchemaObject
from generator.errors import child
from generator.lower.context import Context
from generator.lower.exclusions import exclusion_of
from generator.lower.nodes import (
    Node,
    all_of,
    branch_groups,
    const_of,
    forbidden_keys,
    reference_of,
    required_constants,
    sole_branch,
    step_in,
)
from generator.model import Guard, Tag


@dataclass(frozen=True, slots=True)
class Property:
    """One property before it becomes a field: its schema and the definition that declares it."""

    key: str
    node: Node
    pointer: str
    owner: str
    required: bool
    upserted: bool = False
    """Whether the object is an update of something that exists already (`states`)."""
    lenient_as: Node | None = None
    """The same property as an enclosing object declares it; its leniency counts too."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way through the unions of an object.

    `steps` are the tags and titles on the way, `tags` the constants met, outermost first. `other_of` is the tag's key
    in an alternative for unknown tags, `known` are the values that it refuses. `payload` is the definition that the
    alternative consists of if it adds nothing but tags.
    """

    steps: tuple[str, ...]
    pointer: str
    properties: tuple[Property, ...]
    tags: tuple[Tag, ...] = ()
    other_of: str | None = None
    known: tuple[str, ...] = ()
    keeps_extra: bool = False
    payload: str | None = None
    forbids: tuple[str, ...] = ()
    """The keys that exclude the alternative."""
    is_verbatim: bool = False
    """Whether an object is written again as it was given: its class keeps undeclared keys, and nothing is repaired."""
    guards: tuple[Guard, ...] = ()
    """The keys that it must not have, those of its payload included."""


def expand_definition(context: Context, name: str, within: tuple[str, ...] = ()) -> list[Alternative]:
    """List the alternatives of an object definition; `within` are the definitions that are being expanded."""
    if name in within:
        context.broken.add(name)
        raise context.fail(context.pointer(name), f"{name} includes itself", "see its allOf, anyOf and oneOf")
    within = (*within, name)
    node = context.definition(name)
    target = reference_of(node)
    if target is not None:
        return expand_definition(context, target, within)
    found = expand(context, node, context.pointer(name), name, within)
    if len(found) == 1 and not (found[0].steps or found[0].tags or found[0].keeps_extra or found[0].other_of):
        return [replace(found[0], payload=name)]
    return found


def expand(
    context: Context, node: SchemaObject, pointer: str, owner: str, within: tuple[str, ...] = ()
) -> list[Alternative]:
    """List the alternatives of an object schema."""
    keeps_extra = node.additionalProperties is True or node.unevaluatedProperties is True
    forbids = forbidden_keys(node)
    if pointer == context.pointer(owner):
        forbids += context.overrides.forbidden(owner, forbids)
    excluded = exclusion_of(context, node, pointer)
    own = Alternative(
        (),
        pointer,
        _properties(node, pointer, owner, upserted=pointer in context.upserted),
        other_of=excluded.other_of,
        known=excluded.known,
        keeps_extra=keeps_extra,
        forbids=forbids,
        guards=() if excluded.guard is None else (excluded.guard,),
    )
    found = [own]
    for name in all_of(node):
        parts = expand_definition(context, name, within)
        found = [_join(a, b, nested=len(parts) > 1) for a in found for b in parts]
    check_tags(context, node, pointer)
    sole = sole_branch(node)
    for keyword, branches in branch_groups(node):
        choices: list[Alternative] = []
        for index, branch in enumerate(branches):
            place = child(pointer, keyword, index)
            with context.attempt(at=pointer):
                if sole is not None:
                    choices += expand(context, sole, place, owner, within)
                else:
                    choices += branch_alternatives(context, branch, step_in(node, branch), place, owner, within)
        found = [_join(a, b, nested=sole is None) for a in found for b in choices]
    return found


def branch_alternatives(
    context: Context, node: Node, step: str | None, pointer: str, owner: str, within: tuple[str, ...] = ()
) -> list[Alternative]:
    """List the alternatives of one branch of a union; their steps begin with the branch's own, its tag or title."""
    if not isinstance(node, SchemaObject):
        raise context.fail(pointer, "a branch that allows any value, among objects")
    target = reference_of(node)
    if target is not None:
        parts = expand_definition(context, target, within)
        title = node.title or target
        return [replace(p, steps=(title, *p.steps), pointer=pointer) for p in parts]
    tags = [Tag(k, v) for k, v in required_constants(node)]
    if step is None:
        raise context.fail(pointer, "a branch with neither a tag nor a title", "only one of a union can be named")
    return [
        replace(
            part,
            steps=(step, *part.steps),
            tags=(*tags, *part.tags),
            pointer=pointer if part.payload else part.pointer,
        )
        for part in expand(context, node, pointer, owner, within)
    ]


def guard_of(context: Context, found: Alternative, tag: Tag | None, pointer: str) -> Guard | None:
    """Return the key that the class of an alternative must not have; `tag` is that of the class."""
    tags = {t.field: t.value for t in (*found.tags, *([tag] if tag else ()))}
    for guard in found.guards:
        if guard.key in tags and tags[guard.key] != guard.unless:
            raise context.fail(pointer, f"excludes the key {guard.key!r}, which is the tag", "drop one of the two")
    left = [g for g in found.guards if g.key not in tags]
    if len(left) > 1 or (left and (found.keeps_extra or found.other_of)):
        raise context.fail(pointer, "excludes a key of an object that keeps undeclared keys, or a second key")
    return left[0] if left else None


def check_tags(context: Context, node: SchemaObject, pointer: str) -> None:
    """Refuse two branches of one union that have the same tag."""
    seen: dict[tuple[str, str], str] = {}
    branches = [(child(pointer, keyword, i), b) for keyword, found in branch_groups(node) for i, b in enumerate(found)]
    for place, branch in branches:
        for pair in required_constants(branch)[:1] if isinstance(branch, SchemaObject) else ():
            if pair in seen:
                raise context.fail(
                    place,
                    f"duplicate tag {pair[0]} = {pair[1]!r}, as in {seen[pair]}",
                    "a reader could not tell the two branches apart",
                )
            seen[pair] = place


def _properties(node: SchemaObject, pointer: str, owner: str, *, upserted: bool) -> tuple[Property, ...]:
    """List the properties of an object itself, tags aside."""
    return tuple(
        Property(k, p, child(pointer, "properties", k), owner, k in node.required, upserted)
        for k, p in (node.properties or {}).items()
        if not (isinstance(const_of(p), str) and k in node.required)
    )


def _join(outer: Alternative, inner: Alternative, *, nested: bool) -> Alternative:
    """Combine two parts of one object; where both declare a property, the inner declaration is the narrower one."""
    declared = {p.key: p for p in outer.properties}
    inner_keys = {p.key for p in inner.properties} | {t.field for t in inner.tags}
    narrowed = [replace(p, lenient_as=declared[p.key].node) if p.key in declared else p for p in inner.properties]
    properties = [p for p in outer.properties if p.key not in inner_keys]
    adds_nothing = not outer.properties and not outer.keeps_extra and outer.payload is None
    return Alternative(
        steps=(*outer.steps, *(inner.steps if nested else ())),
        pointer=inner.pointer if nested else outer.pointer,
        properties=(*properties, *narrowed),
        tags=(*outer.tags, *inner.tags),
        other_of=outer.other_of or inner.other_of,
        known=outer.known or inner.known,
        keeps_extra=outer.keeps_extra or inner.keeps_extra,
        payload=inner.payload if adds_nothing and not outer.guards else None,
        forbids=tuple(dict.fromkeys((*outer.forbids, *inner.forbids))),
        guards=tuple(dict.fromkeys((*outer.guards, *inner.guards))),
    )
