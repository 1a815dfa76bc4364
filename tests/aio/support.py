"""What the tests of connections share: running a coroutine under a time limit, and a peer that speaks raw bytes."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import msgspec
from acp_msgspec.aio import Transport

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T], seconds: float = 30) -> T:
    """Run a coroutine in a loop of its own; fail rather than hang, and leave no task behind."""

    async def guarded() -> T:
        result = await asyncio.wait_for(work, seconds)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, f"tasks are left: {left}"
        return result

    return asyncio.run(guarded())


class RawPeer:
    """The other end of a transport, which sends any bytes and keeps what it gets, in order."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._waiting: list[bytes] = []

    async def send(self, *messages: bytes | dict[str, Any]) -> None:
        await self.transport.send([m if isinstance(m, bytes) else msgspec.json.encode(m) for m in messages])

    async def next(self) -> Any:
        """Give the next message, decoded; None at the end of the stream."""
        while not self._waiting:
            got = await self.transport.receive()
            if not got:
                return None
            self._waiting += got
        return msgspec.json.decode(self._waiting.pop(0))

    async def answer(self, result: Any) -> Any:
        """Answer the next message, which must be a request, and give it."""
        request = await self.next()
        await self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})
        return request
