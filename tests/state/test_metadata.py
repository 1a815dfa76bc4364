"""Metadata of what updates change: merged key by key in the schemas that say so, replaced in the others."""

from collections.abc import Iterator
from copy import copy
from typing import Any

import pytest
from acp_msgspec.state import SessionState
from msgspec import UNSET, Struct
from msgspec.structs import fields

from tests.oracle.instances import Maker, Style
from tests.oracle.schema_walk import Schema
from tests.state.support import LABELS, update_of
from tests.support import raw_schema

STEPS: tuple[Any, ...] = (
    {"a": 1, "b": {"x": 1, "y": 2}},
    {"b": {"x": 3}, "c": None},
    UNSET,
    {"a": None},
    None,
    {"d": 4},
)
MERGED = (
    {"a": 1, "b": {"x": 1, "y": 2}},
    {"a": 1, "b": {"x": 3}},
    {"a": 1, "b": {"x": 3}},
    {"b": {"x": 3}},
    None,
    {"d": 4},
)
REPLACED = (STEPS[0], STEPS[1], STEPS[1], {"a": None}, None, {"d": 4})


def _updates(label: str) -> Iterator[Any]:
    """Make one update of each class whose metadata has three states."""
    seen = set[str]()
    for pair in Maker(Schema(label), Style.MAXIMAL).pairs("SessionUpdate"):
        update = update_of(label, pair.given)
        known = fields(update) if isinstance(update, Struct) else ()
        is_patch = any(field.name == "meta" and field.default is UNSET for field in known)
        if is_patch and type(update).__name__ not in seen:
            seen.add(type(update).__name__)
            yield update


def _states(update: Any) -> list[Any]:
    state, found = SessionState(), list[Any]()
    for meta in STEPS:
        step = copy(update)
        step.meta = meta
        state.apply(step)
        shot = state.snapshot
        inside: tuple[Any, ...] = (*shot.timeline, *shot.terminals, *shot.subagents, *shot.cursors)
        found += [view.meta for view in inside] or [shot.meta]
    return found


@pytest.mark.parametrize("label", LABELS)
def test_metadata_of_updates(label: str) -> None:
    says_so = "x-state" in str(raw_schema(label))
    expected = list(MERGED if says_so else REPLACED)
    kept = {type(update).__name__: _states(update) for update in _updates(label)}
    without = {name for name, found in kept.items() if found == [None] * len(STEPS)}
    assert {name: found for name, found in kept.items() if name not in without} == dict.fromkeys(
        kept.keys() - without, expected
    )
    assert len(kept) - len(without) > 2
    assert len(without) <= 1  # usage, of which no metadata is kept
