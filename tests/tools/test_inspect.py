"""The inspector: marks, pairs, schemas, what is odd, and every kind of bad input."""

import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.examples import examples
from tests.oracle.instances import Maker, Style
from tests.oracle.schema_files import LABELS
from tests.oracle.schema_parts import ROUTING
from tests.oracle.schema_walk import Schema
from tests.support import ROOT, golden
from tests.tools.inspect_lines import CANCEL, LIST, NONE
from tests.tools.inspect_support import (
    CONVERSATION,
    DIRECTION,
    JSON_VIEW,
    LINES,
    STATISTICS,
    SUMMARIES,
    Inspect,
    chunk,
    message,
    prompt,
    tool_call,
    update,
)


def test_what_is_odd(inspect: Inspect) -> None:
    content = [{"type": "hologram"}, {"type": "content", "content": {"type": "smell"}}, {"type": "diff", "path": "/a"}]
    lines = (
        tool_call(status="soon", kind="read", content=content),
        message(id=1, method="session/prompt", params={"sessionId": "s", "prompt": [{"type": "text"}]}),
        message(id=1, result={"stopReason": "bored"}),
        message(id=2, method="nope", params={}),
        message(method="nope"),
        message(method="_mine", params=[1]),
        message(id=3, method="session/list", params={}),
        message(id=3, error={"code": -32603, "message": "broken", "data": {"why": "x"}}),
        CANCEL,
    )
    run = inspect.json(*lines)
    first = run.messages[0]
    assert [(r["path"], r["action"]) for r in first["repairs"]] == [
        ("$.params.update.status", "default"),
        ("$.params.update.content[2]", "dropped"),
    ]
    assert [(u["path"], u["what"]) for u in first["unknown"]] == [
        ("$.params.update.content[0].type", "unknown value 'hologram'"),
        ("$.params.update.content[1].content.type", "unknown value 'smell'"),
    ]
    problems = {m["line"]: (m["problem"]["path"], m["problem"]["code"]) for m in run.messages if m["problem"]}
    assert problems == {
        2: ("$.params.prompt[0]", -32602),
        3: ("$.result.stopReason", None),
        4: ("$.method", -32601),
        5: ("$.method", -32601),
    }
    assert run.messages[1]["problem"]["message"] == "Object missing required field `text`"
    assert run.messages[7]["summary"] == '-32603 broken: {"why":"x"}'
    assert run.status == 1
    odd = inspect.json(*lines, options=["--errors"])
    assert [m["line"] for m in odd.messages] == [1, 2, 3, 4, 5, 8]
    assert odd.summary == {**run.summary, "shown": 6}
    text = inspect.text(*lines).out
    assert "     1  ← session/update " in text
    assert "\n        ~ $.params.update.status: default taken: Invalid enum value 'soon'\n" in text
    assert "\n        ? $.params.update.content[0].type: unknown value 'hologram'\n" in text
    assert "\n        ! $.params.prompt[0]: Object missing required field `text`\n" in text
    assert inspect.text(tool_call(status="soon")).status == 0  # a repair does no harm


def test_unknown_parts_of_open_unions(inspect: Inspect) -> None:
    run = inspect.json(
        update(sessionUpdate="dance", steps=3),
        update(sessionUpdate="agent_message_chunk", messageId="m", content={"type": "_smell"}),
        tool_call(kind="dance"),
        options=["--schema", "v2"],
    )
    assert [[u["path"] for u in m["unknown"]] for m in run.messages] == [
        ["$.params.update.sessionUpdate"],
        ["$.params.update.content.type"],
        ["$.params.update.sessionUpdate"],
    ]


def test_only(inspect: Inspect) -> None:
    lines = (
        prompt(),
        chunk("a"),
        LIST.replace('"id":1', '"id":2'),
        message(id=1, result={"stopReason": "end_turn"}),
        "noise",
    )
    assert [m["line"] for m in inspect.json(*lines, options=["--only", "session/pro*"]).messages] == [1, 4]
    run = inspect.json(*lines, options=["--only", "session/list", "--only", "*/update"])
    assert [m["line"] for m in run.messages] == [2, 3]
    assert (run.summary["messages"], run.summary["shown"], run.status) == (4, 2, 1)
    assert inspect.text(*lines, options=["--only", "x"]).out.startswith("\n0 of 4 messages in 5 lines")
    run = inspect.json(*lines, options=["--exclude", "*/update", "--exclude", "session/prompt"])
    assert [m["line"] for m in run.messages] == [3, 5]
    run = inspect.json(*lines, options=["--only", "session/*", "--exclude", "*/update"])
    assert ([m["line"] for m in run.messages], run.summary["shown"]) == ([1, 3, 4], 3)


def test_last(inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [prompt(1), *map(chunk, "abcdef"), message(id=1, result={"stopReason": "end_turn"}), "noise"]
    run = inspect.json(*lines, options=["--last", "3"])
    assert [(m["line"], m["request_line"]) for m in run.messages] == [(7, None), (8, 1), (9, None)]
    assert (run.summary["messages"], run.summary["shown"], run.status) == (8, 3, 1)
    assert [m["line"] for m in inspect.json(*lines, options=["--last", "99"]).messages] == list(range(1, 10))
    run = inspect.json(*lines, options=["--last", "2", "--only", "session/update"])
    assert [m["line"] for m in run.messages] == [6, 7]
    page = inspect.log.with_name("page.html")
    assert inspect.text(*lines, options=["--last", "2", "--html", str(page)]).status == 1
    assert re.findall(r'id="l(\d)"', page.read_text(encoding="utf-8")) == ["8", "9"]
    assert inspect.text(*lines, options=["--last", "2"]).out.count("\n2 of 9 messages") == 0
    monkeypatch.setattr("acp_msgspec.tools.inspect.selection.BUDGET", 300)
    short = inspect.text(*lines, options=["--last", "5"])
    assert short.out.startswith("# fewer messages than --last asks for, since more would take too much memory\n")


def test_unknown_methods_are_named(inspect: Inspect) -> None:
    lines = (prompt(), message(method="_own/thing", params={}))
    for option, told in (
        ("session/list", None),
        ("session/*", None),
        ("_own/thing", None),
        ("auth/login", None),  # of another version
        ("sesion/prompt", "sesion/prompt: unknown method, neither a schema nor the log so far has it (did you mean"),
        (
            "_own/thin",
            "_own/thin: unknown method, neither a schema nor the log so far has it (did you mean _own/thing?)",
        ),
        ("nope/*", "nope/*: unknown method, neither a schema nor the log so far has it\n"),
        ("\x1b\u202e", "\\x1b\\u202e: unknown method"),
    ):
        for name in ("--only", "--exclude"):
            for form in ([], ["--json"]):
                run = inspect.text(*lines, options=[name, option, *form])
                assert run.status == 0
                assert run.err.startswith(f"warning: {name} {told}") if told is not None else run.err == ""
                assert run.err.count("\n") == (told is not None)
    assert "(did you mean session/prompt" in inspect.text(*lines, options=["--only", "sesion/prompt"]).err


@pytest.mark.parametrize("form", [[], ["--json"], ["--html", "page.html"], ["--last", "1"]])
def test_an_empty_log(form: list[str], inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inspect.log.parent)
    for data, why in (
        (b"", "is empty"),
        (b"\xef\xbb\xbf", "holds no messages, only blank lines or brackets"),
        (b"\n \r\n\t\n", "holds no messages, only blank lines or brackets"),
        (b"[\n]\n", "holds no messages, only blank lines or brackets"),
    ):
        inspect.log.write_bytes(data)
        assert inspect("wire.log", *form) == (2, "", f"error: wire.log: {why}\n")
    assert not Path("page.html").exists()
    assert inspect.text("noise", options=form).status == 1  # there is something, and it is broken


def test_batches(inspect: Inspect) -> None:
    run = inspect.json(f"-> [{LIST},{CANCEL},5]", f"<- [{message(id=1, result={'sessions': []})}]", "[]", "[{")
    assert [(m["line"], m["part"], m["kind"], m["from"]) for m in run.messages] == [
        (1, 0, "request", "client"),
        (1, 1, "notification", "client"),
        (1, 2, "invalid", "client"),
        (2, 0, "response", "agent"),
        (3, None, "invalid", None),
        (4, None, "broken", None),
    ]
    assert run.messages[3]["request_line"] == 1
    assert "\n  1[1]  → session/cancel" in inspect.text(f"-> [{LIST},{CANCEL}]").out


SCRAPS = [
    *(
        b'{"jsonrpc":"2.0"',
        b',"id":1',
        b',"id":"x"',
        b',"id":null',
        b',"method":"session/update"',
        b',"method":"initialize"',
    ),
    *(
        b',"result":{',
        b',"error":{"code":1,"message":""}',
        b',"params":{',
        b'"sessionId":"s"',
        b',"update":{',
        b"}",
        b"}}",
        b"\n",
    ),
    *(
        b'"sessionUpdate":"tool_call","toolCallId":"t","title":"x"',
        b',"content":[',
        b"]",
        b"[",
        b"-> ",
        b"<- ",
        b"12:00:00 ",
    ),
    *(
        b'"protocolVersion":2',
        b'{"ts":1,"dir":"in","message":',
        b'"\\ud800"',
        CANCEL.encode(),
        LIST.encode(),
        b"{",
        b",",
    ),
    *(
        b'{"type":"diff","path":"/a","newText":"b"}',
        b'"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}',
    ),
]
BROKEN: dict[str, bytes] = {
    "noise": b"\x00\x01\x02 \xfe\xff \x1b[31m",
    "text": b"Traceback (most recent call last):",
    "text with a brace": b"agent died {",
    "a number": b"12",
    "utf8": b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"\xff"}}',
    "surrogate": b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"\\ud800"}}',
    "deep": b'{"jsonrpc":"2.0","method":"_x","params":' + b"[" * 100_000,
    "deep objects": b'{"jsonrpc":"2.0","method":"session/update","params":' + b'{"a":' * 100_000,
    "deep brackets": b"[" * 100_000,
    "two": CANCEL.encode() * 2,
    "cut": CANCEL[:-9].encode(),
    "key": b"{1:2}",
    "long mark": b"x" * 400 + CANCEL.encode(),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_lines(name: str, inspect: Inspect) -> None:
    run = inspect.json(LIST, b"", BROKEN[name], CANCEL)
    assert [(m["line"], m["kind"]) for m in run.messages] == [(1, "request"), (3, "broken"), (4, "notification")]
    assert (run.status, run.summary["broken"]) == (1, {"number": 1, "lines": [3]})
    assert (run.summary["lines"], run.summary["messages"]) == (4, 2)
    for mark in (b"", b"12:00:01 -> "):
        shown = inspect.text(LIST, mark + BROKEN[name]).out
        assert re.search(r"^ +2  .*! broken", shown, re.MULTILINE), shown
        assert "\x1b" not in shown
        assert max(map(len, shown.splitlines())) < 200
    page = inspect.log.with_name("page.html")
    assert inspect.text(BROKEN[name], options=["--html", str(page)]).status == 1
    assert "broken line" in page.read_text(encoding="utf-8")


def test_the_last_line(inspect: Inspect) -> None:
    for end, kind in ((b"", "notification"), (b"\r\n", "notification"), (b'\n{"jsonrpc":"2.0","me', "broken")):
        inspect.log.write_bytes(b"\xef\xbb\xbf" + CANCEL.encode() + end)
        run = inspect(str(inspect.log), "--json")
        assert run.messages[-1]["kind"] == kind
    assert run.messages[-1]["problem"]["message"] == "Input data was truncated (the last line, which has no end)"


def test_a_line_beyond_the_limit_is_not_held(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"a\n" + b"x" * 5_000_000 + b"\nb\r\n\n" + b"y" * 11 + b"\n" + b"z" * 10)
    with log.open("rb") as stream:
        lines = list(LINES.numbered(stream, limit=10))
    assert [(x.number, x.data, x.ended) for x in lines] == [
        *((1, b"a", True), (2, None, True), (3, b"b", True), (4, b"", True), (5, None, True), (6, b"z" * 10, False))
    ]
    assert lines[1].size == 5_000_001


def test_such_a_line_is_reported(inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LINES.numbered, "__defaults__", (100,))
    run = inspect.json(CANCEL, "x" * 200, CANCEL)
    assert [m["kind"] for m in run.messages] == ["notification", "broken", "notification"]
    assert run.messages[1]["problem"]["message"] == "The line is longer than 64 MB, and was not read"


def test_json_fields(inspect: Inspect) -> None:
    run = inspect(str(CONVERSATION), "--json")
    assert run.status == 1
    assert run.messages[1] == {
        "type": "message",
        "line": 2,
        "part": None,
        "time": "2026-03-02T09:12:00.038Z",
        "seconds": 1772442720.038,
        "from": "agent",
        "kind": "response",
        "method": "initialize",
        "id": 0,
        "session": None,
        "size": 235,
        "summary": "protocol 1, Agent 1.4.0",
        "request_line": 1,
        "latency": 0.038,
        "schema": "v1_unstable",
        "repairs": [],
        "unknown": [],
        "problem": None,
    }
    assert [m["line"] for m in run.messages] == list(range(1, 52))
    assert {tuple(m) for m in run.messages} == {tuple(run.messages[1])}
    assert set(run.summary) == {"fine", *STATISTICS.Statistics.__struct_fields__}
    assert (run.summary["sessions"], run.summary["seconds"]) == (1, 24.0)
    # The module's docstring documents every key.
    for key in (*run.messages[0], "text"):
        assert re.search(rf"\b{key}\b", JSON_VIEW.__doc__), key


def test_text_of_a_conversation(inspect: Inspect) -> None:
    run = inspect(str(CONVERSATION))
    assert (run.status, run.err) == (1, "")
    golden(CONVERSATION.with_suffix(".txt"), run.out)


def test_sessions_are_named_where_there_are_several(inspect: Inspect) -> None:
    out = inspect.text(prompt(1, "one"), prompt(2, "two"), prompt(3, "one"), CANCEL.replace('"s"', '"x\\u001b"')).out
    ends = [line.rpartition("  ")[2] for line in out.splitlines()[:4]]
    assert ends == ['"Hello"', "(two)", "(one)", "(x\\x1b)"]


def test_nothing_in_a_log_reaches_the_terminal(inspect: Inspect) -> None:
    bad = "\x1b[31m\u202e\r\x07\u2028\ud7ff\U000e0041"
    lines = (
        chunk(bad),
        message(id=bad, method=bad, params={}),
        tool_call(title=bad, status=bad, content=[{"type": bad}]),
        message(id=1, error={"code": 1, "message": bad, "data": bad}),
        message(method="_x", params={"a": bad}),
        bad,
        f"{bad} {CANCEL}",
    )
    for options in ((), ("--errors",)):
        out = inspect.text(*lines, options=options).out
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", out)
        assert out.count("\n") < 40


def test_the_documentation(inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "guides" / "tools.md").read_text(encoding="utf-8")
    log = re.search(r'```text title="wire.log"\n(.*?)```', page, re.DOTALL)
    shown = re.search(r"```console\n\$ python -m acp_msgspec inspect wire.log\n(.*?)```", page, re.DOTALL)
    assert log is not None
    assert shown is not None
    monkeypatch.chdir(inspect.log.parent)
    inspect.log.write_text(log[1], encoding="utf-8")
    assert inspect("wire.log") == (1, shown[1], "")
    for key in inspect("wire.log", "--json").messages[0]:
        assert f"`{key}`" in page
    # Each mark of the table does what is said there; the path through it is that of a reader.
    rows = re.findall(r"^\| (`.*`) \| (?:sent by the side|got by that side|the side that sent)", page, re.MULTILINE)
    assert len(rows) == 3
    for row in rows:
        for mark in re.findall(r"`([^`]+)`", row):
            assert DIRECTION.direction(mark) != NONE, mark
    options = set(re.findall(r"--([a-z]+)", page.partition("| option | does |")[2].partition("\n\n")[0]))
    assert options == {"errors", "only", "exclude", "last", "follow", "html", "limit", "json", "color"}
    assert all(f"--{option}" in inspect("--help").out for option in options)


def _all_messages(label: str, style: Style) -> list[str]:
    """Write each message that a schema allows, responses behind requests of their methods, under ids of their own."""
    maker, lines = Maker(Schema(label), style), list[str]()
    routings = {r: ROUTING[r] for r in maker.schema.routings}
    asks = {c.method: (c, p.given) for r in routings if routings[r] == "request" for c, p in maker.messages(r) if c}
    for routing, kind in routings.items():
        for call, pair in maker.messages(routing):
            if routing.startswith("Proxy") and "method" in pair.given.get("params", ()):
                pair.given["params"]["method"] = "_of/nobody"  # what is carried is a message of its own
            request_id = len(lines)
            if kind == "response":
                _, ask = asks[call.method if call is not None else "initialize"]
                if ask["method"] == "initialize":
                    continue  # it would begin a new connection
                lines += [json.dumps({**ask, "id": request_id}), json.dumps({**pair.given, "id": request_id})]
            else:
                lines.append(json.dumps({**pair.given, **({"id": request_id} if kind == "request" else {})}))
    return lines


@pytest.mark.parametrize("style", list(Style))
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.slow
def test_every_message_of_every_schema(
    label: str, style: Style, inspect: Inspect, monkeypatch: pytest.MonkeyPatch
) -> None:
    generic = SUMMARIES.generic

    def without_rule(value: Any) -> str:
        assert type(value).__name__ not in SUMMARIES.RULES, "its rule has failed"
        return str(generic(value))

    monkeypatch.setattr(SUMMARIES, "generic", without_rule)
    lines = _all_messages(label, style)
    run = inspect.json(*lines, options=["--schema", label])
    assert [(m["line"], m["problem"]) for m in run.messages if m["problem"]] == []
    assert [m["line"] for m in run.messages if m["repairs"]] == []
    assert len(run.messages) == len(lines) > 60
    assert run.summary["unpaired"]["number"] == 0
    assert bool(run.summary["undeclared"]) is (style is Style.NOISY)
    methods: dict[str, Any] = importlib.import_module(f"acp_msgspec.{label}").METHODS
    ends = {"agent", "client"}
    either = {name for name, method in methods.items() if len(method.handled_by & ends) != 1}
    assert {m["method"] for m in run.messages if m["from"] is None} <= either
    assert max(len(m["summary"]) for m in run.messages) < 300
    page = inspect.log.with_name("page.html")
    assert inspect.text(*lines, options=["--schema", label, "--html", str(page)]).status == 0
    assert page.read_text(encoding="utf-8").count('data-kind="') == len(lines)
    # With the default schema as well, which the log does not always fit.
    assert inspect.text(*lines).status in (0, 1)


@examples(100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(SCRAPS) | st.binary(max_size=12) | st.text(max_size=6).map(str.encode), max_size=30))
def test_any_bytes_are_shown(inspect: Inspect, parts: list[bytes]) -> None:
    inspect.log.write_bytes(b"".join(parts))
    page = inspect.log.with_name("page.html")
    for options in ([], ["--json"], ["--html", str(page)], ["--errors"]):
        run = inspect(str(inspect.log), *options)
        assert run.status in (0, 1, 2)
        assert (run.err == "") is (run.status != 2)


def test_no_rule_is_stale() -> None:
    modules = [importlib.import_module(f"acp_msgspec.{label}") for label in LABELS]
    assert [name for name in SUMMARIES.RULES if not any(hasattr(module, name) for module in modules)] == []


def test_the_guide_tells_every_key(inspect: Inspect) -> None:
    page = (ROOT / "docs" / "guides" / "tools.md").read_text(encoding="utf-8")
    described = {
        kind: _keys(page, start) for kind, start in (("message", "A\nmessage has:"), ("summary", "The summary has:"))
    }
    run = inspect.json(message(id=1, method="initialize", params={"protocolVersion": 1}))
    assert {*run.messages[0]} - {"type"} == described["message"]
    assert {*run.summary} - {"type"} == described["summary"]


def _keys(page: str, start: str) -> set[str]:
    """List the keys in the first column of the table behind a sentence."""
    table = page.partition(start)[2].strip().partition("\n\n")[0]
    return {key for row in table.splitlines() for key in re.findall(r"`(\w+)`", row.split("|")[1])}
