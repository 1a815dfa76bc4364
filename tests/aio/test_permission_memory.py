"""Decisions for always: for which requests they are remembered, and for how long."""

import gc
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1

from tests.aio.permissions import SESSION, Asked, request, run_it
from tests.aio.support import run


def test_always_is_remembered_for_the_same_thing_in_the_same_session() -> None:
    answers: list[aio.Decision | None] = []
    asked: list[str | None] = []

    def policy(request: v1.RequestPermissionRequest) -> aio.Decision | None:
        asked.append(request.tool_call.title)
        return answers.pop(0)

    async def turn() -> None:
        permissions = aio.Permissions(policy, remember=True)
        answers[:] = ["allow_always", "reject_always", "allow_once", "reject_once", "reject_once", "reject_once"]
        assert await permissions.decide(request("ls"), SESSION) == "allow_always"
        assert await permissions.decide(request("rm"), SESSION) == "reject_always"
        for _ in range(3):
            assert await permissions.decide(request("ls"), SESSION) == "allow_always"
            assert await permissions.decide(request("rm"), SESSION) == "reject_always"
        assert asked == ["ls", "rm"]
        # Another kind, another session and "once" are other things; without raw input nothing is the same.
        assert await permissions.decide(request("ls", kind=v1.ToolKind.READ), SESSION) == "allow_once"
        assert await permissions.decide(request("ls"), v1.SessionId("other")) == "reject_once"
        assert await permissions.decide(request("ls"), v1.SessionId("other")) == "reject_once"
        answers[:] = ["allow_always", "reject_once"]
        assert await permissions.decide(request(raw=None), SESSION) == "allow_always"
        assert await permissions.decide(request(raw=None), SESSION) == "reject_once"
        answers[:] = ["reject_once"]
        permissions.forget(SESSION)
        assert await permissions.decide(request("ls"), SESSION) == "reject_once"
        answers[:] = ["allow_always", "reject_once"]
        assert await permissions.decide(request("ls"), SESSION) == "allow_always"
        permissions.forget()
        assert await permissions.decide(request("ls"), SESSION) == "reject_once"
        # Without being told to, nothing is remembered.
        answers[:] = ["allow_always", "reject_once"]
        forgetful = aio.Permissions(policy)
        assert await forgetful.decide(request("ls"), SESSION) == "allow_always"
        assert await forgetful.decide(request("ls"), SESSION) == "reject_once"
        # What the same thing is can be said.
        answers[:] = ["allow_always"]
        by_kind = aio.Permissions(policy, remember=True, key=lambda asked: asked.tool_call.kind)
        assert await by_kind.decide(request("ls"), SESSION) == "allow_always"
        assert await by_kind.decide(request("rm"), SESSION) == "allow_always"

    run(turn())


def test_memory_has_a_bound() -> None:
    async def turn() -> None:
        asked: list[int] = []

        def policy(request: v1.RequestPermissionRequest) -> aio.Decision:
            asked.append(1)
            return "allow_always"

        permissions = aio.Permissions(policy, remember=True)
        for number in range(1001):
            await permissions.decide(request(str(number)), SESSION)
        await permissions.decide(request("1000"), SESSION)
        assert len(asked) == 1001
        await permissions.decide(request("0"), SESSION)
        assert len(asked) == 1002

    run(turn())


def places(*paths: str, line: int | None = None) -> list[v1.ToolCallLocation]:
    return [v1.ToolCallLocation(path=path, line=line) for path in paths]


def texts(*said: str) -> list[v1.ToolCallContent]:
    return [v1.Content(content=v1.TextContent(text=text)) for text in said]


def diff(new: str) -> list[v1.ToolCallContent]:
    return [v1.Diff(path="/a", new_text=new)]


OTHERS: list[dict[str, Any]] = [
    {"raw": {"command": "rm -rf /"}},
    {"raw": {"command": "ls", "cwd": "/"}},
    {"raw": ["ls"]},
    {"raw": "ls"},
    {"raw": {"command": "ls", "n": True}},
    {"raw": {"command": "ls", "n": 1}},
    {"raw": {"command": "ls", "n": 1.0}},
    {"raw": {"command": "ls", "n": "1"}},
    {"raw": {"command": "ls", "n": None}},
    {"raw": {"command": ["ls"]}},
    {"locations": places("/etc")},
    {"locations": places("/etc", line=2)},
    {"locations": places("/etc", "/home")},
    {"locations": places("/home", "/etc")},
    {"content": texts("ls")},
    {"content": texts("rm -rf /")},
    {"content": diff("a")},
    {"content": diff("b")},
    {"content": [v1.Terminal(terminal_id=v1.TerminalId("t"))]},
    {"kind": v1.ToolKind.READ},
    {"kind": None},
    {"title": "Run something else"},
    {"title": None},
    {"meta": {"toolName": "rm"}},
]


def test_a_consent_is_for_one_action_only() -> None:
    async def turn() -> None:
        policy = Asked()
        permissions = aio.Permissions[v1.RequestPermissionRequest](policy, remember=True)
        for count, changes in enumerate([{}, *OTHERS]):
            for call_id in ("1", "2"):
                await permissions.decide(run_it(call_id=call_id, **changes), SESSION)
                assert policy.count == count + 1, changes

    run(turn())


def test_the_same_json_is_the_same() -> None:
    async def turn() -> None:
        policy = Asked()
        permissions = aio.Permissions[v1.RequestPermissionRequest](policy, remember=True)
        one = {"command": "ls", "env": {"A": [1, {"x": 1, "y": 2}], "B": "2"}}
        other = {"env": {"B": "2", "A": [1, {"y": 2, "x": 1}]}, "command": "ls"}
        await permissions.decide(run_it(raw=one, meta={"traceparent": "1"}), SESSION)
        await permissions.decide(run_it(raw=other, meta={"traceparent": "2"}), SESSION)
        assert policy.count == 1
        other["env"]["A"][1]["x"] = 2  # type: ignore[index]
        await permissions.decide(run_it(raw=other), SESSION)
        assert policy.count == 2

    run(turn())


@pytest.mark.parametrize(
    "changes",
    [
        {"raw": None},
        {"raw": {}},
        {"raw": []},
        {"raw": ""},
        {"raw": None, "content": [], "locations": []},
        {"raw": {}, "locations": places("/home")},
        {"raw": None, "kind": None, "locations": places("/home")},
        {"raw": None, "kind": v1.ToolKind.OTHER, "locations": places("/home")},
        {"raw": "\ud800"},
    ],
)
def test_what_does_not_say_what_it_does_is_asked_about_each_time(changes: dict[str, Any]) -> None:
    async def turn() -> None:
        policy = Asked()
        permissions = aio.Permissions[v1.RequestPermissionRequest](policy, remember=True)
        for _ in range(2):
            assert await permissions.decide(run_it(**changes), SESSION) == "allow_always"
        assert policy.count == 2

    run(turn())


@pytest.mark.parametrize(
    "changes",
    [
        {"raw": None, "content": texts("ls")},
        {"raw": None, "content": diff("a")},
        {"raw": None, "kind": v1.ToolKind.EDIT, "locations": places("/home")},
    ],
)
def test_content_or_the_files_say_enough(changes: dict[str, Any]) -> None:
    async def turn() -> None:
        policy = Asked()
        permissions = aio.Permissions[v1.RequestPermissionRequest](policy, remember=True)
        for _ in range(2):
            assert await permissions.decide(run_it(**changes), SESSION) == "allow_always"
        assert policy.count == 1

    run(turn())


def test_a_key_may_be_any_json() -> None:
    async def turn() -> None:
        policy = Asked()
        permissions = aio.Permissions(policy, remember=True, key=lambda asked: asked.tool_call.raw_input)
        mark = object()
        by_mark = aio.Permissions[v1.RequestPermissionRequest](policy, remember=True, key=lambda _: mark)
        for chosen in (permissions, by_mark):
            policy.count = 0
            for _ in range(2):
                await chosen.decide(run_it(raw={"a": [{}, 1]}), SESSION)
            assert policy.count == 1
        await permissions.decide(run_it(raw={"a": [{}, 2]}), SESSION)
        assert policy.count == 2

    run(turn())


class Remembering(aio.DecidesPermissions):
    def __init__(self, permissions: aio.Permissions[v1.RequestPermissionRequest]) -> None:
        self.permissions = permissions
        self.ended: list[str] = []

    def session_ended(self, session_id: str, /) -> None:
        self.ended.append(session_id)
        super().session_ended(session_id)


class Server(aio.Agent):
    refuses = False

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id=v1.SessionId(params.cwd))

    async def session_close(self, params: v1.CloseSessionRequest, /) -> v1.CloseSessionResponse:
        if self.refuses:
            raise acp.InvalidParams
        return v1.CloseSessionResponse()

    async def session_delete(self, params: v1.DeleteSessionRequest, /) -> v1.DeleteSessionResponse:
        return v1.DeleteSessionResponse()


@pytest.mark.parametrize("what", ["close", "refused close", "delete", "plain delete", "new", "connection"])
def test_what_is_remembered_ends_with_its_session(what: str) -> None:
    async def turn() -> None:
        policy = Asked()
        permissions = aio.Permissions[v1.RequestPermissionRequest](policy, remember=True)
        client = Remembering(permissions)
        server = Server()
        server.refuses = what == "refused close"
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, server) as agent, aio.ClientConnection(here, client) as connection:
            for session in ("s", "s", "other", "other"):
                await agent.session_request_permission(run_it(session=session))
            assert policy.count == 2
            match what:
                case "close":
                    await connection.session_close(v1.CloseSessionRequest(session_id=SESSION))
                case "refused close":
                    with pytest.raises(acp.InvalidParams):
                        await connection.session_close(v1.CloseSessionRequest(session_id=SESSION))
                case "delete":
                    await connection.session_delete(v1.DeleteSessionRequest(session_id=SESSION))
                case "plain delete":
                    await connection.call("session/delete", {"sessionId": "s"})
                case "new":  # an agent gives the id of an old session to a new one
                    await connection.session_new(v1.NewSessionRequest(cwd="s", mcp_servers=[]))
                case _:
                    await connection.close()
            if what != "connection":
                assert client.ended == ["s"]
                await agent.session_request_permission(run_it(session="other"))
                assert policy.count == 2
                await agent.session_request_permission(run_it(session="s"))
                assert policy.count == 3
        for session in (SESSION, v1.SessionId("other")):
            policy.count = 0
            await permissions.decide(run_it(), session, scope=client)
            assert policy.count == 1

    run(turn())


@pytest.mark.slow
def test_another_client_does_not_share_what_is_remembered() -> None:
    async def turn() -> None:
        policy = Asked()
        permissions = aio.Permissions[v1.RequestPermissionRequest](policy, remember=True)
        for count in range(3):
            client = Remembering(permissions)
            await client.session_request_permission(run_it())
            assert policy.count == count + 1
            del client
            gc.collect()  # another one may get its place in memory

    run(turn())


def test_an_answer_that_comes_after_the_end_of_its_session_is_not_remembered() -> None:
    async def turn() -> None:
        count = 0

        async def policy(_: v1.RequestPermissionRequest) -> aio.Decision:
            nonlocal count
            count += 1
            permissions.forget(SESSION)
            return "allow_always"

        permissions = aio.Permissions(policy, remember=True)
        for _ in range(2):
            await permissions.decide(run_it(), SESSION)
        assert count == 2

    run(turn())


@pytest.mark.parametrize("decision", ["allow_always", "reject_always"])
def test_what_the_agent_could_not_be_told_is_not_remembered(decision: aio.Decision) -> None:
    async def turn() -> None:
        policy = Asked(decision)
        permissions = aio.Permissions[v1.RequestPermissionRequest](policy, remember=True)
        verb, other = ("allow", "reject") if decision == "allow_always" else ("reject", "allow")
        for count, kinds in enumerate([(f"{other}_once",), (), (f"{verb}_once",), (f"{verb}_always",)]):
            assert await permissions.decide(run_it(kinds=kinds), SESSION) == decision
            assert policy.count == min(count + 1, 3)

    run(turn())


def test_sessions_that_an_agent_makes_up_have_a_bound() -> None:
    answers: Any = __import__("acp_msgspec.aio._services.remembered_answers", fromlist=["x"])

    async def turn() -> None:
        policy = Asked()
        permissions = aio.Permissions[v1.RequestPermissionRequest](policy, remember=True)
        for number in range(answers.SESSIONS + 10):
            await permissions.decide(run_it(), f"{number}" * 1000)
        known: Any = permissions
        assert len(known._remembered._sessions) == answers.SESSIONS
        assert all(len(str(key)) < 300 for key in known._remembered._sessions)

    run(turn())
