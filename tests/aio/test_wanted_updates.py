"""Updates that an agent sends only to a client that has advertised that it wants them."""

import importlib
from typing import Any

import pytest
from acp_msgspec import aio, v1
from acp_msgspec.v1 import aio as v1_aio

from tests.aio.handlers import each_schema
from tests.aio.support import run
from tests.from_schema import capabilities, tags, update_of

HANDSHAKE: Any = __import__("acp_msgspec.aio._session.handshake", fromlist=["x"])


@each_schema
def test_updates_that_a_client_must_want(ends: Any) -> None:
    label = ends.__name__.split(".")[1]
    types = importlib.import_module(f"acp_msgspec.{label}")
    kind = types.METHODS["session/update"].notification
    wanted = capabilities(label)

    async def turn() -> None:
        here, there = aio.memory_pair()
        async with (
            ends.AgentConnection(there, ends.Agent()) as agent,
            ends.ClientConnection(here, ends.Client()) as client,
        ):
            await client.negotiate()
            for tag, value in tags(label).items():
                note = kind(session_id=types.SessionId("s"), update=update_of(label, value))
                if f"session/update#update={tag}" not in wanted:
                    await agent.session_update(note)
                    continue
                with pytest.raises(aio.NotAdvertised, match=f"session/update with update {tag}"):
                    await agent.session_update(note)

    run(turn())


def test_some_update_must_be_wanted() -> None:
    assert any(name.startswith("session/update#update=") for name in capabilities("v1_unstable"))


def test_what_was_let_through_does_not_hide_what_is_refused() -> None:
    """The gate remembers classes that need nothing; one that needs something is refused each time."""
    gate_of: Any = HANDSHAKE.Gate
    needs = v1_aio.AgentConnection.side.needs
    gate = gate_of(needs, v1.InitializeRequest(protocol_version=1))
    chunk = v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text="a"))
    plan = v1.PlanRemoved(plan_id=v1.PlanId("p"))

    def params(update: Any) -> v1.SessionNotification:
        return v1.SessionNotification(session_id=v1.SessionId("s"), update=update)

    for _ in range(3):
        gate.check("session/update", params(chunk))
        with pytest.raises(aio.NotAdvertised, match="plan"):
            gate.check("session/update", params(plan))
