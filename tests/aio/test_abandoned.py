"""Prompts that the client gives up: the agent hears of it, and asks the user nothing more."""

import asyncio
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1, v2
from acp_msgspec.v2 import aio as v2_aio

from tests.aio.support import RawPeer, run

SESSION = v1.SessionId("s")
CANCEL = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}}


def prompt(session: str = "s") -> v1.PromptRequest:
    return v1.PromptRequest(session_id=v1.SessionId(session), prompt=[])


def question(number: int, session: str = "s") -> dict[str, Any]:
    option = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
    params = {"sessionId": session, "toolCall": {"toolCallId": "t"}, "options": [option]}
    return {"jsonrpc": "2.0", "id": number, "method": "session/request_permission", "params": params}


class User(aio.Client):
    """Allows what it is asked, at once or never."""

    def __init__(self, *, answers: bool) -> None:
        self.answers = answers
        self.asked = 0

    async def session_request_permission(self, params: v1.RequestPermissionRequest, /) -> v1.RequestPermissionResponse:
        self.asked += 1
        if not self.answers:
            await asyncio.sleep(3600)
        chosen = v1.SelectedPermissionOutcome(option_id=params.options[0].option_id)
        return v1.RequestPermissionResponse(outcome=chosen)


def outcome(message: Any) -> str:
    """Say how a question was answered."""
    found: str = message["result"]["outcome"]["outcome"]
    return found


async def given_up(client: aio.ClientConnection, how: str, params: v1.PromptRequest) -> None:
    """Send a prompt and give it up."""
    match how:
        case "timeout":
            with pytest.raises(TimeoutError):
                await client.session_prompt(params, timeout=0.01)
        case "wait_for":
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.session_prompt(params), 0.01)
        case "call":
            with pytest.raises(TimeoutError):
                await client.call("session/prompt", {"sessionId": params.session_id, "prompt": []}, timeout=0.01)
        case _:
            task = asyncio.ensure_future(client.session_prompt(params))
            await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.wait([task])


@pytest.mark.parametrize("how", ["timeout", "wait_for", "call", "cancel"])
def test_the_agent_is_told_to_cancel_the_turn(how: str) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with aio.ClientConnection(here, User(answers=False)) as client:
            await peer.send(question(7))  # outside of the turn, and under way when it is given up
            await given_up(client, how, prompt())
            assert (await peer.next())["method"] == "session/prompt"
            assert (await peer.next())["method"] == "$/cancel_request"
            assert await peer.next() == CANCEL
            assert outcome(await peer.next()) == "cancelled"

    run(turn())


def test_questions_of_a_turn_that_was_given_up_are_answered_until_it_ends() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer, user = RawPeer(there), User(answers=True)
        async with aio.ClientConnection(here, user) as client:
            await given_up(client, "timeout", prompt())
            sent = [await peer.next() for _ in range(3)]
            await peer.send(question(1), question(2, "other"))
            answers = {m["id"]: outcome(m) for m in (await peer.next(), await peer.next())}
            assert answers == {1: "cancelled", 2: "selected"}
            await peer.send({"jsonrpc": "2.0", "id": sent[0]["id"], "result": {"stopReason": "cancelled"}})
            await peer.send(question(3))  # the turn is over
            assert outcome(await peer.next()) == "selected"
            assert user.asked == 2

    run(turn())


def test_the_next_prompt_asks_again() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer, user = RawPeer(there), User(answers=True)
        async with aio.ClientConnection(here, user) as client:
            await given_up(client, "cancel", prompt())
            for _ in range(3):
                await peer.next()
            call = asyncio.ensure_future(client.session_prompt(prompt()))
            request = await peer.next()
            await peer.send(question(1))
            assert outcome(await peer.next()) == "selected"
            await peer.send({"jsonrpc": "2.0", "id": request["id"], "result": {"stopReason": "end_turn"}})
            assert (await call).stop_reason == v1.StopReason.END_TURN

    run(turn())


def test_one_of_two_prompts_ends_the_turn_of_its_session_alone() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with aio.ClientConnection(here, User(answers=True)) as client:
            other = asyncio.ensure_future(client.session_prompt(prompt("other")))
            request = await peer.next()
            await given_up(client, "cancel", prompt())
            assert [(await peer.next())["method"] for _ in range(2)] == ["session/prompt", "$/cancel_request"]
            assert await peer.next() == CANCEL
            await peer.send(question(1, "other"))
            assert outcome(await peer.next()) == "selected"
            await peer.send({"jsonrpc": "2.0", "id": request["id"], "result": {"stopReason": "end_turn"}})
            await other

    run(turn())


def test_a_prompt_that_was_answered_or_failed_is_not_cancelled() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with aio.ClientConnection(here, User(answers=True), on_problem=lambda _: None) as client:
            for body in ({"result": {"stopReason": "end_turn"}}, {"error": {"code": 1, "message": "m"}}, {}):
                task = asyncio.ensure_future(client.session_prompt(prompt()))
                request = await peer.next()
                await peer.send({"jsonrpc": "2.0", "id": request["id"], **body})
                await asyncio.wait([task])
                task.cancel()
            with pytest.raises(TypeError):
                await client.call("session/prompt", {"sessionId": 5}, timeout=0)
            await client.extension_notify("_x/end")
            assert (await peer.next())["method"] == "_x/end"

    run(turn())


def test_a_session_of_version_2_is_cancelled_until_it_is_idle() -> None:
    class Asked(v2_aio.Client):
        async def session_request_permission(
            self, params: v2.RequestPermissionRequest, /
        ) -> v2.RequestPermissionResponse:
            chosen = v2.SelectedPermissionOutcome(option_id=params.options[0].option_id)
            return v2.RequestPermissionResponse(outcome=chosen)

    option = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
    subject = {"type": "command", "command": "ls", "cwd": "/a"}
    params = {"sessionId": "s", "title": "t", "subject": subject, "options": [option]}
    ask = {"jsonrpc": "2.0", "method": "session/request_permission", "params": params}

    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with v2_aio.ClientConnection(here, Asked()) as client:
            with pytest.raises(TimeoutError):
                await client.session_prompt(v2.PromptRequest(session_id=v2.SessionId("s"), prompt=[]), timeout=0.01)
            assert [(await peer.next())["method"] for _ in range(2)] == ["session/prompt", "$/cancel_request"]
            assert await peer.next() == CANCEL
            await peer.send({**ask, "id": 1})
            assert outcome(await peer.next()) == "cancelled"
            idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "cancelled"}
            note = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": idle}}
            await peer.send(note, {**ask, "id": 2})
            assert outcome(await peer.next()) == "selected"

    run(turn())


def test_both_ends_of_ours_go_on_with_the_next_prompt_at_once() -> None:
    class Slow(aio.Agent):
        def __init__(self) -> None:
            self.cancelled: list[str] = []
            self.prompts = 0

        async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
            self.prompts += 1
            if self.prompts == 1:
                await asyncio.sleep(3600)
            return v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)

        async def session_cancel(self, params: v1.CancelNotification, /) -> None:
            self.cancelled.append(params.session_id)

    async def turn() -> None:
        here, there = aio.memory_pair()
        agent = Slow()
        async with aio.AgentConnection(there, agent), aio.ClientConnection(here) as client:
            with pytest.raises(TimeoutError):
                await client.session_prompt(prompt(), timeout=0.05)
            answer = await client.session_prompt(prompt(), timeout=5)
            assert answer.stop_reason == v1.StopReason.END_TURN
            assert agent.cancelled == ["s"]
            with pytest.raises(acp.MethodNotFound):
                await client.extension_call("_x", timeout=5)

    run(turn())


LATE = [
    b'{"jsonrpc":"2.0","id":1}',
    b'{"jsonrpc":"2.0","id":1,"method":"","result":{}}',
    b'{"id":1,"level":"info","msg":"x"}',
    b'{"jsonrpc":"2.0","id":1,"method":"_x/late","result":{}}',
    b'{"jsonrpc":"2.0","id":1,"method":"session/new","result":5}',
    b'{"jsonrpc":"2.0","id":1,"result":NaN}',
    b'{"jsonrpc":"2.0","id":1,"level":NaN}',
    b'{"jsonrpc":"2.0","id":1,"method":"","params":NaN}',
]


@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize("in_batch", [False, True])
def test_a_late_answer_of_any_form_is_never_answered(late: bytes, in_batch: bool) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with aio.ClientConnection(here, aio.Client(), on_problem=lambda _: None) as client:
            await given_up(client, "timeout", prompt())
            for _ in range(3):
                await peer.next()
            await peer.send(b"[%b]" % late if in_batch else late)
            # The peer may call with the same id for reasons of its own.
            await peer.send({"jsonrpc": "2.0", "id": 1, "method": "_x"})
            assert (await peer.next())["error"]["code"] == -32601
            assert client.closed is None
            await client.extension_notify("_x/end")
            assert (await peer.next())["method"] == "_x/end"

    run(turn())
