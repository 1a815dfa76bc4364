"""Instances made from the raw schemas: for each definition values to read, and what must be written for them.

What is written follows from the schema and the rules of the reference implementation alone, never from the package:
a property with a `default` is always written, any other optional one only where it differs from what its absence
means, and a patched one may be null.
"""

from collections.abc import Iterator
from enum import Enum, auto
from itertools import cycle
from typing import Any, NamedTuple

from tests.oracle.schema_parts import PREFIX, ROUTING, Branch, Call, Property, core, limits
from tests.oracle.schema_walk import Schema
from tests.oracle.spelling import Node, is_object

UNKNOWN = "_unheard_of"
FREE: list[Any] = [{"deep": [1, None, {"half": 0.5}]}, [], {}, "", 0, False, "text", 2**70, 0.25]
FORMATS = {
    "uri": "https://example.com/a%20b?c=d#e",
    "date-time": "2025-02-28T23:59:60.5+01:00",
    "regex": r"^\d+\\$",
    "base64": "aGk=",
    "^[A-Z]{3}$": "EUR",
}
TEXTS = ['Grüße, 世界: "\\/\n\t\u007f" \U0001f642', ""]
IDS: list[Any] = [None, 0, -(2**63), 2**63 - 1, "", "id"]


class Style(Enum):
    """How much an instance holds."""

    MINIMAL = auto()
    """Only what is required."""
    MAXIMAL = auto()
    """Every property, each in turn with all kinds of value that it may have."""
    NULLS = auto()
    """What is required, and null for everything else that may be null."""
    NOISY = auto()
    """As maximal, but in reverse order and with keys that no schema knows."""


class Pair(NamedTuple):
    """A value to read, and the value that is written for it."""

    given: Any
    written: Any


def same(*values: Any) -> list[Pair]:
    """Make pairs of values that are written as they were read."""
    return [Pair(value, value) for value in values]


class Maker:
    """Makes the instances of one schema in one style."""

    def __init__(self, schema: Schema, style: Style) -> None:
        self.schema = schema
        self.style = style
        self.full = style in (Style.MAXIMAL, Style.NOISY)
        self._made: dict[str, list[Pair]] = {}
        self._under_way: list[str] = []
        self._cut: set[str] = set()

    def pairs(self, key: str) -> list[Pair]:
        """Make the pairs of a definition, none inside itself. They share their parts, and must not be changed."""
        if key in self._made:
            return self._made[key]
        if key in self._under_way:
            self._cut.add(key)
            return []
        self._under_way.append(key)
        found = self._pairs(key)
        self._under_way.pop()
        self._cut.discard(key)
        if not self._cut:  # else something is left out here that would be there elsewhere
            self._made[key] = found
        return found

    def _pairs(self, key: str) -> list[Pair]:
        kind = self.schema.kind(key)
        if kind == "routing":
            return [pair for _, pair in self.messages(key)]
        if kind in ("struct", "union"):
            made = [self._objects(branch) for branch in self.schema.flatten(key)]
            return [pair for pairs in made for pair in pairs]
        node = self.schema.defs[key]
        if kind == "enum":
            return self._members(node)
        verbatim = self.schema.verbatim(key)
        if verbatim:
            rest = [choice for i, choice in enumerate(self.schema.choices(node)) if i not in verbatim]
            made = [self._objects(branch) for branch in verbatim.values()]
            return [*(pair for pairs in made for pair in pairs), *(self._values({"anyOf": rest}) if rest else ())]
        return self._values(node)

    def alone(self, key: str) -> list[Pair]:
        """Make the pairs of a definition by itself, where a payload may write the tag of its one union."""
        tag = self.schema.carried_tag(key)
        return [Pair(g, {tag[0]: tag[1], **w}) for g, w in self.pairs(key)] if tag else self.pairs(key)

    def messages(self, routing: str) -> Iterator[tuple[Call | None, Pair]]:
        """Make whole JSON-RPC messages with all that a routing union carries; an error belongs to no call."""
        ids = cycle(IDS if self.schema.null_id else IDS[1:])
        head = {"jsonrpc": "2.0"}
        for call in self.schema.calls(routing):
            for given, written in self.pairs(call.key):
                id_ = {} if call.kind == "notification" else {"id": next(ids)}
                if call.kind == "response":
                    # A response does not say of which method it is: the result stays as it came.
                    yield call, Pair({**head, **id_, "result": given}, {**head, **id_, "result": given})
                else:
                    method = {"method": call.method}
                    whole = {**head, **id_, **method, "params": given}
                    yield call, Pair(whole, {**method, **head, **id_, "params": written})
        for given, written in (
            self.pairs("Error") if ROUTING[routing] == "response" and "Error" in self.schema.defs else ()
        ):
            id_ = {"id": next(ids)}
            yield None, Pair({**head, **id_, "error": given}, {**head, **id_, "error": written})

    def _members(self, node: Node) -> list[Pair]:
        """Give the values of an enumeration, and one more where it is open."""
        choices = self.schema.choices(node) or [node]
        return same(*(choice.get("const", self._stranger(choice)) for choice in choices))

    def _stranger(self, choice: Node) -> Any:
        return UNKNOWN if choice.get("type") == "string" else -(2**31)

    def _objects(self, branch: Branch) -> list[Pair]:
        """Make the objects of one shape: as many as it takes to show each property's every value once."""
        columns = [(entry, self._field(entry, branch)) for entry in branch.properties]
        if any(entry.required and not pairs for entry, pairs in columns):
            return []  # its values are under way
        count = max([1, *(len(pairs) for _, pairs in columns)])
        made: list[Pair] = []
        for row in range(count):
            given: Node = {}
            # The tags come first, then the order of the schema; a catch-all's own tag is no fixed one.
            written: Node = {p.wire: p.node["const"] for p in branch.properties if "const" in p.node and p.required}
            for entry, pairs in columns:
                if pairs:
                    # The last value stays when there are no more: not every row repeats the long lists.
                    given[entry.wire], out = pairs[min(row, len(pairs) - 1)]
                    if not self._left_out(entry, out):
                        written[entry.wire] = out
                elif entry.node.get("default") is not None:  # a default of null says no more than that null is taken
                    written[entry.wire] = self.schema.complete(entry.node, entry.node["default"])
            if branch.other_of is not None or branch.open:
                given["_kept"] = written["_kept"] = FREE[0]
            elif self.style is Style.NOISY:
                given["_lost"] = FREE[0]
            made.append(Pair(dict(reversed(given.items())) if self.style is Style.NOISY else given, written))
        return made

    def _field(self, entry: Property, branch: Branch) -> list[Pair]:
        """Make the values of one property; none where it is left out."""
        nullable = core(entry.node)[1]
        if "const" in entry.node:
            return same(entry.node["const"])
        if entry.wire == branch.other_of:
            return same(UNKNOWN)
        if self.style is Style.NULLS and (nullable or (not entry.required and self.schema.takes_null(entry.node))):
            return same(None)
        return self._values(entry.node) if entry.required or self.full else []

    def _left_out(self, entry: Property, value: Any) -> bool:
        """Say whether a value is not written, because its absence means the same."""
        if entry.required or entry.node.get("default") is not None:
            return False
        if self.schema.is_patch(entry):
            return False
        empty = self.schema.empty(entry.node)
        return empty is not None and type(value) is type(empty[0]) and value == empty[0]

    def _values(self, node: Node) -> list[Pair]:
        """Make the values of a type: one of each kind, or the first alone where little is asked."""
        options, nullable = core(node)
        found = [pair for option in options for pair in self._option(option)]
        integers = [limits(option) for option in options if option.get("type") == "integer"]
        if any(option.get("type") == "number" for option in options):
            found = list(self._numbers(found, integers[0] if integers else None))
        if nullable and not (self.full and found):
            found += same(None)
        return found

    def _numbers(self, found: list[Pair], integer: tuple[int, int] | None) -> Iterator[Pair]:
        """Of the values of a type with numbers, write the whole ones as the integers or numbers that take them."""
        for given, written in found:
            fits = integer is not None and type(given) is int and integer[0] <= given <= integer[1]
            if type(given) is not int:
                yield Pair(given, written)
            elif not fits:
                yield Pair(given, float(given))
            elif type(written) is int:
                yield Pair(given, given)

    def _option(self, node: Node) -> list[Pair]:
        key = self.schema.target(node)
        if key is not None:
            found = self.pairs(key)
            return found if self.full or self.schema.kind(key) in ("union", "choice") else found[:1]
        if any("const" in choice for choice in self.schema.choices(node)):
            return self._members(node)
        match node.get("type"):
            case None:
                return same(*(FREE if self.full else FREE[:1]))
            case "integer":
                return same(*limits(node))
            case "number":
                return [Pair(0.5, 0.5), Pair(1, 1.0), Pair(2**70, 2.0**70)]
            case "boolean":
                return same(True, False)
            case "string":
                special = node.get("pattern") or node.get("contentEncoding") or node.get("format")
                return same(FORMATS[special]) if special in FORMATS else same(*TEXTS[: 1 if "minLength" in node else 2])
            case "array":
                items = self._values(node["items"]) if self.full else []
                # A list may be shorter than `minItems`, but a sender had better not make it so.
                while len(items) < node.get("minItems", 0):
                    items += self._values(node["items"])
                lists = [items, items[-1:]] if self.full and len(items) > 1 else [items]
                return [Pair([item.given for item in made], [item.written for item in made]) for made in lists]
            case "object" if "properties" in node:
                return [pair for branch in self.schema.flatten_inline(node) for pair in self._objects(branch)]
            case "object":
                inner = node["additionalProperties"]
                pairs = same(*FREE) if inner is True else self._values(inner)
                entries = [(f"key {i}", pair) for i, pair in enumerate(pairs if self.full else ())]
                return [Pair({k: p.given for k, p in entries}, {k: p.written for k, p in entries})]
            case other:
                raise ValueError(f"no instances of the type {other!r}")


def lacking(schema: Schema, key: str, given: Node) -> Iterator[tuple[str, Node]]:
    """Take from an object of a definition each key without which no branch of it fits any more."""
    for name in given:
        rest = {k: v for k, v in given.items() if k != name}
        if not any(_fits(branch, rest) for branch in schema.contenders(key, rest)):
            yield f"{PREFIX}{key} without {name!r}", rest


def excluded(schema: Schema, key: str, given: Node) -> Iterator[tuple[str, Node]]:
    """Add to an object of a union each key with which no branch of it fits any more."""
    for name in sorted({name for branch in schema.flatten(key) for name in branch.forbids}):
        more = {**given, name: given.get(name, "")}
        if not any(_fits(branch, more) for branch in schema.contenders(key, more)):
            yield f"{PREFIX}{key} with {name!r}", more


def beyond(schema: Schema, key: str, given: Any) -> Iterator[tuple[str, Any]]:
    """Take a value of a definition beyond each limit that readers enforce, its own or that of a property."""
    for place in schema.overrides.enforced:
        name, _, wire = place.partition(".")
        if name == key:
            node = schema.defs[key]["properties"][wire] if wire else schema.defs[key]
            for word in schema.enforced(node, place):
                count = node[word]
                short = (given[wire] if wire else given)[: count - 1]
                value = "x" * (count + 1) if word == "maxLength" else short
                yield f"{PREFIX}{key} beyond {word}", {**given, wire: value} if wire else value


def is_ambiguous(schema: Schema, key: str, given: Any) -> bool:
    """Say whether several of a union's objects take a value, so that the first one does, be it meant or not."""
    if not is_object(given) or schema.kind(key) != "union":
        return False
    try:
        branches = schema.contenders(key, given)
    except ValueError:  # a union of more than objects
        return False
    return sum(_fits(branch, given) for branch in branches) > 1


def _fits(branch: Branch, given: Node) -> bool:
    fixed = [p for p in branch.properties if "const" in p.node and (p.required or p.wire in given)]
    tags = all(given.get(p.wire) == p.node["const"] for p in fixed)
    value = None if branch.other_of is None else given.get(branch.other_of)
    free = branch.other_of is None or (isinstance(value, str) and value not in branch.known)
    allowed = given.keys().isdisjoint(branch.forbids)
    return tags and free and allowed and all(p.wire in given for p in branch.properties if p.required)
