"""The alternatives of an object schema: every way to choose one branch at each union in it, flattened.

`SessionConfigOption` has properties of its own and one of two payloads: two alternatives, each with all properties. A
payload may be a union again, with a tag of its own; then each of its alternatives is one of the whole.
"""

from dataclasses import dataclass, replace

from generator.engine import SchemaObject
from generator.errors import child
from generator.lower.context import Context
from generator.lower.nodes import (
    Node,
    all_of,
    branches_of,
    const_of,
    forbidden_keys,
    reference_of,
    required_constants,
    step_of,
)
from generator.model import Tag


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


def expand_definition(context: Context, name: str, within: tuple[str, ...] = ()) -> list[Alternative]:
    """List the alternatives of an object definition; `within` are the definitions that are being expanded."""
    if name in within:
        raise context.fail(context.pointer(name), f"{name} includes itself", "see its allOf, anyOf and oneOf")
    within = (*within, name)
    node = context.definition(name)
    target = reference_of(node)
    if target is not None:
        return expand_definition(context, target, within)
    found = expand(context, node, context.pointer(name), name, within)
    if len(found) == 1 and not found[0].steps and not found[0].tags and not found[0].keeps_extra:
        return [replace(found[0], payload=name)]
    return found


def expand(
    context: Context, node: SchemaObject, pointer: str, owner: str, within: tuple[str, ...] = ()
) -> list[Alternative]:
    """List the alternatives of an object schema."""
    keeps_extra = node.additionalProperties is True or node.unevaluatedProperties is True
    properties = _properties(node, pointer, owner, upserted=pointer in context.upserted)
    forbids = forbidden_keys(node)
    if pointer == context.pointer(owner):
        forbids += context.overrides.forbidden(owner, forbids)
    found = [Alternative((), pointer, properties, keeps_extra=keeps_extra, forbids=forbids)]
    for name in all_of(node):
        parts = expand_definition(context, name, within)
        found = [_join(a, b, nested=len(parts) > 1) for a in found for b in parts]
    keyword, branches = branches_of(node)
    check_tags(context, node, pointer)
    if branches:
        choices: list[Alternative] = []
        for index, branch in enumerate(branches):
            choices += branch_alternatives(context, branch, child(pointer, keyword, index), owner, within)
        found = [_join(a, b, nested=True) for a in found for b in choices]
    return found


def branch_alternatives(
    context: Context, node: Node, pointer: str, owner: str, within: tuple[str, ...] = ()
) -> list[Alternative]:
    """List the alternatives of one branch of a union; their steps begin with its tag or title."""
    if not isinstance(node, SchemaObject):
        raise context.fail(pointer, "a branch that allows any value, among objects")
    target = reference_of(node)
    if target is not None:
        parts = expand_definition(context, target, within)
        title = node.title or target
        return [replace(p, steps=(title, *p.steps), pointer=pointer) for p in parts]
    tags = [Tag(k, v) for k, v in required_constants(node)]
    other_of, known = _unknown_tag(context, node, pointer)
    step = step_of(node)
    if step is None:
        raise context.fail(pointer, "a branch with neither a tag nor a title", "its class could not be named")
    return [
        replace(
            part,
            steps=(step, *part.steps),
            tags=(*tags, *part.tags),
            other_of=other_of or part.other_of,
            known=known or part.known,
            pointer=pointer if part.payload else part.pointer,
        )
        for part in expand(context, node, pointer, owner, within)
    ]


def check_tags(context: Context, node: SchemaObject, pointer: str) -> None:
    """Refuse two branches of one union that have the same tag."""
    keyword, branches = branches_of(node)
    seen: dict[tuple[str, str], int] = {}
    for index, branch in enumerate(branches):
        for pair in required_constants(branch)[:1] if isinstance(branch, SchemaObject) else ():
            if pair in seen:
                raise context.fail(
                    child(pointer, keyword, index),
                    f"duplicate tag {pair[0]} = {pair[1]!r}, as in {child(pointer, keyword, seen[pair])}",
                    "a reader could not tell the two branches apart",
                )
            seen[pair] = index


def _unknown_tag(context: Context, node: SchemaObject, pointer: str) -> tuple[str | None, tuple[str, ...]]:
    """Read a `not`: it may only exclude values of one required tag."""
    raw = node.extras.get("not")
    if raw is None:
        return None, ()
    excluded = SchemaObject.model_validate(raw)
    pairs = [
        pair
        for branch in (branches_of(excluded)[1] or [excluded])
        if isinstance(branch, SchemaObject)
        for pair in required_constants(branch)
    ]
    keys = {key for key, _ in pairs}
    if len(keys) != 1 or not keys <= set(node.required):
        raise context.fail(child(pointer, "not"), "a `not` may only exclude values of one required tag")
    return keys.pop(), tuple(value for _, value in pairs)


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
        payload=inner.payload if adds_nothing else None,
        forbids=tuple(dict.fromkeys((*outer.forbids, *inner.forbids))),
    )
