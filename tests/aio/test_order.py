"""What is handled when: requests together, notifications in order, responses behind them, and no deadlock."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1
from msgspec import Raw

from tests.aio.support import RawPeer, run

SESSION = v1.SessionId("s")
READ = v1.ReadTextFileRequest(session_id=SESSION, path="/a")
DONE = v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)


def update(text: str) -> dict[str, Any]:
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": chunk}}


def request(number: int, method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def result(number: int, value: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": value}


class Log(aio.Client):
    """Notes what it handles; a text `wait` waits for `gate`, and `call` calls the agent."""

    def __init__(self, agent: aio.ClientConnection) -> None:
        self.agent = agent
        self.log: list[str] = []
        self.gate = asyncio.Event()

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        assert isinstance(params.update, v1.SessionUpdateAgentMessageChunk)
        assert isinstance(params.update.content, v1.TextContent)
        text = params.update.content.text
        self.log.append(text)
        if text == "wait":
            await self.gate.wait()
        elif text == "call":
            self.log.append(bytes(await self.agent.extension_call("_x/inner")).decode())
        elif text == "call in a task":
            async with asyncio.TaskGroup() as group:
                group.create_task(self.agent.extension_call("_x/inner"))
        elif text == "call later":
            self.later = asyncio.ensure_future(self.agent.extension_call("_x/inner"))
        self.log.append(f"{text} done")

    async def extension_request(self, method: str, params: Raw, /) -> Any:
        self.log.append(f"{method} begins")
        if method == "_x/wait":
            await self.gate.wait()
        return method

    async def extension_notification(self, method: str, params: Raw, /) -> None:
        self.log.append(method)


def open_end(**options: Any) -> tuple[RawPeer, aio.ClientConnection, Log]:
    here, there = aio.memory_pair()
    conn = aio.ClientConnection(here, Log, **options)
    assert isinstance(conn.handler, Log)
    return RawPeer(there), conn, conn.handler


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def test_a_response_waits_for_earlier_notifications() -> None:
    async def turn() -> None:
        peer, conn, log = open_end()
        async with conn:
            call = asyncio.ensure_future(conn.extension_call("_x/outer"))
            await peer.next()
            await peer.send(update("a"), update("wait"), update("b"), result(1, "r"), update("c"))
            await settle()
            assert log.log == ["a", "a done", "wait"]
            assert not call.done()
            call.add_done_callback(lambda _: log.log.append("answered"))
            log.gate.set()
            assert bytes(await call) == b'"r"'
            await settle()
            order = ["a", "a done", "wait", "wait done", "b", "b done"]
            assert log.log[:6] == order
            assert set(log.log[6:]) == {"c", "c done", "answered"}

    run(turn())


def test_an_error_waits_as_well() -> None:
    async def turn() -> None:
        peer, conn, log = open_end()
        async with conn:
            call = asyncio.ensure_future(conn.extension_call("_x/outer"))
            await peer.next()
            error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32002, "message": "gone"}}
            await peer.send(update("wait"), error)
            await settle()
            assert not call.done()
            log.gate.set()
            with pytest.raises(acp.ResourceNotFound, match="gone"):
                await call
            assert log.log == ["wait", "wait done"]

    run(turn())


@pytest.mark.parametrize("how", ["call", "call in a task"])
def test_a_notification_handler_may_call(how: str) -> None:
    async def turn() -> None:
        peer, conn, log = open_end()
        async with conn:
            outer = asyncio.ensure_future(conn.extension_call("_x/outer"))
            await peer.next()
            await peer.send(update(how), update("b"), result(1, "outer"))
            assert (await peer.next())["method"] == "_x/inner"
            await settle()
            assert not outer.done()
            await peer.send(update("c"), result(2, "inner"))
            assert bytes(await outer) == b'"outer"'
            await settle()
            inner = ['"inner"'] if how == "call" else []
            assert log.log == [how, *inner, f"{how} done", "b", "b done", "c", "c done"]

    run(turn())


def test_a_call_outlives_the_handler_that_made_it() -> None:
    async def turn() -> None:
        peer, conn, log = open_end()
        async with conn:
            await peer.send(update("call later"))
            assert (await peer.next())["method"] == "_x/inner"
            # Its handler is done, so its answer waits for those of the others again.
            await peer.send(update("wait"), result(1, "inner"))
            await settle()
            assert not log.later.done()
            log.gate.set()
            assert bytes(await log.later) == b'"inner"'

    run(turn())


def test_requests_run_together_in_the_order_of_their_start() -> None:
    async def turn() -> None:
        peer, conn, log = open_end()
        async with conn:
            await peer.send(request(1, "_x/wait"), request(2, "_x/quick"), {"jsonrpc": "2.0", "method": "_x/note"})
            assert await peer.next() == result(2, "_x/quick")
            assert log.log == ["_x/wait begins", "_x/quick begins", "_x/note"]
            log.gate.set()
            assert await peer.next() == result(1, "_x/wait")

    run(turn())


def test_a_request_starts_after_earlier_notifications_unless_they_wait() -> None:
    async def turn() -> None:
        peer, conn, log = open_end()
        async with conn:
            await peer.send(update("a"), request(1, "_x/one"), update("wait"), update("b"), request(2, "_x/two"))
            assert await peer.next() == result(1, "_x/one")
            assert await peer.next() == result(2, "_x/two")
            assert log.log == ["a", "a done", "_x/one begins", "wait", "_x/two begins"]
            await peer.send(request(3, "_x/three"))
            assert await peer.next() == result(3, "_x/three")
            log.gate.set()
            await settle()
            assert log.log[-3:] == ["wait done", "b", "b done"]

    run(turn())


def test_a_thousand_calls_at_once() -> None:
    class Slow(aio.Agent):
        most = running = 0

        async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
            self.running += 1
            self.most = max(self.most, self.running)
            await asyncio.sleep(0.01)
            self.running -= 1
            return v1.PromptResponse(stop_reason=v1.StopReason.END_TURN, meta={"session": params.session_id})

    async def turn() -> None:
        here, there = aio.memory_pair()
        agent = Slow()
        async with aio.AgentConnection(there, agent, max_requests=100), aio.ClientConnection(here) as client:
            asked = [v1.PromptRequest(session_id=v1.SessionId(str(n)), prompt=[]) for n in range(1000)]
            answers = await asyncio.gather(*map(client.session_prompt, asked))
            assert [a.meta for a in answers] == [{"session": str(n)} for n in range(1000)]
            assert agent.most == 100

    run(turn())


def test_handlers_that_call_back_do_not_use_up_the_room() -> None:
    """All the room is taken by handlers that wait for the peer, whose answers come behind more requests."""

    class Reader(aio.Agent):
        def __init__(self, client: aio.AgentConnection) -> None:
            self.client = client

        async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
            await self.client.fs_read_text_file(READ)
            return DONE

    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(here)
        prompt: dict[str, Any] = {"sessionId": "s", "prompt": []}
        async with aio.AgentConnection(there, Reader, max_requests=2):
            await peer.send(*(request(n, "session/prompt", prompt) for n in range(1, 1005)))
            replies: list[Any] = [await peer.next() for _ in range(4)]
            # Two run, a thousand are held, and what is beyond gets its answer at once.
            assert [r["method"] for r in replies if "method" in r] == ["fs/read_text_file"] * 2
            refused = {r["id"]: r["error"] for r in replies if "error" in r}
            assert refused.keys() == {1003, 1004}
            assert refused[1003] == {"code": -32603, "message": "Internal error", "data": "Too many requests at once"}
            answered: list[int] = []
            reads = [r["id"] for r in replies if "method" in r]
            while len(answered) < 1002:
                await peer.send(*(result(n, {"content": ""}) for n in reads))
                got: list[Any] = [await peer.next() for _ in range(2 * len(reads) if len(answered) < 1000 else 2)]
                answered += [r["id"] for r in got if "result" in r]
                reads = [r["id"] for r in got if "method" in r]
            assert answered == list(range(1, 1003))

    run(turn())


@pytest.mark.slow
def test_nothing_is_read_beyond_what_can_be_held() -> None:
    class Slow(aio.Agent):
        async def extension_request(self, method: str, params: Raw, /) -> Any:
            await asyncio.sleep(0)
            return params

    async def turn() -> None:
        here, there = aio.memory_pair(buffer=1000)
        agent = aio.AgentConnection(there, Slow(), max_requests=2)
        async with agent, aio.ClientConnection(here) as client:
            answers = await asyncio.gather(*(client.extension_call("_x/y", n) for n in range(5000)))
            assert [int(bytes(a)) for a in answers] == list(range(5000))

    run(turn())


def test_a_request_that_is_held_can_be_cancelled_and_so_can_the_one_that_runs() -> None:
    async def turn() -> None:
        peer, conn, _ = open_end(max_requests=1)
        cancel = {"jsonrpc": "2.0", "method": "$/cancel_request"}
        async with conn:
            await peer.send(*(request(n, "_x/wait") for n in range(5)))
            await settle()
            for number in (3, 0):
                await peer.send({**cancel, "params": {"requestId": number}})
                assert await peer.next() == {
                    "jsonrpc": "2.0", "id": number, "error": {"code": -32800, "message": "Request cancelled"}
                }  # fmt: skip

    run(turn())


def test_a_slow_handler_slows_the_sender_down() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair(buffer=1000)
        client = aio.ClientConnection(here, Log, max_notifications=10)
        assert isinstance(client.handler, Log)
        log = client.handler
        async with client, aio.AgentConnection(there) as agent:
            sent = 0

            async def flood() -> None:
                nonlocal sent
                for number in range(20_000):
                    text = "wait" if number == 0 else "x"
                    chunk = v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=text))
                    await agent.session_update(v1.SessionNotification(session_id=SESSION, update=chunk))
                    sent += 1

            task = asyncio.ensure_future(flood())
            for _ in range(20):
                await settle()
            assert log.log == ["wait"]
            held = sent
            assert held < 8000  # what fits into three queues of 256 KiB
            await settle()
            assert sent == held
            log.gate.set()
            await task
            await settle()
            assert len(log.log) == 40_000

    run(turn())


def test_long_notifications_fill_the_queue_sooner() -> None:
    async def turn() -> None:
        peer, conn, log = open_end()
        async with conn:
            sent = 0

            async def flood() -> None:
                nonlocal sent
                await peer.send(update("wait"))
                for _ in range(100):
                    await peer.send(update("x" * 1024 * 1024))
                    sent += 1

            task = asyncio.ensure_future(flood())
            for _ in range(5):
                await settle()
            assert 5 < sent < 15  # of one megabyte each
            log.gate.set()
            await task
            await settle()
            assert len(log.log) == 202

    run(turn())


def test_a_full_queue_does_not_keep_out_the_answer_that_empties_it() -> None:
    async def turn() -> None:
        peer, conn, log = open_end(max_notifications=5)
        async with conn:
            await peer.send(update("call"))
            assert (await peer.next())["method"] == "_x/inner"
            for _ in range(50):
                await peer.send(update("x"))
            await peer.send(result(1, "inner"))
            await settle()
            assert log.log[:3] == ["call", '"inner"', "call done"]
            assert len(log.log) == 103

    run(turn())


def test_a_handler_may_close_its_connection() -> None:
    class Closing(aio.Agent):
        def __init__(self, client: aio.AgentConnection) -> None:
            self.client = client

        async def session_cancel(self, params: v1.CancelNotification, /) -> None:
            await self.client.close()

        async def extension_request(self, method: str, params: Raw, /) -> Any:
            await self.client.close()
            await asyncio.sleep(3600)

    async def turn(*, from_request: bool) -> None:
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, Closing) as agent, aio.ClientConnection(here) as client:
            if from_request:
                with pytest.raises(aio.ConnectionClosed, match="the peer closed the connection"):
                    await client.extension_call("_x/close")
            else:
                await client.session_cancel(v1.CancelNotification(session_id=SESSION))
            await agent.wait_closed()
            await client.wait_closed()
            assert agent.closed is not None
            assert agent.closed.reason == "this side closed the connection"

    run(turn(from_request=True))
    run(turn(from_request=False))


async def seen_by(how: str, call: Coroutine[Any, Any, Any], log: list[str]) -> None:
    """Wait for an answer in some way, and note that it came."""
    match how:
        case "await":
            await call
        case "a task":
            await asyncio.ensure_future(call)
        case "wait_for":
            await asyncio.wait_for(call, 5)
        case "gather":
            await asyncio.gather(call, asyncio.sleep(0))
        case "wait":
            await asyncio.wait([asyncio.ensure_future(call)])
        case "a group":
            async with asyncio.TaskGroup() as group:
                group.create_task(call)
        case "wait_for of a gather":
            await asyncio.wait_for(asyncio.gather(call), 5)
        case _:
            async with asyncio.TaskGroup() as group:
                group.create_task(asyncio.wait_for(call, 5))
    log.append("answered")


WAITS = ["await", "a task", "wait_for", "gather", "wait", "a group", "wait_for of a gather", "a group of wait_for"]


@pytest.mark.parametrize("how", WAITS)
@pytest.mark.parametrize("behind", ["a notification", "a request", "both"])
@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("apart", [False, True])
def test_an_answer_is_seen_before_what_came_behind_it(how: str, behind: str, before: int, apart: bool) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        log: list[str] = []

        class Noting(aio.Client):
            async def session_update(self, params: v1.SessionNotification, /) -> None:
                log.append("update")

            async def extension_request(self, method: str, params: Raw, /) -> Any:
                log.append("request")

        async with aio.ClientConnection(here, Noting()) as client:
            waiting = asyncio.ensure_future(seen_by(how, client.extension_call("_x"), log))
            number = (await peer.next())["id"]
            follow = {"a notification": [update("b")], "a request": [request(5, "_x")]}
            later = follow.get(behind, [update("b"), request(5, "_x")])
            await peer.send(*[update("a")] * before, result(number, 1), *([] if apart else later))
            if apart:
                await peer.send(*later)
            await asyncio.wait_for(waiting, 5)
            assert log == ["update"] * before + ["answered"]
            while len(log) < before + 1 + len(later):
                await asyncio.sleep(0)

    run(turn())


def test_answers_without_end_do_not_hold_notifications_up() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        client = Log(aio.ClientConnection(here))
        client.gate.set()

        class Busy(aio.Agent):
            async def extension_request(self, method: str, params: Raw, /) -> Any:
                await asyncio.sleep(0)
                return 1

        connection = aio.ClientConnection(here, client)
        async with aio.AgentConnection(there, Busy()) as agent, connection:

            async def call() -> None:
                while len(client.log) < 40:
                    await connection.extension_call("_x")

            callers = [asyncio.ensure_future(call()) for _ in range(5)]
            for number in range(20):
                chunk = v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=str(number)))
                await agent.session_update(v1.SessionNotification(session_id=SESSION, update=chunk))
            await asyncio.wait_for(asyncio.gather(*callers), 10)

    run(turn())
