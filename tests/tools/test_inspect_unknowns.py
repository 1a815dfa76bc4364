"""What a schema does not know of a message: values, variants, keys; and the titles and connections of a log."""

import json
import re
from typing import Any

import pytest

from tests.tools.inspect_support import Inspect, message, prompt, tool_call, update

INFO = {"name": "x", "version": "1"}


def _hello(version: int) -> str:
    return message(id=0, method="initialize", params={"protocolVersion": version, "info": INFO, "clientInfo": INFO})


def _asked(method: str, params: Any, result: Any) -> tuple[str, str]:
    return message(id=5, method=method, params=params), message(id=5, result=result)


PERMISSION = {
    "sessionId": "s",
    "title": "May I?",
    "subject": {"type": "tool_call", "toolCall": {"toolCallId": "t"}},
    "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}],
}


@pytest.mark.parametrize(
    ("asked", "unknown"),
    [
        (
            _asked("session/request_permission", PERMISSION, {"outcome": {"outcome": "maybe", "x": 1}}),
            [("$.result.outcome.outcome", "unknown value 'maybe'")],
        ),
        (
            _asked(
                "session/new",
                {"cwd": "/", "mcpServers": []},
                {
                    "sessionId": "s",
                    "configOptions": [
                        {"configId": "a", "name": "A", "type": "dial", "at": 3},
                        {"configId": "b"},
                        {"configId": "c", "name": "C", "type": "boolean", "currentValue": True, "category": "odd"},
                    ],
                },
            ),
            [
                ("$.result.configOptions[0].type", "unknown value 'dial'"),
                ("$.result.configOptions[2].category", "unknown value 'odd'"),
            ],
        ),
    ],
)
def test_unknown_values_in_results(asked: tuple[str, str], unknown: list[tuple[str, str]], inspect: Inspect) -> None:
    run = inspect.json(*asked, options=["--schema", "v2_unstable"])
    answer = run.messages[1]
    assert [(u["path"], u["what"]) for u in answer["unknown"]] == unknown
    assert run.summary["unknown"] == {"number": len(unknown), "lines": [2]}
    assert "undeclared" not in answer
    shown = inspect.text(*asked, options=["--schema", "v2_unstable"]).out
    assert all(f"\n        ? {path}: {what}\n" in shown for path, what in unknown)


UNDECLARED: dict[str, tuple[str, list[str]]] = {
    "params": (message(method="session/cancel", params={"sessionId": "s", "why": 1}), ["$.params.why"]),
    "envelope": (message(method="session/cancel", params={"sessionId": "s"}, trace=1), ["$.trace"]),
    "odd names": (
        message(method="session/cancel", params={"sessionId": "s", "a b": 1, "": 2, "\x1b": 3}),
        ["$.params['a b']", "$.params['']", "$.params['\\x1b']"],
    ),
    "content": (
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "x", "size": 1}, more=2),
        ["$.params.update.more", "$.params.update.content.size"],
    ),
    "items": (
        tool_call(locations=[{"path": "/a", "x": 1}, {"path": 5, "y": 1}, {"path": "/b", "z": 1}]),
        ["$.params.update.locations[0].x", "$.params.update.locations[2].z"],
    ),
    "a fallback": (
        message(
            id=1,
            method="session/new",
            params={"cwd": "/", "mcpServers": [{"type": "pipe", "name": "n", "command": "/c", "args": [], "env": []}]},
        ),
        ["$.params.mcpServers[0].type"],
    ),
    "error": (message(id=1, error={"code": 1, "message": "m", "data": {"free": 1}, "extra": 1}), ["$.error.extra"]),
    "an extension": (message(id=1, method="_x", params={"free": 1}, extra=1), ["$.extra"]),
    "a response to nothing": (message(id=1, result={"free": 1}, took=3), ["$.took"]),
    "params that do not fit": (message(id=1, method="session/prompt", params={"x": 1}, extra=1), ["$.extra"]),
    "no method": (message(id=1, methd="session/list"), ["$.methd"]),
    "a number that no float holds": (
        '{"jsonrpc":"2.0","method":"_x","params":{"a":1E400},"extra":1E400}',
        ["$.extra"],
    ),
}
FREE: dict[str, str] = {
    "raw input": tool_call(rawInput={"free": {"a": [{"b": 1}]}}, rawOutput=[{"x": 1}]),
    "meta": message(method="session/cancel", params={"sessionId": "s", "_meta": {"free": 1}}),
    "error data": message(id=1, error={"code": 1, "message": "m", "data": {"free": 1}}),
    "an unknown variant": update(sessionUpdate="nap", length=1),
    "an extension": message(id=1, method="_x", params={"free": 1}),
    "a dropped item": tool_call(locations=[{"path": 5, "x": 1}]),
    "no message": json.dumps({"level": "info", "text": "hello"}),
}


@pytest.mark.parametrize("name", UNDECLARED)
def test_undeclared_keys(name: str, inspect: Inspect) -> None:
    line, paths = UNDECLARED[name]
    run = inspect.json(line, options=["--schema", "v1"])
    assert run.messages[0]["undeclared"] == paths
    assert run.messages[0]["unknown"] == []
    assert [found["path"] for found in run.summary["undeclared"]] == sorted(
        paths, key=lambda path: next(found["key"] for found in run.summary["undeclared"] if found["path"] == path)
    )
    for options in (["--schema", "v1"], ["--schema", "v1", "--errors"]):
        out = inspect.text(line, options=options).out
        for path in paths:
            assert f"\n        ? {path}: undeclared key\n" in out
    page = inspect.log.with_name("page.html")
    inspect.text(line, options=["--schema", "v1", "--html", str(page)])
    assert page.read_text(encoding="utf-8").count("undeclared key</li>") == len(paths)


@pytest.mark.parametrize("name", FREE)
def test_free_keys_are_not_undeclared(name: str, inspect: Inspect) -> None:
    for label in ("v1", "v2"):
        run = inspect.json(FREE[name].replace("tool_call", "tool_call_update"), options=["--schema", label])
        assert "undeclared" not in run.messages[0], run.messages[0]
        assert run.summary["undeclared"] == []


def test_undeclared_keys_are_summed_up_by_key(inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    def line(*keys: str) -> str:
        return message(method="session/cancel", params={"sessionId": "s", **dict.fromkeys(keys, 1)})

    lines = [line("often"), line("often", "once"), *[line("often")] * 20, line("bad\x1b\u202e")]
    run = inspect.json(*lines)
    assert run.summary["undeclared"] == [
        {"key": "often", "number": 22, "lines": list(range(1, 11)), "path": "$.params.often"},
        {"key": "bad\x1b\u202e", "number": 1, "lines": [23], "path": "$.params['bad\\x1b\\u202e']"},
        {"key": "once", "number": 1, "lines": [2], "path": "$.params.once"},
    ]
    assert run.status == 0
    text = "  3 undeclared keys: often 22 (lines 1, 2, 3, …), bad\\x1b\\u202e 1 (line 23), once 1 (line 2)"
    assert inspect.text(*lines).out.endswith(f"\n{text}\n")
    monkeypatch.setattr("acp_msgspec.tools.inspect.statistics._MAX_KEYS", 3)
    many = inspect.json(*(line(f"k{n:02}") for n in range(30)))
    assert [(found["key"], found["number"]) for found in many.summary["undeclared"]] == [
        *(("(others)", 27), ("k00", 1), ("k01", 1), ("k02", 1))
    ]
    huge = inspect.text(line(*map(str, range(500)))).out
    assert (huge.count("undeclared key\n"), "        ? and 450 more\n" in huge) == (50, True)


def _title(line: str) -> str | None:
    found = re.search(r'(?:tool call|tool) (".*?"|\w+)', line)
    return found[1] if found is not None else None


def test_titles_are_known_from_earlier(inspect: Inspect) -> None:
    def changed(call: str = "t", session: str = "s", **parts: Any) -> str:
        return update(session, sessionUpdate="tool_call_update", toolCallId=call, status="completed", **parts)

    ask: dict[str, Any] = {"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": []}
    lines = (
        changed(),
        tool_call(title="Read a"),
        changed(),
        changed("u"),
        changed(session="z"),
        changed(title=None),
        changed(title="Read \x1bb"),
        changed(),
        message(id=1, method="session/request_permission", params=ask),
        changed("x" * 1000, title="Long"),
        changed("x" * 1000),
        _hello(1),
        changed(),
    )
    run = inspect.json(*lines)
    assert [_title(m["summary"]) for m in run.messages] == [
        *(
            "t",
            '"Read a"',
            '"Read a"',
            "u",
            "t",
            '"Read a"',
            '"Read \\x1bb"',
            '"Read \\x1bb"',
            None,
            '"Long"',
            '"Long"',
        ),
        *(None, "t"),
    ]
    assert run.messages[8]["summary"].startswith('"Read \\x1bb": ')
    page = inspect.log.with_name("page.html")
    inspect.text(*lines, options=["--html", str(page), "--last", "1"])
    assert "<code>t</code>" in page.read_text(encoding="utf-8")
    cleared = inspect.json(
        tool_call(title="Read a").replace("tool_call", "tool_call_update"),
        changed(),
        changed(title=None),
        changed(),
        options=["--schema", "v2"],
    )
    assert [_title(m["summary"]) for m in cleared.messages] == ['"Read a"', '"Read a"', "t", "t"]


def test_few_titles_are_remembered(inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_msgspec.tools.inspect.tool_calls.MAX_CALLS", 2)
    calls = [tool_call(name, title=f"Title {name}") for name in "abc"]
    ends = [update(sessionUpdate="tool_call_update", toolCallId=name) for name in "abc"]
    run = inspect.json(*calls, *ends)
    assert [_title(m["summary"]) for m in run.messages[3:]] == ["a", '"Title b"', '"Title c"']


def test_connections_are_told_apart(inspect: Inspect) -> None:
    lines = (
        _hello(1),
        prompt(1),
        tool_call(title="First"),
        _hello(1),
        prompt(1),
        tool_call(title="Second"),
        prompt(2, "z"),
    )
    run = inspect.json(*lines)
    assert (run.summary["sessions"], run.summary["connections"]) == (3, 2)
    out = inspect.text(*lines).out
    assert re.findall(r"\((\w, connection 2)\)\n", out) == ["s, connection 2", "s, connection 2", "z, connection 2"]
    assert ", 3 sessions, 2 connections\n" in out
    assert inspect.json(*lines[:3]).summary["connections"] == 1
    assert inspect.json(prompt(), *lines[:3]).summary["connections"] == 2
    page = inspect.log.with_name("page.html")
    inspect.text(*lines, options=["--html", str(page)])
    text = page.read_text(encoding="utf-8")
    assert text.count('data-session="s"') == text.count('data-session="s, connection 2"') == 2
    assert text.count('data-call="t"') == 2
    assert all(f"<b>{title}</b>" in text for title in ("First", "Second"))
