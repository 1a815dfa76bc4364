"""Spoiling valid values in known places, and values that nobody would send."""

import copy
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from hypothesis import assume
from hypothesis import strategies as st

from tests.oracle.schema_files import LABELS
from tests.oracle.schema_parts import PREFIX, ROUTING, SKIP, core, limits, places
from tests.oracle.schema_walk import Schema
from tests.oracle.spelling import Node, is_array, is_object
from tests.oracle.strategies import JSON, TEXTS, Guard, Path, Spot, Strategy, book, fits_by_keys, samples

POOL: list[Any] = [
    None,
    True,
    -1,
    5,
    2**64,
    10**400,
    1.5,
    "",
    "zzz",
    [],
    [None],
    [[7]],
    {},
    {"k": None},
    {"_k": {"type": []}},
]
"""Values of all kinds; for every type but free JSON some of them do not fit."""
PLACES: list[tuple[str, str, str]] = [
    ("v1", "ContentBlock", '{"type":"text","text":"a","zz":@}'),
    ("v1", "ContentBlock", '{"zz":@,"type":"text","text":"a","annotations":5}'),
    ("v1", "ContentBlock", '{"type":"text","text":"a","_meta":{"a":@}}'),
    ("v1", "ContentBlock", '{"type":"text","text":"a","annotations":@}'),
    ("v1", "ContentBlock", '{"type":"text","text":"a","annotations":{"audience":[@],"priority":@}}'),
    ("v1", "ContentBlock", '{"type":"text","text":@}'),
    ("v1", "ContentBlock", '{"type":@,"text":"a"}'),
    ("v1", "ToolCallUpdate", '{"toolCallId":"t","kind":@,"status":@,"content":[@],"rawInput":@}'),
    ("v1", "McpServer", '{"type":"http","name":@,"command":@,"args":[@],"env":[]}'),
    ("v1", "UsageUpdate", '{"used":@,"size":1}'),
    ("v1", "Error", '{"code":@,"message":"m","data":@}'),
    ("v1", "CreateElicitationResponse", '{"action":"accept","content":{"a":@}}'),
    ("v1", "ClientNotification", '{"jsonrpc":@,"method":"session/cancel","params":{"sessionId":"s"}}'),
    ("v1", "AgentResponse", '{"jsonrpc":"2.0","id":@,"result":@}'),
    ("v2", "ContentBlock", '{"type":"zz","a":@}'),
    ("v2", "SessionUpdate", '{"sessionUpdate":"state_update","state":@}'),
    (
        "v2",
        "CreateElicitationRequest",
        '{"mode":"form","sessionId":@,"message":"m","requestedSchema":{"properties":{"k":@}}}',
    ),
    ("v2", "ToolCallStatus", "@"),
]
"""Places of all kinds in a message, each at the `@`."""
SCRAPS = [
    *("1e999", "-1e999", "1e-999", "-0", "1E+2", "01", "1.", ".5", "+1", "NaN", "-Infinity", "1" * 400, "1" * 5000),
    *('"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\0"', '"\ud800"', "\ufeff1", "'a'", '"\\x"', "", "nul", "/**/1"),
    *('1,"text":"x"', '"a","type":"image"', '{"a":1,"a":[]}', '1,"\ud800":1', '1,"\\ud800":1'),
    *('{"' + "k" * 10**6 + '":1}', "[" + "1," * 10**5 + "1]", "{" + '"a":1,' * 10**5 + '"b":1}'),
]
BYTES = [
    b'"\xff"',
    b'{"\xff":1}',
    b'1,"\xff":1',
    b'"\xc0\x80"',
    b'"\xed\xa0\x80"',
    b"\xef\xbb\xbf1",
    b"1\0",
    b"\xff\xfe1\0",
]
Key = tuple[str, str]
"""A label and a definition."""
ALL: list[Key] = [(label, key) for label in LABELS for key in book(label).schema.defs]


def holders(found: Callable[[Schema, str], bool]) -> list[Key]:
    """List the definitions of some kind, then those, too, that refer to them, be it in many steps."""
    ends = [(label, key) for label, key in ALL if found(book(label).schema, key)]
    return ends + [(label, key) for label, key in ALL if any((label, end) in ends for end in reach(label, key))]


@cache
def reach(label: str, key: str) -> frozenset[str]:
    """List the definitions to which one refers."""
    schema = book(label).schema
    near = {target for place in places(schema.defs[key], PREFIX + key) if (target := schema.target(place.node))}
    return frozenset(near.union(*(reach(label, target) for target in near)))


def is_closed(schema: Schema, key: str) -> bool:
    """Say whether a definition is a union with tags that takes no unknown one."""
    branches = schema.flatten(key) if schema.kind(key) == "union" else []
    return any(b.tag for b in branches) and not any(b.other_of for b in branches)


WHOLE = [(label, key) for label, key in ALL if key in ROUTING]
"""The messages, which hold all other definitions."""
CLOSED = holders(is_closed)


class Case(NamedTuple):
    """A definition, a value, and the places where it can be spoiled, or where it is spoiled."""

    label: str
    key: str
    value: Any
    spots: tuple[Spot, ...]


@st.composite
def cases(draw: st.DrawFn, among: tuple[list[Key], ...] = (ALL, WHOLE)) -> Case:
    """Draw a valid value of some definition."""
    label, key = draw(st.one_of([st.sampled_from(keys) for keys in among]))
    return Case(label, key, *draw(samples(label, key)))


@st.composite
def spoiled(draw: st.DrawFn, *, guarded: bool | None, most: int = 1, tags: bool = False) -> Case:
    """Draw a valid value and spoil it: where errors are absorbed, each by another guard, or where they are not.

    With `tags`, the only damage is that a variant of a closed union is unknown.
    """
    case = draw(cases((CLOSED,)) if tags else cases())
    fit = (spot for spot in case.spots if not spot.contested and (spot.way == "tag" or not tags))
    fit = (spot for spot in fit if guarded in (None, spot.guard is not None))
    spots = [spot for spot in fit if spot.way != "value" or spoilable(case.label, spot.node)]
    assume(spots)
    chosen: list[Spot] = []
    for spot in draw(st.lists(st.sampled_from(spots), min_size=1, max_size=most)):
        if all(_independent(spot.guard, other.guard) for other in chosen):
            chosen.append(spot)
    value = case.value
    for spot in chosen:
        value = _spoil(draw, case.label, value, spot)
    return Case(case.label, case.key, value, tuple(chosen))


def _independent(one: Guard | None, other: Guard | None) -> bool:
    if one is None or other is None:
        return False
    shorter, longer = sorted((one.path, other.path), key=len)
    return longer[: len(shorter)] != shorter


def _spoil(draw: st.DrawFn, label: str, value: Any, spot: Spot) -> Any:
    match spot.way:
        case "value":
            return put(value, spot.path, draw(misfits(label, spot.node)))
        case "key":
            return without(value, spot.path)
        case "tag":
            return put(value, spot.path, draw(TEXTS.map("_".__add__)))


@st.composite
def shaken(draw: st.DrawFn) -> Case:
    """Draw a value that has little to do with its definition any more."""
    label, key, value, _ = draw(cases())
    for _ in range(draw(st.integers(1, 3))):
        known = list(paths(value))
        place, other = draw(st.sampled_from(known)), draw(st.sampled_from(known))
        if draw(st.booleans()) and place:
            value = without(value, place)
        else:
            value = put(value, place, draw(st.just(at(value, other)) | st.sampled_from(POOL) | JSON))
    return Case(label, key, value, ())


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """List the paths to a value's parts, its own first."""
    yield path
    steps = value.items() if is_object(value) else enumerate(value) if is_array(value) else ()
    for step, part in steps:
        yield from paths(part, (*path, step))


def spoilable(label: str, node: Node) -> bool:
    """Say whether there is anything that does not fit."""
    return not all(may_fit(book(label).schema, node, value) for value in POOL)


def misfits(label: str, node: Node) -> Strategy:
    """Draw what surely does not fit."""
    schema = book(label).schema
    sure = [value for value in POOL if not may_fit(schema, node, value)]
    return st.sampled_from(sure) | JSON.filter(lambda value: not may_fit(schema, node, value))


def may_fit(schema: Schema, node: Node, value: Any) -> bool:
    """Say whether a value has any chance to fit."""
    options, nullable = core(node)
    return (nullable and value is None) or any(_option_may_fit(schema, option, value) for option in options)


def _option_may_fit(schema: Schema, node: Node, value: Any) -> bool:
    key = schema.target(node)
    if key is not None:
        return _definition_may_fit(schema, key, value)
    if "const" in node:
        return isinstance(value, str)  # another tag may name another variant
    match node.get("type"):
        case "integer":
            low, high = limits(node)
            return type(value) is int and low <= value <= high
        case "number":
            return type(value) is float or (type(value) is int and abs(value) < 2**1023)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return is_array(value) and (bool(node.get(SKIP)) or all(may_fit(schema, node["items"], v) for v in value))
        case "object":
            inner = node["additionalProperties"]
            return is_object(value) and (inner is True or all(may_fit(schema, inner, v) for v in value.values()))
        case _:
            return True


def _definition_may_fit(schema: Schema, key: str, value: Any) -> bool:
    node = schema.defs[key]
    match schema.kind(key):
        case "free":
            return True
        case "enum":
            # An enumeration that takes any text for one of its members does so in a way of its own.
            taken = key in schema.overrides.unknown_member and isinstance(value, str)
            return taken or any(_is_member(choice, value) for choice in schema.choices(node))
        case "struct" | "union":
            return is_object(value) and any(fits_by_keys(branch, value) for branch in schema.flatten(key))
        case _:
            return may_fit(schema, node, value)


def _is_member(choice: Node, value: Any) -> bool:
    if "const" in choice:
        return type(value) is type(choice["const"]) and value == choice["const"]
    if choice["type"] == "string":
        return isinstance(value, str)
    low, high = limits(choice)
    return type(value) is int and low <= value <= high


def at(value: Any, path: Path) -> Any:
    """Give what stands at a path."""
    for step in path:
        value = value[step]
    return value


def put(value: Any, path: Path, new: Any) -> Any:
    """Copy a value with `new` at a path."""
    if not path:
        return new
    out = copy.deepcopy(value)
    at(out, path[:-1])[path[-1]] = new
    return out


def without(value: Any, *given: Path) -> Any:
    """Copy a value without what stands at some paths."""
    out = copy.deepcopy(value)
    # From the end, so that the indices of what is still to be taken stay right.
    for path in sorted(given, key=lambda p: [(isinstance(step, int), step) for step in p], reverse=True):
        del at(out, path[:-1])[path[-1]]
    return out


def forgiven(value: Any, *guards: Guard) -> Any:
    """Copy a value without what some guards hold.

    That is how a value is read in which each of them has absorbed an error: a bad item is gone, and a bad optional
    field is as good as absent. A required lenient list has to be there, and becomes empty.
    """
    for guard in guards:
        if guard.required:
            value = put(value, guard.path, [])
    return without(value, *(guard.path for guard in guards if not guard.required))


def json_path(path: Path) -> str:
    """Write a path as the package does in messages and reports."""
    parts = (f".{s}" if isinstance(s, str) and s.isidentifier() else f"[{s!r}]" for s in path)
    return "$" + "".join(parts)
