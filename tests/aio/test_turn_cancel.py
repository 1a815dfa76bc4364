"""`session/cancel`: the turn ends as cancelled at the agent, and the client's questions with it."""

import asyncio
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1, v2
from acp_msgspec.v2 import aio as v2_aio
from msgspec import Raw

from tests.aio.support import RawPeer, run
from tests.from_schema import idle, least

SESSION, OTHER = v1.SessionId("s"), v1.SessionId("other")
CANCELLED = v1.PromptResponse(stop_reason=v1.StopReason.CANCELLED)
END = v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)
OPTION = v1.PermissionOption(
    option_id=v1.PermissionOptionId("yes"), name="Yes", kind=v1.PermissionOptionKind.ALLOW_ONCE
)
SELECTED = v1.RequestPermissionResponse(outcome=v1.SelectedPermissionOutcome(option_id=OPTION.option_id))
DENIED = v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled())


def prompt(text: str, session: v1.SessionId = SESSION) -> v1.PromptRequest:
    return v1.PromptRequest(session_id=session, prompt=[v1.TextContent(text=text)])


def cancel(session: v1.SessionId = SESSION) -> v1.CancelNotification:
    return v1.CancelNotification(session_id=session)


def permission(session: v1.SessionId = SESSION) -> v1.RequestPermissionRequest:
    call = v1.ToolCallUpdate(tool_call_id=v1.ToolCallId("t"))
    return v1.RequestPermissionRequest(session_id=session, tool_call=call, options=[OPTION])


class Worker(aio.Agent):
    """Works until it is cancelled, and takes that in several ways."""

    def __init__(self, client: aio.AgentConnection) -> None:
        self.client = client
        self.begun = asyncio.Event()
        self.log: list[str] = []
        self.outcomes: list[Any] = []

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        (block,) = params.prompt
        assert isinstance(block, v1.TextContent)
        self.begun.set()
        match block.text:
            case "fail":
                raise LookupError("failed")
            case "ask":
                self.outcomes.append(await self.client.session_request_permission(permission()))
                return END
            case "ask again":
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    # What is asked on the way out is answered, too.
                    self.outcomes.append(await self.client.session_request_permission(permission()))
                    raise
            case _:
                pass
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            self.log.append("cancelled")
            match block.text:
                case "raise":
                    raise LookupError("on the way out") from None
                case "refuse":
                    raise acp.RequestError("no") from None
                case "finish":
                    return END
                case _:
                    raise
        return END

    async def extension_request(self, method: str, params: Raw, /) -> Any:
        return await self.client.session_request_permission(permission())


class Cancelling(Worker):
    async def session_cancel(self, params: v1.CancelNotification, /) -> None:
        self.log.append(f"cancel {params.session_id}")


class User(aio.Client):
    """Is slow to decide."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.decide = asyncio.Event()
        self.stubborn = False
        self.log: list[str] = []

    async def session_request_permission(self, params: v1.RequestPermissionRequest, /) -> v1.RequestPermissionResponse:
        self.asked.set()
        try:
            await self.decide.wait()
        except asyncio.CancelledError:
            self.log.append("put away")
            if not self.stubborn:
                raise
        return SELECTED


@pytest.mark.parametrize("kind", [Worker, Cancelling])
@pytest.mark.parametrize("how", ["wait", "raise", "refuse", "finish"])
def test_a_cancelled_turn_ends_as_cancelled(how: str, kind: type[Worker]) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        problems: list[aio.Problem] = []
        async with (
            aio.AgentConnection(there, kind, on_problem=problems.append) as agent,
            aio.ClientConnection(here) as client,
        ):
            worker = agent.handler
            assert isinstance(worker, Worker)
            call = asyncio.ensure_future(client.session_prompt(prompt(how)))
            await worker.begun.wait()
            await client.session_cancel(cancel(OTHER))  # of another session
            await asyncio.sleep(0.01)
            assert not call.done()
            await client.notify(cancel())
            assert await call == (END if how == "finish" else CANCELLED)
            assert worker.log[-1] == "cancelled"
            assert ("cancel s" in worker.log) is (kind is Cancelling)
            assert [p.kind for p in problems] == ([aio.ProblemKind.HANDLER] if how in ("raise", "refuse") else [])
            # The task is as good as new for the next turn, and late cancellations harm nobody.
            await client.session_cancel(cancel())
            worker.begun.clear()
            again = asyncio.ensure_future(client.session_prompt(prompt("wait")))
            await worker.begun.wait()
            await client.session_cancel(cancel())
            await client.session_cancel(cancel())
            assert await again == CANCELLED

    run(turn())


def test_what_is_raised_without_a_cancellation_stays_an_error() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        problems: list[aio.Problem] = []
        async with (
            aio.AgentConnection(there, Worker, on_problem=problems.append) as agent,
            aio.ClientConnection(here) as client,
        ):
            with pytest.raises(acp.InternalError):
                await client.session_prompt(prompt("fail"))
            # The request alone is cancelled: an error, and no turn that ended.
            worker = agent.handler
            assert isinstance(worker, Worker)
            peer_call = asyncio.ensure_future(client.session_prompt(prompt("wait")))
            worker.begun.clear()
            await worker.begun.wait()
            await client.cancel_request(v1.CancelRequestNotification(request_id=2))
            with pytest.raises(acp.RequestCancelled):
                await peer_call

    run(turn())


def test_an_agent_may_end_its_turns_by_itself() -> None:
    class Gentle(Worker):
        cancels_turns = False

        def __init__(self, client: aio.AgentConnection) -> None:
            super().__init__(client)
            self.stop = asyncio.Event()

        async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
            self.begun.set()
            await self.stop.wait()
            raise LookupError("stopped")

        async def session_cancel(self, params: v1.CancelNotification, /) -> None:
            self.log.append("asked to stop")

    async def turn() -> None:
        here, there = aio.memory_pair()
        async with (
            aio.AgentConnection(there, Gentle, on_problem=lambda _: None) as agent,
            aio.ClientConnection(here) as client,
        ):
            worker = agent.handler
            assert isinstance(worker, Gentle)
            call = asyncio.ensure_future(client.session_prompt(prompt("")))
            await worker.begun.wait()
            await client.session_cancel(cancel())
            await asyncio.sleep(0.01)
            assert worker.log == ["asked to stop"]
            assert not call.done()
            worker.stop.set()
            assert await call == CANCELLED

    run(turn())


@pytest.mark.parametrize("stubborn", [False, True])
def test_cancelling_answers_what_the_user_was_asked(stubborn: bool) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer, user = RawPeer(there), User()
        user.stubborn = stubborn
        ask = {"jsonrpc": "2.0", "method": "session/request_permission"}

        async def question(number: int, session: str) -> None:
            params: dict[str, Any] = {"sessionId": session, "toolCall": {"toolCallId": "t"}, "options": []}
            await peer.send({**ask, "id": number, "params": params})

        async with aio.ClientConnection(here, user) as client:
            call = asyncio.ensure_future(client.session_prompt(prompt("")))
            assert (await peer.next())["method"] == "session/prompt"
            await question(1, "s")
            await user.asked.wait()
            await question(2, "other")
            await client.session_cancel(cancel())
            # First the cancellation, then its consequences.
            assert (await peer.next())["method"] == "session/cancel"
            cancelled = {"outcome": {"outcome": "cancelled"}}
            assert await peer.next() == {"jsonrpc": "2.0", "id": 1, "result": cancelled}
            assert user.log == ["put away"]
            # The turn goes on until it is answered, and what it still asks is not shown to anybody.
            user.asked.clear()
            await question(3, "s")
            assert await peer.next() == {"jsonrpc": "2.0", "id": 3, "result": cancelled}
            assert not user.asked.is_set()
            await peer.send({"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "cancelled"}})
            assert await call == CANCELLED
            # The next turn asks anew.
            user.decide.set()
            again = asyncio.ensure_future(client.session_prompt(prompt("")))
            assert (await peer.next())["id"] == 2  # the question of the other session
            assert (await peer.next())["method"] == "session/prompt"
            await question(4, "s")
            answer = await peer.next()
            assert (answer["id"], answer["result"]["outcome"]["outcome"]) == (4, "selected")
            await peer.send({"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}})
            assert await again == END

    run(turn())


@pytest.mark.parametrize("text", ["ask", "ask again"])
def test_both_ends_cancel_a_turn_together(text: str) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        user = User()
        async with aio.AgentConnection(there, Worker) as agent, aio.ClientConnection(here, user) as client:
            worker = agent.handler
            assert isinstance(worker, Worker)
            call = asyncio.ensure_future(client.session_prompt(prompt(text)))
            await (user.asked if text == "ask" else worker.begun).wait()
            await client.session_cancel(cancel())
            assert await call == CANCELLED
            assert worker.outcomes == ([] if text == "ask" else [DENIED])
            # Outside of a turn a cancellation answers what is pending, and nothing later.
            user.asked.clear()
            asking = asyncio.ensure_future(client.extension_call("_ask"))
            await user.asked.wait()
            await client.session_cancel(cancel())
            assert b"cancelled" in bytes(await asking)
            user.decide.set()
            assert b"selected" in bytes(await client.extension_call("_ask"))

    run(turn())


def test_a_question_that_the_agent_takes_back_is_no_cancelled_turn() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        user = User()
        async with aio.AgentConnection(there) as agent, aio.ClientConnection(here, user):
            with pytest.raises(TimeoutError):
                await agent.session_request_permission(permission(), timeout=0.02)
            await asyncio.sleep(0.01)
            assert user.log == ["put away"]

    run(turn())


def test_the_second_version_ends_turns_with_an_update() -> None:
    ask = least(v2.RequestPermissionRequest, sessionId="s")
    ended = v2.UpdateSessionNotification(session_id=v2.SessionId("s"), update=idle("v2", "cancelled"))

    class User2(v2_aio.Client):
        def __init__(self) -> None:
            self.asked = asyncio.Event()
            self.decide = asyncio.Event()
            self.updates: list[Any] = []

        async def session_request_permission(
            self, params: v2.RequestPermissionRequest, /
        ) -> v2.RequestPermissionResponse:
            self.asked.set()
            await self.decide.wait()
            chosen = v2.SelectedPermissionOutcome(option_id=v2.PermissionOptionId("x"))
            return v2.RequestPermissionResponse(outcome=chosen)

        async def session_update(self, params: v2.UpdateSessionNotification, /) -> None:
            self.updates.append(params.update)

    async def turn() -> None:
        here, there = aio.memory_pair()
        user = User2()
        denied = acp.convert({"outcome": {"outcome": "cancelled"}}, type=v2.RequestPermissionResponse)
        async with v2_aio.AgentConnection(there) as agent, v2_aio.ClientConnection(here, user) as client:
            asking = asyncio.ensure_future(agent.session_request_permission(ask))
            await user.asked.wait()
            await client.session_cancel(v2.CancelSessionNotification(session_id=v2.SessionId("s")))
            assert await asking == denied
            assert await agent.session_request_permission(ask) == denied
            await agent.session_update(ended)
            user.decide.set()
            assert await agent.session_request_permission(ask) != denied
            assert user.updates == [ended.update]

    run(turn())
