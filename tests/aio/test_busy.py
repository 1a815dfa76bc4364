"""Two ends that send much in both directions at once: nothing waits for ever."""

import asyncio
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio
from msgspec import Raw

from tests.aio.support import RawPeer, run


class Answering(aio.Agent):
    async def extension_request(self, method: str, params: Raw, /) -> str:
        return method


class Echoing(aio.Client):
    async def extension_request(self, method: str, params: Raw, /) -> str:
        return method

    async def extension_notification(self, method: str, params: Raw, /) -> None:
        await asyncio.sleep(0)


def quiet(_: aio.Problem) -> None:
    pass


def test_an_answer_is_not_kept_back_by_a_stream_of_notifications() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        text = "x" * 100_000

        async def stream(agent: aio.AgentConnection) -> None:
            while True:
                await agent.extension_notify("_x/chunk", text)

        async with aio.AgentConnection(there, Answering()) as agent, aio.ClientConnection(here, Echoing()) as client:
            streaming = [asyncio.create_task(stream(agent)) for _ in range(3)]
            await asyncio.sleep(0.1)
            for _ in range(5):
                assert await client.extension_call("_x/a", timeout=10) == Raw(b'"_x/a"')
            for task in streaming:
                task.cancel()
            await asyncio.wait(streaming)

    run(turn())


def test_every_handler_that_calls_behind_a_flood_ends() -> None:
    """Not only the first one hears that its answer cannot be read."""

    class Calling(aio.Client):
        def __init__(self, agent: aio.ClientConnection) -> None:
            self.agent = agent
            self.failed = 0

        async def extension_notification(self, method: str, params: Raw, /) -> None:
            try:
                await self.agent.extension_call("_x/never")
            except acp.MessageError:
                self.failed += 1

    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        connection = aio.ClientConnection(here, Calling, on_problem=quiet)
        calling = connection.handler
        assert isinstance(calling, Calling)
        message = {"jsonrpc": "2.0", "method": "_x/flood", "params": "x" * 1_000_000}
        async with connection:
            sending = asyncio.create_task(peer.send(*[message] * 40))
            taking = asyncio.create_task(take(there))
            async with asyncio.timeout(10):
                while calling.failed < 20:
                    await asyncio.sleep(0.01)
            sending.cancel()
            taking.cancel()
            await asyncio.wait([sending, taking])

    run(turn())


async def take(transport: aio.Transport) -> None:
    while await transport.receive():
        pass


@pytest.mark.slow
def test_two_ends_that_refuse_each_other_go_on() -> None:
    """Each has more calls than the other may hold, so that both have many refusals to send."""

    async def turn() -> None:
        here, there = aio.memory_pair()
        options: dict[str, Any] = {"on_problem": quiet, "max_requests": 10}
        agent = aio.AgentConnection(there, Answering(), **options)
        client = aio.ClientConnection(here, Echoing(), **options)
        async with agent, client:
            calls = [end.extension_call("_x/a") for end in (agent, client) for _ in range(15_000)]
            answers = await asyncio.gather(*calls, return_exceptions=True)
        refused = [why for why in answers if isinstance(why, acp.InternalError)]
        assert len(refused) + answers.count(Raw(b'"_x/a"')) == 30_000

    run(turn())


def test_what_the_peer_could_not_read_is_told_in_short() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        told: list[str] = []
        async with aio.AgentConnection(there, Answering(), on_problem=lambda p: told.append(p.detail)):
            error = {"code": 1, "message": "m" * 1_000_000}
            await here.send([acp.encode({"jsonrpc": "2.0", "id": None, "error": error})])
            while not told:
                await asyncio.sleep(0.01)
        assert len(told[0]) < 500

    run(turn())
