"""What holds for every value: of the schemas' own making, of anyone's making, and spoiled in known places."""

import importlib
import json
import re
import tracemalloc
from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import FunctionType
from typing import Any, NamedTuple

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.codec.corruption import BYTES, PLACES, SCRAPS, Case, at, cases, forgiven, json_path, shaken, spoiled
from tests.examples import IS_LONG, SLOW, examples
from tests.oracle.schema_files import LABELS
from tests.oracle.strategies import JSON, Guard, Spot

ADVICE = re.compile(r"ValidationError: Expected (at least|a number|text matching|Base64|the format)")
"""What `validate` says of a value that a reader takes and a sender had better not send."""


ANOTHER_MAY_FIT = Case(
    *("v1", "AuthMethod", {"type": "terminal", "id": "i", "name": "n", "args": None}),
    (Spot("value", ("args",), {}, Guard(("args",), "default")),),
)
"""One variant fits after a repair, and another one as it is, which a strict reader must not take for what was sent."""
IN_A_LIST = Case("v2", "StringPropertySchema", {"enum": [None]}, (Spot("value", ("enum", 0), {}),))


def same_examples(count: int) -> settings:
    """Try the same examples in each run, unless a long run is asked for."""
    return examples(count, derandomize=not IS_LONG, database=None, suppress_health_check=SLOW)


@cache
def exports(label: str) -> dict[str, Any]:
    """List the types that a module exports."""
    module = importlib.import_module(f"acp_msgspec.{label}")
    named = {name: getattr(module, name) for name in module.__all__}
    return {name: kind for name, kind in named.items() if not isinstance(kind, FunctionType | Mapping)}


KINDS = [kind for label in LABELS for kind in exports(label).values() if kind is not acp.Method]


class Outcome(NamedTuple):
    """What a reader gave: a value, or the error that it raised."""

    value: Any
    error: str | None = None


def with_decoder(buf: Any, *, type: Any) -> Any:
    """Decode with an object made for it."""
    return acp.Decoder(type).decode(buf)


KEEP = partial(acp.decode, unknown="keep")
READERS: list[Callable[..., Any]] = [acp.decode, with_decoder, acp.decode_strict, KEEP]


def outcome(reader: Callable[..., Any], given_: Any, kind: Any) -> Outcome:
    """Read something; only a DecodeError may be raised, of which a ValidationError is one."""
    try:
        return Outcome(reader(given_, type=kind))
    except msgspec.DecodeError as why:
        return Outcome(None, f"{type(why).__name__}: {why}")


@same_examples(300)
@given(cases())
@pytest.mark.slow
def test_a_valid_value_is_read_without_repair_and_written_the_same_again(case: Case) -> None:
    kind, text = exports(case.label)[case.key], json.dumps(case.value)
    value, repairs = acp.decode_with_repairs(text, type=kind)
    assert repairs == []
    assert acp.decode_strict(text, type=kind) == value
    assert acp.convert(case.value, type=kind) == value
    acp.validate(value, type=kind)
    written = acp.encode(value)
    again = acp.decode_strict(written, type=kind)
    assert again == value
    assert acp.encode(again) == written
    assert acp.convert(acp.to_builtins(value), type=kind) == value


@same_examples(300)
@given(spoiled(guarded=True) | spoiled(guarded=True, most=6))
@example(ANOTHER_MAY_FIT)
def test_guards_absorb_errors_and_nothing_outside_them_changes(case: Case) -> None:
    kind, text = exports(case.label)[case.key], json.dumps(case.value)
    guards = [spot.guard for spot in case.spots if spot.guard]
    value, repairs = acp.decode_with_repairs(text, type=kind)
    assert sorted((r.path, r.action) for r in repairs) == sorted((json_path(g.path), g.action) for g in guards)
    wrong = {json_path(guard.path): at(case.value, guard.path) for guard in guards}
    assert all(repair.value == wrong[repair.path] for repair in repairs)
    assert value == acp.decode_strict(json.dumps(forgiven(case.value, *guards)), type=kind)
    assert acp.convert(case.value, type=kind) == value
    assert outcome(acp.decode_strict, text, kind).error


@same_examples(200)
@given(spoiled(guarded=True, most=6))
def test_a_repaired_value_may_be_sent(case: Case) -> None:
    kind = exports(case.label)[case.key]
    value = acp.decode(json.dumps(case.value), type=kind)
    # A list that has lost items may be shorter than a sender should make it.
    problem = outcome(acp.validate, value, kind).error
    assert problem is None or ADVICE.match(problem)
    assert acp.decode_strict(acp.encode(value), type=kind) == value


@same_examples(300)
@given(spoiled(guarded=False))
@example(IN_A_LIST)
def test_an_error_without_a_guard_is_raised_with_its_path(case: Case) -> None:
    kind, text = exports(case.label)[case.key], json.dumps(case.value)
    told = [outcome(reader, text, kind).error for reader in READERS[:3]]
    error = outcome(acp.convert, case.value, kind).error
    assert error is not None
    assert told == [error] * 3
    assert error.startswith("ValidationError: ")
    found = re.search(r" - at `(.*)`$", error, re.DOTALL)
    assert leads_to(found[1] if found else "$", case.spots[0]), (error, case.spots[0])


def leads_to(path: str, spot: Spot) -> bool:
    """Say whether a path in a message leads to a place: itself, into it, or to what lacks a key.

    Where variants are tried in turn, the message may be of another one and tell what is wrong with the whole.
    """
    lowest = len(spot.path) - 1 if spot.way == "key" else len(spot.path)
    lowest = lowest if spot.vague is None else min(len(spot.vague), lowest)
    above = [json_path(spot.path[:length]) for length in range(lowest, len(spot.path) + 1)]
    return path in above or path.startswith(json_path(spot.path if spot.vague is None else spot.vague))


@same_examples(200)
@given(spoiled(guarded=None, tags=True))
def test_an_unknown_variant_is_kept_and_written_back(case: Case) -> None:
    spot = case.spots[0]
    kind, text = exports(case.label)[case.key], json.dumps(case.value)
    value, repairs = acp.decode_with_repairs(text, type=kind, unknown="keep")
    assert repairs == []
    place, (field,) = spot.path[:-1], spot.path[-1:]
    given_ = at(case.value, place)
    assert json.dumps(at(acp.to_builtins(value), place)) == json.dumps(given_)
    assert acp.decode(acp.encode(value), type=kind, unknown="keep") == value
    kept = acp.convert(given_, type=exports(case.label)[str(spot.node["$ref"]).rpartition("/")[2]], unknown="keep")
    assert isinstance(kept, acp.UnknownVariant)
    assert (kept.tag_field, kept.tag, kept.data) == (field, given_[field], given_)


@same_examples(600)
@given(shaken())
@example(ANOTHER_MAY_FIT)
def test_what_is_read_of_any_json_is_read_again_from_what_is_written_for_it(case: Case) -> None:
    kind, text = exports(case.label)[case.key], json.dumps(case.value)
    got = outcome(acp.decode, text, kind)
    assert outcome(acp.convert, case.value, kind) == outcome(with_decoder, text, kind) == got
    strict = outcome(acp.decode_strict, text, kind)
    assert strict.error or strict == got
    if not got.error:
        assert acp.decode_strict(acp.encode(got.value), type=kind) == got.value
    kept = outcome(KEEP, text, kind)
    if not kept.error:
        assert acp.decode_with_repairs(acp.encode(kept.value), type=kind, unknown="keep") == (kept.value, [])
    assert got.error or not kept.error


ANY_TEXT = st.text(st.characters(exclude_categories=[]))
ANY_PLAIN = st.recursive(
    JSON | ANY_TEXT | st.floats(),
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
    max_leaves=5,
)


@same_examples(500)
@given(st.binary() | ANY_TEXT, st.sampled_from(KINDS))
def test_any_bytes_are_read_or_refused(buf: bytes | str, kind: Any) -> None:
    for reader in READERS:
        outcome(reader, buf, kind)


@same_examples(500)
@given(ANY_PLAIN, st.sampled_from(KINDS))
def test_any_plain_values_are_converted_or_refused(value: Any, kind: Any) -> None:
    outcome(acp.convert, value, kind)


def test_an_integer_that_python_does_not_show_is_refused() -> None:
    assert outcome(acp.convert, {"code": 1 << 20_000, "message": "m"}, v1.Error).error


@same_examples(500)
@given(cases(), st.integers(0), st.integers(0), st.binary(max_size=2))
def test_messages_are_read_or_refused_when_bytes_are_changed(case: Case, start: int, size: int, new: bytes) -> None:
    whole = json.dumps(case.value, ensure_ascii=size % 2 == 0).encode()
    start %= len(whole)
    for end in (start, start + 1 + size % 3, len(whole)):
        for reader in READERS:
            outcome(reader, whole[:start] + new + whole[end:], exports(case.label)[case.key])


def withstand(buf: bytes | str, kind: Any) -> None:
    """Have everything read a document, in whatever way."""
    for reader in READERS:
        outcome(reader, buf, kind)
    try:
        plain = json.loads(buf)
    except (ValueError, RecursionError):
        return
    outcome(acp.convert, plain, kind)


@pytest.mark.parametrize(("label", "key", "place"), PLACES)
@pytest.mark.slow
def test_scraps_are_read_or_refused_in_any_place(label: str, key: str, place: str) -> None:
    kind = exports(label)[key]
    for scrap in SCRAPS:
        text = place.replace("@", scrap)
        withstand(text, kind)
        withstand(text.encode("utf-8", "surrogatepass"), kind)
    for raw in BYTES:
        withstand(place.encode().replace(b"@", raw), kind)


def is_too_deep(depth: int) -> bool:
    """Say whether msgspec takes no array that is so deep."""
    try:
        msgspec.json.decode("[" * depth + "]" * depth)
    except RecursionError:
        return True
    return False


@pytest.mark.parametrize(("label", "key", "place"), PLACES)
@pytest.mark.slow
def test_nesting_is_read_or_refused_in_any_place(label: str, key: str, place: str) -> None:
    kind = exports(label)[key]
    # Near the edge there is room to decode a value, and then no more to walk through it.
    edge = bisect_left(range(100_000), True, key=is_too_deep)
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        for depth in (10, 100, *range(max(0, edge - 30), edge + 3), 10_000, 100_000):
            withstand(place.replace("@", opening * depth + "1" + closing * depth), kind)
        withstand(place.partition("@")[0] + opening * 100_000, kind)


@pytest.mark.parametrize(
    "place", ['{"text":@}', '{"text":"a","annotations":{"audience":[@]}}', '{"text":"a",@:1}', "{@:1}"]
)
@pytest.mark.slow
def test_what_is_said_of_long_text_is_short(place: str) -> None:
    text = place.replace("@", '"' + "x" * 50_000_000 + '"')
    got = outcome(acp.decode_with_repairs, text, v1.TextContent)
    said = [got.error] if got.error else [part for repair in got.value[1] for part in (repair.path, repair.error)]
    assert all(len(part) < 1000 for part in said)


def test_repairs_below_a_long_key_take_no_more_than_their_share() -> None:
    option = {"const": "c", "title": "t", "_meta": 1}
    field = {"type": "string", "oneOf": [option] * 1000}
    schema = {"properties": {"k" * 30_000: field}}
    text = json.dumps({"mode": "form", "sessionId": "s", "message": "m", "requestedSchema": schema})
    tracemalloc.start()
    acp.decode(text, type=v1.CreateElicitationRequest)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100 * len(text)
