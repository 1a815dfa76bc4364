"""Every export can be decoded, and whatever the schema allows makes the round trip through the package."""

import importlib
import json
from collections.abc import Mapping
from functools import cache
from types import FunctionType
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest

from tests.instances import Maker, Pair, Style, lacking
from tests.schema_walk import LABELS, PREFIX, ROUTING, Schema, is_array, is_object

DEFINITIONS = [(label, key) for label in LABELS for key in Schema(label).defs if key not in ROUTING]


@cache
def maker(label: str, style: Style) -> Maker:
    return Maker(Schema(label), style)


@cache
def exports(label: str) -> dict[str, Any]:
    module = importlib.import_module(f"acp_msgspec.{label}")
    return {name: getattr(module, name) for name in module.__all__}


@cache
def decoder(kind: Any) -> acp.Decoder[Any]:
    return acp.Decoder(kind)


def text(value: Any) -> str:
    """Give JSON text that differs where values do: `1` is not `1.0`, and the order of keys counts."""
    return json.dumps(value)


def plain(value: Any) -> bool:
    """Say whether a value consists of nothing but what `json.loads` gives."""
    if is_object(value):
        return type(value) is dict and all(type(k) is str and plain(v) for k, v in value.items())
    if is_array(value):
        return type(value) is list and all(map(plain, value))
    return value is None or type(value) in (str, int, float, bool)


def written(kind: Any, pair: Pair) -> Any:
    """Read a value, demand that what is written for it is what the schema asks for, and give what was read."""
    read = acp.decode_strict(json.dumps(pair.given), type=kind)
    assert text(json.loads(acp.encode(read))) == text(pair.written)
    return read


def trip(kind: Any, pair: Pair) -> None:
    """Read, write and read again, through JSON and through plain values."""
    read = written(kind, pair)
    again = decoder(kind).decode(acp.encode(read))
    assert again == read
    assert type(again) is type(read)
    builtins = acp.to_builtins(read)
    assert plain(builtins)
    assert text(builtins) == text(pair.written)
    assert acp.convert(pair.given, type=kind) == read
    assert acp.convert(builtins, type=kind) == read


def refused(kind: Any, given: Any) -> bool:
    """Say whether neither a strict nor a forgiving reader takes a value."""
    for read in (acp.decode_strict, acp.decode):
        try:
            read(json.dumps(given), type=kind)
        except msgspec.ValidationError:
            continue
        return False
    return True


@pytest.mark.parametrize("label", LABELS)
def test_a_decoder_is_built_for_every_export(label: str) -> None:
    kinds = {n: k for n, k in exports(label).items() if not isinstance(k, FunctionType | Mapping)}
    assert kinds.keys() >= Schema(label).defs.keys()
    for name, kind in kinds.items():
        try:
            decoder(kind)
        except TypeError as why:
            pytest.fail(f"{name}: {why}")


@pytest.mark.parametrize(("label", "key"), DEFINITIONS)
def test_what_the_schema_allows_makes_the_round_trip(label: str, key: str) -> None:
    for style in Style:
        pairs = maker(label, style).alone(key)
        assert pairs
        for pair in pairs:
            # Disorder and unknown keys matter to the first reading alone.
            (written if style is Style.NOISY else trip)(exports(label)[key], pair)


@pytest.mark.parametrize(("label", "key"), DEFINITIONS)
def test_an_object_without_a_required_key_is_refused(label: str, key: str) -> None:
    made = maker(label, Style.MINIMAL)
    for given, _ in made.pairs(key) if made.schema.kind(key) in ("struct", "union") else ():
        for what, rest in lacking(made.schema, key, given):
            assert refused(exports(label)[key], rest), f"{what}: {rest}"


@pytest.mark.parametrize("style", Style)
@pytest.mark.parametrize("routing", ROUTING)
@pytest.mark.parametrize("label", LABELS)
def test_each_envelope_makes_the_round_trip_as_a_whole_message(label: str, routing: str, style: Style) -> None:
    known, tripped = exports(label), set[str]()
    for call, pair in maker(label, style).messages(routing):
        (written if style is Style.NOISY else trip)(known[routing], pair)
        own = "ErrorResponse" if call is None else "Response" if call.kind == "response" else f"{call.key}Message"
        if own not in tripped:
            tripped.add(own)
            trip(known[own], pair)
    assert tripped


@pytest.mark.parametrize("label", LABELS)
def test_every_property_and_tag_of_the_schema_is_shown(label: str) -> None:
    """The instances are worth nothing if they leave something out."""
    made = maker(label, Style.MAXIMAL)
    for key in made.schema.defs:
        shown = [given for given, _ in made.pairs(key)]
        for branch in made.schema.flatten(key) if made.schema.kind(key) in ("struct", "union") else ():
            for entry in branch.properties:
                place = f"{entry.pointer} of {PREFIX}{key}"
                values = [given[entry.wire] for given in shown if entry.wire in given]
                assert values, place
                assert "const" not in entry.node or entry.node["const"] in values, place
