"""Handlers that raise what is no `Exception`, that are stuck, or that send while their peer does the same."""

import asyncio
import logging
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio
from msgspec import Raw

from tests.aio.support import RawPeer, run

GROUP = BaseExceptionGroup("several", [asyncio.CancelledError()])


class Strange(BaseException):
    """What some libraries raise past everybody."""


class Raises(aio.Agent):
    def __init__(self, what: BaseException) -> None:
        self.what = what
        self.heard: list[str] = []

    async def extension_request(self, method: str, params: Raw, /) -> Any:
        if method == "_x/raise":
            raise self.what
        return self.heard

    async def extension_notification(self, method: str, params: Raw, /) -> None:
        if method == "_x/raise":
            raise self.what
        self.heard.append(method)


@pytest.mark.parametrize("what", [Strange(), GROUP, GeneratorExit()])
def test_whatever_a_handler_raises_is_answered_and_told(what: BaseException) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        problems: list[aio.Problem] = []
        async with (
            aio.AgentConnection(there, Raises(what), on_problem=problems.append),
            aio.ClientConnection(here) as client,
        ):
            with pytest.raises(acp.InternalError):
                await client.extension_call("_x/raise", timeout=5)
            await client.extension_notify("_x/raise")
            await client.extension_notify("_x/next")
            assert await client.extension_call("_x/heard") == Raw(b'["_x/next"]')
        assert [p.error for p in problems] == [what, what]

    run(turn())


@pytest.mark.parametrize("what", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("is_request", [True, False])
def test_what_ends_a_program_ends_it(what: type[BaseException], is_request: bool) -> None:
    there: list[aio.Transport] = []

    async def main() -> None:
        here, other = aio.memory_pair()
        there.append(other)
        async with aio.AgentConnection(here, Raises(what()), on_problem=lambda _: None):
            message = {"jsonrpc": "2.0", "method": "_x/raise"}
            await RawPeer(other).send(message | {"id": 1} if is_request else message)
            await asyncio.sleep(3600)

    with pytest.raises(what):
        asyncio.run(main())


def test_a_loop_ends_though_a_handler_is_stuck_and_nobody_closed_the_connection() -> None:
    class Stuck(aio.Agent):
        async def extension_notification(self, method: str, params: Raw, /) -> None:
            await asyncio.sleep(3600)

    async def main() -> None:
        here, there = aio.memory_pair()
        aio.AgentConnection(there, Stuck()).start()
        await RawPeer(here).send({"jsonrpc": "2.0", "method": "_x/y"})
        await asyncio.sleep(0.05)

    asyncio.run(main())  # which hung


def test_an_answer_behind_a_stuck_handler_is_delivered_at_the_end() -> None:
    class Stuck(aio.Client):
        async def extension_notification(self, method: str, params: Raw, /) -> None:
            await asyncio.sleep(3600)

    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with aio.ClientConnection(here, Stuck(), grace=0.1) as client:
            call = asyncio.ensure_future(client.extension_call("_x/a"))
            assert (await peer.next())["id"] == 1
            await peer.send({"jsonrpc": "2.0", "method": "_x/y"}, {"jsonrpc": "2.0", "id": 1, "result": 5})
            await there.close()
            await client.wait_closed()
            assert await asyncio.wait_for(call, 5) == Raw(b"5")

    run(turn())


@pytest.mark.slow
def test_two_ends_whose_handlers_answer_a_flood_with_a_flood() -> None:
    class Echo(aio.Agent):
        def __init__(self, peer: aio.AgentConnection) -> None:
            self.peer = peer
            self.count = 0

        async def extension_notification(self, method: str, params: Raw, /) -> None:
            self.count += 1
            if method == "_x/ping":
                await self.peer.extension_notify("_x/pong", "y" * 20_000)

    async def turn() -> None:
        here, there = aio.memory_pair()
        made: Any = Echo
        async with aio.AgentConnection(there, Echo) as agent, aio.ClientConnection(here, made) as client:
            ends: tuple[Any, Any] = (agent, client)

            async def flood(end: Any) -> None:
                for _ in range(3000):
                    await end.extension_notify("_x/ping", "x" * 20_000)

            await asyncio.gather(*map(flood, ends))
            while any(end.handler.count < 6000 for end in ends):
                await asyncio.sleep(0.01)

    run(turn())


def test_handlers_that_fail_for_the_end_alone_are_not_told(caplog: pytest.LogCaptureFixture) -> None:
    class Sends(aio.Agent):
        def __init__(self, client: aio.AgentConnection) -> None:
            self.client = client

        async def extension_notification(self, method: str, params: Raw, /) -> None:
            await asyncio.sleep(0)
            await self.client.extension_notify("_x/y")

    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(here)
        async with aio.AgentConnection(there, Sends):
            await peer.send(*([{"jsonrpc": "2.0", "method": "_x/y"}] * 100))
            await here.close()
            await asyncio.sleep(0.05)

    with caplog.at_level(logging.WARNING, "acp_msgspec.aio"):
        run(turn())
    assert not caplog.records
