"""Permission requests answered by kind, and what is remembered."""

from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1, v2
from acp_msgspec.v2 import aio as v2_aio
from hypothesis import given
from hypothesis import strategies as st

from tests.aio.permissions import KINDS, RAW, SESSION, Asked, options, request, run_it
from tests.aio.support import run

DECISIONS = [*KINDS, None]


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
        call = v2.ToolCallUpdate(tool_call_id=v2.ToolCallId("t"), title="edit", raw_input=RAW)
        vague = v2.ToolCallUpdate(tool_call_id=v2.ToolCallId("t"), title="edit")
        command = v2.CommandPermissionSubject(command="ls", cwd=v2.AbsolutePath("/"))
        elsewhere = v2.CommandPermissionSubject(command="ls", cwd=v2.AbsolutePath("/home"))
        unclear = v2.ToolCallPermissionSubject(tool_call=vague)
        async with v2_aio.AgentConnection(there) as agent, v2_aio.ClientConnection(here, Client()):
            for subject in (v2.ToolCallPermissionSubject(tool_call=call), command, elsewhere, None, unclear):
                for _ in range(2):
                    answer = await agent.session_request_permission(about(subject))
                    assert isinstance(answer.outcome, v2.SelectedPermissionOutcome)
                    assert answer.outcome.option_id == "yes"
        assert len(asked) == 7  # what does not say what is done is asked each time

    run(turn())


TWICE = ("allow_once", "allow_once", "allow_always", "allow_always", "reject_once", "reject_always")


@pytest.mark.parametrize("number", range(len(TWICE)))
@pytest.mark.parametrize("by_id", [True, False])
def test_a_policy_chooses_an_option_itself(number: int, by_id: bool) -> None:
    class Client(aio.DecidesPermissions):
        def __init__(self) -> None:
            self.count = 0
            self.permissions = aio.Permissions(self.policy, remember=True)

        async def policy(self, asked: v1.RequestPermissionRequest) -> aio.Chosen | v1.PermissionOption:
            self.count += 1
            chosen = asked.options[number]
            return aio.Chosen(chosen.option_id) if by_id else chosen

    async def turn() -> None:
        here, there = aio.memory_pair()
        client = Client()
        async with aio.AgentConnection(there) as agent, aio.ClientConnection(here, client):
            for _ in range(2):
                answer = await agent.session_request_permission(run_it(kinds=TWICE))
                assert isinstance(answer.outcome, v1.SelectedPermissionOutcome)
                assert answer.outcome.option_id == f"{TWICE[number]} {number}"
            assert client.count == (1 if TWICE[number].endswith("_always") else 2)

    run(turn())


def test_an_option_for_always_is_taken_again_only_where_the_same_one_is_offered() -> None:
    async def turn() -> None:
        policy = Asked(aio.Chosen("allow_always 0"))
        permissions = aio.Permissions[v1.RequestPermissionRequest](policy, remember=True)
        asked = run_it(kinds=("allow_always", "allow_once"))
        for _ in range(2):
            assert await permissions.decide(asked, SESSION) == aio.Chosen("allow_always 0")
        assert policy.count == 1
        asked.options[0].name = "Always allow everything"
        await permissions.decide(asked, SESSION)
        assert policy.count == 2
        # Of two options with one id nobody knows which one the agent means.
        asked.options[1].option_id = asked.options[0].option_id
        for count in (3, 4):
            await permissions.decide(asked, SESSION)
            assert policy.count == count
        policy.answer = "allow_once"
        assert await permissions.decide(run_it(kinds=("allow_once",)), SESSION) == "allow_once"

    run(turn())


@pytest.mark.parametrize(
    "answer", [aio.Chosen("allow"), aio.Chosen("allow_once"), *options("allow_always"), 1, "allow"]
)
def test_an_option_of_another_request_is_refused(answer: Any) -> None:
    class Client(aio.DecidesPermissions):
        permissions = aio.Permissions[v1.RequestPermissionRequest](Asked(answer), remember=True)

    problems: list[aio.Problem] = []

    async def turn() -> None:
        here, there = aio.memory_pair()
        client = aio.ClientConnection(here, Client(), on_problem=problems.append)
        async with aio.AgentConnection(there) as agent, client:
            with pytest.raises(acp.InternalError):
                await agent.session_request_permission(run_it(kinds=("allow_once", "reject_once")))
        assert [(p.kind, type(p.error)) for p in problems] == [(aio.ProblemKind.HANDLER, ValueError)]

    run(turn())
