"""Permission requests answered by kind, and what is remembered."""

from typing import Any, get_args

import pytest
from acp_msgspec import aio, v1, v2
from acp_msgspec.v2 import aio as v2_aio
from hypothesis import given
from hypothesis import strategies as st

from tests.aio_support import run

KINDS: tuple[aio.Decision, ...] = get_args(aio.Decision)
DECISIONS = [*KINDS, None]
SESSION = v1.SessionId("s")


def options(*kinds: str) -> list[v1.PermissionOption]:
    return [
        v1.PermissionOption(option_id=v1.PermissionOptionId(f"{kind} {n}"), name="", kind=v1.PermissionOptionKind(kind))
        for n, kind in enumerate(kinds)
    ]


def request(
    title: str | None = "rm x", *, kind: v1.ToolKind = v1.ToolKind.EXECUTE, session: str = "s", kinds: Any = KINDS
) -> v1.RequestPermissionRequest:
    call = v1.ToolCallUpdate(tool_call_id=v1.ToolCallId("t"), title=title, kind=kind)
    return v1.RequestPermissionRequest(session_id=v1.SessionId(session), tool_call=call, options=options(*kinds))


@pytest.mark.parametrize(
    ("decision", "offered", "chosen"),
    [
        ("allow_once", "reject_once allow_once allow_always", "allow_once"),
        ("allow_always", "allow_once allow_always", "allow_always"),
        ("allow_always", "reject_always allow_once", "allow_once"),
        ("reject_always", "allow_always reject_once", "reject_once"),
        ("allow_once", "allow_always reject_once", None),
        ("reject_once", "reject_always allow_once", None),
        ("reject_once", "allow_once", None),
        ("allow_always", "reject_once", None),
        (None, "allow_once reject_once", None),
        ("allow_once", "", None),
    ],
)
def test_the_option_of_a_decision(decision: str | None, offered: str, chosen: str | None) -> None:
    kinds = offered.split()
    assert aio.choose([(kind, kind) for kind in kinds], decision) == chosen


@given(st.lists(st.sampled_from([*KINDS, "_other"])), st.sampled_from(DECISIONS))
def test_a_choice_never_says_more_or_the_opposite(kinds: list[str], decision: str | None) -> None:
    chosen: int | None = aio.choose(list(enumerate(kinds)), decision)
    if chosen is None:
        assert decision not in kinds
    else:
        assert decision is not None
        taken = kinds[chosen]
        assert taken.split("_")[0] == decision.split("_")[0]
        assert taken == decision or taken.endswith("_once")
        assert chosen == kinds.index(taken)


def test_a_policy_that_is_none() -> None:
    wrong: Any = "allow"
    with pytest.raises(ValueError, match="'allow' is no decision: use one of allow_once, "):
        aio.Permissions(wrong)

    async def turn() -> None:
        with pytest.raises(ValueError, match="gave 'allow', which is no decision"):
            await aio.Permissions[Any](lambda _: wrong).decide(request(), SESSION)

    run(turn())


def test_policies() -> None:
    def by_title(asked: v1.RequestPermissionRequest) -> aio.Decision | None:
        return "allow_once" if asked.tool_call.title == "ls" else None

    async def later(asked: v1.RequestPermissionRequest) -> aio.Decision | None:
        return by_title(asked)

    async def turn() -> None:
        fixed = aio.Permissions[v1.RequestPermissionRequest]("reject_always")
        assert await fixed.decide(request(), SESSION) == "reject_always"
        for policy in (by_title, later):
            permissions = aio.Permissions(policy)
            assert await permissions.decide(request("ls"), SESSION) == "allow_once"
            assert await permissions.decide(request(), SESSION) is None

    run(turn())


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
        # Another kind, another session and "once" are other things; without a title nothing is the same.
        assert await permissions.decide(request("ls", kind=v1.ToolKind.READ), SESSION) == "allow_once"
        assert await permissions.decide(request("ls"), v1.SessionId("other")) == "reject_once"
        assert await permissions.decide(request("ls"), v1.SessionId("other")) == "reject_once"
        answers[:] = ["allow_always", "reject_once"]
        assert await permissions.decide(request(None), SESSION) == "allow_always"
        assert await permissions.decide(request(None), SESSION) == "reject_once"
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


def test_a_client_decides() -> None:
    class Client(aio.DecidesPermissions):
        permissions = aio.Permissions[v1.RequestPermissionRequest]("allow_always")

    async def turn() -> None:
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there) as agent, aio.ClientConnection(here, Client()):
            answer = await agent.session_request_permission(request(kinds=("reject_once", "allow_once")))
            assert isinstance(answer.outcome, v1.SelectedPermissionOutcome)
            assert answer.outcome.option_id == "allow_once 1"
            answer = await agent.session_request_permission(request(kinds=("reject_once",)))
            assert isinstance(answer.outcome, v1.RequestPermissionOutcomeCancelled)

    run(turn())


def test_a_client_of_the_second_version_decides() -> None:
    asked: list[str] = []

    async def policy(request: v2.RequestPermissionRequest) -> aio.Decision:
        asked.append(request.title)
        return "allow_always"

    class Client(v2_aio.DecidesPermissions):
        permissions = aio.Permissions(policy, remember=True)

    def about(subject: v2.RequestPermissionSubject | None) -> v2.RequestPermissionRequest:
        known = v2.PermissionOption(
            option_id=v2.PermissionOptionId("yes"), name="", kind=v2.PermissionOptionKind("allow_once")
        )
        other = v2.PermissionOption(
            option_id=v2.PermissionOptionId("odd"), name="", kind=v2.PermissionOptionKind("_later")
        )
        session = v2.SessionId("s")
        return v2.RequestPermissionRequest(session_id=session, title="?", subject=subject, options=[other, known])

    async def turn() -> None:
        here, there = aio.memory_pair()
        call = v2.ToolCallUpdate(tool_call_id=v2.ToolCallId("t"), title="edit")
        command = v2.CommandPermissionSubject(command="ls", cwd=v2.AbsolutePath("/"))
        elsewhere = v2.CommandPermissionSubject(command="ls", cwd=v2.AbsolutePath("/home"))
        async with v2_aio.AgentConnection(there) as agent, v2_aio.ClientConnection(here, Client()):
            for subject in (v2.ToolCallPermissionSubject(tool_call=call), command, elsewhere, None):
                for _ in range(2):
                    answer = await agent.session_request_permission(about(subject))
                    assert isinstance(answer.outcome, v2.SelectedPermissionOutcome)
                    assert answer.outcome.option_id == "yes"
        assert len(asked) == 5  # what has no subject is asked each time

    run(turn())
