"""Applying changes: unset leaves, null clears, a value replaces."""

from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1, v2
from msgspec import UNSET

CALL = v2.ToolCallId("t")
TEXT = v2.Content(content=v2.TextContent(text="x"))


def test_three_states() -> None:
    current = v2.ToolCallUpdate(tool_call_id=CALL, title="old", status=v2.ToolCallStatus.PENDING, content=[TEXT, TEXT])
    patch = v2.ToolCallUpdate(tool_call_id=CALL, title=None, content=[TEXT])
    after = acp.apply_patch(current, patch)
    assert after == v2.ToolCallUpdate(tool_call_id=CALL, title=None, status=v2.ToolCallStatus.PENDING, content=[TEXT])
    assert after.raw_input is UNSET
    assert current.title == "old"  # neither argument is changed
    assert acp.apply_patch(after, v2.ToolCallUpdate(tool_call_id=CALL)) == after


def test_from_the_wire() -> None:
    info = v1.SessionInfo(session_id=v1.SessionId("s"), cwd="/", title="old", updated_at="then")
    for text, title, updated in (
        ("{}", "old", "then"),
        ('{"title":null}', None, "then"),
        ('{"title":"new","updatedAt":null}', "new", None),
        ('{"title":7}', "old", "then"),  # a bad value changes nothing
    ):
        after = acp.apply_patch(info, acp.decode(text, type=v1.SessionInfoUpdate))
        assert (after.title, after.updated_at, after.cwd, after.session_id) == (title, updated, "/", "s")


def test_options_that_are_absent_change_nothing() -> None:
    call = v1.ToolCall(tool_call_id=v1.ToolCallId("t"), title="Read", kind=v1.ToolKind.READ, raw_input={"a": 1})
    update = v1.ToolCallUpdate(tool_call_id=v1.ToolCallId("t"), status=v1.ToolCallStatus.COMPLETED, raw_output=0)
    after = acp.apply_patch(call, update)
    assert (after.title, after.kind, after.raw_input) == ("Read", v1.ToolKind.READ, {"a": 1})
    assert (after.status, after.raw_output) == (v1.ToolCallStatus.COMPLETED, 0)
    assert type(after) is v1.ToolCall
    assert acp.apply_patch(after, update) == after


class _State(msgspec.Struct, kw_only=True, rename="camel"):
    title: str
    kind: str = "other"
    content: list[int] = []
    other: int = 0


class _Change(msgspec.Struct, kw_only=True):
    title: str | None | msgspec.UnsetType = UNSET
    kind: str | None | msgspec.UnsetType = UNSET
    content: list[int] | None | msgspec.UnsetType = UNSET
    beside: str | None = None


def test_clearing_what_cannot_be_null() -> None:
    state = _State(title="t", kind="read", content=[1], other=3)
    after = acp.apply_patch(state, _Change(kind=None, content=None, beside="x"))
    assert after == _State(title="t", kind="other", content=[], other=3)
    with pytest.raises(ValueError, match="The field `title` cannot be cleared"):
        acp.apply_patch(state, _Change(title=None))


def test_unset_never_reaches_the_wire() -> None:
    update = v2.ToolCallUpdate(tool_call_id=CALL, title=None)
    assert acp.encode(update) == b'{"toolCallId":"t","title":null}'
    assert acp.to_builtins(update) == {"toolCallId": "t", "title": None}
    wrong = v1.ToolCallUpdate(tool_call_id=v1.ToolCallId("t"), title=UNSET)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    assert acp.encode(wrong) == b'{"toolCallId":"t"}'


def test_a_patch_of_something_else() -> None:
    with pytest.raises(TypeError, match="A SessionInfoUpdate has no field that a Plan has"):
        acp.apply_patch(v1.Plan(entries=[]), v1.SessionInfoUpdate(title="x"))
    with pytest.raises(TypeError, match="no field"):
        acp.apply_patch(v1.Plan(entries=[]), v1.CurrentModeUpdate(current_mode_id=v1.SessionModeId("m")))


def _call_with(meta: dict[str, Any] | None) -> v2.ToolCallUpdate:
    return v2.ToolCallUpdate(tool_call_id=CALL, meta=meta)


@pytest.mark.parametrize(
    ("present", "changes", "after"),
    [
        ({"a": 1, "b": 2}, {"b": 3, "c": 4}, {"a": 1, "b": 3, "c": 4}),
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"a": 1}, {"a": None, "never": None}, {}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"x": 3}}, {"a": {"x": 3}}),
        ({"a": 1}, {"a": {"x": None}}, {"a": {"x": None}}),
        ({"a": [1, 2]}, {"a": [None]}, {"a": [None]}),
        ({"a": 1}, {}, {"a": 1}),
        ({"a": 1}, None, None),
        (None, {"a": None, "b": 1}, {"b": 1}),
        (None, None, None),
    ],
)
def test_metadata_of_version_2_is_merged_by_key(
    present: dict[str, Any] | None, changes: dict[str, Any] | None, after: dict[str, Any] | None
) -> None:
    known = _call_with(present)
    made = acp.apply_patch(known, _call_with(changes))
    assert made.meta == after
    assert known.meta == present  # neither argument is changed
    assert acp.apply_patch(made, v2.ToolCallUpdate(tool_call_id=CALL, title="t")).meta == after


def test_metadata_that_a_patch_never_had() -> None:
    unset = v2.ToolCallUpdate(tool_call_id=CALL)
    assert acp.apply_patch(unset, _call_with({"a": 1, "b": None})).meta == {"a": 1}
    assert acp.apply_patch(_call_with({"a": None, "b": 1}), _call_with({"c": 2})).meta == {"b": 1, "c": 2}
    assert acp.apply_patch(unset, unset).meta is UNSET


def test_metadata_of_version_1_is_replaced() -> None:
    known = v1.CompactionUpdate(
        compaction_id=v1.CompactionId("c"), status=v1.CompactionStatus.IN_PROGRESS, meta={"a": 1, "b": 2}
    )
    update = v1.CompactionUpdate(
        compaction_id=v1.CompactionId("c"), status=v1.CompactionStatus.IN_PROGRESS, meta={"b": None}
    )
    assert acp.apply_patch(known, update).meta == {"b": None}
