"""One bad field: repaired in one more pass, with the outcome that the engine gives."""

import json
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1, v2
from acp_msgspec._decode import engine, tolerant
from hypothesis import given

from tests.codec.corruption import Case, json_path, spoiled
from tests.codec.test_properties import exports, same_examples


def chunk(**fields: Any) -> dict[str, Any]:
    content = {"type": "text", "text": "I see."}
    return {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": content, **fields}}


def call(**fields: Any) -> dict[str, Any]:
    return {"sessionId": "s", "update": {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T", **fields}}


VALUES: dict[str, tuple[Any, Any, str]] = {
    "a bad text": (v1.SessionNotification, chunk(messageId=7), "$.update.messageId"),
    "a bad map": (v1.SessionNotification, {**chunk(), "_meta": 7}, "$._meta"),
    "a bad enumeration": (v1.SessionNotification, call(status="later"), "$.update.status"),
    "a bad object": (v1.InitializeResponse, {"protocolVersion": 1, "agentInfo": {"name": 1}}, "$.agentInfo"),
    "a bad field of an object": (
        v1.InitializeResponse,
        {"protocolVersion": 1, "agentCapabilities": {"loadSession": True, "promptCapabilities": {"image": "yes"}}},
        "$.agentCapabilities.promptCapabilities.image",
    ),
    "a bad list": (v1.SessionNotification, call(content="none"), "$.update.content"),
    "a bad field of version 2": (v2.PromptRequest, {"sessionId": "s", "prompt": [], "_meta": []}, "$._meta"),
}


def refuse(*_: object, **__: object) -> Any:
    raise AssertionError("the whole value was given to the engine")


@pytest.mark.parametrize("name", VALUES)
def test_one_bad_field_is_repaired_in_one_more_pass(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, value, path = VALUES[name]
    by_engine, repairs = engine.repair(kind, value)
    assert [repair.path for repair in repairs] == [path]
    monkeypatch.setattr(engine, "repair", refuse)
    text = json.dumps(value)
    assert acp.decode_with_repairs(text, type=kind) == (by_engine, repairs)
    assert acp.decode(text, type=kind) == acp.Decoder(kind).decode(text) == by_engine
    monkeypatch.undo()
    with pytest.raises(msgspec.ValidationError):
        acp.decode_strict(text, type=kind)


def test_a_bad_field_of_a_message_is_repaired_in_one_more_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"jsonrpc": "2.0", "method": "session/update", "params": chunk(messageId=7)}
    text = json.dumps(data).encode()
    good: Any = v1.decode_agent_message(json.dumps({**data, "params": chunk()}).encode())
    monkeypatch.setattr(engine, "repair_part", refuse)
    told: list[acp.Skipped] = []
    runs: list[dict[str, Any]] = [{}, {"on_skip": told.append}, {"on_skip": told.append, "unknown": "keep"}]
    for options in runs:
        assert v1.decode_agent_message(text, **options) == good
    assert [(repair.path, repair.value) for repair in told] == [("$.params.update.messageId", 7)] * 2


def both(text: str, kind: Any) -> tuple[Any, Any]:
    """Read quietly and with a listener."""
    told: list[acp.Skipped] = []
    try:
        return acp.decode(text, type=kind), (acp.decode(text, type=kind, on_skip=told.append), told)
    except msgspec.ValidationError as why:
        return str(why), None


def of_engine(value: Any, kind: Any) -> tuple[Any, Any]:
    """Read with the engine alone."""
    try:
        found = engine.repair(kind, value)
    except msgspec.ValidationError as why:
        return str(why), None
    return found[0], found


@same_examples(400)
@given(spoiled(guarded=True) | spoiled(guarded=True, most=3) | spoiled(guarded=None))
def test_what_one_more_pass_repairs_is_what_the_engine_repairs(case: Case) -> None:
    kind, text = exports(case.label)[case.key], json.dumps(case.value)
    by_engine = of_engine(case.value, kind)
    assert both(text, kind) == by_engine
    if by_engine[1] is None:
        return
    guards = [spot.guard for spot in case.spots if spot.guard]
    assert {json_path(guard.path) for guard in guards} <= {repair.path for repair in by_engine[1][1]}


def test_many_bad_fields_are_listed_in_the_order_of_the_engine() -> None:
    value = {**chunk(messageId=7), "_meta": 7}
    for _ in range(3):  # the form learns the second field at the second time
        assert acp.decode_with_repairs(json.dumps(value), type=v1.SessionNotification) == engine.repair(
            v1.SessionNotification, value
        )
        acp.decode(json.dumps(value), type=v1.SessionNotification)


def test_a_bad_field_beside_a_number_out_of_range_is_left_to_the_engine() -> None:
    text = json.dumps(chunk(messageId=7)).replace("7", "1e999")
    with pytest.raises(msgspec.ValidationError, match="Number out of range"):
        acp.decode(text, type=v1.SessionNotification)


def test_the_pass_is_made_for_lenient_fields_alone() -> None:
    text = json.dumps({**chunk(), "sessionId": 7})
    found = tolerant.repair_in_one_pass(v1.SessionNotification, text, ".sessionId", keep_unknown=False, limit=0)
    assert found is None
