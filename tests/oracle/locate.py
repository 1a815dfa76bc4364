"""Places in a value and in the schema: which property of which definition a JSON path leads to."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.oracle.schema_parts import PREFIX, Branch, Property, core
from tests.oracle.schema_walk import Schema
from tests.oracle.spelling import Node, is_array, is_object

Step = str | int
Steps = tuple[Step, ...]
DEEPEST = 8
"""References and choices between a place and a type of JSON, at most."""
LIMITS = ("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "propertyNames")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: a definition, or one of its properties, or an item or entry of that property's value.

    `node` is the schema of the value, without references; None for a key that the schema does not know. `target` is
    the definition that a reference led to.
    """

    definition: str
    wire: str
    node: Node | None
    target: str = ""

    @property
    def name(self) -> str:
        """Name the place as entries of the overrides do: `Definition`, or `Definition.property`."""
        return f"{self.definition}.{self.wire}" if self.wire else self.definition


@dataclass(frozen=True, slots=True)
class Visit:
    """One value inside another, and each place of the schema that it may stand for."""

    steps: Steps
    value: Any
    places: tuple[Place, ...]


class Locator:
    """Finds places in one schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._flat: dict[str, list[Branch]] = {}
        self._of_objects = {"": False}

    def visit(self, key: str, value: Any) -> Iterator[Visit]:
        """Visit a value of a definition, and everything inside it, the outer values first."""
        yield from self._visit((), value, (Place(key, "", self.schema.defs[key], key),))

    def at(self, key: str, value: Any, steps: Steps) -> tuple[Place, ...]:
        """Give the places to which a path leads; none where the schema does not tell."""
        found: tuple[Place, ...] = (Place(key, "", self.schema.defs[key], key),)
        for step in steps:
            found = self._inside(found, value, step)
            value = value_at(value, (step,))
        return found

    def broken(self, visit: Visit) -> list[tuple[Place, str]]:
        """List the limits of the schema that a value exceeds: where each is written down, and its keyword."""
        found: list[tuple[Place, str]] = []
        for limit in self.leaves(visit.places):
            found += [(limit, word) for word in LIMITS if limit.node and _exceeds(limit.node, word, visit.value)]
        return found

    def leaves(self, places: tuple[Place, ...]) -> Iterator[Place]:
        """Give the types that places allow, with each reference followed but that to an object."""
        for place in places:
            yield from self._leaves(place)

    def oddity(self, key: str, value: Any) -> str | None:
        """Name the first place of a value that has a form which the protocol does not have.

        The library behind the reference takes these all the same: an array for an object, a number for a tag, and an
        object for a member of an enumeration.
        """
        for visit in self.visit(key, value):
            for leaf in self.leaves(visit.places):
                branches = self.branches(leaf)
                member = leaf.node is not None and "const" in leaf.node
                tags = {e.wire for branch in branches or () for e in branch.properties if "const" in e.node}
                numbered = is_object(visit.value) and any(type(visit.value.get(tag)) is int for tag in tags)
                if numbered or (is_array(visit.value) and branches) or (is_object(visit.value) and member):
                    return leaf.name
        return None

    def _visit(self, steps: Steps, value: Any, places: tuple[Place, ...]) -> Iterator[Visit]:
        yield Visit(steps, value, places)
        if not any(place.node for place in places):
            return  # free JSON, or a key that the schema does not know: it has no more to say
        inner = value.items() if is_object(value) else enumerate(value) if is_array(value) else ()
        for step, part in inner:
            yield from self._visit((*steps, step), part, self._inside(places, value, step))

    def _inside(self, places: tuple[Place, ...], value: Any, step: Step) -> tuple[Place, ...]:
        found: dict[tuple[str, int], Place] = {}
        for place in places:
            for leaf in self._leaves(place):
                for inner in self._into(leaf, place, value, step):
                    found.setdefault((inner.name, id(inner.node)), inner)
        return tuple(found.values())

    def _into(self, leaf: Place, outer: Place, value: Any, step: Step) -> Iterator[Place]:
        node = leaf.node or {}
        if isinstance(step, int):
            if node.get("type") == "array":
                yield Place(outer.definition, outer.wire, node["items"])
            return
        branches = self.branches(leaf)
        if branches is None:
            if node.get("type") == "object" and is_object(node.get("additionalProperties")):
                yield Place(outer.definition, outer.wire, node["additionalProperties"])
            return
        fitting = [branch for branch in branches if not is_object(value) or tags_fit(branch, value)]
        entries = [entry for branch in fitting or branches for entry in branch.properties if entry.wire == step]
        for entry in entries:
            yield Place(_owner(entry) or outer.definition, step, entry.node)
        if not entries:
            yield Place(leaf.target or outer.definition, step, None)

    def _leaves(self, place: Place, depth: int = 0) -> Iterator[Place]:
        if place.node is None or depth > DEEPEST:
            return
        if self._is_of_objects(place):
            yield place
            return
        for option in core(place.node)[0]:
            key = self.schema.target(option)
            inline = [] if "properties" in option else self.schema.choices(option)
            if key is not None:
                yield from self._leaves(Place(key, "", self.schema.defs[key], key), depth + 1)
            elif inline:
                for choice in inline:
                    yield from self._leaves(Place(place.definition, place.wire, choice), depth + 1)
            else:
                yield Place(place.definition, place.wire, option)

    def _is_of_objects(self, place: Place) -> bool:
        if place.target not in self._of_objects:
            self._of_objects[place.target] = self.schema.kind(place.target) in ("struct", "union")
        return self._of_objects[place.target]

    def branches(self, leaf: Place) -> list[Branch] | None:
        """List the shapes of an object type; None where it is of another kind."""
        if self._is_of_objects(leaf):
            if leaf.target not in self._flat:
                self._flat[leaf.target] = self.schema.flatten(leaf.target)
            return self._flat[leaf.target]
        if leaf.node is not None and leaf.node.get("type") == "object" and "properties" in leaf.node:
            return self.schema.flatten_inline(leaf.node)
        return None


def value_at(value: Any, steps: Steps) -> Any:
    """Give the value that a path leads to; `MISSING` where there is none."""
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return value


class _Missing:
    def __repr__(self) -> str:
        return "absent"


MISSING: Any = _Missing()


def steps_of(path: str, value: Any) -> Steps:
    """Read a path as the package writes it (`$.a.b[0]`), along the value that it is about."""
    rest, found = path.removeprefix("$"), list[Step]()
    while rest:
        names: list[Step] = [*value] if is_object(value) else [*range(len(value))] if is_array(value) else []
        fitting = [name for name in names if _begins(rest, name)]
        if not fitting:
            break
        step = max(fitting, key=lambda name: len(_written(name)))
        rest, value = rest.removeprefix(_written(step)), value_at(value, (step,))
        found.append(step)
    return tuple(found)


def _written(step: Step) -> str:
    plain = isinstance(step, str) and step.isidentifier()
    return f".{step}" if plain else f"[{step!r}]"


def _begins(rest: str, step: Step) -> bool:
    after = rest.removeprefix(_written(step))
    return after != rest and (not after or after[0] in ".[")


def _owner(entry: Property) -> str:
    return entry.owner if entry.pointer.startswith(PREFIX) else ""


def tags_fit(branch: Branch, value: Node) -> bool:
    """Say whether the tags of an object, as far as it has them, are those of a branch."""
    tags = [entry for entry in branch.properties if "const" in entry.node]
    if any(value.get(entry.wire, entry.node["const"]) != entry.node["const"] for entry in tags):
        return False
    tag = value.get(branch.other_of) if branch.other_of is not None else None
    return not (isinstance(tag, str) and tag in branch.known)


def _exceeds(node: Node, word: str, value: Any) -> bool:
    limit = node.get(word)
    if limit is None:
        return False
    match word:
        case "minLength" | "maxLength" if isinstance(value, str):
            return bool(len(value) < limit if word == "minLength" else len(value) > limit)
        case "minItems" | "maxItems" if is_array(value):
            return bool(len(value) < limit if word == "minItems" else len(value) > limit)
        case "minimum" | "maximum" if isinstance(value, int | float) and not isinstance(value, bool):
            return bool(value < limit if word == "minimum" else value > limit)
        case "propertyNames" if is_object(value):
            return any(_exceeds(limit, inner, name) for name in value for inner in LIMITS)
        case _:
            return False
