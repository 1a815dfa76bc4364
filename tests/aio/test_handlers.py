"""Handlers are checked where they are made known: a method that would never be called, or not as it is, is refused."""

import re
import warnings
from types import SimpleNamespace
from typing import Any

import pytest
from acp_msgspec import aio, v1

from tests.aio.handlers import Agent, Plain, each_schema, later, made, refused, returns
from tests.aio.support import run


@each_schema
@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("async def sesion_prompt(self, params):", "session_prompt"),
        ("async def session_promt(self, params, /):", "session_prompt"),
        ("async def session_pormpt(self, params):", "session_prompt"),
        ("async def sessoin_prompt(self, whatever: int):", "session_prompt"),
        ("async def sessionprompt(self, params):", "session_prompt"),
        ("async def sessionPrompt(self, params):", "session_prompt"),
        ("async def SessionPrompt(self, params):", "session_prompt"),
        ("async def session__prompt(self, params):", "session_prompt"),
        ("async def session_prompt_(self, params):", "session_prompt"),
        ("async def on_session_prompt(self, params):", "session_prompt"),
        ("async def handle_session_prompt(self, params):", "session_prompt"),
        ("async def session_prompt_handler(self, params):", "session_prompt"),
        ("async def prompt(self, params):", "session_prompt"),
        ("async def prompt(self, text):", "session_prompt"),
        ("async def prompt(self, prompt, session_id, **rest):", "session_prompt"),
        ("async def prompt(self):", "session_prompt"),
        ("async def promt(self, params):", "session_prompt"),
        ("async def on_prompt(self, params):", "session_prompt"),
        ("async def handle_prompt(self, params):", "session_prompt"),
        ("async def handlePrompt(self, params):", "session_prompt"),
        ("def sesion_prompt(self, params):", "session_prompt"),
        ("def prompt(self, params):", "session_prompt"),
        ("async def sesion_new(self, params):", "session_new"),
        ("async def new_session(self, params):", "session_new"),
        ("async def newSession(self, params):", "session_new"),
        ("async def list_sessions(self, _):", "session_list"),
        ("async def cancel(self, params):", "session_cancel"),
        ("async def session_cancle(self, params):", "session_cancel"),
        ("async def session_set_config_optoin(self, params):", "session_set_config_option"),
        ("async def session_setconfigoption(self, params):", "session_set_config_option"),
        ("async def set_config_option(self, params):", "session_set_config_option"),
        ("async def initialise(self, params):", "initialize"),
        ("async def initalize(self, params):", "initialize"),
        ("async def extension_reqest(self, method, params):", "extension_request"),
        ("async def extensionRequest(self, method, params):", "extension_request"),
        ("async def ext_method(self, method, params):", "extension_request"),
        ("async def ext_notification(self, method, params):", "extension_notification"),
        ("async def on_connection_closed(self):", "connection_closed"),
        ("async def conection_closed(self):", "connection_closed"),
        ("def capabilites(self):", "capabilities"),
    ],
)
def test_a_name_close_to_a_handlers(ends: Any, line: str, meant: str) -> None:
    text = refused(line, ends.Agent)
    name = line.removeprefix("async ").removeprefix("def ").partition("(")[0]
    found = re.match(rf"Mine\.{name} handles nothing; `([\w` ]*)` was probably meant\. ", text)
    assert found is not None, text
    # A schema may have more methods that end like that one.
    candidates = found[1].split("` or `")
    assert meant in candidates
    assert {each.rpartition("_")[2] for each in candidates} == {meant.rpartition("_")[2]}
    # Three ways around it: the handler is there as well, the name is private, or it is said to be a helper.
    if meant != "capabilities":
        arguments = ["self", "method", "params"] if meant.startswith("extension") else ["self", "params"]
        arguments = ["self"] if meant == "connection_closed" else arguments
        made(f"{line} ...\nasync def {meant}({', '.join(arguments)}): ...", ends.Agent)
    made(line.replace(f"def {name}", f"def _{name}"), ends.Agent)
    helped = made(line, ends.Agent, head=f", helpers=[{name!r}]")
    made(line, helped)
    made("async def session_new(self, params): ...", helped)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("async def sesion_update(self, params):", "session_update"),
        ("async def update(self, params: v1.SessionNotification):", "session_update"),
        ("async def sessionUpdate(self, params):", "session_update"),
        ("async def read_text_file(self, params):", "fs_read_text_file"),
        ("async def fs_read_textfile(self, params):", "fs_read_text_file"),
        ("async def fs_raed_text_file(self, params):", "fs_read_text_file"),
        ("async def fsReadTextFile(self, params):", "fs_read_text_file"),
        ("async def request_permission(self, params):", "session_request_permission"),
        (
            "async def request_permission(self, options, session_id) -> v1.RequestPermissionResponse:",
            "session_request_pe",
        ),
        ("async def session_request_permision(self, params):", "session_request_permission"),
        ("async def create_terminal(self, params):", "terminal_create"),
        ("async def terminal_kil(self, params):", "terminal_kill"),
        ("async def kill(self, params: 'v1.KillTerminalRequest'):", "terminal_kill"),
        ("async def wait_for_terminal_exit(self, params):", "terminal_wait_for_exit"),
        ("async def elicitation_crate(self, params):", "elicitation_create"),
        ("async def elicitationComplete(self, params):", "elicitation_complete"),
    ],
)
def test_the_names_of_clients(line: str, meant: str) -> None:
    assert f" handles nothing; `{meant}" in refused(line, aio.Client)


HELPERS = """
say(self, text) | run(self) | load_config(self, path) | prompt_user(self, question) | close(self) | close(self, code)
load(self, path) | load(self, path: str) | cancel(self) | cancel(self, reason: str) | start(self) | stop(self)
update(self) | update(self, text: str) | new(self) | list(self) | delete(self, key: str) | resume(self) | fork(self)
ask_user(self, question) | call_model(self, messages) | stream(self, session, text) | send_update(self, update)
send_chunk(self, text) | session_closed(self, session) | session_prompts(self) | session_last(self)
session_get_mode(self, session) | session_for(self, cwd) | session_list_all(self) | sessions(self)
initialized(self) | authentication(self) | capability(self, name) | support(self, topic: str) | on_exit(self)
handle(self, message) | handle_tool_call(self, call) | on_message(self, message) | tool_call(self, params)
read_file(self, path: str) | write_file(self, path: str, text: str) | prompts(self) | prompt_text(self, params)
get_session(self, params) | create_session(self, cwd: str) | new_session(self, cwd: str) | load_session(self, path)
set_mode(self, mode: str) | login_user(self, user) | logout_user(self) | message(self, text) | complete(self, text: str)
output(self, text: str) | kill(self) | create(self) | release(self) | wait(self) | request(self, params)
connection_made(self, transport) | connection_lost(self, why) | closed(self) | extension(self, name) | shutdown(self)
negotiate(self) | serve(self) | main(self) | __aenter__(self) | _private(self, params) | cancel_request(self, params)
"""


@each_schema
@pytest.mark.parametrize("base", ["Agent", "Client"])
def test_helpers_pass(ends: Any, base: str) -> None:
    for helper in HELPERS.replace("\n", "|").split("|"):
        if helper.strip():
            made(f"async def {helper.strip()}:", getattr(ends, base))  # which raises nothing
            made(f"def {helper.strip()}:", getattr(ends, base))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "def session_prompt(self, params):",
            "is a plain function; a handler is a coroutine function: `async def session_",
        ),
        ("def session_prompt(self, params) -> v1.PromptResponse:", "is a plain function"),
        ("def session_prompt(self, params) -> Any:", "is a plain function"),
        ("def session_cancel(self, params) -> None:", "is a plain function"),
        ("def extension_request(self, method, params):", "is a plain function"),
        ("def connection_closed(self):", "is a plain function"),
        ("session_prompt = lambda self, params: None", "is a plain function"),
        ("async def session_prompt(self, params):\n    yield 1", "is an asynchronous generator"),
        ("def session_prompt(self, params):\n    yield 1", "is a generator"),
        ("@staticmethod\ndef session_prompt(params): ...", "is a plain function"),
        ("@classmethod\ndef session_prompt(cls, params): ...", "is a plain function"),
        ("session_prompt = functools.partial(print)", ""),
        ("session_prompt = functools.partial(lambda params: None)", "is a plain function"),
        ("session_prompt = dict", "is the class dict"),
        ("session_prompt = 5", r"is 5; it must be a method: `async def session_prompt\(self, params, /\)`"),
        ("session_prompt = 'text'", "is 'text'"),
        ("async def session_prompt(self):", r"takes \(self\); it is called with `params`: `async def session_prompt"),
        ("async def session_prompt(self, params, more):", r"takes \(self, params, more\); it is called with `params`"),
        ("async def session_prompt(self, *, params):", r"takes \(self, \*, params\)"),
        (
            "async def session_prompt(self, session_id, prompt, **rest):",
            r"takes \(self, session_id, prompt, \*\*rest\)",
        ),
        ("async def session_prompt():", r"takes \(\)"),
        ("@staticmethod\nasync def session_prompt(): ...", r"takes \(\)"),
        ("@classmethod\nasync def session_prompt(cls): ...", r"takes \(cls\)"),
        ("async def extension_request(self, params):", "takes .* it is called with `method` and `params`"),
        (
            "async def extension_notification(self, method, params, more):",
            "takes .* it is called with `method` and `params`",
        ),
        ("async def connection_closed(self, why):", "takes .* it is called with no argument"),
        ("async def capabilities(self):", "is a coroutine function; it is called without `await`: `def capabilities"),
        ("async def supports(self, name):", "is a coroutine function; it is called without `await`"),
        ("def supports(self):", "takes .* it is called with `name`"),
        ("def capabilities(self, more):", "takes .* it is called with no argument"),
        ("capabilities = 5", "is 5"),
        ("def info(self):", "is a method; it must be a value"),
        ("async def cancels_turns(self):", "is a method; it must be a value"),
    ],
)
def test_a_handler_that_could_not_be_called(body: str, text: str) -> None:
    name = next(n for n in vars(aio.Agent) if n in body)
    if not text:
        made(body)
        return
    with pytest.raises(TypeError, match=rf"^Mine\.{name} {text}"):
        made(body)
    for c in ("class Between(Base):\n    async def session_new(self, params): ...\n", ""):
        found: dict[str, Any] = {}
        exec(c or "Between = Base", {"Base": aio.Agent}, found)
        with pytest.raises(TypeError, match=rf"^Mine\.{name} {text}"):
            made(body, found.get("Between", aio.Agent))
    if name in ("capabilities", "supports", "info", "cancels_turns"):
        return
    here, there = aio.memory_pair()
    other = made(body, object, name="Other")()
    with pytest.raises(TypeError, match=rf"^Other\.{name} (is|takes) "):
        aio.AgentConnection(there, other)
    assert here


@pytest.mark.parametrize(
    "body",
    [
        "async def session_prompt(self, params):",
        "async def session_prompt(self, params, more=1):",
        "async def session_prompt(self, *params):",
        "async def session_prompt(self, params, **more):",
        "@staticmethod\nasync def session_prompt(params): ...",
        "@classmethod\nasync def session_prompt(cls, params): ...",
        "@types.coroutine\ndef session_prompt(self, params):\n    yield",
        "def session_prompt(self, params) -> Awaitable[v1.PromptResponse]:",
        "def session_prompt(self, params) -> 'Coroutine[Any, Any, v1.PromptResponse]':",
        "def session_prompt(self, params) -> asyncio.Future[v1.PromptResponse]:",
        "def session_prompt(self, params) -> 'asyncio.Task[v1.PromptResponse]':",
        "session_prompt = AsyncMock()",
        "session_prompt = staticmethod(functools.partial(asyncio.sleep, 0))",
        # Since Python 3.14 it is a method, which gets `self` as well.
        "session_prompt = functools.partial(asyncio.sleep, *[0] * (sys.version_info < (3, 14)))",
        "session_prompt = None",
        "session_prompt = property(lambda self: self._x)\nasync def _x(self, params): ...",
        "async def _x(self, p): ...\nsession_prompt = functools.partialmethod(_x)",
        "@functools.wraps(aio.Agent.session_prompt)\ndef session_prompt(*args): return None",
    ],
)
def test_a_handler_that_can_be_called(body: str) -> None:
    aio.AgentConnection(aio.memory_pair()[0], made(body)())
    if "= None" not in body:
        aio.AgentConnection(aio.memory_pair()[0], made(body, object)())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((Agent(), "transport"), "in the wrong order, with an object of the class Agent first"),
        ((Agent, "transport"), "in the wrong order, with the class Agent first"),
        ((Plain(), "transport"), "in the wrong order, with an object of the class Plain first"),
        ((returns(Agent()), "transport"), "in the wrong order, with the function factory first"),
        ((Agent(),), "this is an object of the class Agent, which has no `receive`, `send`, `close`"),
        ((None, Agent()), "this is None, which has no"),
        ((5,), "this is 5, which has no"),
        (("ws://localhost",), "this is 'ws://localhost', which has no"),
        ((["agent"], Agent()), "`await spawn(command)`"),
        ((aio.stdio, Agent()), "the function stdio returns one when it is called and awaited"),
        ((aio.memory_pair(), Agent()), "here, there = memory_pair()"),
        ((aio.ProcessTransport, Agent()), "this is the class ProcessTransport"),
        ((aio.AgentConnection(aio.memory_pair()[0]), Agent()), "this is a connection already"),
        ((SimpleNamespace(receive=print, close=print),), "which has no `send`"),
        (("transport", "transport"), "an object of the class _MemoryEnd has none"),
    ],
)
def test_what_is_not_a_transport(arguments: tuple[Any, ...], text: str) -> None:
    given = [aio.memory_pair()[0] if a == "transport" else a for a in arguments]
    connect: Any = aio.AgentConnection
    with pytest.raises(TypeError) as caught:
        connect(*given)
    assert text in str(caught.value)


def test_what_nobody_awaited() -> None:
    connect: Any = aio.AgentConnection

    async def turn() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(TypeError, match=r"this is the coroutine stdio\(\), which was not awaited"):
                connect(aio.stdio(), Agent())
            with pytest.raises(TypeError, match=r"this is the coroutine later\(\), which was not awaited"):
                connect(aio.memory_pair()[0], later())
            with pytest.raises(TypeError, match=r"this is the coroutine spawn\(\), which was not awaited"):
                connect(aio.spawn(["x"]))

    run(turn())
    with pytest.raises(TypeError, match="belongs to no schema"):
        aio.Connection(aio.memory_pair()[0])


def test_plain_functions_that_say_what_they_return_are_called() -> None:
    body = "def session_prompt(self, params) -> Awaitable[v1.PromptResponse]: return self._answer()\n"
    body += "async def _answer(self): return v1.PromptResponse(stop_reason=v1.StopReason.REFUSAL)"

    async def turn() -> None:
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, made(body)()), aio.ClientConnection(here) as client:
            answer = await client.session_prompt(v1.PromptRequest(session_id=v1.SessionId("s"), prompt=[]))
            assert answer.stop_reason is v1.StopReason.REFUSAL

    run(turn())
