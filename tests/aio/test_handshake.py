"""`initialize`: the version is settled, and nobody is asked for what it did not advertise."""

import asyncio
import copy
import pickle
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1, v1_unstable, v2, v2_unstable
from acp_msgspec.v1 import aio as v1_aio
from acp_msgspec.v1_unstable import aio as v1_unstable_aio
from acp_msgspec.v2 import aio as v2_aio
from acp_msgspec.v2_unstable import aio as v2_unstable_aio

from generator.jsonutil import is_object
from tests.aio.support import RawPeer, run
from tests.from_schema import capabilities, least

HANDSHAKE: Any = __import__("acp_msgspec.aio._session.handshake", fromlist=["x"])
SESSION = v1.SessionId("s")
READ = v1.ReadTextFileRequest(session_id=SESSION, path="/a")
WRITE = v1.WriteTextFileRequest(session_id=SESSION, path="/a", content="")
LOAD = v1.LoadSessionRequest(session_id=SESSION, cwd="/", mcp_servers=[])
HTTP = v1.McpServerHttp(name="m", url="http://m", headers=[])
STDIO = v1.McpServerStdio(name="m", command="/m", args=[], env=[])
IMAGE = v1.ImageContent(data="", mime_type="image/png")
TEXT = v1.TextContent(text="hello")
END = v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)


class Agent(aio.Agent):
    """Loads sessions, lists them, and tells what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def session_load(self, params: v1.LoadSessionRequest, /) -> v1.LoadSessionResponse:
        self.asked.append("session/load")
        return v1.LoadSessionResponse()

    async def session_list(self, params: v1.ListSessionsRequest, /) -> v1.ListSessionsResponse:
        return v1.ListSessionsResponse(sessions=[])

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        self.asked.append("session/new")
        return v1.NewSessionResponse(session_id=SESSION)

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        self.asked.append("session/prompt")
        return END


class Client(aio.Client):
    async def fs_read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
        return v1.ReadTextFileResponse(content="x")


def new(*servers: v1.McpServer, folders: tuple[str, ...] = ()) -> v1.NewSessionRequest:
    return v1.NewSessionRequest(cwd="/", mcp_servers=[*servers], additional_directories=[*folders])


def prompt(*blocks: v1.ContentBlock) -> v1.PromptRequest:
    return v1.PromptRequest(session_id=SESSION, prompt=[*blocks])


def test_both_sides_offer_what_their_handlers_have() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, Agent()) as agent, aio.ClientConnection(here, Client()) as client:
            assert client.handshake is None
            answer = await client.negotiate(info=v1.Implementation(name="test", version="1"))
            assert answer.protocol_version == 1
            offers = answer.agent_capabilities
            assert offers.load_session
            assert offers.session_capabilities.list is not None
            assert offers.session_capabilities.delete is None
            assert not offers.prompt_capabilities.image
            assert client.handshake is not None
            assert client.handshake.response is answer
            assert agent.handshake is not None
            assert agent.handshake.response == answer
            asked = agent.handshake.request
            assert asked == client.handshake.request
            assert asked.client_info == v1.Implementation(name="test", version="1")
            assert asked.client_capabilities.fs == v1.FileSystemCapabilities(read_text_file=True)
            assert not asked.client_capabilities.terminal

    run(turn())


def test_what_was_not_advertised_is_refused_before_it_is_sent() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        handler = Agent()
        sent: list[bytes] = []
        async with (
            aio.AgentConnection(there, handler) as agent,
            aio.ClientConnection(here, Client(), on_message=lambda way, data: sent.append(data)) as client,
        ):
            # Before the handshake nobody knows better.
            await client.session_load(LOAD)
            await client.negotiate()
            count = len(sent)
            delete = v1.DeleteSessionRequest(session_id=SESSION)
            with pytest.raises(aio.NotAdvertised, match=r"session/delete needs agentCapabilities\.") as caught:
                await client.session_delete(delete)
            assert caught.value.method == "session/delete"
            assert caught.value.capability == "agentCapabilities.sessionCapabilities.delete"
            with pytest.raises(aio.NotAdvertised):
                await client.call("session/delete", delete, timeout=1)
            assert len(sent) == count
            with pytest.raises(acp.MethodNotFound):
                await client.session_delete(delete, force=True)
            await client.session_load(LOAD)
            assert handler.asked.count("session/load") == 2

            assert (await agent.fs_read_text_file(READ)).content == "x"
            with pytest.raises(
                aio.NotAdvertised, match=r"fs/write_text_file needs clientCapabilities\.fs\.writeTextFile"
            ):
                await agent.fs_write_text_file(WRITE)
            with pytest.raises(aio.NotAdvertised, match=r"terminal/create needs clientCapabilities\.terminal,"):
                await agent.terminal_create(v1.CreateTerminalRequest(session_id=SESSION, command="x"))
            done = v1.CompleteElicitationNotification(elicitation_id=v1.ElicitationId("e"))
            with pytest.raises(aio.NotAdvertised, match="elicitation/complete"):
                await agent.elicitation_complete(done)
            with pytest.raises(aio.NotAdvertised, match="elicitation/complete"):
                await agent.notify(done)
            await agent.elicitation_complete(done, force=True)
            await agent.notify(done, force=True)

    run(turn())


def test_kinds_of_content_need_leave_too() -> None:
    class Seeing(Agent):
        def capabilities(self) -> v1.AgentCapabilities:
            made = super().capabilities()
            made.prompt_capabilities.image = True
            return made

    async def turn() -> None:
        here, there = aio.memory_pair()
        handler = Seeing()
        async with aio.AgentConnection(there, handler), aio.ClientConnection(here) as client:
            await client.negotiate()
            await client.session_prompt(prompt(TEXT, IMAGE, v1.ResourceLink(name="x", uri="file:///x")))
            sound = v1.AudioContent(data="", mime_type="audio/wav")
            with pytest.raises(aio.NotAdvertised, match="session/prompt with prompt audio needs"):
                await client.session_prompt(prompt(TEXT, sound))
            inside = v1.EmbeddedResource(resource=v1.TextResourceContents(text="", uri="file:///x"))
            with pytest.raises(aio.NotAdvertised, match=r"promptCapabilities\.embeddedContext"):
                await client.session_prompt(prompt(inside))
            await client.session_new(new(STDIO))
            with pytest.raises(aio.NotAdvertised, match=r"mcpCapabilities\.http"):
                await client.session_new(new(STDIO, HTTP))
            with pytest.raises(aio.NotAdvertised, match=r"sessionCapabilities\.additionalDirectories"):
                await client.session_new(new(folders=("/b",)))
            await client.session_new(new(HTTP, folders=("/b",)), force=True)
            assert handler.asked == ["session/prompt", "session/new", "session/new"]

    run(turn())


def test_elicitation_by_its_modes() -> None:
    class Asking(aio.Client):
        def capabilities(self) -> v1.ClientCapabilities:
            form = v1.ElicitationCapabilities(form=v1.ElicitationFormCapabilities())
            return v1.ClientCapabilities(elicitation=form)

        async def elicitation_create(self, params: v1.CreateElicitationRequest, /) -> v1.CreateElicitationResponse:
            return v1.CreateElicitationResponseDecline()

    async def turn() -> None:
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, Agent()) as agent, aio.ClientConnection(here, Asking()) as client:
            await client.negotiate()
            form = v1.CreateElicitationRequestFormSession(
                session_id=SESSION, message="?", requested_schema=v1.ElicitationSchema()
            )
            assert await agent.elicitation_create(form) == v1.CreateElicitationResponseDecline()
            url = v1.CreateElicitationRequestUrlSession(
                session_id=SESSION, message="?", url="http://x", elicitation_id=v1.ElicitationId("e")
            )
            with pytest.raises(aio.NotAdvertised, match=r"elicitation\.url"):
                await agent.elicitation_create(url)

    run(turn())


MODULES: list[tuple[Any, Any]] = [
    (v1, v1_aio),
    (v1_unstable, v1_unstable_aio),
    (v2, v2_aio),
    (v2_unstable, v2_unstable_aio),
]
each_schema = pytest.mark.parametrize(("types", "ends"), MODULES, ids=[types.__name__ for types, _ in MODULES])


def client_with(base: Any, *names: str) -> Any:
    """Make a client of coroutines that do nothing."""

    async def nothing(self: object, params: object, /) -> None:
        pass

    return type("Made", (base,), dict.fromkeys(names, nothing))()


@each_schema
@pytest.mark.parametrize("base", ["subclass", "any class"])
def test_elicitation_is_offered_by_what_is_handled(types: Any, ends: Any, base: str) -> None:
    form, url = types.ElicitationFormCapabilities(), types.ElicitationUrlCapabilities()
    both = types.ElicitationCapabilities(form=form, url=url)

    async def turn() -> None:
        for names, expected in (
            (["elicitation_create"], types.ElicitationCapabilities(form=form)),
            (["elicitation_create", "elicitation_complete"], both),
            (["elicitation_complete"], None),
            (["session_update"], None),
        ):
            here, there = aio.memory_pair()
            handler = client_with(ends.Client if base == "subclass" else object, *names)
            async with (
                ends.AgentConnection(there, ends.Agent()) as agent,
                ends.ClientConnection(here, handler) as client,
            ):
                await client.negotiate(info=types.Implementation(name="test", version="1"))
                told: Any = acp.to_builtins(agent.handshake.request)
                told = told.get("clientCapabilities" if "clientCapabilities" in told else "capabilities", {})
                assert told.get("elicitation") == (None if expected is None else acp.to_builtins(expected))

    run(turn())


@each_schema
def test_an_agent_asks_in_the_modes_that_were_advertised(types: Any, ends: Any) -> None:
    session = types.SessionId("s")
    schema = least(types.ElicitationSchema)
    form = types.CreateElicitationRequestFormSession(session_id=session, message="?", requested_schema=schema)
    at = {"url": "http://x", "elicitation_id": types.ElicitationId("e")}
    url = types.CreateElicitationRequestUrlSession(session_id=session, message="?", **at)
    other = types.CreateElicitationRequestOtherSession(session_id=session, message="?", mode="_voice")
    has_form, has_url = {"form": types.ElicitationFormCapabilities()}, {"url": types.ElicitationUrlCapabilities()}
    done = types.CompleteElicitationNotification(elicitation_id=types.ElicitationId("e"))

    async def turn() -> None:
        for modes, refused in (
            ({}, ["form", "url", "", "url"]),
            (has_form, [None, "url", None, "url"]),
            (has_url, ["form", None, None, None]),
            (has_form | has_url, [None] * 4),
        ):
            here, there = aio.memory_pair()
            handler = client_with(ends.Client, "elicitation_create", "elicitation_complete")
            made = types.ClientCapabilities(elicitation=types.ElicitationCapabilities(**modes))
            async with (
                ends.AgentConnection(there, ends.Agent()) as agent,
                ends.ClientConnection(here, handler) as client,
            ):
                await client.negotiate(capabilities=made, info=types.Implementation(name="test", version="1"))
                for params, mode in zip((form, url, other, done), refused, strict=True):
                    method = "elicitation/complete" if params is done else "elicitation/create"
                    if mode is None:
                        agent.gate(method, params)
                        continue
                    with pytest.raises(aio.NotAdvertised) as caught:
                        agent.gate(method, params)
                    assert caught.value.capability.endswith(f".elicitation.{mode}".rstrip("."))

    run(turn())


def _at(capabilities: Any, path: str) -> Any:
    """Read what a path of the overrides leads to in an agent's capabilities; None where nothing is."""
    found: Any = acp.to_builtins(capabilities)
    for key in path.split(".")[1:]:
        found = found.get(key) if is_object(found) else None
    return found


@each_schema
def test_what_is_inside_a_capability_is_offered_with_it_alone(types: Any, ends: Any) -> None:
    """To advertise what is inside another capability would advertise that one, whose methods an agent may not have."""
    side = ends.AgentConnection.side
    handlers = {**side.requests, **side.notifications}
    names = {kind.__struct_config__.tag: name for kind, name in handlers.items()}
    needed = {m: path for m, path in capabilities(types.__name__.split(".")[1]).items() if m in names}
    needs = ends.AgentConnection.side.needs + ends.ClientConnection.side.needs
    nothing = client_with(ends.Agent).capabilities()
    for method, path in needed.items():
        outside = {m for m, outer in needed.items() if path.startswith(f"{outer}.")}
        # What has required properties is the agent's to fill in.
        if not outside or all(need.leaf is None for need in needs if need.capability == path):
            continue
        together = {m for m, same in needed.items() if same == path}
        assert client_with(ends.Agent, *(names[m] for m in together)).capabilities() == nothing, method
        whole = client_with(ends.Agent, *(names[m] for m in together | outside)).capabilities()
        assert _at(whole, path) is not None, method
        for other in needed.values():
            if other != path and other.startswith(f"{path.rpartition('.')[0]}."):
                assert _at(whole, other) is None, (method, other)


def test_what_is_inside_a_capability_of_version_2() -> None:
    assert client_with(v2_aio.Agent, "session_delete").capabilities() == v2.AgentCapabilities()
    whole = client_with(v2_aio.Agent, "session_new", "session_prompt", "session_delete").capabilities()
    assert whole.session.delete is not None


@pytest.mark.parametrize(
    "why",
    [
        aio.NotAdvertised("session/load", "agentCapabilities.loadSession"),
        aio.NotAdvertised("session/prompt", "agentCapabilities.promptCapabilities.audio", "prompt audio"),
        aio.UnsupportedVersion(7, (1,)),
        aio.UnsupportedVersion(answered=1, spoken=(2, 3)),
    ],
)
def test_errors_survive_pickle_and_copy(why: Exception) -> None:
    why.add_note("a note")
    for made in (pickle.loads(pickle.dumps(why)), copy.copy(why), copy.deepcopy(why)):
        assert type(made) is type(why)
        assert str(made) == str(why)
        assert vars(made) == vars(why)


def test_a_capability_is_offered_for_all_of_its_methods_alone() -> None:
    class Some(aio.Client):
        async def terminal_create(self, params: v1.CreateTerminalRequest, /) -> v1.CreateTerminalResponse:
            raise NotImplementedError

    class Without(aio.ServesTerminals):
        def supports(self, name: str, /) -> bool:
            return super().supports(name) and not name.startswith("terminal_")

    assert not Some().capabilities().terminal
    assert aio.ServesTerminals().capabilities().terminal
    assert not Without().capabilities().terminal


def test_an_object_of_any_class_offers_what_it_has() -> None:
    class Bare:
        async def fs_read_text_file(self, params: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
            return v1.ReadTextFileResponse(content="x")

    async def turn() -> None:
        handler: Any
        for handler in (Bare(), None):
            here, there = aio.memory_pair()
            async with aio.AgentConnection(there, Agent()) as agent, aio.ClientConnection(here, handler) as client:
                await client.negotiate()
                assert agent.handshake is not None
                offers = agent.handshake.request.client_capabilities
                assert offers.fs.read_text_file is (handler is not None)
                assert not offers.fs.write_text_file

    run(turn())


def test_an_empty_list_advertises_nothing() -> None:
    need = HANDSHAKE.Need("auth/login", "authMethods")
    HANDSHAKE.Gate([need], {"authMethods": [{}]}).check("auth/login", None)
    nothing: tuple[Any, ...] = ({"authMethods": []}, {"authMethods": None}, {"authMethods": False}, {}, [], None)
    for told in nothing:
        with pytest.raises(aio.NotAdvertised):
            HANDSHAKE.Gate([need], told).check("auth/login", None)


@pytest.mark.parametrize(("asked", "answered"), [(1, 1), (0, 1), (2, 1), (65535, 1)])
def test_an_agent_answers_with_a_version_that_it_speaks(asked: int, answered: int) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(here)
        async with aio.AgentConnection(there, Agent()):
            params: dict[str, Any] = {"protocolVersion": asked, "clientCapabilities": {}}
            await peer.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
            assert (await peer.next())["result"]["protocolVersion"] == answered

    run(turn())


def test_a_client_refuses_a_version_that_it_does_not_speak() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with aio.ClientConnection(here) as client:
            asked = asyncio.ensure_future(peer.answer({"protocolVersion": 7}))
            with pytest.raises(aio.UnsupportedVersion) as caught:
                await client.negotiate()
            assert (await asked)["params"]["protocolVersion"] == 1
            assert (caught.value.answered, caught.value.spoken) == (7, (1,))
            assert str(caught.value) == "The agent speaks version 7 of the protocol, this side speaks 1"

    run(turn())


def test_whoever_handles_initialize_it_is_noted() -> None:
    class Own:
        async def initialize(self, params: v1.InitializeRequest) -> v1.InitializeResponse:
            return v1.InitializeResponse(protocol_version=1)

    class Refusing(aio.Agent):
        async def initialize(self, params: v1.InitializeRequest, /) -> v1.InitializeResponse:
            raise acp.AuthenticationRequired

    async def turn() -> None:
        here, there = aio.memory_pair()
        own: Any = Own()
        async with aio.AgentConnection(there, own) as agent, aio.ClientConnection(here) as client:
            await client.initialize(v1.InitializeRequest(protocol_version=1))
            with pytest.raises(aio.NotAdvertised):
                await client.session_load(LOAD)
            with pytest.raises(aio.NotAdvertised):
                await agent.fs_read_text_file(READ)
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, Refusing()) as agent, aio.ClientConnection(here, Client()) as client:
            with pytest.raises(acp.AuthenticationRequired):
                await client.negotiate()
            assert client.handshake is None
            assert agent.handshake is None
            assert (await agent.fs_read_text_file(READ)).content == "x"

    run(turn())


def test_the_second_version() -> None:
    class Agent2(v2_aio.Agent):
        async def session_new(self, params: v2.NewSessionRequest, /) -> v2.NewSessionResponse:
            return v2.NewSessionResponse(session_id=v2.SessionId("s"))

        async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
            return least(v2.PromptResponse)

        async def auth_login(self, params: v2.LoginAuthRequest, /) -> v2.LoginAuthResponse:
            return v2.LoginAuthResponse()

    async def turn() -> None:
        here, there = aio.memory_pair()
        async with v2_aio.AgentConnection(there, Agent2()), v2_aio.ClientConnection(here) as client:
            answer = await client.negotiate()
            assert (answer.protocol_version, answer.info.name) == (2, "Agent2")
            assert answer.capabilities.session == v2.SessionCapabilities()
            await client.session_new(v2.NewSessionRequest(cwd=v2.AbsolutePath("/")))
            delete = v2.DeleteSessionRequest(session_id=v2.SessionId("s"))
            with pytest.raises(aio.NotAdvertised, match=r"capabilities\.session\.delete"):
                await client.session_delete(delete)
            stdio = v2.McpServerStdio(name="m", command=v2.AbsolutePath("/m"))
            with pytest.raises(aio.NotAdvertised, match=r"capabilities\.session\.mcp\.stdio"):
                await client.session_new(v2.NewSessionRequest(cwd=v2.AbsolutePath("/"), mcp_servers=[stdio]))
            login = v2.LoginAuthRequest(method_id=v2.AuthMethodId("a"))
            with pytest.raises(aio.NotAdvertised, match="auth/login needs authMethods"):
                await client.auth_login(login)
        here, there = aio.memory_pair()
        async with v2_aio.AgentConnection(there, v2_aio.Agent()), v2_aio.ClientConnection(here) as client:
            await client.negotiate()
            with pytest.raises(aio.NotAdvertised, match=r"session/new needs capabilities\.session,"):
                await client.session_new(v2.NewSessionRequest(cwd=v2.AbsolutePath("/")))
            with pytest.raises(aio.NotAdvertised, match="session/cancel"):
                await client.session_cancel(v2.CancelSessionNotification(session_id=v2.SessionId("s")))

    run(turn())
