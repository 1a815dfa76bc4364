"""Giving up: cancellation both ways, time-outs, ends, and nothing that is left behind."""

import asyncio
import copy
import gc
import logging
import pickle
from collections.abc import Sequence
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1
from msgspec import Raw

from tests.aio.support import RawPeer, run

SESSION = v1.SessionId("s")


class Patient(aio.Agent):
    """Waits, in several ways."""

    def __init__(self) -> None:
        self.log: list[str] = []

    async def extension_request(self, method: str, params: Raw, /) -> Any:
        self.log.append(method)
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            self.log.append("cancelled")
            match method:
                case "_x/finish":
                    return "finished all the same"
                case "_x/refuse":
                    raise acp.RequestError("Too late", code=-32000) from None
                case "_x/deaf":
                    await asyncio.sleep(3600)
                case _:
                    raise


def request(number: int | str, method: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method}


def cancel(number: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": number}}


async def ticks(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def test_the_peer_cancels() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer, agent = RawPeer(here), Patient()
        async with aio.AgentConnection(there, agent):
            for number, method in enumerate(("_x/wait", "_x/finish", "_x/refuse")):
                await peer.send(request(number, method))
                await ticks()
                await peer.send(cancel(99), cancel(None), cancel(str(number)), cancel(number), cancel(number))
                reply = await peer.next()
                assert reply["id"] == number
                match method:
                    case "_x/wait":
                        assert reply["error"] == {"code": -32800, "message": "Request cancelled"}
                    case "_x/finish":
                        assert reply["result"] == "finished all the same"
                    case _:
                        assert reply["error"]["code"] == -32000
            assert agent.log.count("cancelled") == 3

    run(turn())


def test_a_request_that_is_cancelled_before_it_starts() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer, agent = RawPeer(here), Patient()
        async with aio.AgentConnection(there, agent, max_requests=1) as conn:
            await peer.send(request("a", "_x/a"), cancel("a"))
            assert (await peer.next())["error"]["code"] == -32800
            assert agent.log == []
            read = v1.ReadTextFileRequest(session_id=SESSION, path="/a")
            call = asyncio.ensure_future(conn.fs_read_text_file(read))  # so that requests beyond the bound are held
            await peer.next()
            await peer.send(request("b", "_x/b"), request("c", "_x/c"), cancel("c"))
            assert await peer.next() == {
                "jsonrpc": "2.0", "id": "c", "error": {"code": -32800, "message": "Request cancelled"}
            }  # fmt: skip
            await ticks()
            assert agent.log == ["_x/b"]
            call.cancel()

    run(turn())


def test_cancelling_a_call_cancels_it_at_the_peer() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        problems: list[aio.Problem] = []
        agent = Patient()
        async with (
            aio.AgentConnection(there, agent, on_problem=problems.append),
            aio.ClientConnection(here, on_problem=problems.append) as client,
        ):
            call = asyncio.ensure_future(client.extension_call("_x/wait"))
            await ticks()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await ticks()
            assert agent.log == ["_x/wait", "cancelled"]
            with pytest.raises(TimeoutError):
                await client.extension_call("_x/finish", timeout=0.01)
            await ticks()
            assert agent.log == ["_x/wait", "cancelled", "_x/finish", "cancelled"]
            assert problems == []  # late answers are dropped without a word

    run(turn())


def test_what_is_sent_for_a_cancelled_call() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        problems: list[aio.Problem] = []
        async with aio.ClientConnection(here, on_problem=problems.append) as client:
            with pytest.raises(TimeoutError):
                await client.session_prompt(v1.PromptRequest(session_id=SESSION, prompt=[]), timeout=0)
            assert (await peer.next())["method"] == "session/prompt"
            assert await peer.next() == cancel(1)
            assert await peer.next() == {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": SESSION}}
            late: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "end_turn"}}
            await peer.send(late)
            await ticks()
            assert problems == []
            await peer.send(late)
            await ticks()
            assert [p.kind for p in problems] == [aio.ProblemKind.UNKNOWN_RESPONSE]
            answer, _ = await asyncio.gather(client.extension_call("_x", timeout=5), peer.answer("x"))
            assert bytes(answer) == b'"x"'

    run(turn())


def test_params_that_are_no_json_leave_nothing_behind() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with aio.ClientConnection(here) as client:
            with pytest.raises((TypeError, NotImplementedError)):
                await client.extension_call("_x/y", object())
            with pytest.raises((TypeError, NotImplementedError)):
                await client.extension_notify("_x/y", object())
            for wrong in (client.extension_call("x/y"), client.extension_notify("x/y")):
                with pytest.raises(ValueError, match="not an extension method"):
                    await wrong
            with pytest.raises(TypeError, match="No notification has params of the class PromptRequest"):
                await client.notify(v1.PromptRequest(session_id=SESSION, prompt=[]))
            await client.extension_notify("_x/z")
            assert await peer.next() == {"jsonrpc": "2.0", "method": "_x/z"}

    run(turn())


def test_raw_params_with_line_breaks_stay_one_message() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        async with aio.ClientConnection(here) as client:
            await client.extension_notify("_x/y", Raw(b'{\n"a":\r\n1}'))
            assert list(await there.receive()) == [b'{"jsonrpc":"2.0","method":"_x/y","params":{"a":1}}']

    run(turn())


def test_the_gate_refuses_calls_that_are_not_forced() -> None:
    def refuse(method: str, params: object) -> None:
        raise LookupError(method)

    async def turn() -> None:
        here, there = aio.memory_pair()
        async with aio.ClientConnection(here) as client, aio.AgentConnection(there):
            client.gate = refuse
            load = v1.LoadSessionRequest(session_id=SESSION, cwd="/", mcp_servers=[])
            with pytest.raises(LookupError, match="session/load"):
                await client.session_load(load)
            with pytest.raises(acp.MethodNotFound):
                await client.session_load(load, force=True)

    run(turn())


def test_a_connection_starts_once_and_before_its_calls() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        conn = aio.ClientConnection(here)
        with pytest.raises(RuntimeError, match="has not been started"):
            await conn.extension_call("_x")
        async with conn:
            with pytest.raises(RuntimeError, match="once only"):
                conn.start()
        await conn.close()
        other = aio.AgentConnection(there)
        await other.close()  # closes the transport, though nothing was started
        assert await there.receive() == ()

    run(turn())


def test_what_was_read_before_the_end_is_handled() -> None:
    class Collecting(aio.Client):
        def __init__(self) -> None:
            self.seen: list[str] = []

        async def extension_notification(self, method: str, params: Raw, /) -> None:
            await asyncio.sleep(0.001)
            self.seen.append(method)

    async def turn() -> None:
        here, there = aio.memory_pair()
        peer, screen = RawPeer(there), Collecting()
        async with aio.ClientConnection(here, screen) as conn:
            answered = asyncio.ensure_future(conn.extension_call("_x/answered"))
            lost = asyncio.ensure_future(conn.extension_call("_x/lost"))
            await peer.next()
            notes: Sequence[dict[str, Any]] = [{"jsonrpc": "2.0", "method": f"_x/{n}"} for n in range(20)]
            await peer.send(*notes, {"jsonrpc": "2.0", "id": 1, "result": 5})
            await there.close()
            assert bytes(await answered) == b"5"
            assert len(screen.seen) == 20
            with pytest.raises(aio.ConnectionClosed, match="the peer closed the connection"):
                await lost

    run(turn())


def test_a_handler_that_calls_does_not_hold_up_the_end() -> None:
    class Calling(aio.Client):
        def __init__(self, agent: aio.ClientConnection) -> None:
            self.agent = agent

        async def extension_notification(self, method: str, params: Raw, /) -> None:
            await self.agent.extension_call("_x/never")

    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        problems: list[aio.Problem] = []
        async with aio.ClientConnection(here, Calling, grace=20, on_problem=problems.append) as conn:
            await peer.send({"jsonrpc": "2.0", "method": "_x/a"}, {"jsonrpc": "2.0", "method": "_x/b"})
            await peer.next()
            await there.close()
            await asyncio.wait_for(conn.wait_closed(), 5)
        assert [p.detail for p in problems] == ["The handler extension_notification raised ConnectionClosed"] * 2

    run(turn())


def test_a_handler_that_will_not_end_is_told() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        problems: list[aio.Problem] = []
        agent = Patient()
        async with aio.AgentConnection(there, agent, grace=0.05, on_problem=problems.append):
            client = aio.ClientConnection(here)
            async with client:
                call = asyncio.ensure_future(client.extension_call("_x/deaf"))
                await ticks()
            with pytest.raises(aio.ConnectionClosed):
                await call
        assert [p.kind for p in problems] == [aio.ProblemKind.HANDLER]
        assert "does not end" in problems[0].detail
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            if "Requests._run" in repr(task):
                task.cancel()
        await ticks()

    run(turn())


def test_hooks_that_raise_are_told_and_do_no_harm(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("no")

    async def turn() -> None:
        here, there = aio.memory_pair()
        problems: list[aio.Problem] = []
        async with (
            aio.AgentConnection(there, on_message=refuse, on_problem=problems.append),
            aio.ClientConnection(here, on_problem=refuse) as client,
        ):
            with pytest.raises(acp.MethodNotFound):
                await client.extension_call("_x/y")
            assert {p.detail for p in problems} == {"on_message raised ValueError"}
            await there.send([b"noise"])
            await ticks()

    with caplog.at_level(logging.WARNING, "acp_msgspec.aio"):
        run(turn())
    assert "on_problem raised" in caplog.text


def test_messages_are_shown_as_they_pass() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        seen: list[tuple[str, bytes]] = []
        agent, client = (
            aio.AgentConnection(there),
            aio.ClientConnection(here, on_message=lambda d, m: seen.append((d, m))),
        )
        async with agent, client:
            with pytest.raises(acp.MethodNotFound):
                await client.extension_call("_x/y")
        assert [(d, b'"method":"_x/y"' in m, b'"error"' in m) for d, m in seen] == [
            ("out", True, False),
            ("in", False, True),
        ]

    run(turn())


@pytest.mark.parametrize("rounds", [200])
@pytest.mark.slow
def test_many_connections_leave_nothing(rounds: int) -> None:
    async def one(number: int) -> None:
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, Patient(), grace=0.5), aio.ClientConnection(here) as client:
            calls = [asyncio.ensure_future(client.extension_call("_x/wait")) for _ in range(3)]
            await ticks(number % 7)
            calls[0].cancel()
            if number % 2:
                await there.close()
        done = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(d) for d in done} <= {asyncio.CancelledError, aio.ConnectionClosed, BrokenPipeError}

    async def all_of_them() -> None:
        await one(0)
        gc.collect()
        before = len(gc.get_objects())
        for number in range(rounds):
            await one(number)
        assert asyncio.all_tasks() == {asyncio.current_task()} or len(asyncio.all_tasks()) == 2
        gc.collect()
        assert len(gc.get_objects()) - before < 500

    run(all_of_them(), 60)


@pytest.mark.parametrize("swallows", [1, 2])
def test_a_notification_handler_that_swallows_its_cancellation_does_not_live_on(swallows: int) -> None:
    handled: list[str] = []

    class Stubborn(aio.Agent):
        async def session_cancel(self, params: v1.CancelNotification, /) -> None:
            handled.append(params.session_id)
            for _ in range(swallows):
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    handled.append("swallowed")

    async def turn() -> None:
        here, there = aio.memory_pair()
        problems: list[aio.Problem] = []
        client = aio.ClientConnection(here)
        async with aio.AgentConnection(there, Stubborn(), grace=0.1, on_problem=problems.append) as agent, client:
            for name in ("one", "two", "three"):
                await client.session_cancel(v1.CancelNotification(session_id=v1.SessionId(name)))
            await ticks(20)
            await agent.close()
            assert handled == ["one", *["swallowed"] * swallows]
            inboxes = [t for t in asyncio.all_tasks() if "Inbox" in repr(t.get_coro())]
            assert len(inboxes) <= 1  # the client's, which may have seen the end by now
            assert [p.kind for p in problems] == [aio.ProblemKind.HANDLER] * (swallows - 1)

    run(turn())
    assert handled[0] == "one"
    assert "two" not in handled


def test_errors_survive_pickle_and_copy() -> None:
    why = aio.ConnectionClosed("the process exited with status 3", 3)
    why.add_note("a note")
    for made in (copy.copy(why), copy.deepcopy(why), *(pickle.loads(pickle.dumps(why, n)) for n in range(6))):
        assert (type(made), str(made), made.reason, made.returncode) == (type(why), str(why), why.reason, 3)
        assert made.__notes__ == ["a note"]


def test_nothing_that_waits_is_handled_after_a_handler_has_closed_the_connection() -> None:
    heard: list[str] = []

    class Closing(aio.Client):
        def __init__(self, connection: aio.ClientConnection) -> None:
            self.connection = connection

        async def extension_notification(self, method: str, params: Raw, /) -> None:
            heard.append(method)
            await self.connection.close()

    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with aio.ClientConnection(here, Closing) as client:
            await peer.send(*({"jsonrpc": "2.0", "method": f"_x/{number}"} for number in range(3)))
            await client.wait_closed()

    run(turn())
    assert heard == ["_x/0"]
