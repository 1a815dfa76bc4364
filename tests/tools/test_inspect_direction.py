"""What stands around a message in a log: heads of every kind, text behind it, pairs, messages over several lines."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.inspect_support import CONVERSATION, EXTRACTION, Inspect, chunk, message, prompt

CANCEL = message(method="session/cancel", params={"sessionId": "s"})
OUT, IN, CLIENT, AGENT, NONE = (None, True), (None, False), ("client", None), ("agent", None), (None, None)
DIRECTIONS: dict[tuple[str | None, bool | None], list[str]] = {
    OUT: [
        *(
            "rpc: ->",
            "client.rs:7 ->",
            "acp 2.0 ->",
            "2024 a2c7 ->",
            "c2a-host app[2a]: ->",
            "10.0.0.1 ->",
            "v1.2.3 ->",
        ),
        *("2026-12-01T12:00:00Z DEBUG acp::client: ->", "2026-12-01T12:00:00Z  INFO run{conn=1}:server{id=5}: acp: ->"),
        *(
            "<34>1 2026-12-01T12:00:00Z host agent 123 ID47 - ->",
            '[ex@1 iut="3"] ->',
            "[thread-2] INFO c.a.Client - ->",
        ),
        *(
            "12-01 12:00:00.123  1234  5678 D acp_client: ->",
            "DEBUG:acp.client:->",
            "server.read_to_client.py:22 DEBUG ->",
        ),
        *(
            "log in: ->",
            "INFO agent: ->",
            "INFO acp: Sending request",
            "-> (123 bytes)",
            "-> #5",
            "<- x ->",
            "==>",
            "-> |",
        ),
        *(
            "\x1b[32m->\x1b[0m",
            "level=debug dir=out msg=",
            "component=server dir=out data=",
            "sent b'",
            'msg="->',
            "it's ->",
        ),
        *(
            "DEBUG:acp.client:Sending",
            "acp:client:out",
            "INFO:root:sent:",
            "--> session/prompt[1]",
            "-> session/prompt #5",
        ),
        *("sending session/prompt:", "=> $/cancel_request", "-> initialize(1)"),
        *("thread 140704912345678 ->", "client/agent ->", "msg=sent data=", "$this->send:", "sessionSend -> write"),
    ],
    IN: [
        *(
            "client.py:12 <-",
            "Dec  1 12:00:00 host c2a[123]: <-",
            "Dec 01 12:00:00 to agent[7]: <-",
            "D/client(123): <-",
        ),
        *(
            "2026-12-01T12:00:00Z DEBUG acp::server::write: <-",
            "agent-1  | <-",
            "a => b: <-",
            "x -> y <-",
            "-> <-",
            "<==",
        ),
        *(
            "acp:client <-",
            "INFO acp: Received message:",
            "recv 78 bytes:",
            'recv "',
            "source=client.go:12 dir=in",
            "in",
        ),
        *("DEBUG:acp.agent:Received", "acp:server:in", "<- initialize", "recv: fs/read_text_file"),
        *("write.c:2 out.c:3 <-", "[2] (3) <-", "node[123]: send.js <-"),
    ],
    CLIENT: [
        *(
            "INFO acp.transport: sent to agent",
            "client2agent",
            "clientToAgent:",
            "to agent",
            "DEBUG agent received",
            "stdin",
        ),
        *(
            "INFO client -> agent:",
            "INFO agent <- client",
            "<client>",
            "agent stdin ->",
            "from=client msg=",
            "client |",
        ),
        *("client.py:12 read from client", "INFO client writes", "(client)->", "x.py:3 C->A"),
    ],
    AGENT: [
        *(
            "AgentToClient",
            "from agent",
            "DEBUG x1 from agent:",
            "agent: ->",
            "agent  |",
            "INFO agent -> client:",
            "A→C",
        ),
        *("DEBUG stdout:", "to=client msg=", "sender=agent msg=", "from agent received", "client2.py:5 a2c"),
    ],
    NONE: [
        *(
            "client.py:12",
            "Dec  1 12:00:00 host agent:",
            "Dec  1 12:00:00 host c2a[123]:",
            "INFO agent:",
            "host agent:",
        ),
        *("<34>1 2026-12-01T12:00:00Z host read 123 - -", "<34>1 2026-12-01T12:00:00Z host read - - -", "INFO  read -"),
        *(
            "[thread-2] INFO c.a.Client -",
            "agent-1  |",
            "<->",
            "->  x.py:1",
            "10.0.0.1:5000 -> 10.0.0.2:80",
            "DEBUG:client:",
        ),
        *("INFO 5", "level=debug agent:", "component=client msg=", "source=server.go:3 msg=", "send to acp::transport"),
        *("client:8080", "DEBUG:agent:5", "read:client.py:7", "in:x", "src/main"),
        *("a b c", "client -> agent -> x.py:1", "redirect=in", "stdin.py"),
    ],
}
HEADS = [(head, way) for way, heads in DIRECTIONS.items() for head in heads]
TAILS = [
    "",
    " (12 ms)",
    " +3ms",
    ")",
    "'",
    '"',
    ",",
    "]",
    "\x1b[0m",
    " # read by server",
    " -> client",
    " {took=12}",
    " [a]",
    "\t|",
]


def _read(line: str) -> Any:
    return EXTRACTION.extract_message(line.encode())


@pytest.mark.parametrize(("head", "way"), HEADS)
def test_the_mark_next_to_the_message_decides(head: str, way: tuple[str | None, bool | None]) -> None:
    behind = "" if head[-1] in "'\"" else " 12:00:01"
    for line in (
        f"{head} {CANCEL}",
        f"{head}  {CANCEL} (12 ms)",
        f"12:00:01.5 {head} {CANCEL}",
        f"{head}{behind} {CANCEL}",
    ):
        entry = _read(line)
        assert ((entry.sender, entry.outward), entry.body.decode()) == (way, CANCEL), line


WORDS = "client agent server c2a a2c in out to from read send -> <- => 2 12 [3] host stdin acp x.py:2 INFO".split()  # noqa: SIM905


@given(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), st.sampled_from([("<-", IN), ("->", OUT)]))
def test_whatever_stands_before_a_name_does_not_count(
    text: str, told: tuple[str, tuple[str | None, bool | None]]
) -> None:
    mark, way = told
    entry = _read(f"{text} acp.wire.py:{len(text)} {mark} {CANCEL}")
    assert (entry.sender, entry.outward) == way


@pytest.mark.parametrize("tail", TAILS)
def test_text_behind_a_message(tail: str, inspect: Inspect) -> None:
    answer = message(id=1, result={"sessions": []})
    heads = ("", "-> ", "12:00:01 -> ")
    bodies = (CANCEL, message(id=1, method="session/list", params={}))
    lines = [head + body + tail for head in heads for body in bodies]
    if tail not in ("]", ")"):
        lines.append(f"<- [{answer}]{tail}")
    run = inspect.json(*lines)
    assert [(m["kind"], m["size"]) for m in run.messages[:2]] == [
        ("notification", len(bodies[0])),
        ("request", len(bodies[1])),
    ]
    assert (run.status, run.summary["broken"]["number"]) == (0, 0), run.messages
    assert len(run.messages) == len(lines)


def test_what_may_not_stand_behind_a_message(inspect: Inspect) -> None:
    two = CANCEL + chunk("x")
    run = inspect.json(
        two, f"-> {two}", f"-> {CANCEL} <- {CANCEL}", f"{CANCEL} took {CANCEL} ms", CANCEL + "}", CANCEL + "}}"
    )
    assert {m["kind"] for m in run.messages} == {"broken"}
    assert ["Two messages on one line" in m["problem"]["message"] for m in run.messages] == [True] * 4 + [False] * 2
    quoted = message(method="_x", params={"text": CANCEL})
    assert inspect.json(f"{quoted} (1 ms)", f"-> {quoted} x").status == 0


@pytest.mark.parametrize(
    "line",
    [
        "time=2026-01-31T12:00:01Z level=debug dir=out msg={quoted}",
        "level=debug msg={quoted} dir=out ts=1769860801",
        'ts="2026-01-31 12:00:01" direction=outgoing payload={quoted} took=12ms',
        "level=debug time=2026-01-31T12:00:01Z dir=out data={plain}",
        'time=2026-01-31T12:00:01Z msg="-> {escaped}"',
        "2026-01-31T12:00:01Z DEBUG acp.client: sent {quoted}",
        '{{"ts":"2026-01-31T12:00:01Z","fields":{{"message":{quoted},"dir":"out"}}}}',
        '{{"time":"2026-01-31T12:00:01Z","log":"-> {escaped}\\n","stream":"stderr"}}',
        '{{"__REALTIME_TIMESTAMP":"1769860801000000","MESSAGE":"-> {escaped}"}}',
        '{{"timestamp":"2026-01-31T12:00:01Z","msg":"sent message","data":{plain}}}',
        '{{"time":1769860801,"dir":"out","data":{{"pid":7}},"body":{quoted}}}',
        '{{"pid":5}} 2026-01-31T12:00:01Z -> {plain}',
    ],
)
def test_pairs_and_texts_that_hold_a_message(line: str) -> None:
    body = message(method="session/cancel", params={"sessionId": 'say "hi" \\ {["'})
    quoted = json.dumps(body)
    entry = _read(line.format(quoted=quoted, escaped=quoted[1:-1], plain=body))
    assert json.loads(entry.body) == json.loads(body)
    assert (entry.sender, entry.outward) == OUT
    assert entry.moment.seconds == 1769860801.0


@pytest.mark.parametrize(
    ("head", "seconds"),
    [
        ("10.0.0.1 ->", None),
        ("v1.2.3 1.2.3 ->", None),
        ("thread 140704912345678 ->", None),
        ("took=1.5 12:00:01 ->", 43201.0),
        ("[140704912345678] 2026-01-31T12:00:01Z ->", 1769860801.0),
        ("12.5 2026-01-31T12:00:01Z 11:00:00 ->", 1769860801.0),
        ("25:00:01 1769860801 ->", 1769860801.0),
    ],
)
def test_numbers_that_are_no_time(head: str, seconds: float | None) -> None:
    moment = _read(f"{head} {CANCEL}").moment
    assert (moment and moment.seconds) == seconds


MESSAGES = [
    json.loads(line[line.index("{") :])
    for number, line in enumerate(CONVERSATION.read_text(encoding="utf-8").splitlines(), 1)
    if number != 50
]


@pytest.mark.parametrize("indent", [0, 1, 4, "\t"])
@pytest.mark.parametrize("prefix", ["", "agent-1  | "])
def test_messages_over_several_lines(indent: int | str, prefix: str, inspect: Inspect) -> None:
    texts = [json.dumps(m, indent=indent) for m in MESSAGES]
    lines = [prefix + line for text in texts for line in text.splitlines()]
    starts = [1 + sum(text.count("\n") + 1 for text in texts[:index]) for index in range(len(texts))]
    run, plain = inspect.json(*lines), inspect.json(*map(json.dumps, MESSAGES))
    assert [m["line"] for m in run.messages] == starts
    assert [(m["summary"], m["kind"]) for m in run.messages if not m["problem"]] == [
        (m["summary"], m["kind"]) for m in plain.messages if not m["problem"]
    ]
    assert (run.summary["lines"], run.summary["broken"]["number"]) == (len(lines), 0)


@pytest.mark.parametrize("form", ["pretty", "one a line", "brackets apart", "marked"])
def test_lists_over_several_lines(form: str, inspect: Inspect) -> None:
    objects = [json.dumps(m) for m in MESSAGES]
    text = {
        "pretty": json.dumps(MESSAGES, indent=2),
        "one a line": "[" + ",\n".join(objects) + "]",
        "brackets apart": "[\n  " + ",\n\n  ".join(objects) + "\n]",
        "marked": "12:00:01 <- " + json.dumps(MESSAGES[4:5] + MESSAGES[6:9], indent=2),
    }[form]
    run = inspect.json(*text.splitlines(), CANCEL)
    assert len(run.messages) == (5 if form == "marked" else len(MESSAGES) + 1)
    assert run.summary["broken"]["number"] == 0
    if form == "marked":
        assert [(m["part"], m["from"], m["time"]) for m in run.messages[:-1]] == [
            (n, "agent", "12:00:01") for n in range(4)
        ]


@pytest.mark.parametrize(
    ("torn", "broken"),
    [
        (['{"jsonrpc":"2.0",'], [1]),
        (['-> {"jsonrpc":"2.0","id":1,"params":{'], [1]),
        (["{", '  "jsonrpc": "2.0",', '  "met'], [1, 2, 3]),
        (["options: {", "  a: 1,", "}"], [1, 2, 3]),
        (["{", "["], [1]),
        (['[{"jsonrpc":"2.0",'], [1]),
        (['{"a":[', "1,", "2", "] text"], [1, 2, 3, 4]),
        (["{", '"jsonrpc": "2.0",', "]"], [1, 2, 3]),
        (["[" * 3000], [1]),
        (["agent died {"], [1]),
    ],
)
def test_what_only_looks_like_it_takes_nothing_else_along(torn: list[str], broken: list[int], inspect: Inspect) -> None:
    answer = message(id=1, result={"stopReason": "end_turn"})
    run = inspect.json(*torn, prompt(), f"12:00:01 <- {answer}", CANCEL)
    assert [m["line"] for m in run.messages if m["kind"] == "broken"] == broken
    assert [m["kind"] for m in run.messages[len(broken) :]] == ["request", "response", "notification"]
    alone = inspect.json(*torn)
    assert [m["kind"] for m in alone.messages] == ["broken"] * len(broken)


def test_a_value_of_too_many_lines_is_given_up(inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_msgspec.tools.inspect.multiline.MAX_HELD", 20)
    run = inspect.json("{", '"jsonrpc": "2.0",', *['"x": 1,'] * 100, CANCEL)
    assert run.summary["broken"]["number"] == 102
    assert run.messages[-1]["kind"] == "notification"


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ('12:00:01,out,"{""jsonrpc"":""2.0"",""method"":""x""}",3', "CSV"),
        ('"{""id"":1,""jsonrpc"":""2.0"",""result"":""{""}"', "CSV"),
        ("  {", "jq -c ."),
        ('  "params": {', "jq -c ."),
        ('agent | "jsonrpc": "2.0",', "jq -c ."),
        ("{'jsonrpc': '2.0', 'id': 1}", "Python or JavaScript"),
        ("sent { jsonrpc: '2.0', id: 1 }", "Python or JavaScript"),
        ("Content-Length: 52", "one message per line"),
        ('{"entries":[{"request":{"jsonrpc":"2.0","id":1,"method":"x"}}]}', "deeper inside"),
    ],
)
def test_what_cannot_be_read_has_a_hint(line: str, hint: str, inspect: Inspect) -> None:
    run = inspect.json(line, CANCEL)
    assert (run.status, run.messages[0]["line"], run.messages[1]["kind"]) == (1, 1, "notification")
    assert hint in run.messages[0]["problem"]["message"]
