"""What a connection is given as its handler, and what it refuses."""

import asyncio
import functools
import warnings
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, MagicMock, NonCallableMock

import pytest
from acp_msgspec import aio, v1, v2
from acp_msgspec.v1_unstable import aio as v1_unstable_aio
from acp_msgspec.v2 import aio as v2_aio
from msgspec import Raw

from tests.aio.handlers import ENDS, Agent, Client, Plain, each_schema, later, made, refused, returns
from tests.from_schema import least


class Called:
    async def __call__(self, params: Any) -> Any:
        return None


class CalledPlainly:
    def __call__(self, params: Any) -> Any:
        return None


class Agent2(v2_aio.Agent):
    async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
        return least(v2.PromptResponse)


class Alone(aio.Agent):
    def __init__(self) -> None: ...


class WithMore(aio.Agent):
    def __init__(self, client: aio.AgentConnection, folder: str) -> None:
        self.client = client


class Takes(aio.Agent):
    def __init__(self, client: aio.AgentConnection) -> None:
        self.client = client


class Both(aio.Agent, aio.Client):  # type: ignore[misc]  # `capabilities` are those of one of them
    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        return v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)

    async def session_update(self, params: v1.SessionNotification, /) -> None: ...


class Hooks(aio.Agent):
    async def extension_notification(self, method: str, params: Raw, /) -> None: ...


class CanBeCalled(Agent):
    def __call__(self, x: object) -> object:
        return x


class Misspelt:
    async def sesion_prompt(self, params: v1.PromptRequest) -> None: ...


class PartlyMisspelt(Plain):
    async def sesion_new(self, params: v1.NewSessionRequest) -> None: ...


class WithHelpers(Plain):
    async def new(self, name: str) -> None: ...
    async def close(self) -> None: ...
    async def new_session(self) -> None: ...
    async def session_update(self, params: v1.SessionNotification) -> None: ...


class Sets(aio.Agent):
    def __init__(self, value: Any) -> None:
        vars(self)["session_prompt"] = value


class Careless:
    def __init_subclass__(cls) -> None: ...


async def coroutine_factory(connection: object) -> object:
    return Agent()


def plainly(params: object) -> None: ...


def without_connection() -> Agent:
    return Agent()


@pytest.mark.parametrize(
    ("handler", "text"),
    [
        (3, "some of the methods of Agent of acp_msgspec.v1.aio: 3 has none"),
        (0, "0 has none"),
        (False, "False has none"),
        ("agent", "'agent' has none"),
        (asyncio, "the module asyncio has none"),
        ({"session_prompt": 1}, "{'session_prompt': 1} has none"),
        ([], "[] has none"),
        (object(), "an object of the class object has none"),
        (Misspelt(), "Misspelt.sesion_prompt handles nothing; `session_prompt` was probably meant"),
        (PartlyMisspelt(), "PartlyMisspelt.sesion_new handles nothing; `session_new` was probably meant"),
        (
            Client(),
            "takes an Agent of acp_msgspec.v1.aio: Client derives from Client of acp_msgspec.v1.aio, with `Client.ses",
        ),
        (Client, "takes an Agent of acp_msgspec.v1.aio: Client derives from Client of acp_msgspec.v1.aio"),
        (returns(Client()), "takes an Agent of acp_msgspec.v1.aio: Client derives from Client"),
        (aio.Client(), "takes an Agent of acp_msgspec.v1.aio: this is Client of acp_msgspec.v1.aio"),
        (Agent2(), "takes an Agent of acp_msgspec.v1.aio: Agent2 derives from Agent of acp_msgspec.v2.aio"),
        (Agent2, "takes an Agent of acp_msgspec.v1.aio: Agent2 derives from Agent of acp_msgspec.v2.aio"),
        (v1_unstable_aio.Agent(), "this is Agent of acp_msgspec.v1_unstable.aio"),
        (SimpleNamespace(session_update=later), "it has `session_update`, which is for a client to handle"),
        (Agent, "the class Agent takes (); give it `Agent()` instead"),
        (Alone, "the class Alone takes (); give it `Alone()` instead"),
        (Plain, "the class Plain takes (); give it `Plain()` instead"),
        (WithMore, "the class WithMore takes (client: "),
        (WithMore, "give it an object, or `lambda connection: WithMore(…)` instead"),
        (without_connection, "the function without_connection takes ()"),
        (coroutine_factory, "the function coroutine_factory is a coroutine function; await it first"),
        (Agent().session_prompt, "is a coroutine function; await it first"),
        (returns(later), "the function factory, which returned the coroutine later()"),
        (returns(None), "the function factory, which returned None"),
        (returns(Agent), "the function factory, which returned the class Agent"),
        (returns(5), "5 has none"),
        (Sets(plainly), "Sets.session_prompt is a plain function"),
        (Sets(5), "Sets.session_prompt is 5"),
        (Sets(later), "Sets.session_prompt takes ()"),
        (Sets(CalledPlainly()), "Sets.session_prompt is an object whose `__call__` is not async"),
    ],
)
def test_what_an_agents_connection_is_not_given(handler: Any, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a coroutine that nobody awaits
        with pytest.raises(TypeError) as caught:
            aio.AgentConnection(aio.memory_pair()[0], handler)
    assert text in str(caught.value)
    assert "AgentConnection" in str(caught.value) or "." in text


@pytest.mark.parametrize(
    "handler",
    [
        None,
        aio.Agent(),
        Agent(),
        Takes,
        Plain(),
        SimpleNamespace(session_prompt=Plain().session_prompt),
        WithHelpers(),
        Both(),
        CanBeCalled(),
        returns(Agent()),
        returns(Plain()),
        functools.partial(WithMore, folder="/"),
        Sets(Plain().session_prompt),
        Sets(Called()),
        MagicMock(spec=aio.Agent),
        AsyncMock(spec=Agent),
        NonCallableMock(),
        aio.ClientConnection(aio.memory_pair()[0]),  # what comes in there goes on here
    ],
)
def test_what_an_agents_connection_is_given(handler: Any) -> None:
    for _ in range(2):  # what is kept of the first check changes nothing
        given: Any = aio.AgentConnection(aio.memory_pair()[0], handler).handler
        assert (given is None) is (handler is None)


def test_what_is_the_same_everywhere_may_serve_any_end() -> None:
    for kind in (aio.AgentConnection, aio.ClientConnection, v2_aio.ClientConnection):
        made_of: Any = kind
        assert made_of(aio.memory_pair()[0], Hooks()).handler


@each_schema
def test_the_other_end_and_other_schemas(ends: Any) -> None:
    transport = aio.memory_pair()[0]
    for other in ENDS:
        for end, conn in (("Agent", other.ClientConnection), ("Client", other.AgentConnection)):
            with pytest.raises(
                TypeError, match=rf"this is {end} of {ends.__name__}; {end}Connection of {ends.__name__} is"
            ):
                conn(transport, getattr(ends, end)())
        if other is not ends:
            for end in ("Agent", "Client"):
                with pytest.raises(
                    TypeError, match=rf"takes an? {end} of {other.__name__}: this is {end} of {ends.__name__};"
                ):
                    getattr(other, f"{end}Connection")(transport, getattr(ends, end)())
    text = refused("async def session_update(self, params):", ends.Agent)
    assert text.startswith(
        "Mine.session_update handles nothing: it is for a client to handle, and this class is an agent. "
    )
    text = refused("async def session_prompt(self, params):", ends.Client)
    assert text.startswith(
        "Mine.session_prompt handles nothing: it is for an agent to handle, and this class is a client. "
    )
    made("async def session_update(self, session, update): ...", ends.Agent)


def test_a_class_beside_it_cannot_keep_a_class_from_the_check() -> None:
    class Hidden(Careless, aio.Agent):
        async def sesion_prompt(self, params: v1.PromptRequest) -> None: ...

    with pytest.raises(TypeError, match=r"^Hidden\.sesion_prompt handles nothing"):
        aio.AgentConnection(aio.memory_pair()[0], Hidden())

    class Mixin:
        async def prompt(self, params: v1.PromptRequest) -> None: ...

    with pytest.raises(TypeError, match=r"^Mixed\.prompt handles nothing"):
        type("Mixed", (Mixin, aio.Agent), {})

    class Whole(Mixin, aio.Agent):
        async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
            raise NotImplementedError

    class Later(Whole):
        async def prompt(self, params: v1.PromptRequest) -> None: ...

    assert aio.AgentConnection(aio.memory_pair()[0], Later()).handler


def test_ready_handlers_have_what_they_work_with() -> None:
    for kind, name in (
        (aio.ServesFiles, "files"),
        (aio.ServesTerminals, "terminals"),
        (aio.DecidesPermissions, "permissions"),
    ):
        ready: Any = type("Ready", (kind,), {})
        with pytest.raises(TypeError, match=rf"^Ready has no `{name}`, which {kind.__name__} needs"):
            aio.ClientConnection(aio.memory_pair()[0], ready())
        ready = type("Ready", (kind,), {name: object()})
        assert aio.ClientConnection(aio.memory_pair()[0], ready()).handler
