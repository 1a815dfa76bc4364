"""Every export can be decoded, and whatever the schema allows makes the round trip through the package."""

import importlib
from functools import cache

import acp_msgspec as acp
import pytest

from tests.oracle.instances import Maker, Style
from tests.oracle.round_trip import Judge
from tests.oracle.schema_files import LABELS
from tests.oracle.schema_parts import PREFIX, ROUTING
from tests.oracle.schema_walk import Schema
from tests.support import EACH_LABEL, check_each

DEFINITIONS = {label: [key for key in Schema(label).defs if key not in ROUTING] for label in LABELS}


@cache
def maker(label: str, style: Style) -> Maker:
    return Maker(Schema(label), style)


@cache
def judge(label: str) -> Judge:
    return Judge(acp, importlib.import_module(f"acp_msgspec.{label}"))


@pytest.mark.parametrize("label", LABELS)
def test_a_decoder_is_built_for_every_export(label: str) -> None:
    assert judge(label).types().keys() >= Schema(label).defs.keys()
    judge(label).build_decoders()


@pytest.mark.parametrize("style", Style)
@pytest.mark.parametrize("label", EACH_LABEL)
def test_what_the_schema_allows_makes_the_round_trip(label: str, style: Style) -> None:
    check_each(DEFINITIONS[label], lambda key: judge(label).definition(maker(label, style), key))


@pytest.mark.parametrize("label", EACH_LABEL)
def test_an_object_without_a_required_key_is_refused(label: str) -> None:
    check_each(DEFINITIONS[label], lambda key: judge(label).lacking(maker(label, Style.MINIMAL), key))


@pytest.mark.parametrize("label", ["v2", "v2_unstable"])
def test_an_object_with_a_key_that_excludes_it_is_no_variant(label: str) -> None:
    tried: list[int] = []
    made = maker(label, Style.MINIMAL)
    check_each(DEFINITIONS[label], lambda key: tried.append(judge(label).excluded(made, key)))
    assert sum(tried), "no key excludes anything"


@pytest.mark.parametrize("label", ["v2", "v2_unstable"])
def test_a_value_beyond_an_enforced_limit_is_refused(label: str) -> None:
    made = maker(label, Style.MINIMAL)
    limited = {place.partition(".")[0] for place in made.schema.overrides.enforced}
    assert limited
    check_each(sorted(limited), lambda key: judge(label).beyond(made, key))


@pytest.mark.parametrize("label", LABELS)
def test_null_stands_for_an_empty_payload_where_nothing_is_required(label: str) -> None:
    made = maker(label, Style.MINIMAL)
    payloads = [k for k, node in made.schema.defs.items() if "x-method" in node and made.schema.kind(k) == "struct"]
    assert any(made.schema.null_is_empty(key) for key in payloads)
    check_each(payloads, lambda key: judge(label).null(made, key))


@pytest.mark.parametrize("style", Style)
@pytest.mark.parametrize("label", EACH_LABEL)
def test_each_envelope_makes_the_round_trip_as_a_whole_message(label: str, style: Style) -> None:
    check_each(Schema(label).routings, lambda routing: judge(label).messages(maker(label, style), routing))


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
