"""Every way in which a peer can be wrong, with what it gets for that: the table is in `faults.jsonl`.

`ACP_REFRESH=1` stores what came out; the change is then reviewed like any other.
"""

import asyncio
import json
import logging
import os
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from tests.aio.support import RawPeer, run
from tests.aio.test_process import child
from tests.aio.test_process import prompt as said
from tests.examples import examples
from tests.support import REFRESH

TABLE = Path(__file__).parent / "faults.jsonl"
LINES: list[dict[str, Any]] = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
ROWS = [row for row in LINES if "send" in row]
ENDS = [row for row in LINES if "how" in row]
READ = v1.ReadTextFileRequest(session_id=v1.SessionId("s"), path="/a")
PING = b'{"jsonrpc":"2.0","id":"ping","method":"_x/ok"}'
LIMIT = 2000


class Faulty(aio.Agent):
    async def session_cancel(self, params: v1.CancelNotification, /) -> None:
        if params.session_id == "raise":
            raise KeyError(params.session_id)

    async def extension_request(self, method: str, params: Raw, /) -> Any:
        match method:
            case "_x/ok":
                return "ok"
            case "_x/wait":
                return await asyncio.sleep(3600)
            case "_x/refuse":
                raise acp.ResourceNotFound("No such thing", {"thing": 5})
            case "_x/raise":
                raise ValueError("a secret")
            case "_x/strange":
                return object()
            case "_x/strange_error":
                raise acp.RequestError(data=object())
            case "_x/cancelled":
                raise asyncio.CancelledError
            case _:
                return await super().extension_request(method, params)


def bytes_of(text: str) -> bytes:
    """Give the bytes of a row: as they stand, in hexadecimal, or filled up to a length."""
    kind, _, rest = text.partition(":")
    if kind == "hex":
        return bytes.fromhex(rest)
    if kind == "long":
        size, _, rest = rest.partition(":")
        return rest.encode().ljust(int(size), b"x")
    return text.encode()


def outcome(call: "asyncio.Future[v1.ReadTextFileResponse]") -> str:
    """Say what became of the call that was under way."""
    if not call.done():
        return "pending"
    why = call.exception()
    return call.result().content if why is None else f"{type(why).__name__}: {why}"


async def observed(row: dict[str, Any]) -> dict[str, Any]:
    """Send the messages of a row, and see what happens."""
    problems: list[aio.Problem] = []
    here, there = aio.memory_pair(limit=LIMIT)
    peer = RawPeer(here)
    async with aio.AgentConnection(there, Faulty(), on_problem=problems.append) as agent:
        call = asyncio.ensure_future(agent.fs_read_text_file(READ))
        assert (await peer.next())["id"] == 1
        await peer.send(*map(bytes_of, row["send"]), PING)
        replies: list[Any] = []
        while (reply := await peer.next()) is not None and (type(reply) is list or reply["id"] != "ping"):
            replies.append(reply)
        made = outcome(call)
        call.cancel()
        await asyncio.wait([call])
        is_alive = reply is not None and agent.closed is None
    told = [f"{p.kind}: {p.detail}" for p in problems]
    return {**row, "reply": replies, "problems": told, "call": made, "alive": is_alive}


def store(rows: list[dict[str, Any]], number: int, seen: dict[str, Any]) -> None:
    rows[number] = seen
    TABLE.write_text("".join(json.dumps(row) + "\n" for row in (*ROWS, *ENDS)), encoding="utf-8")


@pytest.mark.parametrize("number", range(len(ROWS)), ids=[row["what"] for row in ROWS])
def test_a_fault_gets_its_answer(number: int) -> None:
    seen = run(observed(ROWS[number]))
    if os.environ.get(REFRESH):
        store(ROWS, number, seen)
    assert seen == ROWS[number]
    assert seen["alive"]
    assert "secret" not in json.dumps(seen)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Give a message of the table with one byte changed, left out or added."""
    message = bytes_of(draw(st.sampled_from([text for row in ROWS for text in row["send"]])))
    place = draw(st.integers(0, len(message)))
    return message[:place] + draw(st.binary(max_size=1)) + message[place + draw(st.integers(0, 1)) :]


@examples(100)
@given(st.lists(st.one_of(damaged(), st.binary(max_size=40)), max_size=6))
def test_nothing_that_a_peer_sends_ends_a_connection(messages: list[bytes]) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair(limit=LIMIT)
        peer = RawPeer(here)
        async with aio.AgentConnection(there, Faulty(), on_problem=lambda _: None) as agent:
            await peer.send(*messages, PING)
            while (reply := await peer.next()) != {"jsonrpc": "2.0", "id": "ping", "result": "ok"}:
                assert reply is not None
            assert agent.closed is None

    run(turn())


class Broken:
    """A transport that breaks at some point."""

    def __init__(self, inner: aio.Transport) -> None:
        self.inner = inner
        self.broken = asyncio.Event()
        self.receives, self.sends = True, True

    async def receive(self) -> Sequence[bytes]:
        if self.receives:
            return await self.inner.receive()
        await self.broken.wait()
        raise ConnectionResetError(104, "Connection reset by peer")

    async def send(self, messages: Sequence[bytes]) -> None:
        if not self.sends:
            self.broken.set()
            raise BrokenPipeError(32, "Broken pipe")
        await self.inner.send(messages)

    async def close(self) -> None:
        await self.inner.close()


async def ended(how: str) -> tuple[str, int | None, bool]:
    """End a connection in some way; say why it ended, with which status, and whether the handlers were cancelled."""
    cancelled = asyncio.Event()

    class Waiting(aio.Client):
        async def extension_request(self, method: str, params: Raw, /) -> Any:
            try:
                await asyncio.sleep(3600)
            finally:
                cancelled.set()

    here, there = aio.memory_pair()
    peer = RawPeer(there)
    process = await child() if how in ("exits", "is killed") else None
    broken = Broken(here)
    transport = broken if process is None else process
    async with aio.ClientConnection(transport, Waiting(), grace=0.5, on_problem=lambda _: None) as conn:
        if process is None:
            await peer.send({"jsonrpc": "2.0", "id": 1, "method": "_x/wait"})
        call = asyncio.ensure_future(conn.extension_call("_x/wait"))
        while process is None and (await peer.next())["method"] != "_x/wait":
            pass
        match how:
            case "exits":
                doomed = asyncio.ensure_future(conn.session_prompt(said("exit 3")))
                await asyncio.wait([doomed])
            case "is killed":
                assert process is not None
                os.kill(process.pid, signal.SIGKILL)
            case "closes":
                await there.close()
            case "is reset":
                broken.receives = False
                await peer.send(PING)
                broken.broken.set()
            case "takes nothing":
                broken.sends = False
                await conn.extension_notify("_x/y")
            case _:
                await conn.close()
        with pytest.raises(aio.ConnectionClosed) as caught:
            await asyncio.wait_for(call, 10)
        await conn.wait_closed()
        with pytest.raises(aio.ConnectionClosed, match=re.escape(caught.value.reason)):
            await conn.extension_call("_x/y")
    return caught.value.reason, caught.value.returncode, cancelled.is_set()


@pytest.mark.parametrize("number", range(len(ENDS)), ids=[row["what"] for row in ENDS])
@pytest.mark.slow
def test_an_end_is_told(number: int) -> None:
    how = ENDS[number]["how"]
    reason, status, cancelled = run(ended(how))
    seen = {**ENDS[number], "call": f"ConnectionClosed: {reason}", "returncode": status, "alive": False}
    if os.environ.get(REFRESH):
        store(ENDS, number, seen)
    assert seen == ENDS[number]
    assert cancelled is (how not in ("exits", "is killed"))


def test_tracebacks_are_sent_on_request() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        agent = aio.AgentConnection(there, Faulty(), debug=True, on_problem=lambda _: None)
        async with agent, aio.ClientConnection(here) as client:
            with pytest.raises(acp.InternalError) as caught:
                await client.extension_call("_x/raise")
            assert caught.value.data["detail"] == "ValueError"
            assert "ValueError: a secret" in caught.value.data["traceback"]

    run(turn())


@pytest.mark.parametrize("depth", [100_000])
def test_nesting_without_end(depth: int) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(here)
        async with aio.AgentConnection(there, Faulty(), on_problem=lambda _: None):
            await peer.send(b"[" * depth, b'{"a":' * depth, PING)
            assert [(await peer.next()).get("error", {}).get("code") for _ in range(3)] == [-32700, -32700, None]

    run(turn())


def test_the_log_shows_a_traceback_for_what_failed_here_alone(caplog: pytest.LogCaptureFixture) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(here)
        async with aio.AgentConnection(there, Faulty()):
            prompt = {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {"sessionId": 5}}
            for bad in (prompt, b"noise", {"jsonrpc": "2.0", "id": 2, "method": "no"}):
                await peer.send(bad)
                assert "error" in await peer.next()
            await peer.send({"jsonrpc": "2.0", "id": 3, "method": "_x/raise"})
            assert "error" in await peer.next()

    with caplog.at_level(logging.WARNING, "acp_msgspec.aio"):
        run(turn())
    told = [(record.getMessage().partition(":")[0], bool(record.exc_info)) for record in caplog.records]
    assert told == [("mismatch", False), ("unreadable", False), ("unknown_method", False), ("handler", True)]


EVIL = "a\x1b[31m\r\nINFO forged\u202etxt\x07\x9b\u2028"
SAFE = "a\\x1b[31m\\x0d\\x0aINFO forged\\u202etxt\\x07\\x9b\\u2028"


def test_a_peers_text_is_escaped_in_problems_and_logs(caplog: pytest.LogCaptureFixture) -> None:
    messages: list[Any] = [
        {"jsonrpc": "2.0", "id": 7, "method": EVIL},
        {"jsonrpc": "2.0", "method": f"{EVIL}/x", "params": {}},
        {"jsonrpc": EVIL, "id": 8},
        {"jsonrpc": "2.0", "id": 9, "method": "session/prompt", "params": {"sessionId": {EVIL: 1}, "prompt": EVIL}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": EVIL, "data": [EVIL]}},
        {"jsonrpc": "2.0", "id": EVIL, "result": {}},
        f"noise {EVIL}".encode(),
    ]

    async def turn() -> list[aio.Problem]:
        problems: list[aio.Problem] = []
        for on_problem in (problems.append, None):
            here, there = aio.memory_pair()
            peer = RawPeer(here)
            async with aio.AgentConnection(there, Faulty(), on_problem=on_problem) as agent:
                await peer.send(*messages, PING)
                while (reply := await peer.next())["id"] != "ping":
                    pass
                call = asyncio.ensure_future(agent.extension_call("_x/y"))
                number = (await peer.next())["id"]
                error = {"code": 1, "message": EVIL, "data": EVIL}
                await peer.send({"jsonrpc": "2.0", "id": number, "error": error})
                with pytest.raises(acp.RequestError) as caught:
                    await call
                assert str(caught.value) == f"{SAFE} (1): {SAFE}"
                assert (caught.value.message, caught.value.data) == (EVIL, EVIL)
                assert reply is not None
        return problems

    with caplog.at_level(logging.DEBUG, "acp_msgspec.aio"):
        problems = run(turn())
    texts = [*(p.detail for p in problems), *(record.getMessage() for record in caplog.records)]
    assert len(texts) >= 12
    for text in texts:
        assert text.isprintable(), text
    assert any(SAFE in text for text in texts)


class Ended:
    """A transport that ends at once, for a reason that the peer has worded."""

    reason = EVIL

    async def receive(self) -> Sequence[bytes]:
        return ()

    async def send(self, messages: Sequence[bytes]) -> None:
        raise BrokenPipeError(EVIL)

    async def close(self) -> None:
        pass


def test_a_peers_reason_is_escaped() -> None:
    async def turn() -> None:
        async with aio.ClientConnection(Ended()) as client:
            await client.wait_closed()
            assert client.closed is not None
            assert str(client.closed) == client.closed.reason == SAFE

    run(turn())
