"""Messages that carry others, to a component between the client and the agent or from there."""

import importlib
from typing import Any

import pytest
from acp_msgspec.v2_unstable import METHODS

from tests.tools.inspect_support import Inspect, message

SCHEMAS: Any = importlib.import_module("acp_msgspec.tools.inspect.schemas")
ENDS = {"agent", "client"}
BETWEEN = {name: method for name, method in METHODS.items() if not method.handled_by & ENDS}
CARRYING = [n for n, m in BETWEEN.items() if {"method", "params"} <= set(getattr(m.request, "__struct_fields__", ()))]
OPENING = [n for n, m in BETWEEN.items() if m.request is METHODS["initialize"].request]
OPTIONS = ["--schema", "v2_unstable"]
pytestmark = pytest.mark.skipif(not CARRYING, reason="no method of the pinned schemas carries messages")
NEW: dict[str, Any] = {"cwd": "/project", "mcpServers": []}
CHUNK: dict[str, Any] = {
    "sessionUpdate": "agent_message_chunk",
    "messageId": "m",
    "content": {"type": "text", "text": "Hello"},
}


def _carried(method: str, params: Any, **frame: Any) -> str:
    return message(method=CARRYING[0], params={"method": method, "params": params}, **frame)


def test_the_schema_says_which_they_are() -> None:
    for label in SCHEMAS.LABELS:
        used = SCHEMAS.schema(label)
        assert set(used.between) == {n for n, m in used.methods.items() if not m.handled_by & ENDS}
    twins = SCHEMAS.schema("v2_unstable").between
    assert {name for name, twin in twins.items() if twin == "initialize"} == set(OPENING)


def test_direction_session_and_summary_are_those_of_the_carried_message(inspect: Inspect) -> None:
    lines = (
        _carried("session/new", NEW, id=1),
        message(id=1, result={"sessionId": "s1"}),
        _carried("session/update", {"sessionId": "s1", "update": CHUNK}),
        _carried("_x/y", None, id=2),
    )
    found = inspect.json(*lines, options=OPTIONS).messages
    assert [m["from"] for m in found] == ["client", "agent", "agent", None]
    assert [m["method"] for m in found] == [CARRYING[0]] * 4
    assert [m["session"] for m in found] == [None, None, "s1", None]
    assert [m["summary"] for m in found] == ["session/new, in /project", "s1", 'session/update, agent "Hello"', "_x/y"]
    assert [m["problem"] for m in found] == [None] * 4
    assert found[1]["request_line"] == 1


def test_a_label_says_who_sent_it(inspect: Inspect) -> None:
    found = inspect.json(f"agent: {_carried('session/new', NEW, id=1)}", options=OPTIONS).messages
    assert [m["from"] for m in found] == ["agent"]


def test_findings_are_at_their_place_in_the_whole(inspect: Inspect) -> None:
    lines = (
        _carried("session/new", {**NEW, "odd": 1}, id=1),
        _carried("session/new", {"cwd": 5}, id=2),
        _carried("session/fly", {}),
        _carried("session/update", {"sessionId": "s", "update": {"sessionUpdate": "later"}}),
        _carried("initialize", {"protocolVersion": 2, "info": {"name": "n", "version": "1"}, "capabilities": 5}, id=3),
        message(id=1, result={"sessionId": 5}),
        message(id=4, method=CARRYING[0], params={}),
    )
    odd, bad, unknown, later, repaired, wrong, empty = inspect.json(*lines, options=OPTIONS).messages
    assert odd["undeclared"] == ["$.params.params.odd"]
    assert bad["problem"]["path"] == "$.params.params.cwd"
    assert unknown["problem"]["path"] == "$.params.method"
    assert "Unknown method 'session/fly'" in unknown["problem"]["message"]
    assert [found["path"] for found in later["unknown"]] == ["$.params.params.update.sessionUpdate"]
    assert [found["path"] for found in repaired["repairs"]] == ["$.params.params.capabilities"]
    assert wrong["problem"]["path"] == "$.result.sessionId"
    assert empty["problem"]["message"] == "Object missing required field `method`"


@pytest.mark.skipif(not OPENING, reason="no handshake with such a component")
def test_a_handshake_chooses_the_version(inspect: Inspect) -> None:
    params = {"protocolVersion": 2, "info": {"name": "conductor", "version": "1"}, "capabilities": {}}
    lines = (
        message(id=1, method=OPENING[0], params=params),
        _carried("initialize", params, id=2),
        message(id=2, result={"protocolVersion": 2, "info": {"name": "agent", "version": "3"}}),
    )
    found = inspect.json(*lines).messages
    assert [m["schema"] for m in found] == ["v2_unstable"] * 3
    assert [m["from"] for m in found] == ["client", "client", "agent"]
    assert "agent 3" in found[2]["summary"]


def test_what_is_nested_deeply_or_out_of_range_is_no_trouble(inspect: Inspect) -> None:
    deep = "[" * 900 + "]" * 900
    bodies = (deep, "1e400", "123456789012345678901234567890", '"\\ud800"', '{"a":1e400}')
    lines = [_carried("_x/y", "PART").replace('"PART"', body) for body in bodies]
    found = inspect.json(*lines, options=OPTIONS).messages
    assert len(found) == len(bodies)
    assert [m["problem"] for m in found][2] is None
