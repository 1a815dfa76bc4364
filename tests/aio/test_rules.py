"""Rules for permissions: the first that matches decides, and everything has a reason."""

import asyncio
import importlib
import threading
from pathlib import Path
from typing import Any, get_args

import pytest
from acp_msgspec import aio, v1, v2
from acp_msgspec.v2 import aio as v2_aio
from hypothesis import given
from hypothesis import strategies as st

from tests.aio.rules import asks, asks_v2, runs, runs_v2

JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["command", "cmd", "args", "path", "env", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def test_the_first_rule_that_matches_decides() -> None:
    rules = aio.Rules[Any](
        [
            aio.Rule(decide="reject_once", kind="delete", why="nothing is deleted here"),
            aio.Rule(decide="allow_once", kind=("read", "search")),
            aio.Rule(decide="ask", tool="browser_*"),
            aio.Rule(decide="allow_always", tool="mcp__*"),
        ],
        otherwise="reject_always",
    )
    found = [
        rules.judge(request)
        for request in (
            asks("delete"),
            asks("read"),
            asks("fetch", tool="browser_open"),
            asks("other", tool="mcp__db"),
            asks("think"),
            asks(None),
        )
    ]
    assert [(v.decision, v.number) for v in found] == [
        ("reject_once", 1),
        ("allow_once", 2),
        ("ask", 3),
        ("allow_always", 4),
        ("reject_always", None),
        ("reject_always", None),
    ]
    assert found[0].why == "rule 1: the kind is `delete` (nothing is deleted here)"
    assert found[3].passed == (
        "rule 1: the kind is `other`",
        "rule 2: the kind is `other`",
        "rule 3: the tool is `mcp__db`",
    )
    assert (found[4].why, len(found[4].passed)) == ("no rule matches", 4)
    assert found[5].passed[:1] == ("rule 1: the request has no kind",)
    assert [v.rule is not None for v in found] == [True, True, True, True, False, False]


def test_both_versions(tmp_path: Path) -> None:
    rules = aio.Rules[Any](
        [
            aio.Rule(decide="allow_once", path="src/**"),
            aio.Rule(decide="allow_once", command="git status", path="**"),
        ],
        root=tmp_path,
    )
    inside, outside = str(tmp_path / "src" / "a"), str(tmp_path / "b")
    for ask in (asks, asks_v2):
        assert rules.judge(ask("edit", inside)).decision == "allow_once"
        assert rules.judge(ask("edit", outside)).decision == "ask"
        assert rules.judge(ask("edit", inside, outside)).decision == "ask"
    assert rules.judge(runs_v2("git status", str(tmp_path))).decision == "allow_once"
    assert rules.judge(runs_v2("git status", "/")).decision == "ask"
    assert rules.judge(runs_v2("git status; ls", str(tmp_path))).decision == "ask"
    nothing = v2.RequestPermissionRequest(session_id=v2.SessionId("s"), title="?", options=v2.permission_options())
    assert rules.judge(nothing).decision == "ask"
    assert aio.Rules[Any]([aio.Rule(decide="reject_once")]).judge(nothing).decision == "reject_once"


@pytest.mark.parametrize("newer", [False, True])
def test_as_the_policy_of_a_client(newer: bool) -> None:
    seen: list[Any] = []
    asked: list[Any] = []

    async def ask(request: Any) -> Any:
        await asyncio.sleep(0)
        asked.append(request)
        return "reject_once"

    rules = aio.Rules[Any](
        [aio.Rule(decide="allow_always", command="make *")],
        ask=ask,
        on_verdict=lambda request, verdict: seen.append((request, verdict.decision)),
    )
    make: Any = runs_v2 if newer else runs
    base: Any = v2_aio.DecidesPermissions if newer else aio.DecidesPermissions
    client = base()
    client.permissions = aio.Permissions(rules)
    requests = [make("make test"), make("rm -rf /")]

    async def answers() -> list[str]:
        return [str((await client.session_request_permission(r)).outcome.option_id) for r in requests]

    found = asyncio.run(answers())
    assert [answer.split()[0] for answer in found] == ["allow_always", "reject_once"]
    assert asked == requests[1:]
    assert seen == [(requests[0], "allow_always"), (requests[1], "ask")]


def test_paths_are_looked_up_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []
    where: Any = importlib.import_module("acp_msgspec.aio._services.rules.locations").Root
    place = where.place

    def placed(*given: Any, **more: Any) -> Any:
        threads.append(threading.get_ident())
        return place(*given, **more)

    monkeypatch.setattr(where, "place", placed)
    rules = aio.Rules[Any]([aio.Rule(decide="allow_once", path="src/**")], root="/project", ask="reject_once")
    permissions = aio.Permissions[Any](rules)

    async def answers() -> list[Any]:
        requests = [asks("edit", "/project/src/a"), asks("edit", "/etc/passwd"), asks("edit")]
        return [await permissions.decide(request, "s") for request in requests]

    assert asyncio.run(answers()) == ["allow_once", "reject_once", "reject_once"]
    assert len(threads) == 2
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("decision", [None, *get_args(aio.Decision)])
def test_nobody_is_asked(decision: Any) -> None:
    rules = aio.Rules[Any]([], ask=decision)
    assert rules.judge(asks()).decision == "ask"
    assert rules(asks()) == decision


def test_the_whole_call_of_a_request() -> None:
    """A request of version 1 may leave out what the agent has said before."""
    known = v1.ToolCall(tool_call_id=v1.ToolCallId("t"), title="ls", kind=v1.ToolKind.READ)
    plain = aio.Rules[Any]([aio.Rule(decide="allow_once", kind="read")])
    told = aio.Rules[Any]([aio.Rule(decide="allow_once", kind="read")], call_of=lambda _: known)
    assert plain.judge(asks(None)).decision == "ask"
    assert told.judge(asks(None)).decision == "allow_once"


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({"decide": "allow"}, "rule 1: `decide` is 'allow': use one of allow_once, "),
        ({"kind": "reed"}, "rule 1: unknown kind 'reed': use one of read, edit, "),
        ({"kind": []}, "rule 1: `kind` must be a text or a list of texts, none of them empty"),
        ({"tool": [""]}, "rule 1: `tool` must be"),
        ({"command": 5}, "rule 1: `command` must be"),
        ({"path": "/etc"}, "rule 1: `path` '/etc' is not relative"),
        ({"path": "C:/x"}, "rule 1: `path` 'C:/x' is not relative"),
        ({"path": "~/x"}, "rule 1: `path` '~/x' is not relative"),
        ({"path": "src\\**"}, "has a backslash: write / between folders"),
        ({"path": "a/../b"}, "has the part '..', which no path below the root has"),
        ({"path": "./a"}, "has the part '.'"),
        ({"path": "a/"}, "has the part ''"),
        ({"path": "a**"}, r"has 'a\*\*': \*\* stands alone"),
        ({"command": "ls | wc"}, r"`command` 'ls \| wc' is not one plain command: it has '\|', which the shell"),
        ({"command": "a && b"}, "is not one plain command"),
        ({"command": "X=1 ls"}, "it begins with an assignment"),
        ({"command": "ls 'a"}, "a quotation mark is not closed"),
        ({"command": "ls a**"}, r"\*\* is a word of its own"),
        ({"command": "  "}, "it names no program"),
        ({"outside": True}, "`outside` can only reject or ask"),
        ({"kind": ["read", "execute"], "path": "**"}, "`path` does not say what execute does: add `command` or `tool`"),
    ],
)
def test_rules_that_cannot_be_used(rule: dict[str, Any], problem: str) -> None:
    given: dict[str, Any] = {"decide": "allow_once", **rule}
    with pytest.raises(aio.RulesError, match=problem):
        aio.Rules[Any]([aio.Rule(**given)], root="/")


def test_other_faults() -> None:
    wrong: Any = "allow"
    with pytest.raises(aio.RulesError, match="`otherwise` is 'allow'"):
        aio.Rules[Any]([], otherwise=wrong)
    with pytest.raises(ValueError, match="'allow' is not a decision"):
        aio.Rules[Any]([], ask=wrong)
    for rule in (aio.Rule(decide="ask", path="a"), aio.Rule(decide="ask", outside=True)):
        with pytest.raises(aio.RulesError, match="rule 2: `path` and `outside` need a root folder"):
            aio.Rules[Any]([aio.Rule(decide="ask"), rule])


def test_an_explanation_is_one_line_whatever_the_agent_says() -> None:
    hostile = "rm \x1b[2J\n\u202e" + "x" * 5000
    rules = aio.Rules[Any](
        [aio.Rule(decide="reject_once", command="rm **", path="x"), aio.Rule(decide="ask")], root="/"
    )
    verdict = rules.judge(runs(hostile, path=hostile))
    for text in (verdict.why, *verdict.passed):
        assert text.isprintable()
        assert len(text) < 600


@given(raw=JSON, kind=st.sampled_from([None, "read", "execute"]), paths=st.lists(st.text(max_size=6), max_size=3))
def test_any_input_has_a_verdict(raw: Any, kind: str | None, paths: list[str]) -> None:
    rules = aio.Rules[Any](
        [
            aio.Rule(decide="reject_once", command="rm **"),
            aio.Rule(decide="reject_once", path="secret/**"),
            aio.Rule(decide="allow_once", command="ls **"),
            aio.Rule(decide="allow_once", path="src/**"),
            aio.Rule(decide="ask", outside=True),
        ],
        root="/project",
    )
    verdict = rules.judge(asks(kind, *paths, raw=raw))
    assert verdict.why
    if verdict.decision == "allow_once":
        assert kind == "execute" or all(path.startswith("/") for path in paths)


def test_input_that_is_too_large_is_not_allowed_and_not_passed_over() -> None:
    allow, reject = aio.Rule(decide="allow_once", path="**"), aio.Rule(decide="reject_once", path="secret")
    many = asks("edit", "/project/a", raw={"paths": [f"/project/{n}" for n in range(2000)]})
    deep = asks("edit", "/project/a", raw=[[]] * 20_000)
    wide = asks("edit", *[f"/project/{n}" for n in range(2000)])
    for request in (many, deep, wide):
        assert aio.Rules[Any]([allow], root="/project").judge(request).decision == "ask"
        assert aio.Rules[Any]([reject, aio.Rule(decide="allow_once")], root="/project").judge(request).number == 1
    long = runs("ls " + "x" * 100_000)
    assert aio.Rules[Any]([aio.Rule(decide="allow_once", command="ls **")]).judge(long).decision == "ask"
    assert (
        aio.Rules[Any]([aio.Rule(decide="reject_once", command="rm"), aio.Rule(decide="allow_once")]).judge(long).number
        == 1
    )
