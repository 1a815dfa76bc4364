"""Strategies of valid wire values, made from the raw schemas by code of the tests' own.

They show all that a schema allows: every variant, unknown tags with keys of their own, unknown members of open
enumerations, each kind of absence, numbers at the edges of their ranges, any text, free JSON, keys that no schema
knows, in any order. With each value come the places where a test may spoil it.
"""

import re
from base64 import b64encode
from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar
from urllib.parse import quote

from hypothesis import strategies as st

from tests.oracle.instances import FORMATS, FREE, IDS, UNKNOWN
from tests.oracle.schema_parts import ON_ERROR, PREFIX, ROUTING, SKIP, Branch, Property, core, limits
from tests.oracle.schema_walk import Schema
from tests.oracle.spelling import Node, is_object

Step: TypeAlias = str | int
Path: TypeAlias = tuple[Step, ...]
T = TypeVar("T")
Strategy: TypeAlias = st.SearchStrategy[Any]

TRICKY = ["", "\0", "\ufeff", "\u2028", "a.b[0]", '"\\/\b\x7f', "ÄÖ\U0001f642", "e\u0301", "2.0", "null"]
TEXTS = st.sampled_from(TRICKY) | st.text(max_size=6)
INTS = st.integers(-5, 5) | st.sampled_from([2**53 + 1, 2**63, -(2**63) - 1, 2**64, -(10**30), 10**400])
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON: Strategy = st.recursive(
    st.none() | st.booleans() | INTS | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
"""Free JSON."""
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=2)
NAMES = st.lists(TEXTS, unique=True, max_size=2)
SPECIAL: dict[str, Strategy] = {
    "uri": st.builds("{}:{}".format, st.sampled_from(["https", "file", "a+b-c.d", "X"]), TEXTS.map(quote)),
    "date-time": st.datetimes(datetime(1000, 1, 1)).map(lambda moment: f"{moment.isoformat()}Z"),  # noqa: DTZ001
    "regex": TEXTS.map(re.escape),
    "base64": st.binary(max_size=6).map(lambda data: b64encode(data).decode()),
    "^[A-Z]{3}$": st.text("ABZ", min_size=3, max_size=3),
}


class Guard(NamedTuple):
    """A lenient field, or an item of a skipping list: it absorbs every error at it or inside."""

    path: Path
    action: Literal["default", "dropped"]
    required: bool = False
    """Whether it is a required field, which is then an empty list."""

    def below(self, step: Step) -> "Guard":
        return self._replace(path=(step, *self.path))


class Spot(NamedTuple):
    """A place in an instance, and how to spoil it.

    `guard` is the nearest guard at or around the place. A place is `contested` where, once it is spoiled, another
    variant of a union around it may fit instead. `vague` is the union around it whose variants are tried in turn, so
    that an error may be told of any of them.
    """

    way: Literal["value", "key", "tag"]
    """Put a wrong value, take the key away, or put a tag that is unknown."""
    path: Path
    node: Node
    guard: Guard | None = None
    contested: bool = False
    vague: Path | None = None

    def below(self, step: Step) -> "Spot":
        """Tell of the same place as seen from the object or array that holds the value under `step`."""
        vague = None if self.vague is None else (step, *self.vague)
        return self._replace(path=(step, *self.path), guard=self.guard and self.guard.below(step), vague=vague)

    def within(self, guard: Guard | None) -> "Spot":
        """Tell of the same place when there is a guard around it; an inner one comes first."""
        return self if self.guard else self._replace(guard=guard)

    def among(self, *, contested: bool, vague: bool) -> "Spot":
        """Tell of the same place as seen from the union whose variant holds it; guarded ones do not concern it."""
        changed = self._replace(contested=self.contested or contested, vague=() if vague else self.vague)
        return self if self.guard else changed


class Sample(NamedTuple):
    """A valid value, and where it can be spoiled."""

    value: Any
    spots: tuple[Spot, ...] = ()


@cache
def integers(low: int, high: int) -> Strategy:
    """Draw integers of a range, its edges often."""
    near = [n for n in (low, low + 1, -1, 0, 1, high - 1, high) if low <= n <= high]
    return st.sampled_from(near) | st.integers(low, high)


@cache
def subsets(size: int, most: int) -> st.SearchStrategy[list[int]]:
    """Draw some of so many things."""
    return st.lists(st.sampled_from(range(size)), unique=True, max_size=min(size, most)) if size else st.just([])


@cache
def texts(special: str | None, least: int) -> Strategy:
    """Draw text: of a special kind, or of a least length."""
    if special is not None:
        return st.just(FORMATS[special]) | SPECIAL[special]
    return TEXTS.filter(lambda text: len(text) >= least) if least else TEXTS


@cache
def numbers(low: float | None, high: float | None) -> Strategy:
    """Draw floating-point numbers, and the integers that count as such."""
    if low is None and high is None:
        return st.sampled_from([-0.0, 5e-324, 1.7976931348623157e308, 7, 2**70, 10**308]) | FLOATS
    return st.sampled_from([n for n in (low, high) if n is not None]) | st.floats(low, high, allow_nan=False)


def fits_by_keys(branch: Branch, given: Node) -> bool:
    """Say whether an object has the tags and the required keys of a branch."""
    tags = all(given.get(p.wire) == p.node["const"] for p in branch.properties if "const" in p.node)
    tag = given.get(branch.other_of) if branch.other_of else None
    other = branch.other_of is None or (isinstance(tag, str) and tag not in branch.known)
    return tags and other and all(p.wire in given for p in branch.properties if p.required)


class Book:
    """A schema with what the strategies ask of it again and again."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.branches: Callable[[str], list[Branch]] = cache(schema.flatten)
        objects = [key for key in schema.defs if schema.kind(key) in ("struct", "union")]
        wires = {entry.wire for key in objects for branch in schema.flatten(key) for entry in branch.properties}
        names = st.text(max_size=5).filter(lambda name: name not in wires) | st.just(UNKNOWN)
        self.strangers = st.dictionaries(names, st.sampled_from(FREE), max_size=2)
        """Keys that no definition has; one of another variant would make a value fit that, too."""


class Maker:
    """Makes one value, drawing each choice."""

    def __init__(self, book: Book, draw: st.DrawFn) -> None:
        self.book = book
        self.schema = book.schema
        self.draw = draw
        self.depth = 0

    def pick(self, options: list[T]) -> T:
        return options[int(self.draw(integers(0, len(options) - 1)))]

    def definition(self, key: str) -> Sample:
        """Make a value of a definition."""
        match self.schema.kind(key):
            case "routing":
                return self._message(key)
            case "struct" | "union":
                return self._variant(key)
            case "enum":
                return self._member(self.pick(self.schema.choices(self.schema.defs[key])))
            case "choice":
                made = self.value(self.schema.defs[key])
                return Sample(made.value, tuple(s.among(contested=False, vague=True) for s in made.spots))
            case _:
                return self.value(self.schema.defs[key])

    def value(self, node: Node) -> Sample:
        """Make a value of a type."""
        options, nullable = core(node)
        if nullable and (not options or self.draw(integers(0, 5)) == 0):
            return Sample(None)
        return self._option(self.pick(options))

    def _option(self, node: Node) -> Sample:
        key = self.schema.target(node)
        if key is not None:
            return self.definition(key)
        match node.get("type"):
            case "integer":
                return Sample(self.draw(integers(*limits(node))))
            case "number":
                return Sample(self.draw(numbers(node.get("minimum"), node.get("maximum"))))
            case "string":
                special = node.get("pattern") or node.get("format") or node.get("contentEncoding")
                return Sample(self.draw(texts(special, node.get("minLength", 0))))
            case "boolean":
                return Sample(self.draw(st.booleans()))
            case "array":
                return self._array(node)
            case "object":
                return self._map(node["additionalProperties"])
            case _:
                return Sample(self.draw(JSON))

    def _member(self, choice: Node) -> Sample:
        if "const" in choice:
            return Sample(choice["const"])
        return Sample(self.draw(TEXTS if choice["type"] == "string" else integers(*limits(choice))))

    def _array(self, node: Node) -> Sample:
        items, least = node["items"], node.get("minItems", 0)
        values: list[Any] = []
        spots: list[Spot] = []
        for index in range(self.draw(integers(least, least + 3 - min(self.depth, 2)))):
            made = self.value(items)
            values.append(made.value)
            guard = Guard((index,), "dropped") if node.get(SKIP) else None
            spots += self._spots(index, items, made, guard)
        return Sample(values, tuple(spots))

    def _map(self, inner: Any) -> Sample:
        if not is_object(inner):
            return Sample(self.draw(OBJECTS))
        made = {key: self.value(inner) for key in self.draw(NAMES)}
        spots = [spot for key, sample in made.items() for spot in self._spots(key, inner, sample, None)]
        return Sample({key: sample.value for key, sample in made.items()}, tuple(spots))

    def _spots(self, step: Step, node: Node, made: Sample, guard: Guard | None) -> list[Spot]:
        """Give the spots of a value as seen from what holds it, and the value itself as one more."""
        return [Spot("value", (step,), node, guard)] + [spot.below(step).within(guard) for spot in made.spots]

    def _variant(self, key: str) -> Sample:
        branches = self.book.branches(key)
        branch = self.pick(branches)
        made = self._object(branch)
        if len(branches) == 1:
            return made
        contested = any(fits_by_keys(other, made.value) for other in branches if other is not branch)
        tags = [other.tag.node["const"] if other.tag else other.other_of for other in branches]
        vague = None in tags or tags.count(tags[branches.index(branch)]) > 1
        spots = list(made.spots)
        if branch.tag is not None and all(b.other_of is None for b in branches):
            spots.append(Spot("tag", (branch.tag.wire,), {"$ref": PREFIX + key}))
        return Sample(made.value, tuple(spot.among(contested=contested, vague=vague) for spot in spots))

    def _object(self, branch: Branch) -> Sample:
        optional = [entry for entry in branch.properties if not entry.required]
        entries = [entry for entry in branch.properties if entry.required]
        entries += [optional[i] for i in self.draw(subsets(len(optional), max(1, 4 - self.depth)))]
        value: Node = {}
        spots: list[Spot] = []
        self.depth += 1
        for entry in entries:
            made = self._field(entry, branch)
            value[entry.wire] = made.value
            guard = Guard((entry.wire,), "default", entry.required) if entry.node.get(ON_ERROR) else None
            spots += self._spots(entry.wire, entry.node, made, guard)
            if entry.required:
                spots.append(Spot("key", (entry.wire,), entry.node))
        self.depth -= 1
        value.update(self.draw(self.book.strangers))
        # One draw for the order, that any key may come first or last; a draw for each key would take too long.
        turn, back = divmod(self.draw(integers(0, 2 * len(value) + 1)), 2)
        items = [*value.items()][turn:] + [*value.items()][:turn]
        return Sample(dict(reversed(items) if back else items), tuple(spots))

    def _field(self, entry: Property, branch: Branch) -> Sample:
        if "const" in entry.node:
            return Sample(entry.node["const"])
        if entry.wire == branch.other_of:
            return Sample(self.draw(TEXTS.filter(lambda tag: tag not in branch.known)))
        return self.value(entry.node)

    def _message(self, routing: str) -> Sample:
        """Make a whole JSON-RPC message; its envelope is no matter of the schema, and not spoiled."""
        ids = IDS if self.schema.null_id else [id_ for id_ in IDS if id_ is not None]
        head = {"jsonrpc": "2.0"} if ROUTING[routing] == "notification" else {"jsonrpc": "2.0", "id": self.pick(ids)}
        call = self.pick(self.schema.calls(routing))
        if call.kind == "response":
            part, key = self.pick([("result", call.key), ("error", "Error")])
            return Sample({**head, part: self.definition(key).value})
        made = self.definition(call.key)
        value = {**head, "method": call.method, "params": made.value}
        return Sample(value, tuple(spot.below("params") for spot in made.spots))


@cache
def book(label: str) -> Book:
    return Book(Schema(label))


@st.composite
def samples(draw: st.DrawFn, label: str, key: str) -> Sample:
    """Draw valid values of a definition, with the places where they can be spoiled."""
    return Maker(book(label), draw).definition(key)


def strategy(label: str, key: str) -> Strategy:
    """Draw valid values of a definition."""
    return samples(label, key).map(lambda sample: sample.value)
