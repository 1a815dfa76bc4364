"""Params as plain JSON, for methods named as on the wire: they go through the same rules as objects do."""

import asyncio
import warnings
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1
from msgspec import Raw

from tests.aio.support import run
from tests.aio.test_turn_cancel import CANCELLED, END, User, Worker

TEXT = {"sessionId": "s", "prompt": [{"type": "text", "text": "hello"}], "extra": 1}
IMAGE = {"sessionId": "s", "prompt": [{"type": "image", "data": "", "mimeType": "image/png"}]}
MISMATCHES: list[Any] = [{"sessionId": 5, "prompt": []}, {}, [], None, "s", Raw(b'{"sessionId"'), object()]


class Quick(aio.Agent):
    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        return END


@pytest.mark.parametrize("params", [TEXT, Raw(b'{"sessionId":"s","prompt":[]}')])
def test_a_prompt(params: Any) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        sent: list[bytes] = []
        async with (
            aio.AgentConnection(there, Quick()),
            aio.ClientConnection(here, on_message=lambda _, data: sent.append(data)) as client,
        ):
            assert await client.call("session/prompt", params) == END
            assert params is not TEXT or b'"extra":1' in sent[0]  # it is sent as it was given

    run(turn())


@pytest.mark.parametrize("params", MISMATCHES)
@pytest.mark.parametrize("method", ["session/prompt", "session/close", "initialize"])
def test_what_does_not_fit_is_not_sent(method: str, params: Any) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        sent: list[bytes] = []
        async with (
            aio.AgentConnection(there, Quick()),
            aio.ClientConnection(here, on_message=lambda _, data: sent.append(data)) as client,
        ):
            with pytest.raises(TypeError):
                await client.call(method, params)
            assert not sent

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a coroutine that nobody awaits
        run(turn())


def test_what_does_not_fit_elsewhere_is_for_the_peer_to_refuse() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, Quick(), on_problem=lambda _: None), aio.ClientConnection(here) as client:
            with pytest.raises(acp.InvalidParams):
                await client.call("session/set_mode", {"sessionId": 4})

    run(turn())


def test_a_handshake_and_what_it_forbids() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, Quick()), aio.ClientConnection(here) as client:
            await client.call("initialize", {"protocolVersion": 1})
            assert client.handshake is not None
            assert client.handshake.request == v1.InitializeRequest(protocol_version=1)
            with pytest.raises(aio.NotAdvertised, match="image"):
                await client.call("session/prompt", IMAGE)
            assert await client.call("session/prompt", IMAGE, force=True) == END

    run(turn())


def test_a_cancellation() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        user = User()
        async with aio.AgentConnection(there, Worker), aio.ClientConnection(here, user) as client:
            call = asyncio.ensure_future(
                client.call("session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": "ask"}]})
            )
            await user.asked.wait()
            plain: Any = {"sessionId": "s"}
            await client.session_cancel(plain)
            assert await call == CANCELLED
            mismatch: Any = {}
            with pytest.raises(TypeError, match="session/cancel"):
                await client.session_cancel(mismatch)

    run(turn())
