"""`session/close`: it cancels the session's turn first, at either end."""

import asyncio
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1

from tests.aio.support import RawPeer, run
from tests.aio.test_turn_cancel import (
    CANCELLED,
    DENIED,
    END,
    OTHER,
    SELECTED,
    SESSION,
    User,
    Worker,
    permission,
    prompt,
)

CLOSE = v1.CloseSessionRequest(session_id=SESSION)
CLOSED = v1.CloseSessionResponse()


class Closing(Worker):
    async def session_close(self, params: v1.CloseSessionRequest, /) -> v1.CloseSessionResponse:
        self.log.append("closed")
        return CLOSED


class Gentle(Closing):
    cancels_turns = False


class Refusing(Worker):
    async def session_close(self, params: v1.CloseSessionRequest, /) -> v1.CloseSessionResponse:
        raise acp.ResourceNotFound


@pytest.mark.parametrize("how", ["wait", "raise", "refuse", "finish"])
def test_the_turn_ends_before_the_session_is_closed(how: str) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, Closing, on_problem=lambda _: None) as agent:
            worker = agent.handler
            assert isinstance(worker, Worker)
            async with aio.ClientConnection(here) as client:
                call = asyncio.ensure_future(client.session_prompt(prompt(how)))
                other = asyncio.ensure_future(client.session_prompt(prompt("wait", OTHER)))
                await worker.begun.wait()
                assert await client.session_close(CLOSE) == CLOSED
                assert call.done()
                assert call.result() == (END if how == "finish" else CANCELLED)
                assert worker.log == ["cancelled", "closed"]
                assert not other.done()
                assert await client.session_close(CLOSE) == CLOSED  # nothing runs any more
                other.cancel()

    run(turn())


@pytest.mark.parametrize("kind", [Worker, Gentle])
def test_a_turn_goes_on_where_closing_does_not_end_it(kind: type[Worker]) -> None:
    """An agent that does not close sessions, and one that ends its turns by itself."""

    async def turn() -> None:
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, kind) as agent, aio.ClientConnection(here) as client:
            worker = agent.handler
            assert isinstance(worker, Worker)
            call = asyncio.ensure_future(client.session_prompt(prompt("wait")))
            await worker.begun.wait()
            closing: Any = client.session_close(CLOSE)
            if kind is Gentle:
                assert await closing == CLOSED
            else:
                with pytest.raises(acp.MethodNotFound):
                    await closing
            await asyncio.sleep(0.01)
            assert not call.done()
            assert "cancelled" not in worker.log
            call.cancel()

    run(turn())


def test_a_turn_that_does_not_end_does_not_keep_the_session_open(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stubborn(Closing):
        release = asyncio.Event()

        async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
            self.begun.set()
            while not self.release.is_set():
                try:
                    await self.release.wait()
                except asyncio.CancelledError:
                    self.log.append("ignored")
            return END

    monkeypatch.setattr("acp_msgspec.aio._session.turns.PATIENCE", 0.05)

    async def turn() -> None:
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, Stubborn) as agent, aio.ClientConnection(here) as client:
            worker = agent.handler
            assert isinstance(worker, Stubborn)
            call = asyncio.ensure_future(client.session_prompt(prompt("wait")))
            await worker.begun.wait()
            assert await client.session_close(CLOSE) == CLOSED
            assert not call.done()
            worker.release.set()
            assert await call == END

    run(turn())


def test_the_client_answers_what_the_closed_session_asks() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        user = User()
        async with aio.AgentConnection(there, Closing) as agent, aio.ClientConnection(here, user) as client:
            worker = agent.handler
            assert isinstance(worker, Worker)
            call = asyncio.ensure_future(client.session_prompt(prompt("ask")))
            await user.asked.wait()
            closing = asyncio.ensure_future(client.session_close(CLOSE))
            assert await closing == CLOSED
            assert user.log == ["put away"]
            assert (await call) in (END, CANCELLED)

    run(turn())


def test_questions_are_asked_again_where_the_agent_refuses_to_close() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        user = User()
        user.decide.set()
        async with aio.AgentConnection(there, Refusing) as agent, aio.ClientConnection(here, user) as client:
            with pytest.raises(acp.ResourceNotFound):
                await client.session_close(CLOSE)
            assert await agent.session_request_permission(permission()) == SELECTED

    run(turn())


def test_questions_that_come_while_the_session_closes() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with aio.ClientConnection(here, User()) as client:
            call = asyncio.ensure_future(client.session_prompt(prompt("x")))
            assert (await peer.next())["method"] == "session/prompt"
            closing = asyncio.ensure_future(client.session_close(CLOSE))
            assert (await peer.next())["method"] == "session/close"
            ask = v1.RequestPermissionRequestMessage(id="p", params=permission())
            await peer.send(acp.encode(ask))
            assert (await peer.next())["result"] == acp.to_builtins(DENIED)
            await peer.send(
                {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "cancelled"}},
                {"jsonrpc": "2.0", "id": 2, "result": {}},
            )
            assert await closing == CLOSED
            assert await call == CANCELLED

    run(turn())
