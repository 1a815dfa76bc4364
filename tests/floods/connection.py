"""What a peer may send to a connection that is busy, stuck or does not get its answers taken."""

import asyncio
import time
from contextlib import suppress
from typing import Any

import msgspec
from acp_msgspec import aio, v1
from msgspec import Raw

from tests.floods.measure import flood

MIB = 1024 * 1024
LARGE = "x" * (4 * MIB)
"""What handlers give again and again, so that it does not count for what waits."""


def encoded(message: Any) -> bytes:
    return msgspec.json.encode(message)


def asked(number: int | str, method: str, params: Any = None) -> bytes:
    return encoded({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def update(text: str) -> bytes:
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return encoded({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": chunk}})


class Stuck(aio.Agent):
    """Never answers a prompt, and answers everything else at once."""

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        await asyncio.sleep(3600)
        raise AssertionError

    async def extension_request(self, method: str, params: Raw, /) -> Any:
        return LARGE if method == "_x/large" else "ok"


class Drain:
    """Takes what a transport brings, and counts it, without keeping it."""

    def __init__(self, transport: aio.Transport) -> None:
        self.transport = transport
        self.count = 0
        self.last = b""

    async def run(self) -> None:
        while messages := await self.transport.receive():
            self.count += len(messages)
            self.last = messages[-1]


async def sent(peer: aio.Transport, message: bytes, times: int, at_once: int = 1) -> None:
    for _ in range(times):
        await peer.send([message] * at_once)


async def within(seconds: float, work: Any) -> bool:
    """Whether something is done in time; it is cancelled otherwise."""
    try:
        await asyncio.wait_for(work, seconds)
    except TimeoutError:
        return False
    return True


def quiet(_: aio.Problem) -> None:
    pass


async def served(message: bytes, times: int, at_once: int = 1) -> tuple[int, int]:
    """Send a message again and again, read all answers, and count them and the problems that were told."""
    problems: list[aio.ProblemKind] = []
    here, there = aio.memory_pair()
    async with aio.AgentConnection(there, Stuck(), on_problem=lambda p: problems.append(p.kind)):
        drain = Drain(here)
        reading = asyncio.create_task(drain.run())
        await sent(here, message, times, at_once)
        await here.send([asked("end", "_x/ok")])
        while b'"end"' not in drain.last:
            await asyncio.sleep(0.01)
        reading.cancel()
    return drain.count, len(problems)


@flood()
async def noise_of_two_bytes() -> None:
    answers, problems = await served(b"0", 50, 10_000)
    assert answers < 1000
    assert problems < 1000


@flood()
async def empty_objects() -> None:
    answers, problems = await served(b"{}", 50, 10_000)
    assert answers < 1000
    assert problems < 1000


@flood()
async def broken_messages() -> None:
    answers, problems = await served(b'{"jsonrpc":"2.0","method":"session/cancel","params":{]}', 50, 1000)
    assert answers < 3000
    assert problems < 3000


@flood()
async def broken_requests() -> None:
    answers, problems = await served(b'{"jsonrpc":"2.0","id":"a","method":"session/cancel","params":{]}', 20, 1000)
    assert answers == 20_001  # each has an id, and whoever waits for it hears
    assert problems < 3000


@flood()
async def long_broken_messages() -> None:
    await served(b'{"jsonrpc":"2.0","method":"_x","params":{' + b'"a":1,' * 200_000 + b"]}", 10)


@flood()
async def nested_without_end() -> None:
    await served(b"[" * MIB, 10)
    await served(b'{"a":' * MIB, 10)


@flood()
async def batches_of_numbers() -> None:
    answers, problems = await served(b"[" + b"0," * (200_000 - 1) + b"0]", 10)
    assert answers < 1000
    assert problems < 3000


@flood()
async def batches_of_broken_messages() -> None:
    await served(b"[" + b"{}," * 100_000 + b"{}]", 10)


@flood()
async def responses_to_nothing() -> None:
    answers, problems = await served(b'{"jsonrpc":"2.0","id":5,"result":{}}', 50, 1000)
    assert answers == 1
    assert problems < 3000


@flood()
async def methods_that_nobody_knows() -> None:
    answers, problems = await served(b'{"jsonrpc":"2.0","method":"nobody/knows"}', 50, 1000)
    assert answers == 1
    assert problems < 3000


@flood()
async def prompts_that_wait() -> None:
    """300 prompts of 1 MiB, of which only 32 MiB may be held."""
    here, there = aio.memory_pair()
    prompt = {"sessionId": "s", "prompt": [{"type": "text", "text": "x" * MIB}]}
    async with aio.AgentConnection(there, Stuck(), max_requests=5, on_problem=quiet, grace=0.1):
        for number in range(300):
            if not await within(0.5, here.send([asked(number, "session/prompt", prompt)])):
                break
        else:
            raise AssertionError("everything was read")


@flood()
async def prompts_while_a_call_waits() -> None:
    """While a call of ours waits, reading goes on, and what cannot be held is refused."""
    here, there = aio.memory_pair()
    prompt = {"sessionId": "s", "prompt": [{"type": "text", "text": "x" * MIB}]}
    read = v1.ReadTextFileRequest(session_id=v1.SessionId("s"), path="/a")
    async with aio.AgentConnection(there, Stuck(), max_requests=5, on_problem=quiet, grace=0.1) as agent:
        drain = Drain(here)
        reading = asyncio.create_task(drain.run())
        call = asyncio.create_task(agent.fs_read_text_file(read))
        for number in range(300):
            await here.send([asked(f"p{number}", "session/prompt", prompt)])
        await here.send([encoded({"jsonrpc": "2.0", "id": 1, "result": {"content": "c"}})])
        assert (await asyncio.wait_for(call, 10)).content == "c"
        reading.cancel()
    assert drain.count > 200


@flood()
async def refusals_that_nobody_takes() -> None:
    """Ids that are under way, refused again and again to a peer that never reads."""
    here, there = aio.memory_pair()
    message = asked(1, "session/prompt", {"sessionId": "s", "prompt": []})
    async with aio.AgentConnection(there, Stuck(), on_problem=quiet, grace=0.1):
        assert not await within(5, sent(here, message, 5000, 100))


@flood()
async def refusals_of_too_many_requests() -> None:
    here, there = aio.memory_pair()
    read = v1.ReadTextFileRequest(session_id=v1.SessionId("s"), path="/a")
    async with aio.AgentConnection(there, Stuck(), max_requests=1, on_problem=quiet, grace=0.1) as agent:
        call = asyncio.create_task(agent.fs_read_text_file(read))
        prompt: dict[str, Any] = {"sessionId": "s", "prompt": []}

        async def ask() -> None:
            for number in range(500_000):
                await here.send([asked(number, "session/prompt", prompt)])

        assert not await within(5, ask())
        call.cancel()


@flood()
async def large_answers_that_nobody_takes() -> None:
    """200 requests, each of which is answered with 4 MiB."""
    here, there = aio.memory_pair()
    async with aio.AgentConnection(there, Stuck(), on_problem=quiet, grace=0.1):
        for number in range(200):
            if not await within(0.5, here.send([asked(number, "_x/small" if number % 10 else "_x/large")])):
                break
        await asyncio.sleep(0.5)


@flood()
async def large_answers_of_one_batch() -> None:
    here, there = aio.memory_pair()
    batch = b"[" + b",".join(asked(number, "_x/large") for number in range(50)) + b"]"
    async with aio.AgentConnection(there, Stuck(), on_problem=quiet, grace=0.1):
        await here.send([batch])
        drain = Drain(here)
        reading = asyncio.create_task(drain.run())
        await here.send([asked("end", "_x/ok")])
        while b'"end"' not in drain.last and drain.count < 60:
            await asyncio.sleep(0.01)
            if drain.count >= 2 and b'"id":49' in drain.last[:100]:
                break
        reading.cancel()


class Calling(aio.Client):
    """Calls the agent in the handler of a notification, and hears nothing."""

    def __init__(self, agent: aio.ClientConnection) -> None:
        self.agent = agent
        self.failed: list[Exception] = []

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        if not self.failed:
            try:
                await self.agent.extension_call("_x/never")
            except Exception as why:
                self.failed.append(why)


@flood()
async def notifications_behind_a_handler_that_calls() -> None:
    """300 MiB behind a handler that waits for an answer: 60 MiB of them are kept."""
    here, there = aio.memory_pair()
    connection = aio.ClientConnection(here, Calling, on_problem=quiet)
    calling = connection.handler
    assert isinstance(calling, Calling)
    async with connection:
        drain = Drain(there)
        reading = asyncio.create_task(drain.run())
        message = update("x" * 10_000)
        for _ in range(300):
            await there.send([message] * 100)
        await there.send([asked("end", "_x/end")])
        while b'"end"' not in drain.last:
            await asyncio.sleep(0.01)
        reading.cancel()
        assert [type(why).__name__ for why in calling.failed] == ["MessageError"]


@flood()
async def a_peer_that_left_much_behind_a_stuck_handler() -> None:
    class Deaf(aio.Client):
        async def session_update(self, params: v1.SessionNotification, /) -> None:
            await asyncio.sleep(3600)

    here, there = aio.memory_pair(buffer=200 * MIB)
    message = update("x" * 100_000)
    await there.send([message] * 500)  # 50 MiB of one and the same bytes
    await there.close()
    start = time.perf_counter()
    async with aio.ClientConnection(here, Deaf(), on_problem=quiet, grace=1.0) as client:
        with suppress(aio.ConnectionClosed):
            await client.extension_call("_x", timeout=20)
        await asyncio.wait_for(client.wait_closed(), 20)
    assert time.perf_counter() - start < 10


@flood()
async def repairs_that_are_told() -> None:
    """A thousand bad items in each message; what is told of them is bounded."""
    told: list[object] = []
    bad = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "locations": [0] * 100_000}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": bad}}
    here, there = aio.memory_pair()
    async with aio.ClientConnection(here, aio.Client(), on_skip=told.append, on_problem=quiet):
        drain = Drain(there)
        reading = asyncio.create_task(drain.run())
        await sent(there, encoded(message), 20)
        await there.send([asked("end", "_x/end")])
        while b'"end"' not in drain.last:
            await asyncio.sleep(0.01)
        reading.cancel()
    assert len(told) <= 20 * 1000
