"""What is held of files for peers that do not take their answers: a share for each, in order."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1
from hypothesis import given
from hypothesis import strategies as st

from tests.aio.files import SESSION, read, refused
from tests.aio.support import RawPeer, run

BUDGET: Any = __import__("acp_msgspec.aio._services.budget", fromlist=["x"])
JSON_SIZE: Any = __import__("acp_msgspec.aio._services.json_size", fromlist=["x"])


@given(st.text() | st.text(st.characters(max_codepoint=127)), st.integers(1, 5))
@pytest.mark.slow
def test_the_size_of_a_text_as_json(text: str, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JSON_SIZE, "_CHUNK", chunk)
        assert JSON_SIZE.json_size(text) == len(acp.encode(text))


def test_shares_are_given_in_order() -> None:
    async def turn() -> None:
        budget = BUDGET.Budget(10)
        given: list[int] = []
        first = await budget.reserve(6)

        async def taking(size: int) -> Any:
            share = await budget.reserve(size)
            given.append(size)
            return share

        tasks = [asyncio.create_task(taking(size)) for size in (5, 100, 4, 1, 1)]
        await asyncio.sleep(0)
        assert given == []  # what comes later does not overtake
        tasks[3].cancel()
        first.release()
        second = await tasks[0]
        await asyncio.sleep(0)
        assert given == [5]
        second.release()
        whole = await tasks[1]
        assert whole.size == 10
        whole.shrink(9)
        whole.shrink(9)
        await asyncio.sleep(0)
        assert given == [5, 100]
        whole.release()
        for number in (2, 4):
            (await tasks[number]).release()
        assert budget.free == 10

    run(turn())


@pytest.mark.parametrize("when", ["waiting", "granted", "first of those who wait"])
def test_a_share_that_is_cancelled_is_lost_to_nobody(when: str) -> None:
    async def turn() -> None:
        budget = BUDGET.Budget(10)
        first = await budget.reserve(10 if when != "first of those who wait" else 5)
        waiting = asyncio.create_task(budget.reserve(10))
        behind = asyncio.create_task(budget.reserve(5))
        await asyncio.sleep(0)
        if when == "granted":
            first.release()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        if when == "waiting":
            first.release()
        (await behind).release()
        first.release()
        assert budget.free == 10

    run(turn())


def test_a_thread_keeps_its_share_though_nobody_waits_for_it() -> None:
    go = threading.Event()

    async def turn() -> None:
        budget = BUDGET.Budget(10)
        running = asyncio.create_task(budget.run_in_thread(10, lambda: go.wait(10) and 1 / 0))
        await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.wait([running])
        assert budget.free == 0
        go.set()
        (await budget.reserve(10)).release()
        assert budget.free == 10
        with pytest.raises(ZeroDivisionError):
            await budget.run_in_thread(10, lambda: 1 / 0)
        await asyncio.sleep(0)
        assert budget.free == 10

    run(turn())


class Serving(aio.ServesFiles):
    def __init__(self, files: aio.Files) -> None:
        self.files = files


@pytest.mark.slow
def test_a_peer_that_takes_no_answers_holds_up_itself_alone(root: Path) -> None:
    """A raw peer asks for more than may be held, and reads nothing for a while."""
    size, count = 600_000, 12
    text = "\x01" * size
    (root / "big").write_text(text, encoding="utf-8")
    files = aio.Files(root, max_held=8_000_000)
    budget: Any = files

    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        params = {"sessionId": "s", "path": str(root / "big")}
        asked = [{"jsonrpc": "2.0", "id": n, "method": "fs/read_text_file", "params": params} for n in range(count)]
        async with aio.ClientConnection(here, Serving(files)) as client:
            await peer.send(*asked)
            async with asyncio.timeout(10):
                while budget._answers.free > WORST_LEFT:
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            known: Any = client
            waiting = known._outbox.size
            assert waiting <= 8_000_000
            # This side reads and writes all the same.
            assert await files.read(str(root / "big")) == text
            await files.write(str(root / "other"), text)
            for _ in range(count):
                answer = await peer.next()
                assert len(answer["result"]["content"]) == size
            while budget._answers.free < 8_000_000:
                await asyncio.sleep(0.01)
        assert budget._working.free == budget._answers.free == 8_000_000

    run(turn())


WORST_LEFT = 8_000_000 - 3_600_000


def test_what_is_held_ends_with_the_connection(root: Path) -> None:
    (root / "big").write_text("x" * 1_000_000, encoding="utf-8")
    files = aio.Files(root, max_held=1_500_000)
    budget: Any = files

    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        params = {"sessionId": "s", "path": str(root / "big")}
        async with aio.ClientConnection(here, Serving(files), grace=0.1):
            await peer.send(
                *({"jsonrpc": "2.0", "id": n, "method": "fs/read_text_file", "params": params} for n in range(9))
            )
            while budget._answers.free == 1_500_000:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
        await asyncio.sleep(0.1)
        assert budget._answers.free == 1_500_000

    run(turn())


def test_one_task_may_read_and_answer_as_often_as_it_likes(root: Path) -> None:
    (root / "big").write_text("x" * 10_000, encoding="utf-8")
    files = aio.Files(root, max_held=15_000)
    here, there = aio.memory_pair()

    class Twice(Serving):
        async def fs_read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
            parts = [await super().fs_read_text_file(params), await super().fs_read_text_file(params)]
            parts += await asyncio.gather(*(super(Twice, self).fs_read_text_file(params) for _ in range(3)))
            return parts[0]

    client = Twice(files)
    request = v1.ReadTextFileRequest(session_id=SESSION, path=str(root / "big"))

    async def turn() -> None:
        for _ in range(5):
            assert await files.read(request.path) == (await client.fs_read_text_file(request)).content
        answers = await asyncio.gather(*(client.fs_read_text_file(request) for _ in range(5)))
        assert len(answers) == 5
        async with aio.ClientConnection(here, client), aio.AgentConnection(there) as agent:
            for _ in range(3):
                answers = await asyncio.gather(*(agent.fs_read_text_file(request) for _ in range(5)))
                assert len(answers) == 5
        known: Any = files
        assert known._working.free == known._answers.free == 15_000

    run(turn())


def test_a_file_that_grows_while_it_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_small(*_: object) -> int:
        return 10

    files = aio.Files(root, max_bytes=200_000)
    (root / "big").write_text("x" * 199_999, encoding="utf-8")
    monkeypatch.setattr(aio.Files, "_size", too_small)
    assert len(read(files, root / "big")) == 199_999
    (root / "big").write_text("x" * 200_001, encoding="utf-8")
    assert refused(files, root / "big") == "it is longer than 200000 bytes"
