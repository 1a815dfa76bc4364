"""Turns as a client sees them: their changes, their ends, and leaving them early."""

import asyncio
import time
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio
from acp_msgspec.aio import Ended, PermissionAsked, Text, ToolBegun, ToolEnded, ToolUpdated

from tests.aio.support import run
from tests.conversation.support import LABELS, Schema, Turn, talk


@pytest.fixture(params=LABELS)
def schema(request: pytest.FixtureRequest) -> Schema:
    return Schema(request.param)


async def _small(turn: Turn) -> None:
    await turn.say("Let me ")
    await turn.say("look.")
    for status in ("pending", "in_progress", "completed"):
        await turn.tool(f"call {id(turn)}", status)
    await turn.say("Done.")


async def _silent(turn: Turn) -> None:
    await turn.say("Wait")
    await asyncio.sleep(60)


async def _read(session: Any) -> None:
    async for _ in session.prompt("go"):
        pass


async def _failing_loop(session: Any) -> None:
    try:
        async for _ in session.prompt("go"):
            _fail()
    except KeyError:
        return


def _fail() -> None:
    raise KeyError


def _texts(changes: list[Any]) -> list[str]:
    return [c.text for c in changes if isinstance(c, Text)]


def test_a_turn_gives_typed_changes_in_order(schema: Schema) -> None:
    async def main() -> None:
        async with talk(schema, _small) as (agent, _), agent.session(cwd="/project") as session:
            assert session.snapshot.title == "early"
            changes = [change async for change in session.prompt("Look", "around")]
            kinds: list[Any] = [type(c) for c in changes if not isinstance(c, aio.SessionUpdated)]
            assert kinds == [Text, Text, ToolBegun, ToolUpdated, ToolEnded, Text, Ended]
            assert _texts(changes) == ["Let me ", "look.", "Done."]
            assert (session.stop_reason, session.failure) == ("end_turn", None)
            assert changes[-1] == Ended(stop_reason="end_turn")
            turn = session.snapshot.turns[-1]
            assert (turn.number, turn.ended, turn.stop_reason) == (1, True, "end_turn")
            assert session.snapshot.activity == "idle"
            assert session.snapshot.messages[0].text == "Lookaround"

    run(main())


def test_ask_gives_the_text(schema: Schema) -> None:
    async def main() -> None:
        async with talk(schema, _small) as (agent, serving), agent.session(cwd="/") as session:
            expected = "Let me look.Done." if schema.has_idle else "Let me look.\n\nDone."
            assert await session.ask("Look") == expected
            assert await session.ask("Again") == expected
        assert serving.closed == ["s1"]

    run(main())


@pytest.mark.parametrize("way", ["break", "exception", "with"])
def test_leaving_the_loop_cancels(schema: Schema, way: str) -> None:
    async def main() -> None:
        async with talk(schema, _silent) as (agent, serving), agent.session(cwd="/") as session:
            if way == "break":
                async for _ in session.prompt("go"):
                    break
            elif way == "exception":
                await _failing_loop(session)
            else:
                async with session.prompt("go") as changes:
                    async for _ in changes:
                        break
                    assert changes.stop_reason is None
                assert changes.stop_reason == "cancelled"
            serving.script = _small
            assert "look" in await session.ask("more")
            assert serving.cancelled == ["s1"]
            assert [t.stop_reason for t in session.snapshot.turns] == ["cancelled", "end_turn"]

    run(main())


def test_a_cancelled_task_leaves_the_turn(schema: Schema) -> None:
    async def main() -> None:
        async with talk(schema, _silent) as (agent, serving), agent.session(cwd="/") as session:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(session.ask("go"), 0.1)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(_read(session), 0.1)
            assert serving.cancelled == ["s1", "s1"]
            assert session.stop_reason == "cancelled"

    run(main())


def test_leaving_the_session_ends_its_turn(schema: Schema) -> None:
    async def main() -> None:
        async with talk(schema, _silent) as (agent, serving):
            async with agent.session(cwd="/") as session:
                iterator = aiter(session.prompt("go"))
                await anext(iterator)
            assert serving.cancelled == ["s1"]
            assert session.stop_reason == "cancelled"
            assert [type(c) async for c in iterator][-1] is Ended
            with pytest.raises(RuntimeError, match="was left"):
                await session.ask("more")

    run(main())


def test_an_agent_that_ignores_the_cancel_is_given_up(schema: Schema) -> None:
    async def stubborn(turn: Turn) -> None:
        await turn.say("no")
        for _ in range(40):
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue

    async def main() -> None:
        async with talk(schema, stubborn, grace=0.1) as (agent, _), agent.session(cwd="/", patience=0.2) as session:
            began = time.monotonic()
            async with session.prompt("go") as changes:
                async for _ in changes:
                    break
            assert time.monotonic() - began < 1.5
            assert isinstance(changes.failure, TimeoutError)
            assert session.stop_reason is None
            await asyncio.sleep(2)

    run(main())


def test_silence_ends_a_turn_but_a_question_does_not(schema: Schema) -> None:
    class Slow(schema.aio.Client):  # type: ignore[misc,name-defined]
        async def session_request_permission(self, params: Any, /) -> Any:
            await asyncio.sleep(0.9)
            kind = schema.SelectedPermissionOutcome
            return schema.RequestPermissionResponse(outcome=kind(option_id="yes"))

    async def asking(turn: Turn) -> None:
        assert (await turn.ask()).option_id == "yes"
        await turn.say("thanks")

    async def main() -> None:
        async with (
            talk(schema, asking, Slow()) as (agent, serving),
            agent.session(cwd="/", idle_timeout=0.6) as session,
        ):
            changes = [c async for c in session.prompt("go")]
            assert session.failure is None, session.failure
            asked: list[Any] = [c for c in changes if isinstance(c, PermissionAsked)]
            assert len(asked) == 1
            assert asked[0].request.session_id == "s1"
            serving.script = _silent
            changes = [c async for c in session.prompt("go")]
            assert isinstance(changes[-1].failure, TimeoutError)
            assert session.stop_reason == "cancelled"
            with pytest.raises(TimeoutError, match="no sign of life"):
                await session.ask("go")

    run(main())


def test_a_refusal_and_a_failure_are_values(schema: Schema) -> None:
    async def refusing(turn: Turn) -> str:
        return "refusal"

    async def failing(turn: Turn) -> None:
        raise acp.InternalError("no model")

    async def main() -> None:
        async with talk(schema, refusing) as (agent, serving), agent.session(cwd="/") as session:
            assert await session.ask("go") == ""
            assert session.stop_reason == "refusal"
            if schema.has_idle:
                return
            serving.script = failing
            changes = [c async for c in session.prompt("go")]
            assert isinstance(changes[-1].failure, acp.RequestError)
            assert session.stop_reason is None
            assert session.snapshot.turns[-1].ended
            with pytest.raises(acp.RequestError, match="no model"):
                await session.ask("go")

    run(main())


def test_the_end_of_the_agent_ends_the_turn(schema: Schema) -> None:
    async def dying(turn: Turn) -> None:
        await turn.say("bye")
        await asyncio.sleep(0.05)
        await turn.agent.connection.transport.close()
        await asyncio.sleep(60)

    async def main() -> None:
        async with talk(schema, dying) as (agent, _), agent.session(cwd="/") as session:
            changes = [c async for c in session.prompt("go")]
            assert _texts(changes) == ["bye"]
            assert isinstance(changes[-1].failure, aio.ConnectionClosed)
            failed = [c async for c in session.prompt("more")]
            assert isinstance(failed[-1].failure, aio.ConnectionClosed)

    run(main())


def test_one_turn_at_a_time(schema: Schema) -> None:
    running: set[str] = set()

    async def exclusive(turn: Turn) -> None:
        assert turn.session not in running
        running.add(turn.session)
        try:
            await turn.say("".join(block.text for block in turn.prompt))
            await asyncio.sleep(0.1)
        finally:
            running.discard(turn.session)

    async def main() -> None:
        async with talk(schema, exclusive) as (agent, _), agent.session(cwd="/") as session:
            assert await asyncio.gather(*(session.ask(text) for text in "abc")) == ["a", "b", "c"]
            slow = asyncio.create_task(session.ask("slow"))
            await asyncio.sleep(0.05)
            assert await session.ask("fast", when_busy="cancel") == "fast"
            assert await slow == "slow"
            assert [t.stop_reason for t in session.snapshot.turns][-2:] == ["cancelled", "end_turn"]

    run(main())


def test_sessions_are_kept_apart(schema: Schema) -> None:
    async def echo(turn: Turn) -> None:
        for letter in turn.prompt[0].text:
            await turn.say(letter)
            await asyncio.sleep(0)

    async def main() -> None:
        async with (
            talk(schema, echo) as (agent, _),
            agent.session(cwd="/") as one,
            agent.session(cwd="/") as two,
        ):
            asked: list[tuple[Any, str]] = [(one, "first" * 50), (two, "other" * 50)]
            answers: list[Any] = await asyncio.gather(*(session.ask(text) for session, text in asked))
            assert answers == [text for _, text in asked]
            assert (one.id, two.id) == ("s1", "s2")

    run(main())
