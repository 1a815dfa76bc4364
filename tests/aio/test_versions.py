"""Two ends that speak different versions of the protocol learn of it, and nothing waits."""

import asyncio
import importlib
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1, v2
from acp_msgspec.v2 import aio as v2_aio

from tests.aio.support import RawPeer, run


def quiet(_: aio.Problem) -> None:
    pass


LABELS = ["v1", "v1_unstable", "v2", "v2_unstable"]
OTHER = {1: "v2", 2: "v1"}


def ends(label: str) -> Any:
    return importlib.import_module(f"acp_msgspec.{label}.aio")


def version(label: str) -> int:
    return int(label[1])


@pytest.mark.parametrize("of_client", LABELS)
@pytest.mark.parametrize("of_agent", LABELS)
def test_ends_of_different_versions(of_client: str, of_agent: str) -> None:
    async def turn() -> None:
        problems: list[aio.Problem] = []
        here, there = aio.memory_pair()
        agent = ends(of_agent).AgentConnection(there, ends(of_agent).Agent(), on_problem=problems.append)
        client = ends(of_client).ClientConnection(here, ends(of_client).Client(), on_problem=problems.append)
        async with agent, client:
            if version(of_client) == version(of_agent):
                assert (await client.negotiate(timeout=5)).protocol_version == version(of_agent)
                return
            with pytest.raises(aio.UnsupportedVersion) as caught:
                await client.negotiate(timeout=5)
            assert (caught.value.answered, caught.value.spoken) == (version(of_agent), (version(of_client),))
        assert [p.kind for p in problems if p.kind is not aio.ProblemKind.MISMATCH] == []

    run(turn())


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("asked", [0, 1, 2, 3, 65535])
@pytest.mark.parametrize("in_batch", [False, True])
def test_an_agent_answers_any_version_with_its_own(label: str, asked: int, in_batch: bool) -> None:
    params: dict[str, Any] = {"protocolVersion": asked, "somethingOfTheFuture": [1]}
    if asked == 1:
        params["clientCapabilities"] = {"fs": {"readTextFile": True}}
    if asked >= 2:
        params |= {"info": {"name": "n", "version": "1"}, "capabilities": {}}
    request = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}

    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(here)
        async with ends(label).AgentConnection(there, ends(label).Agent(), on_problem=quiet) as agent:
            await peer.transport.send([acp.encode([request] if in_batch else request)])
            answer = await peer.next()
            result = (answer[0] if in_batch else answer)["result"]
            assert result["protocolVersion"] == version(label)
            assert agent.handshake is not None
            assert agent.handshake.request.protocol_version == asked

    run(turn())


@pytest.mark.parametrize("told", [None, "1", 1.0, True, -1, 70000, 2**70, [1], {"a": 1}])
def test_an_initialize_that_names_no_version_is_refused(told: Any) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(here)
        async with v2_aio.AgentConnection(there, v2_aio.Agent(), on_problem=quiet):
            await peer.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": told}})
            assert (await peer.next())["error"]["code"] == -32602

    run(turn())


def test_an_initialize_of_the_own_version_must_fit() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(here)
        async with v2_aio.AgentConnection(there, v2_aio.Agent(), on_problem=quiet):
            await peer.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 2}})
            assert (await peer.next())["error"]["code"] == -32602

    run(turn())


def test_a_handler_of_its_own_is_asked_in_another_version_too() -> None:
    class Own(v2_aio.Agent):
        async def initialize(self, params: v2.InitializeRequest, /) -> v2.InitializeResponse:
            assert params.protocol_version == 1
            info = v2.Implementation(name="mine", version="1")
            return v2.InitializeResponse(protocol_version=2, info=info)

    async def turn() -> None:
        here, there = aio.memory_pair()
        async with v2_aio.AgentConnection(there, Own()), aio.ClientConnection(here) as client:
            answer = await client.initialize(v1.InitializeRequest(protocol_version=1))
            assert answer.protocol_version == 2

    run(turn())


def test_an_answer_to_initialize_without_a_version_is_an_error() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with v2_aio.ClientConnection(here, on_problem=quiet) as client:
            for result in ({}, {"protocolVersion": "1"}, {"protocolVersion": 2}, None):
                call = asyncio.ensure_future(client.negotiate(timeout=5))
                await peer.answer(result)
                with pytest.raises(acp.MessageError):
                    await call

    run(turn())


@pytest.mark.parametrize("label", ["v1", "v2"])
def test_a_byte_order_mark_hides_no_version(label: str) -> None:
    mark, other = b"\xef\xbb\xbf", 3 - version(label)
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": other}}

    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(here)
        async with ends(label).AgentConnection(there, ends(label).Agent(), on_problem=quiet):
            await peer.send(mark + acp.encode(request))
            assert (await peer.next())["result"]["protocolVersion"] == version(label)
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with ends(label).ClientConnection(here, on_problem=quiet) as client:
            opening = asyncio.ensure_future(client.negotiate())
            await peer.next()
            await peer.send(mark + b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":%d}}' % other)
            with pytest.raises(aio.UnsupportedVersion):
                await opening

    run(turn())
