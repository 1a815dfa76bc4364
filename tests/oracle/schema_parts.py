"""The parts of a schema as the tests see them: properties, branches and calls, the places inside a node, and limits."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from tests.oracle.spelling import Node

Kind = Literal["routing", "free", "enum", "struct", "union", "choice", "text", "plain"]
Traffic = Literal["request", "notification", "response"]

PREFIX = "#/$defs/"
PROTOCOL_LEVEL = "ProtocolLevelNotification"
ROUTING: dict[str, Traffic] = {
    "ClientRequest": "request",
    "AgentRequest": "request",
    "ProxyRequest": "request",
    "ClientNotification": "notification",
    "AgentNotification": "notification",
    "ProxyNotification": "notification",
    PROTOCOL_LEVEL: "notification",
    "ClientResponse": "response",
    "AgentResponse": "response",
    "ProxyResponse": "response",
}
OUTGOING = ("ClientOutgoingMessage", "AgentOutgoingMessage")
"""What the first schemas had: all that a side sends, in one definition."""
SIDES = {
    "agent": ("agent",),
    "client": ("client",),
    "both": ("agent", "client"),
    "all": ("agent", "client", "proxy"),
    "protocol": ("agent", "client"),
    "proxy": ("proxy",),
}
BITS = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)}
CONSTRAINTS = {
    "minimum": "minimum",
    "maximum": "maximum",
    "minItems": "min_items",
    "minLength": "min_length",
    "maxLength": "max_length",
    "pattern": "pattern",
    "format": "format",
    "contentEncoding": "content_encoding",
}
LIMITS = {"minItems": "min_length", "minLength": "min_length", "maxLength": "max_length"}
"""The limits that readers can enforce, in the words of msgspec."""
FLAGS = ("x-deserialize-default-on-error", "x-deserialize-default-on-null", "x-deserialize-skip-invalid-items")
ON_ERROR, ON_NULL, SKIP = FLAGS
STATE = "x-state"
"""What an object does to the state of a session."""
STRUCTURE = (
    "type",
    "properties",
    "required",
    "additionalProperties",
    "unevaluatedProperties",
    "items",
    "const",
    "enum",
)
COMBINED = ("allOf", "anyOf", "oneOf", "not", "$ref", "discriminator", "default", "propertyNames")
PROSE = ("title", "description", "x-docs-ignore", "x-method", "x-side", "x-scope", STATE)
KEYWORDS = frozenset((*STRUCTURE, *COMBINED, *PROSE, *CONSTRAINTS, *FLAGS))


@dataclass(frozen=True, slots=True)
class Property:
    """One property of an object; `owner` is the definition in which it is written down.

    Where it is `verbatim`, it is written as it was read: an absent one stays absent, and null stays null.
    """

    wire: str
    node: Node
    pointer: str
    required: bool
    verbatim: bool = False

    @property
    def owner(self) -> str:
        return self.pointer.split("/")[2]

    @property
    def place(self) -> str:
        """Name it as the overrides do, where it is a definition's own; nothing else has such a name."""
        own = self.pointer == f"{PREFIX}{self.owner}/properties/{self.wire}"
        return f"{self.owner}.{self.wire}" if own else ""


def _narrowed(outer: Property | None, inner: Property) -> Property:
    """Give an inner property what the outer one of that name forgives; a required one decides, so it forgives not."""
    if outer is None or inner.required:
        return inner
    return replace(inner, node={**{f: outer.node[f] for f in FLAGS if f in outer.node}, **inner.node})


@dataclass(frozen=True, slots=True)
class Branch:
    """One shape that an object may have, with all that `allOf`, `anyOf` and `oneOf` bring together.

    `other_of` is the property whose values `known` a `not` forbids: the branch stands for what no other one knows.
    `open` says that undeclared keys are kept. No object with a key in `forbids` is of this shape, in a union.
    """

    pointer: str
    properties: tuple[Property, ...] = ()
    other_of: str | None = None
    known: frozenset[str] = frozenset()
    open: bool = False
    forbids: frozenset[str] = frozenset()

    def __add__(self, more: "Branch") -> "Branch":
        # The union's own pointer says less than the branch's; a referenced payload's says nothing of the union.
        deeper = more.pointer if more.pointer.startswith(self.pointer) else self.pointer
        other = (self.other_of, self.known) if self.other_of else (more.other_of, more.known)
        return Branch(deeper, self._joined(more), *other, self.open or more.open, self.forbids | more.forbids)

    def _joined(self, more: "Branch") -> tuple[Property, ...]:
        """Join the properties; of one that both declare the inner is the narrower, unless it is the outer's tag."""
        outer, inner = {p.wire: p for p in self.properties}, {p.wire: p for p in more.properties}
        fixed = {wire for wire, p in outer.items() if "const" in p.node}
        kept = [p for p in self.properties if p.wire in fixed or p.wire not in inner]
        return (*kept, *(_narrowed(outer.get(p.wire), p) for p in more.properties if p.wire not in fixed))

    @property
    def tag(self) -> Property | None:
        """The property by which a union tells this branch from the others: the outermost constant."""
        return next((p for p in self.properties if "const" in p.node), None)


@dataclass(frozen=True, slots=True)
class Call:
    """A definition that travels as the params or the result of a method."""

    key: str
    kind: Traffic
    routing: str
    method: str
    sides: frozenset[str]


def is_upsert(entry: Node) -> bool:
    """Say whether an entry of `x-state` has an object change what it mentions; one with a `value` is in a property."""
    return entry.get("action") == "upsert" and "value" not in entry


class Place(NamedTuple):
    """A schema inside a definition: where it is, what it says, and the keyword under which it stands."""

    pointer: str
    node: Node
    role: str


def places(node: Node, pointer: str, role: str = "$defs") -> Iterator[Place]:
    """Give each schema inside `node`, itself first."""
    yield Place(pointer, node, role)
    for name, part in node.get("properties", {}).items():
        yield from places(part, f"{pointer}/properties/{name}", "properties")
    for word in ("allOf", "anyOf", "oneOf"):
        for index, part in enumerate(node.get(word, ())):
            yield from places(part, f"{pointer}/{word}/{index}", word)
    for word in ("items", "additionalProperties", "not"):
        if isinstance(node.get(word), dict):
            yield from places(node[word], f"{pointer}/{word}", word)


def misplaced(place: Place) -> Iterator[str]:
    """Find the keywords of a schema that nobody reads, or not there."""
    node = place.node
    field = place.role == "properties" and "const" not in node
    kinds = (node.get("type"), *(node.get("type") or ()))
    for word in node:
        known = word in KEYWORDS
        if known and word in FLAGS:
            known = "array" in kinds if word == SKIP else field
        elif known and word == "default":
            known = field
        if not known:
            yield word


def core(node: Node) -> tuple[list[Node], bool]:
    """Take null out of a type: what remains, as alternatives, and whether null was there."""
    kinds = node.get("type")
    if isinstance(kinds, list):
        return [{**node, "type": kind} for kind in node["type"] if kind != "null"], "null" in node["type"]
    if "anyOf" in node and not isinstance(kinds, str):
        rest = [part for part in node["anyOf"] if part.get("type") != "null"]
        return rest, len(rest) < len(node["anyOf"])
    if "oneOf" in node and not isinstance(kinds, str) and not any("const" in part for part in node["oneOf"]):
        return node["oneOf"], False  # a union that stands inline
    return ([], True) if kinds == "null" else ([node], False)


def limits(node: Node) -> tuple[int, int]:
    """Give the range of an integer: its format's, narrowed by its bounds; without a format more would do, too."""
    form = node.get("format", "int64")
    bits = BITS[form]
    low, high = (0, 2**bits - 1) if form.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return max(low, node.get("minimum", low)), min(high, node.get("maximum", high))


def constraint_text(constraints: dict[str, Any]) -> str:
    """Tell the limits that no reader enforces."""
    return f"{{{_told(constraints)}}}" if constraints else ""


def enforced_text(enforced: dict[str, Any]) -> str:
    """Tell the limits that readers enforce."""
    return f"<{_told(enforced)}>" if enforced else ""


def _told(named: dict[str, Any]) -> str:
    return ", ".join(f"{k}={float(v) if isinstance(v, int | float) else v!r}" for k, v in sorted(named.items()))


def union_text(options: list[str]) -> str:
    """Tell a union; the order is told only where it matters. Any JSON may be null, too."""
    distinct = set(options) - ({"null"} if "Any" in options else set())
    return " | ".join(sorted(distinct))
