"""A transport without a stream: a test hands messages over and sees what is sent."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import msgspec


class Wire:
    """Hands messages over from a callback of the loop, or from a task."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.writes = 0
        self.take: Callable[[list[bytes]], bool] | None = None
        self.left: asyncio.Queue[list[bytes]] = asyncio.Queue()

    def deliver_to(self, take: Callable[[list[bytes]], bool]) -> None:
        self.take = take

    async def receive(self) -> Sequence[bytes]:
        return await self.left.get()

    async def send(self, messages: Sequence[bytes]) -> None:
        self.send_now(messages)

    def send_now(self, messages: Sequence[bytes]) -> bool:
        self.writes += 1
        self.sent += map(msgspec.json.decode, messages)
        return True

    async def close(self) -> None:
        self.left.put_nowait([])

    def deliver(self, *messages: dict[str, Any]) -> None:
        assert self.take is not None
        data = list(map(msgspec.json.encode, messages))
        if not self.take(data):
            self.left.put_nowait(data)

    async def come(self, how: str, *messages: dict[str, Any]) -> list[Any]:
        """Hand messages over, and give what was sent before the call that did so returned."""
        seen: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()

        def deliver() -> None:
            before = len(self.sent)
            self.deliver(*messages)
            seen.set_result(self.sent[before:])

        if how == "task":
            deliver()
        else:
            asyncio.get_running_loop().call_soon(deliver)
        return await seen

    async def answer(self, number: int) -> Any:
        async with asyncio.timeout(5):
            while not (found := [m for m in self.sent if m.get("id") == number and "method" not in m]):
                await asyncio.sleep(0.001)
        return found[0].get("result", found[0].get("error"))
