"""The alternatives of an object schema: every way to choose one branch at each union in it, flattened.

`SessionConfigOption` has properties of its own and one of two payloads: two alternatives, each with all properties. A
payload may be a union again, with a tag of its own; then each of its alternatives is one of the whole.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from generator.engine import SchemaObject
from generator.errors import child
from generator.lower.context import Node, Property, all_of, branches_of, const_of, reference_of
from generator.model import Tag

if TYPE_CHECKING:
    from generator.lower.definitions import Lowering


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way through the unions of an object.

    `steps` are the tags and titles on the way, `tags` the constants met, outermost first. `payload` is the definition
    that the alternative is made of when it adds nothing but tags to it.
    """

    steps: tuple[str, ...]
    pointer: str
    properties: tuple[Property, ...]
    tags: tuple[Tag, ...] = ()
    other_of: str | None = None
    known: tuple[str, ...] = ()
    keeps_extra: bool = False
    payload: str | None = None


def expand_definition(low: "Lowering", name: str) -> list[Alternative]:
    """List the alternatives of a definition that describes an object."""
    if name in low.expanding:
        raise low.context.fail(low.context.pointer(name), f"{name} takes in itself", "see its allOf, anyOf and oneOf")
    low.expanding.append(name)
    node = low.context.definition(name)
    target = reference_of(node)
    pointer = low.context.pointer(name)
    found = expand(low, node, pointer, name) if target is None else expand_definition(low, target)
    low.expanding.pop()
    if target is not None:
        return found
    if len(found) == 1 and not found[0].steps and not found[0].tags and not found[0].keeps_extra:
        return [replace(found[0], payload=name)]
    return found


def expand(low: "Lowering", node: SchemaObject, pointer: str, owner: str) -> list[Alternative]:
    """List the alternatives of an object schema."""
    own = Alternative((), pointer, tuple(_properties(low, node, pointer, owner)))
    keeps_extra = node.additionalProperties is True or node.unevaluatedProperties is True
    found = [replace(own, keeps_extra=keeps_extra)]
    for name in all_of(node):
        parts = expand_definition(low, name)
        found = [_join(a, b, nested=len(parts) > 1) for a in found for b in parts]
    keyword, branches = branches_of(node)
    check_tags(low, node, pointer)
    if branches:
        choices: list[Alternative] = []
        for index, branch in enumerate(branches):
            choices.extend(branch_alternatives(low, branch, child(pointer, keyword, index), owner))
        found = [_join(a, b, nested=True) for a in found for b in choices]
    return found


def branch_alternatives(low: "Lowering", node: Node, pointer: str, owner: str) -> list[Alternative]:
    """List the alternatives of one branch of a union; their steps begin with its tag or title."""
    if not isinstance(node, SchemaObject):
        raise low.context.fail(pointer, "a branch that takes any value, among objects")
    target = reference_of(node)
    if target is not None:
        parts = expand_definition(low, target)
        title = node.title or target
        return [replace(p, steps=(title, *p.steps), pointer=pointer) for p in parts]
    tags = [Tag(k, v) for k, v in constants_of(node)]
    other_of, known = _unknown_tag(low, node, pointer)
    step = tags[0].value if tags else node.title
    if step is None:
        raise low.context.fail(pointer, "a branch with neither a tag nor a title", "its class could not be named")
    return [
        replace(
            part,
            steps=(step, *part.steps),
            tags=(*tags, *part.tags),
            other_of=other_of or part.other_of,
            known=known or part.known,
            pointer=pointer if part.payload else part.pointer,
        )
        for part in expand(low, node, pointer, owner)
    ]


def check_tags(low: "Lowering", node: SchemaObject, pointer: str) -> None:
    """Refuse two branches of one union that claim the same tag."""
    keyword, branches = branches_of(node)
    seen: dict[tuple[str, str], int] = {}
    for index, branch in enumerate(branches):
        for pair in constants_of(branch)[:1] if isinstance(branch, SchemaObject) else ():
            if pair in seen:
                raise low.context.fail(
                    child(pointer, keyword, index),
                    f"duplicate tag {pair[0]} = {pair[1]!r}, as in {child(pointer, keyword, seen[pair])}",
                    "a reader could not tell the two branches apart",
                )
            seen[pair] = index


def constants_of(node: SchemaObject) -> list[tuple[str, str]]:
    """List the required properties of an object that may hold one text only."""
    found = [(k, const_of(p)) for k, p in (node.properties or {}).items() if k in node.required]
    return [(k, c) for k, c in found if isinstance(c, str)]


def _unknown_tag(low: "Lowering", node: SchemaObject, pointer: str) -> tuple[str | None, tuple[str, ...]]:
    """Read a `not`: the tag that must be none of the listed ones."""
    raw = node.extras.get("not")
    if raw is None:
        return None, ()
    refused = SchemaObject.model_validate(raw)
    pairs = [
        pair
        for branch in (branches_of(refused)[1] or [refused])
        if isinstance(branch, SchemaObject)
        for pair in constants_of(branch)
    ]
    keys = {key for key, _ in pairs}
    if len(keys) != 1 or not keys <= set(node.required):
        raise low.context.fail(child(pointer, "not"), "a `not` that does more than refuse values of one required tag")
    return keys.pop(), tuple(value for _, value in pairs)


def _properties(low: "Lowering", node: SchemaObject, pointer: str, owner: str) -> list[Property]:
    return [
        Property(k, p, child(pointer, "properties", k), owner, k in node.required)
        for k, p in (node.properties or {}).items()
        if not (isinstance(const_of(p), str) and k in node.required)
    ]


def _join(outer: Alternative, inner: Alternative, *, nested: bool) -> Alternative:
    """Put two parts of one object together; where both declare a property, the inner one is the narrower."""
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
    )
