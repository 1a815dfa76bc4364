"""Hooks that raise, other threads and loops, and methods that the schema does not know."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1
from msgspec import Raw

from tests.aio.support import RawPeer, run

SESSION = v1.SessionId("s")
PROMPT = v1.PromptRequest(session_id=SESSION, prompt=[])


def repaired(text: str) -> dict[str, Any]:
    """Make an update that is read with a repair."""
    content = {"type": "text", "text": text, "annotations": 5}
    chunk = {"sessionUpdate": "agent_message_chunk", "content": content}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": chunk}}


def asked(number: int | str, method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


class Texts(aio.Client):
    def __init__(self) -> None:
        self.texts: list[str] = []

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        assert isinstance(params.update, v1.SessionUpdateAgentMessageChunk)
        assert isinstance(params.update.content, v1.TextContent)
        self.texts.append(params.update.content.text)

    async def extension_request(self, method: str, params: Raw, /) -> Any:
        return method


def raising(why: BaseException) -> Callable[..., None]:
    def hook(*_: Any) -> None:
        raise why

    return hook


ENDINGS: list[BaseException] = [
    ValueError("x"),
    asyncio.CancelledError(),
    GeneratorExit(),
    RecursionError(),
    BaseException("b"),
]


@pytest.mark.parametrize("why", ENDINGS, ids=lambda w: type(w).__name__)
@pytest.mark.parametrize("which", ["on_skip", "on_message", "on_problem", "the listener"])
@pytest.mark.parametrize("in_batch", [False, True])
def test_a_hook_that_raises_loses_nothing(which: str, why: BaseException, in_batch: bool) -> None:
    async def turn() -> None:
        problems: list[aio.Problem] = []
        hooks: dict[str, Any] = {"on_problem": problems.append}
        if which == "the listener":
            acp.set_skip_listener(raising(why))
        else:
            hooks[which] = raising(why)
        here, there = aio.memory_pair()
        peer, client = RawPeer(there), Texts()
        async with aio.ClientConnection(here, client, **hooks) as connection:
            messages: list[Any] = [repaired("one"), {"jsonrpc": "2.0", "id": 5}, repaired("two"), asked("q", "_x")]
            if in_batch:
                await peer.send(acp.encode(messages))
                replies = await peer.next()
            else:
                await peer.send(*map(acp.encode, messages))
                replies = [await peer.next(), await peer.next()]
            assert {r["id"] for r in replies} == {5, "q"}
            assert client.texts == ["one", "two"]
            assert connection.closed is None
        if which != "on_problem":
            assert aio.ProblemKind.HOOK in {p.kind for p in problems}

    try:
        run(turn())
    finally:
        acp.set_skip_listener(None)


OTHERS: dict[str, Callable[[aio.ClientConnection], Coroutine[Any, Any, Any]]] = {
    "a call": lambda c: c.session_prompt(PROMPT),
    "a call by name": lambda c: c.call("session/prompt", PROMPT),
    "an extension call": lambda c: c.extension_call("_x"),
    "a notification": lambda c: c.session_cancel(v1.CancelNotification(session_id=SESSION)),
    "a notification by its params": lambda c: c.notify(v1.CancelNotification(session_id=SESSION)),
    "an extension notification": lambda c: c.extension_notify("_x"),
    "the end": lambda c: c.close(),
    "waiting for the end": lambda c: c.wait_closed(),
}


@pytest.mark.parametrize("name", list(OTHERS))
def test_another_thread_gets_an_error(name: str) -> None:
    found: list[BaseException | None] = []

    async def turn() -> None:
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, aio.Agent()), aio.ClientConnection(here) as client:

            def elsewhere() -> None:
                try:
                    asyncio.run(asyncio.wait_for(OTHERS[name](client), 5))
                except BaseException as why:
                    found.append(why)

            thread = threading.Thread(target=elsewhere)
            thread.start()
            while thread.is_alive():
                await asyncio.sleep(0.01)
            assert client.closed is None
            with pytest.raises(acp.MethodNotFound):
                await client.extension_call("_x", timeout=5)

    run(turn())
    assert isinstance(found[0], RuntimeError)
    assert "another event loop" in str(found[0])


def test_the_loop_of_the_connection_serves_other_threads() -> None:
    async def turn() -> None:
        loop = asyncio.get_running_loop()
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, aio.Agent()), aio.ClientConnection(here) as client:

            def elsewhere() -> str:
                future = asyncio.run_coroutine_threadsafe(client.extension_call("_x"), loop)
                return str(future.exception(5))

            assert "Method not found" in await asyncio.to_thread(elsewhere)

    run(turn())


def test_a_call_of_a_method_outside_the_schema_gives_the_raw_result() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with aio.ClientConnection(here, on_problem=lambda _: None) as client:
            for result in ({"a": [1]}, None, "text"):
                call = asyncio.ensure_future(client.call("vendor/thing", {"b": 2}, timeout=5))
                request = await peer.answer(result)
                assert (request["method"], request["params"]) == ("vendor/thing", {"b": 2})
                assert isinstance(await call, Raw)
                assert bytes(await call) == acp.encode(result)
            call = asyncio.ensure_future(client.call("session/cancel", {"sessionId": "s"}, timeout=5))
            await peer.answer({})  # a notification of the schema, asked as a request
            assert bytes(await call) == b"{}"
            call = asyncio.ensure_future(client.call("vendor/thing", None, timeout=5))
            request = await peer.next()
            await peer.send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "no"}})
            with pytest.raises(acp.MethodNotFound):
                await call

    run(turn())


class Vendor(aio.Client):
    def __init__(self) -> None:
        self.heard: list[Any] = []

    async def unknown_request(self, method: str, params: Raw, /) -> Any:
        if method == "vendor/refused":
            raise acp.InvalidParams
        return [method, acp.decode(bytes(params), type=Any)]

    async def unknown_notification(self, method: str, params: Raw, /) -> None:
        self.heard.append((method, bytes(params)))


def test_methods_outside_the_schema_reach_their_hooks() -> None:
    async def turn() -> None:
        problems: list[aio.Problem] = []
        here, there = aio.memory_pair()
        peer, vendor = RawPeer(there), Vendor()
        async with aio.ClientConnection(here, vendor, on_problem=problems.append):
            await peer.send(asked(1, "vendor/thing", {"a": 1}), asked(2, "vendor/refused"))
            await peer.send({"jsonrpc": "2.0", "method": "vendor/told", "params": [1]})
            await peer.send({"jsonrpc": "2.0", "method": "vendor/told"})
            await peer.send(acp.encode([asked("b", "vendor/thing", 5), {"jsonrpc": "2.0", "method": "vendor/batch"}]))
            first, second, third = [await peer.next() for _ in range(3)]
            assert first["result"] == ["vendor/thing", {"a": 1}]
            assert second["error"]["code"] == -32602
            assert third == [{"jsonrpc": "2.0", "id": "b", "result": ["vendor/thing", 5]}]
            assert vendor.heard == [("vendor/told", b"[1]"), ("vendor/told", b"null"), ("vendor/batch", b"null")]
            assert problems == []
            await peer.send(asked(3, "session/prompt", {}), asked(4, ""))
            assert [(await peer.next())["error"]["code"] for _ in range(2)] == [-32601, -32601]
            assert [p.kind for p in problems] == [aio.ProblemKind.UNKNOWN_METHOD] * 2

    run(turn())


def test_without_a_hook_they_are_refused_and_told() -> None:
    async def turn() -> None:
        problems: list[aio.Problem] = []
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with aio.ClientConnection(here, Texts(), on_problem=problems.append):
            await peer.send(asked(1, "vendor/thing"), {"jsonrpc": "2.0", "method": "vendor/told"}, asked(2, "_x"))
            assert (await peer.next())["error"]["code"] == -32601
            assert (await peer.next())["result"] == "_x"
            assert [p.kind for p in problems] == [aio.ProblemKind.UNKNOWN_METHOD] * 2

    run(turn())


async def awaited(*_: object) -> None: ...


@pytest.mark.parametrize(
    ("options", "error"),
    [
        *(({name: hook}, TypeError) for name in ("on_skip", "on_problem", "on_message") for hook in (5, awaited)),
        ({"unknown": "kep"}, ValueError),
        ({"max_requests": 0}, ValueError),
        ({"max_notifications": -1}, ValueError),
        ({"grace": -1.0}, ValueError),
        ({"grace": float("nan")}, ValueError),
    ],
)
def test_options_are_checked_where_they_are_given(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(options))):
        aio.ClientConnection(aio.memory_pair()[0], **options)
