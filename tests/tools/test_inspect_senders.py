"""Who sent a line, when, and by which schema it is read."""

import json
import re
from typing import Any

import pytest

from tests.tools.inspect_lines import AGENT, CANCEL, CLIENT, IN, LIST, NONE, OUT
from tests.tools.inspect_support import (
    EXTRACTION,
    Inspect,
    message,
    prompt,
    tool_call,
    update,
)

MARKS = {
    OUT: "-> --> >> > → => ⇒ send SEND: Sent: [out] outgoing <out> write tx >>> 12.5->",
    IN: "<- <-- << < ← <= ⇐ recv received: RECV (in) incoming inbound read rx",
    CLIENT: "client: Client> [client] C->A C→A c2a client_to_agent client->agent: ->agent <-client editor: stdin",
    AGENT: "agent: [agent] A->C A→C a2c agent_to_client agent->client client<-agent server: stdout",
    NONE: "INFO acp.wire DEBUG a c",
}


def _read(line: str) -> Any:
    return EXTRACTION.extract_message(line.encode())


@pytest.mark.parametrize(("mark", "way"), [(mark, way) for way, marks in MARKS.items() for mark in marks.split()])
def test_marks(mark: str, way: tuple[str | None, bool | None]) -> None:
    for line in (f"{mark}{CANCEL}", f"{mark} {CANCEL}", f"\t{mark}\t{CANCEL}\r", f"12:00:01 {mark} {CANCEL}"):
        entry = _read(line)
        assert (entry.sender, entry.outward) == way, line
        assert entry.body.decode() == CANCEL
    assert _read(f"{mark} 12:00:01 [{CANCEL}]").body.decode() == f"[{CANCEL}]"


@pytest.mark.parametrize(
    ("mark", "way"),
    [
        ("client -> agent", CLIENT),
        ("agent <- client:", CLIENT),
        ("[12:00:01] agent → client", AGENT),
        ("-> agent", CLIENT),
        ("<- agent", AGENT),
        ("agent ->", AGENT),
        ("received from client", CLIENT),
        ("2026-01-31 12:00:01,5 INFO acp.transport: sent to agent", CLIENT),
        ("client sends", CLIENT),
        ("a message", NONE),
    ],
)
def test_marks_of_several_words(mark: str, way: tuple[str | None, bool | None]) -> None:
    entry = _read(f"{mark} {CANCEL}")
    assert (entry.sender, entry.outward) == way


@pytest.mark.parametrize(
    ("time", "shown", "seconds"),
    [
        ("2026-01-31T12:00:01Z", "12:00:01.000", 1769860801.0),
        ("2026-01-31T12:00:01.25+02:00", "12:00:01.250", 1769853601.25),
        ("[2026-01-31 12:00:01,250]", "12:00:01.250", 1769860801.25),
        ("1700000000", "22:13:20.000", 1700000000.0),
        ("1700000000.5", "22:13:20.500", 1700000000.5),
        ("1700000000500", "22:13:20.500", 1700000000.5),
        ("1700000000500000", "22:13:20.500", 1700000000.5),
        ("12:00:01", "12:00:01.000", 43201.0),
        ("(9:00:01.5)", "09:00:01.500", 32401.5),
        ("[   12.345]", "12.345", 12.345),
        ("25:00:01", None, None),
        ("2026-13-31T12:00:01Z", None, None),
    ],
)
def test_times(time: str, shown: str | None, seconds: float | None) -> None:
    for line in (f"{time} -> {CANCEL}", f"-> {time} {CANCEL}", f"{time} {CANCEL}"):
        moment = _read(line).moment
        assert (moment and moment.shown, moment and moment.seconds) == (shown, seconds), line
        assert moment is None or moment.text in time
    plain = time.strip("[]()")
    if not time.startswith("[ "):
        moment = _read(json.dumps({"ts": plain, "message": CANCEL})).moment
        assert (moment and moment.seconds) == seconds
    if seconds is not None and re.fullmatch(r"[\d.]+", plain):
        assert _read(json.dumps({"time": float(plain), "message": CANCEL})).moment.seconds == seconds


@pytest.mark.parametrize("payload", ["message", "msg", "payload", "data", "raw", "body"])
def test_wrappers(payload: str) -> None:
    for value in (json.loads(CANCEL), CANCEL, CANCEL + "\n", f"-> {CANCEL}", {"message": CANCEL}):
        for key, word, way in (
            *(("dir", word, IN) for word in ("in", "recv", "received")),
            *(("direction", word, OUT) for word in ("out", "send", "outgoing", "->")),
            *(("from", word, CLIENT) for word in ("client", "editor")),
            *(("direction", word, AGENT) for word in ("agent", "agent_to_client", "agent-to-client", "AgentToClient")),
        ):
            if word == "AgentToClient" or (value == f"-> {CANCEL}" and way is not OUT):
                continue  # camel case is no word of ours, and the inner mark wins
            entry = _read(json.dumps({"ts": 1.5, key: word, payload: value}))
            assert (entry.sender, entry.outward) == way, (value, word)
            assert json.loads(entry.body) == json.loads(CANCEL)
            assert entry.moment.seconds == 1.5
    batch = _read(json.dumps({payload: [json.loads(CANCEL)]}))
    assert batch.body.startswith(b"[")
    assert _read(json.dumps({payload: "text", "level": "info"})).body.startswith(b'{"' + payload.encode())


def test_who_sent_what_without_marks(inspect: Inspect) -> None:
    run = inspect.json(
        message(id=1, method="session/new", params={"cwd": "/", "mcpServers": []}),
        message(id=1, result={"sessionId": "s"}),
        prompt(7),
        message(id=7, method="fs/read_text_file", params={"sessionId": "s", "path": "/a"}),
        message(id=8, method="terminal/create", params={"sessionId": "s", "command": "ls"}),
        message(id=7, result={"content": "x"}),
        message(id=8, error={"code": -32000, "message": "no"}),
        message(id=7, result={"stopReason": "end_turn"}),
        message(method="$/cancel_request", params={"requestId": 7}),
        message(id=9, method="session/list", params={}),
        message(method="$/cancel_request", params={"requestId": 9}),
        message(id=5, method="_own", params={}),
        message(id=5, result={"x": 1}),
        message(id=99, result={}),
        message(id=None, error={"code": -32700, "message": "Parse error"}),
    )
    told = [(m["from"], m["kind"], m["method"], m["request_line"]) for m in run.messages]
    assert told == [
        ("client", "request", "session/new", None),
        ("agent", "response", "session/new", 1),
        ("client", "request", "session/prompt", None),
        ("agent", "request", "fs/read_text_file", None),
        ("agent", "request", "terminal/create", None),
        ("client", "response", "fs/read_text_file", 4),  # both sides have a request 7: the result tells
        ("client", "error", "terminal/create", 5),
        ("agent", "response", "session/prompt", 3),
        (None, "notification", "$/cancel_request", None),
        ("client", "request", "session/list", None),
        ("client", "notification", "$/cancel_request", None),
        (None, "request", "_own", None),
        (None, "response", "_own", 12),
        (None, "response", None, None),
        (None, "error", None, None),
    ]
    assert (run.status, run.summary["fine"]) == (0, True)
    assert run.summary["unpaired"] == {"number": 2, "lines": [14, 15]}
    assert run.summary["first_unanswered"] == [{"line": 10, "method": "session/list"}]
    assert run.summary["senders"] == {"client": 6, "agent": 4, "unknown": 5}


def test_marks_decide_between_equal_ids(inspect: Inspect) -> None:
    lines = (
        f"10:00:00 -> {LIST}",
        f"10:00:01 <- {message(id=1, method='_own')}",
        f"10:00:02.25 -> {message(id=1, result={})}",
        f"23:59:59 <- {message(id=1, result={'sessions': []})}",
    )
    for options, first in (
        ((), "client"),
        (("--perspective", "client"), "client"),
        (("--perspective", "agent"), "agent"),
    ):
        run = inspect.json(*lines, options=options)
        assert run.messages[0]["from"] == first
    run = inspect.json(*lines)
    assert [(m["request_line"], m["latency"]) for m in run.messages[2:]] == [(2, 1.25), (1, 50399.0)]
    assert run.status == 0
    wrong = inspect.json(*lines, options=["--perspective", "agent"])
    assert wrong.status == 1
    assert wrong.messages[0]["problem"] == {
        "message": "'session/list' is handled by the agent, but was sent by it "
        "(are the labels those of the other side?)",
        "path": "$.method",
        "code": -32601,
    }
    night = inspect.json(f"23:59:59.5 -> {LIST}", f"00:00:00.5 <- {message(id=1, result={'sessions': []})}")
    assert night.messages[1]["latency"] == 1.0


def test_which_schema(inspect: Inspect) -> None:
    def hello(version: Any, agreed: Any) -> tuple[str, str]:
        info = {"name": "x", "version": "1"}
        ask = message(id=0, method="initialize", params={"protocolVersion": version, "info": info})
        return ask, message(id=0, result={"protocolVersion": agreed, "info": info})

    login = message(id=1, method="auth/login", params={"methodId": "key"})
    state = update(sessionUpdate="state_update", state="running")
    run = inspect.json(*hello(2, 2), login, state, *hello(1, 1), login, *hello(2, 1), tool_call())
    assert [m["schema"] for m in run.messages] == ["v2_unstable"] * 4 + ["v1_unstable"] * 3 + [
        *("v2_unstable", "v1_unstable", "v1_unstable")
    ]
    assert [m["line"] for m in run.messages if m["problem"]] == [7]
    assert [m["line"] for m in run.messages if m["repairs"] or m["unknown"]] == []
    assert run.messages[6]["problem"] == {
        "message": "Unknown method 'auth/login' to v1_unstable (--schema v2 knows it)",
        "path": "$.method",
        "code": -32601,
    }
    # A new connection answers nothing of the last one.
    assert [a["line"] for a in run.summary["first_unanswered"]] == [3, 7]
    assert (run.summary["protocol_version"], run.summary["schema"]) == (1, "v1_unstable")
    assert inspect.json(login, options=["--schema", "v2"]).status == 0
    fixed = inspect.json(*hello(2, 2), options=["--schema", "v1"])
    assert {m["schema"] for m in fixed.messages} == {"v1"}
    assert inspect.json(*hello("2024-11-05", True)).messages[0]["problem"]["path"] == "$.params.protocolVersion"
