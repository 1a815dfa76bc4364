"""Which session gets a message: early ones, those of unknown sessions, and what the handler sees."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from acp_msgspec import aio, v1
from acp_msgspec.aio import Text
from acp_msgspec.aio._conversation.router import MAX_EARLY, MAX_EARLY_BYTES

from tests.aio.support import RawPeer, run
from tests.conversation.support import LABELS, Schema, Turn, talk


@pytest.fixture(params=LABELS)
def schema(request: pytest.FixtureRequest) -> Schema:
    return Schema(request.param)


async def _hello(turn: Turn) -> None:
    await turn.say("hello")


def test_the_handler_sees_every_message_after_the_state(schema: Schema) -> None:
    seen: list[str] = []

    class Watching(schema.aio.Client):  # type: ignore[misc,name-defined]
        async def session_update(self, params: Any, /) -> None:
            if hasattr(params.update, "content"):
                seen.append(sessions[0].snapshot.messages[-1].text)

    sessions: list[Any] = []

    async def main() -> None:
        handler = Watching()
        async with talk(schema, _hello, handler) as (agent, _), agent.session(cwd="/") as session:
            sessions.append(session)
            assert agent.connection.handler is handler
            with pytest.raises(RuntimeError, match="before the connection starts"):
                agent.connection.wrap_handlers({})
            assert await session.ask("x") == "hello"

    run(main())
    assert seen == ["hello"]


def test_paths_and_blocks_in_a_prompt(schema: Schema) -> None:
    prompts: list[Any] = []

    async def keep(turn: Turn) -> None:
        prompts.extend(turn.prompt)

    async def main() -> None:
        block = schema.TextContent(text="block")
        async with talk(schema, keep) as (agent, _), agent.session(cwd="/my project") as session:
            await session.ask("text", Path("src/app.py"), Path("/other/ü.py"), block, [block, block])
            with pytest.raises(ValueError, match="needs text"):
                session.prompt()

    run(main())
    assert [p.type for p in prompts] == ["text", "resource_link", "resource_link", "text", "text", "text"]
    assert [p.uri for p in prompts[1:3]] == ["file:///my%20project/src/app.py", "file:///other/%C3%BC.py"]
    assert [p.name for p in prompts[1:3]] == ["app.py", "ü.py"]


def test_folders_of_another_system() -> None:
    async def main() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)

        async def serve() -> None:
            await peer.answer({"protocolVersion": 1})
            new = await peer.answer({"sessionId": "s"})
            assert new["params"]["cwd"] == "C:\\work"
            prompt = await peer.answer({"stopReason": "end_turn"})
            uris.extend(b["uri"] for b in prompt["params"]["prompt"])

        serving = asyncio.create_task(serve())
        async with aio.connect(here) as agent, agent.session(cwd="C:\\work") as session:
            await session.ask(Path("a b.py"), Path("\\\\host\\share\\c.py"), Path("D:/d.py"))
        await serving

    uris: list[str] = []
    run(main())
    assert uris == ["file:///C:/work/a%20b.py", "file://host/share/c.py", "file:///D:/d.py"]


def _update(session: str, text: str) -> dict[str, Any]:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}}


@pytest.mark.parametrize(("count", "size"), [(3 * MAX_EARLY, 1), (20, MAX_EARLY_BYTES // 8)])
def test_early_updates_are_kept_within_bounds(count: int, size: int) -> None:
    async def main() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)

        async def serve() -> None:
            await peer.answer({"protocolVersion": 1})
            new = await peer.next()
            await peer.send(*(_update("flood", "x" * size) for _ in range(count)))
            await peer.send(_update("s", "mine"), {"jsonrpc": "2.0", "id": new["id"], "result": {"sessionId": "s"}})
            await peer.answer({"stopReason": "end_turn"})

        serving = asyncio.create_task(serve())
        async with aio.connect(here) as agent, agent.session(cwd="/") as session:
            assert session.snapshot.messages[0].text == "mine"
            router: Any = agent.line().router
            assert not router._early
            assert not router._early_bytes
            assert [type(c) async for c in session.prompt("x")] == [aio.Ended]
        await serving

    run(main())


def test_a_slow_reader_blocks_nobody() -> None:
    count = 5000

    async def much(turn: Turn) -> None:
        for number in range(count):
            await turn.say(f"{number} ")

    async def main() -> None:
        async with talk(Schema("v1"), much) as (agent, serving), agent.session(cwd="/") as session:
            async with session.prompt("go") as changes:
                await asyncio.sleep(0.05)
                serving.script = _hello
                async with agent.session(cwd="/") as other:
                    assert await other.ask("hi") == "hello"
                while changes.stop_reason is None:
                    await asyncio.sleep(0.01)
                texts = [c.text async for c in changes if isinstance(c, Text)]
            assert "".join(texts) == "".join(f"{n} " for n in range(count))
            assert len(texts) <= 1001

    run(main())


def test_merging_by_time() -> None:
    async def steady(turn: Turn) -> None:
        for _ in range(20):
            await turn.say("x")
            await asyncio.sleep(0.02)

    async def main() -> None:
        async with talk(Schema("v1"), steady) as (agent, _), agent.session(cwd="/") as session:
            texts = [c.text async for c in session.prompt("go", every=0.15) if isinstance(c, Text)]
            assert texts[0] == "x"
            assert "".join(texts) == "x" * 20
            assert 3 <= len(texts) <= 5
            for wrong in ({"every": 0}, {"idle_timeout": -1}):
                with pytest.raises(ValueError, match="positive"):
                    session.prompt("go", **wrong)

    run(main())


def test_targets() -> None:
    with pytest.raises(ValueError, match="a command is a list"):
        aio.connect("agent acp")
    with pytest.raises(TypeError, match="not int"):
        aio.connect(7)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]

    async def failing() -> aio.Transport:
        raise OSError("no")

    async def main() -> None:
        with pytest.raises(OSError, match="no"):
            async with aio.connect(failing):
                pass
        here, there = aio.memory_pair()
        with pytest.raises(TimeoutError):
            async with aio.connect(here, timeout=0.05):
                pass
        assert await there.receive()
        assert not await there.receive()  # closed
        agent = aio.connect(here)
        with pytest.raises(RuntimeError, match="not connected"):
            agent.session(cwd="/")

    run(main())


def test_an_open_session_is_not_opened_again() -> None:
    async def main() -> None:
        async with talk(Schema("v1"), _hello) as (agent, serving), agent.session(cwd="/") as session:
            with pytest.raises(RuntimeError, match="once"):
                await session.__aenter__()
            serving.count = 0
            with pytest.raises(ValueError, match="open already"):
                async with agent.session(cwd="/"):
                    pass
            assert await session.ask("x") == "hello"
            assert isinstance(session.stop_reason, v1.StopReason)

    run(main())
