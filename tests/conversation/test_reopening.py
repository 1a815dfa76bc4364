"""Opening an earlier session: loaded, resumed, or carried over into a new one."""

from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1
from acp_msgspec.state import SessionState, Snapshot

from tests.aio.support import run
from tests.conversation.support import LABELS, Schema, Turn, agent_class, talk


@pytest.fixture(params=LABELS)
def schema(request: pytest.FixtureRequest) -> Schema:
    return Schema(request.param)


class _Reopening:
    """What an agent does that opens earlier sessions; mixed into the class of scripted agents."""

    refusal: Exception | None = None
    asked: list[Any]

    async def _reopen(self: Any, params: Any) -> None:
        self.asked.append(params)
        turn = Turn(self, params)
        await turn.say("as I said")
        if self.refusal is not None:
            raise self.refusal


def _class(schema: Schema, *, load: bool, resume: bool) -> Any:
    base = agent_class(schema)
    methods: dict[str, Any] = {"asked": []}

    async def session_load(self: Any, params: Any, /) -> Any:
        await self._reopen(params)
        return schema.LoadSessionResponse()

    async def session_resume(self: Any, params: Any, /) -> Any:
        await self._reopen(params)
        return schema.ResumeSessionResponse()

    if load:
        methods["session_load"] = session_load
    if resume:
        methods["session_resume"] = session_resume
    return type("Reopening", (_Reopening, base), methods)


def _snapshot() -> Snapshot:
    state = SessionState()
    state.user_prompt([v1.TextContent(text="My name is Ada.")])
    return state.snapshot


async def _echo(turn: Turn) -> None:
    for block in turn.prompt:
        await turn.say(block.text)


def test_an_agent_that_opens_it(schema: Schema) -> None:
    kind = _class(schema, load=not schema.has_idle, resume=schema.has_idle)

    async def main() -> None:
        async with talk(schema, _echo, kind=kind) as (agent, serving):
            async with agent.session(cwd="/x", id="old", snapshot=_snapshot()) as session:
                assert (session.id, session.loaded, session.problem) == ("old", True, None)
                assert [m.text for m in session.snapshot.messages] == ["as I said"]
                assert await session.ask("hi") == "hi"
            (params,) = serving.asked
            assert (params.session_id, params.cwd) == ("old", "/x")
            if schema.has_idle:
                assert params.replay_from == schema.ReplayFromStart()

    run(main())


@pytest.mark.parametrize("label", ["v1", "v1_unstable"])
def test_an_agent_that_only_resumes(label: str) -> None:
    schema = Schema(label)

    async def main() -> None:
        kind = _class(schema, load=False, resume=True)
        async with talk(schema, _echo, kind=kind) as (agent, _), agent.session(cwd="/", id="old") as session:
            assert (session.id, session.loaded, session.problem) == ("old", True, None)

    run(main())


@pytest.mark.parametrize("refuses", [False, True])
def test_an_agent_that_does_not(schema: Schema, *, refuses: bool) -> None:
    async def main() -> None:
        kind = _class(schema, load=refuses and not schema.has_idle, resume=refuses and schema.has_idle)
        kind.refusal = acp.ResourceNotFound()
        async with (
            talk(schema, _echo, kind=kind) as (agent, serving),
            agent.session(cwd="/", id="old", snapshot=_snapshot()) as session,
        ):
            assert (session.id, session.loaded) == ("s1", False)
            assert isinstance(session.problem, acp.RequestError if refuses or schema.has_idle else aio.NotAdvertised)
            assert not session.snapshot.messages
            first = await session.ask("Who am I?")
            assert "My name is Ada." in first
            assert first.endswith("Who am I?")
            assert session.snapshot.messages[0].text == "Who am I?"
            assert await session.ask("again") == "again"
            assert len(serving.asked) == refuses

    run(main())


def test_what_was_carried_is_sent_again_after_a_failure() -> None:
    async def failing(turn: Turn) -> None:
        raise acp.InternalError

    async def main() -> None:
        async with (
            talk(Schema("v1"), failing) as (agent, serving),
            agent.session(cwd="/", id="old", snapshot=_snapshot()) as session,
        ):
            with pytest.raises(acp.RequestError):
                await session.ask("x")
            serving.script = _echo
            assert "Ada" in await session.ask("x")
            assert await session.ask("x") == "x"

    run(main())


def test_a_refusal_that_is_none(schema: Schema) -> None:
    async def main() -> None:
        kind = _class(schema, load=not schema.has_idle, resume=schema.has_idle)
        kind.refusal = acp.AuthenticationRequired()
        async with talk(schema, _echo, kind=kind) as (agent, serving):
            with pytest.raises(acp.AuthenticationRequired):
                async with agent.session(cwd="/", id="old"):
                    pass
            serving.refusal = None
            async with agent.session(cwd="/", id="old") as session:
                assert session.loaded

    run(main())
