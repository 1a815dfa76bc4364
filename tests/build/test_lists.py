"""Plan entries and permission options in each schema."""

import importlib
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1
from hypothesis import given
from hypothesis import strategies as st

LABELS = ("v1", "v1_unstable", "v2", "v2_unstable")
KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")


@pytest.fixture(name="schema", params=LABELS)
def _schema(request: pytest.FixtureRequest) -> Any:
    return importlib.import_module(f"acp_msgspec.{request.param}")


@given(st.lists(st.text(max_size=3), max_size=6), st.data())
def test_the_status_of_steps(steps: list[str], data: st.DataObject) -> None:
    current = data.draw(st.none() | st.integers(0, len(steps)))
    entries = v1.plan_entries(steps, current=current)
    assert [e.content for e in entries] == steps
    for index, entry in enumerate(entries):
        wanted = "pending"
        if current is not None and index <= current:
            wanted = "in_progress" if index == current else "completed"
        assert entry.status == wanted


def test_entries(schema: Any) -> None:
    ready = schema.PlanEntry(
        content="b", priority=schema.PlanEntryPriority.LOW, status=schema.PlanEntryStatus.IN_PROGRESS
    )
    entries = schema.plan_entries(iter(["a", ready, "c"]), current=1, priority=schema.PlanEntryPriority.HIGH)
    assert entries[1] is ready
    assert [(e.content, e.priority, e.status) for e in entries] == [
        ("a", "high", "completed"),
        ("b", "low", "in_progress"),
        ("c", "high", "pending"),
    ]
    for entry in entries:
        acp.validate(entry)
    assert schema.plan_entries(["a"])[0].priority == "medium"
    assert schema.plan_entries([]) == []
    for wrong in (-1, 2):
        with pytest.raises(ValueError, match=f"current={wrong}: there are 1 steps; use an index, or 1 when done"):
            schema.plan_entries(["a"], current=wrong)
    with pytest.raises(TypeError, match="The steps are one text"):
        schema.plan_entries("one step")


def test_options(schema: Any) -> None:
    every = schema.permission_options()
    assert [o.kind for o in every] == [o.option_id for o in every] == list(KINDS)
    assert [o.name for o in every] == ["Allow", "Always allow", "Reject", "Always reject"]
    for option in every:
        acp.validate(option)
    some = schema.permission_options("reject_once", schema.PermissionOptionKind.ALLOW_ONCE, names={"reject_once": "No"})
    assert [(o.option_id, o.name) for o in some] == [("reject_once", "No"), ("allow_once", "Allow")]
    for decision in KINDS:
        assert aio.choose([(o.option_id, o.kind) for o in every], decision) == decision


def test_options_that_cannot_be(schema: Any) -> None:
    with pytest.raises(ValueError, match="'allow'"):
        schema.permission_options("allow")
    with pytest.raises(ValueError, match="The kind 'allow_once' is given twice"):
        schema.permission_options("allow_once", schema.PermissionOptionKind.ALLOW_ONCE)
    with pytest.raises(ValueError, match="`names` has 'reject_once', and there is no option of this kind"):
        schema.permission_options("allow_once", names={"reject_once": "No"})


def test_an_own_kind_needs_a_name() -> None:
    v2: Any = importlib.import_module("acp_msgspec.v2")
    own = v2.PermissionOptionKind("_later")
    (option,) = v2.permission_options(own, names={"_later": "Ask me later"})
    assert (option.option_id, option.name) == ("_later", "Ask me later")
    with pytest.raises(ValueError, match="There is no name for an option of the kind '_later'"):
        v2.permission_options(own)
