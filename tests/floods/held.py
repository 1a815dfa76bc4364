"""Floods of requests that are held, and of answers that wait for others."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from acp_msgspec import aio, v1
from msgspec import Raw

from tests.floods.connection import MIB, Drain, Stuck, asked, encoded, quiet, sent, within
from tests.floods.measure import flood

DENSE = b'{"a":[' + b",".join([b"{}"] * 30_000) + b"]}"
"""JSON that takes 25 times its bytes as Python values."""


class Holding(aio.Agent):
    """Answers nothing."""

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        await asyncio.sleep(3600)
        raise AssertionError

    async def extension_request(self, method: str, params: Raw, /) -> Any:
        await asyncio.sleep(3600)

    async def unknown_request(self, method: str, params: Raw, /) -> Any:
        await asyncio.sleep(3600)


def cancelled(number: Any) -> bytes:
    return encoded({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": number}})


async def stopped(message: Callable[[int], bytes], *, reads: bool = False, times: int = 1000) -> None:
    """Send to an agent that answers nothing until it reads no more."""
    here, there = aio.memory_pair()
    async with aio.AgentConnection(there, Holding(), on_problem=quiet, grace=0.1):
        drain = Drain(here)
        reading = asyncio.create_task(drain.run()) if reads else None

        async def send() -> None:
            for number in range(times):
                await here.send([message(number)])

        assert not await within(3, send())
        if reading is not None:
            reading.cancel()


@flood()
async def requests_with_long_ids() -> None:
    await stopped(lambda number: asked(f"{number}{'x' * MIB}", "_x/y"))


@flood()
async def requests_with_long_methods() -> None:
    await stopped(lambda number: asked(number, f"_x/{'y' * MIB}"))


@flood()
async def requests_with_parts_that_nobody_reads() -> None:
    junk = "x" * MIB
    await stopped(lambda number: encoded({"jsonrpc": "2.0", "id": number, "method": "v/x", "params": {}, "junk": junk}))


@flood()
async def one_large_request_in_each_batch() -> None:
    text = {"type": "text", "text": "x" * MIB}

    def batch(number: int) -> bytes:
        parts = [asked(number, "session/prompt", {"sessionId": "s", "prompt": [text]})]
        return b"[" + b",".join(parts + [cancelled("no")] * 999) + b"]"

    await stopped(batch)


@flood()
async def one_large_request_in_each_batch_of_noise() -> None:
    """Those that are refused together have no place among the others."""
    text = {"type": "text", "text": "x" * MIB}

    def batch(number: int) -> bytes:
        prompt = asked(number, "session/prompt", {"sessionId": "s", "prompt": [text]})
        return b"[" + b",".join([b"0"] * 999 + [prompt]) + b"]"

    await stopped(batch, reads=True)


@flood()
async def requests_of_many_tiny_values() -> None:
    head = b'{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s","prompt":[],"_meta":%b}}'
    await stopped(lambda number: head % (number, DENSE))


@flood()
async def notifications_of_many_tiny_values() -> None:
    class Deaf(aio.Client):
        async def session_update(self, params: v1.SessionNotification, /) -> None:
            await asyncio.sleep(3600)

    here, there = aio.memory_pair()
    update = b'{"sessionUpdate":"plan","entries":[]}'
    head = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%b,"_meta":%b}}'
    async with aio.ClientConnection(here, Deaf(), on_problem=quiet, grace=0.1):
        assert not await within(3, sent(there, head % (update, DENSE), 1000))


@flood()
async def answers_that_wait_in_many_batches() -> None:
    """Each batch waits for its one prompt, and has 7 MB of refusals until then."""
    refused = asked("x" * 100_000, "session/load", {"sessionId": "s", "cwd": "/", "mcpServers": []})

    def batch(number: int) -> bytes:
        prompt = asked(number, "session/prompt", {"sessionId": "s", "prompt": []})
        return b"[" + b",".join([prompt] + [refused] * 70) + b"]"

    here, there = aio.memory_pair()
    async with aio.AgentConnection(there, Holding(), on_problem=quiet, grace=0.1):
        drain = Drain(here)
        reading = asyncio.create_task(drain.run())
        for number in range(60):
            await here.send([batch(number)])
        reading.cancel()
    assert drain.count


class Stubborn(aio.Agent):
    """Goes on with its prompts whatever it is told."""

    is_over = False

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        while not self.is_over:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)
        raise asyncio.CancelledError


@flood()
async def cancellations_of_a_thousand_prompts() -> None:
    here, there = aio.memory_pair()
    agent = Stubborn()
    message = encoded({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}})
    async with aio.AgentConnection(there, agent, max_requests=2000, on_problem=quiet, grace=0.1):
        await here.send([asked(n, "session/prompt", {"sessionId": "s", "prompt": []}) for n in range(1000)])
        await here.send([message] * 300)
        await here.send([asked("end", "_x/end")])
        while b'"end"' not in (await here.receive())[-1]:
            pass
        agent.is_over = True


@flood()
async def held_requests_that_are_cancelled() -> None:
    """The peer takes no answers, so that all requests are held, and answered where they are cancelled."""
    here, there = aio.memory_pair()
    async with aio.AgentConnection(there, Stuck(), on_problem=quiet, grace=0.1):
        await here.send([asked(number, "_x/large") for number in range(4)])

        async def send() -> None:
            for number in range(500_000):
                name = f"{number}{'y' * 1000}"
                await here.send([asked(name, "_x/ok"), cancelled(name)])

        assert not await within(4, send())
