"""Going on with a session that the agent loads, or does not."""

import asyncio
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1, v2
from acp_msgspec.aio import load_or_new
from acp_msgspec.state import SessionState, Snapshot
from acp_msgspec.v2 import aio as v2_aio

from tests.aio.support import run

LOAD = v1.LoadSessionRequest(session_id=v1.SessionId("old"), cwd="/", mcp_servers=[])
NEW = v1.NewSessionRequest(cwd="/", mcp_servers=[])


class _Agent:
    """What a connection would be: each call is written down, and answered at once."""

    def __init__(self, problem: Exception | None = None) -> None:
        self.problem = problem
        self.asked: list[str] = []

    async def session_load(self, params: v1.LoadSessionRequest, *, timeout: float | None = None) -> Any:
        self.asked.append("load")
        if self.problem is not None:
            raise self.problem
        return v1.LoadSessionResponse()

    async def session_resume(self, params: v2.ResumeSessionRequest, *, timeout: float | None = None) -> Any:
        self.asked.append("resume")
        return v2.ResumeSessionResponse()

    async def session_new(self, params: v1.NewSessionRequest, *, timeout: float | None = None) -> Any:
        self.asked.append("new")
        return v1.NewSessionResponse(session_id=v1.SessionId("new"))


def _snapshot() -> Snapshot:
    state = SessionState("old")
    state.user_prompt([v1.TextContent(text="My name is Ada.")])
    return state.snapshot


def _opened(agent: _Agent, load: Any = LOAD, **options: Any) -> Any:
    return asyncio.run(load_or_new(agent, load, NEW, snapshot=_snapshot(), text=v1.TextContent, **options))


def test_an_agent_that_loads() -> None:
    agent = _Agent()
    opened = _opened(agent)
    assert (opened.session_id, opened.loaded, opened.carried, opened.problem) == ("old", True, [], None)
    assert opened.response == v1.LoadSessionResponse()
    assert agent.asked == ["load"]


def test_an_agent_that_cannot() -> None:
    for problem in (acp.MethodNotFound(), acp.ResourceNotFound(), acp.InternalError()):
        agent = _Agent(problem)
        opened = _opened(agent)
        assert (opened.session_id, opened.loaded, opened.problem) == ("new", False, problem)
        (block,) = opened.carried
        assert isinstance(block, v1.TextContent)
        assert "My name is Ada." in block.text
        assert agent.asked == ["load", "new"]


def test_an_agent_that_is_not_asked() -> None:
    agent = _Agent()
    opened = _opened(agent, can_load=False)
    assert (opened.session_id, opened.loaded, opened.problem) == ("new", False, None)
    assert agent.asked == ["new"]


def test_what_is_no_refusal_to_load() -> None:
    for problem in (acp.AuthenticationRequired(), acp.RequestCancelled(), TimeoutError(), ConnectionError()):
        agent = _Agent(problem)
        with pytest.raises(type(problem)):
            _opened(agent)
        assert agent.asked == ["load"]


def test_version_2_resumes() -> None:
    agent = _Agent()
    load = v2.ResumeSessionRequest(session_id=v2.SessionId("old"), cwd=v2.AbsolutePath("/"))
    assert _opened(agent, load).loaded
    assert agent.asked == ["resume"]


def test_a_replay_is_complete_when_the_session_is_loaded() -> None:
    """The update that ends a replay comes before the response, and has been handled when the call returns."""
    told: list[str] = []

    class Client(v2_aio.Client):
        async def session_update(self, params: v2.UpdateSessionNotification, /) -> None:
            await asyncio.sleep(0.01)  # whatever a handler does with it
            told.append(type(params.update).__name__)

    class Agent(v2_aio.Agent):
        def __init__(self, client: v2_aio.AgentConnection) -> None:
            self.client = client

        async def session_new(self, params: v2.NewSessionRequest, /) -> v2.NewSessionResponse:
            raise NotImplementedError

        async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
            raise NotImplementedError

        async def session_resume(self, params: v2.ResumeSessionRequest, /) -> v2.ResumeSessionResponse:
            text = v2.TextContent(text="Earlier")
            key = v2.MessageId("m")
            for update in (v2.AgentMessage(message_id=key, content=[text]), v2.ReplayComplete()):
                await self.client.session_update(
                    v2.UpdateSessionNotification(session_id=params.session_id, update=update)
                )
            return v2.ResumeSessionResponse(config_options=[])

    async def opened() -> Any:
        here, there = aio.memory_pair()
        async with v2_aio.AgentConnection(there, Agent), v2_aio.ClientConnection(here, Client()) as agent:
            await agent.negotiate()
            load = v2.ResumeSessionRequest(
                session_id=v2.SessionId("old"), cwd=v2.AbsolutePath("/"), replay_from=v2.ReplayFromStart()
            )
            new = v2.NewSessionRequest(cwd=v2.AbsolutePath("/"))
            made = await load_or_new(agent, load, new, snapshot=_snapshot(), text=v2.TextContent)
            return made, list(told)

    made, before = run(opened())
    assert made.loaded
    assert before == told
    assert len(told) == 2
    assert "ReplayComplete" in told[-1]


def test_over_a_connection_that_knows_what_the_agent_can() -> None:
    class Plain(aio.Agent):
        async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
            return v1.NewSessionResponse(session_id=v1.SessionId("new"))

    class Loading(Plain):
        async def session_load(self, params: v1.LoadSessionRequest, /) -> v1.LoadSessionResponse:
            return v1.LoadSessionResponse()

    async def opened(handler: aio.Agent) -> aio.Opened[Any, v1.TextContent]:
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, handler), aio.ClientConnection(here) as agent:
            await agent.negotiate()
            return await load_or_new(agent, LOAD, NEW, snapshot=_snapshot(), text=v1.TextContent)

    loaded, carried = run(opened(Loading())), run(opened(Plain()))
    assert (loaded.session_id, loaded.loaded, loaded.carried) == ("old", True, [])
    assert (carried.session_id, carried.loaded) == ("new", False)
    assert isinstance(carried.problem, aio.NotAdvertised)
    assert "Ada" in carried.carried[0].text
