"""Any field of an update may get three states with a bump: an absent one then changes nothing, whatever it was."""

import importlib
from collections.abc import Iterator
from copy import copy
from typing import Any

import msgspec
import pytest
from acp_msgspec.state import SessionState
from msgspec import UNSET, Struct

from tests.oracle.instances import Maker, Style
from tests.oracle.schema_walk import Schema
from tests.state.support import LABELS, update_of
from tests.support import check_each

SUMMARIES: Any = importlib.import_module("acp_msgspec.tools.inspect.update_summaries")


def _full(label: str) -> list[Any]:
    """Make updates of every kind, with all their fields."""
    return [update_of(label, pair.given) for pair in Maker(Schema(label), Style.MAXIMAL).pairs("SessionUpdate")]


def _absent(update: Struct) -> Any:
    """Copy an update without its nullable fields, as if each of them had three states."""
    bare = copy(update)
    for field in msgspec.structs.fields(update):
        if field.default is None or field.default is UNSET:
            setattr(bare, field.name, UNSET)
    return bare


def _unset_in(value: Any, path: str = "$") -> Iterator[str]:
    if value is UNSET:
        yield path
    elif type(value) in (list, tuple):
        for index, item in enumerate(value):
            yield from _unset_in(item, f"{path}[{index}]")
    elif isinstance(value, Struct) and type(value).__module__.startswith("acp_msgspec.state"):
        for name in value.__struct_fields__:
            yield from _unset_in(getattr(value, name), f"{path}.{name}")


@pytest.mark.parametrize("label", LABELS)
def test_what_an_update_leaves_out_stays(label: str) -> None:
    def check(update: Any) -> None:
        state = SessionState()
        state.apply(update)
        before = state.snapshot
        state.apply(_absent(update))
        assert list(_unset_in(state.snapshot)) == []
        # Chunks add to what is there, and an announcement replaces all of it.
        if not update.session_update.endswith("_chunk") and update.session_update != "tool_call":
            after = msgspec.structs.replace(state.snapshot, background=before.background)
            assert after == before

    check_each([each for each in _full(label) if isinstance(each, Struct)], check)


@pytest.mark.parametrize("label", LABELS)
def test_an_update_may_leave_out_what_no_other_told(label: str) -> None:
    def check(update: Any) -> None:
        state = SessionState()
        state.apply(_absent(update))
        assert list(_unset_in(state.snapshot)) == []

    check_each([each for each in _full(label) if isinstance(each, Struct)], check)


@pytest.mark.parametrize("label", LABELS)
def test_the_inspector_summarizes_what_is_left_out(label: str) -> None:
    def check(update: Any) -> None:
        assert SUMMARIES.update(update)
        assert "UNSET" not in SUMMARIES.update(_absent(update))
        assert SUMMARIES.update(_absent(update))

    check_each([each for each in _full(label) if isinstance(each, Struct)], check)
