"""Connections over WebSocket: frames, tokens, origins, TLS, pings, limits and broken sockets."""

import asyncio
import importlib
import logging
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
import websockets
from acp_msgspec import aio
from msgspec import Raw

from tests.aio.support import run
from tests.aio.test_turns import EchoAgent, Screen, prompt

Session = Callable[[aio.Transport], Awaitable[object]]


class Echo(aio.Agent):
    async def extension_request(self, method: str, params: Raw, /) -> Any:
        return params


async def echo(transport: aio.Transport) -> None:
    await aio.AgentConnection(transport, Echo(), grace=0.2, on_problem=lambda _: None).serve()


@asynccontextmanager
async def serving(session: Session = echo, **options: Any) -> AsyncGenerator[str, None]:
    async with await aio.serve_websocket(session, "127.0.0.1", **options) as server:
        scheme = "wss" if "ssl" in options else "ws"
        yield f"{scheme}://127.0.0.1:{server.port}"


async def round_trip(url: str, **options: Any) -> bytes:
    async with aio.ClientConnection(await aio.connect_websocket(url, **options)) as client:
        return bytes(await client.extension_call("_x/echo", [1]))


def test_a_turn() -> None:
    async def session(transport: aio.Transport) -> None:
        await aio.AgentConnection(transport, EchoAgent).serve()

    async def turn() -> None:
        async with serving(session) as url:
            screen = Screen()
            async with aio.ClientConnection(await aio.connect_websocket(url), screen) as client:
                await client.session_prompt(prompt("to be"))
                assert screen.text == ["to", "be", "the content of /a"]
            assert client.closed is not None

    run(turn())


def test_each_message_is_one_text_frame() -> None:
    async def turn() -> None:
        async with serving() as url, websockets.connect(url, subprotocols=[websockets.Subprotocol("acp")]) as socket:
            assert socket.subprotocol == "acp"
            await socket.send('{"jsonrpc":"2.0",\n"id":1,"method":"_x/a","params":"é"}')
            await socket.send('{"jsonrpc":"2.0","id":2,"method":"_x/b"}')
            assert await socket.recv() == '{"jsonrpc":"2.0","id":1,"result":"é"}'
            assert await socket.recv() == '{"jsonrpc":"2.0","id":2,"result":null}'

    run(turn())


def test_binary_frames_are_refused() -> None:
    async def turn() -> None:
        async with serving() as url, websockets.connect(url) as socket:
            await socket.send(b'{"jsonrpc":"2.0","id":1,"method":"_x/a"}')
            with pytest.raises(websockets.ConnectionClosed) as caught:
                await socket.recv()
            assert caught.value.rcvd is not None
            assert (caught.value.rcvd.code, caught.value.rcvd.reason) == (1003, "messages are text frames")

    run(turn())


@pytest.mark.parametrize("token", ["plain", "a token, with any=characters/é"])
@pytest.mark.parametrize("in_subprotocol", [False, True])
def test_tokens(token: str, *, in_subprotocol: bool) -> None:
    if not token.isascii() and not in_subprotocol:
        token = token.encode("ascii", "ignore").decode()  # a header takes no more

    async def turn() -> None:
        async with serving(token=token) as url:
            assert await round_trip(url, token=token, token_in_subprotocol=in_subprotocol) == b"[1]"
            for wrong in (None, "", token + "x"):
                with pytest.raises(ConnectionRefusedError, match="401"):
                    await round_trip(url, token=wrong, token_in_subprotocol=in_subprotocol)

    run(turn())


def test_a_token_may_come_as_a_header_of_any_kind() -> None:
    async def turn() -> None:
        async with serving(token="t") as url:
            assert await round_trip(url, headers={"Authorization": "Bearer t"}) == b"[1]"
            for wrong in ("Basic t", "t", "Bearer t2", "Bearer é"):
                with pytest.raises(ConnectionRefusedError, match="401"):
                    await round_trip(url, headers={"Authorization": wrong.encode("utf-8").decode("latin-1")})

    run(turn())


def test_origins() -> None:
    async def turn() -> None:
        page = "https://page.example"
        async with serving() as url:  # no page may connect
            assert await round_trip(url) == b"[1]"
            with pytest.raises(ConnectionRefusedError, match="403"):
                await round_trip(url, origin=page)
        async with serving(origins=[page]) as url:
            assert await round_trip(url, origin=page) == b"[1]"
            for wrong in (None, "https://other.example", "http://page.example"):
                with pytest.raises(ConnectionRefusedError, match="403"):
                    await round_trip(url, origin=wrong)
        async with serving(origins=None) as url:
            assert await round_trip(url, origin="https://other.example") == b"[1]"

    run(turn())


def test_tls() -> None:
    authority = trustme.CA()
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.tempfile() as path:
        ours.load_cert_chain(path)
    theirs = ssl.create_default_context(cadata=authority.cert_pem.bytes().decode())

    async def turn() -> None:
        async with serving(ssl=ours, token="t") as url:
            assert await round_trip(url, ssl=theirs, token="t") == b"[1]"
            with pytest.raises(ssl.SSLCertVerificationError):
                await round_trip(url, token="t")

    run(turn())


@pytest.mark.slow
def test_a_peer_that_answers_no_pings_is_given_up() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Shake hands by hand, then say nothing more."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        key = next(line.partition(": ")[2] for line in head.splitlines() if line.startswith("Sec-WebSocket-Key"))
        accept = importlib.import_module("websockets.utils").accept_key(key)
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: %b\r\n\r\n" % accept.encode()
        )
        await reader.read()  # until the other side gives up
        writer.close()

    async def turn() -> None:
        server = await asyncio.start_server(silent, "127.0.0.1")
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        transport = await aio.connect_websocket(url, ping_interval=0.1, ping_timeout=0.1)
        async with aio.ClientConnection(transport) as client:
            with pytest.raises(aio.ConnectionClosed, match="this side closed the connection: keepalive ping timeout"):
                await client.extension_call("_x/echo")
        server.close()
        await server.wait_closed()

    run(turn())


def test_a_message_over_the_limit_ends_the_connection() -> None:
    async def turn() -> None:
        async with serving(limit=1000) as url:
            async with aio.ClientConnection(await aio.connect_websocket(url)) as client:
                assert len(bytes(await client.extension_call("_x/echo", "x" * 800))) == 802
                with pytest.raises(aio.ConnectionClosed, match="the peer closed the connection"):
                    await client.extension_call("_x/echo", "x" * 2000)
            transport = await aio.connect_websocket(url, limit=100)
            async with aio.ClientConnection(transport) as client:
                with pytest.raises(aio.ConnectionClosed, match="a message is longer than 100 bytes"):
                    await client.extension_call("_x/echo", "x" * 500)

    run(turn())


def test_large_messages() -> None:
    async def turn() -> None:
        async with serving() as url, aio.ClientConnection(await aio.connect_websocket(url)) as client:
            size = 16 * 1024 * 1024
            assert len(bytes(await client.extension_call("_x/echo", "x" * size))) == size + 2

    run(turn(), 60)


def test_a_reset_socket() -> None:
    async def turn() -> None:
        ended: list[aio.ConnectionClosed | None] = []

        async def session(transport: aio.Transport) -> None:
            agent = aio.AgentConnection(transport, Echo())
            await agent.serve()
            ended.append(agent.closed)

        async with serving(session) as url:
            socket = await websockets.connect(url)
            await socket.send('{"jsonrpc":"2.0","id":1,"method":"_x/a"}')
            await socket.recv()
            socket.transport.abort()
            for _ in range(200):
                if ended:
                    break
                await asyncio.sleep(0.01)
        assert ended[0] is not None
        assert ended[0].reason == "the connection broke"

    run(turn())


def test_a_server_that_closes() -> None:
    async def turn() -> None:
        async with serving() as url:
            client = aio.ClientConnection(await aio.connect_websocket(url))
            client.start()
            await client.extension_call("_x/echo")
        with pytest.raises(aio.ConnectionClosed, match="the peer closed the connection: 1001"):
            await client.extension_call("_x/echo")
        await client.wait_closed()

    run(turn())


def test_a_session_that_raises_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def session(transport: aio.Transport) -> None:
        raise ValueError

    async def turn() -> None:
        async with serving(session) as url:
            transport = await aio.connect_websocket(url)
            assert await transport.receive() == ()
            await transport.close()

    with caplog.at_level(logging.ERROR, "acp_msgspec.aio"):
        run(turn())
    assert "A session raised" in caplog.text


def test_where_there_is_no_server() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"noise\r\n\r\n")
        writer.close()

    async def turn() -> None:
        with pytest.raises(ValueError, match="isn't a valid URI"):
            await aio.connect_websocket("http://127.0.0.1")
        server = await asyncio.start_server(refuse, "127.0.0.1")
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ConnectionError, match="does not speak WebSocket"):
            await aio.connect_websocket(f"ws://127.0.0.1:{port}")
        server.close()
        await server.wait_closed()
        with pytest.raises(ConnectionRefusedError):
            await aio.connect_websocket(f"ws://127.0.0.1:{port}")

    run(turn())


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name="websockets")

    module = importlib.import_module("acp_msgspec.aio._transports.websocket")
    monkeypatch.setattr(module, "resolve_name", missing)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'acp-msgspec\[ws\]'"):
        run(aio.connect_websocket("ws://127.0.0.1"))
    with pytest.raises(ModuleNotFoundError, match=r"acp-msgspec\[ws\]"):
        run(aio.serve_websocket(echo))


def test_descriptors_are_given_back() -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    async def turns() -> None:
        async with serving() as url:
            await round_trip(url)
            before = descriptors()
            for _ in range(10):
                await round_trip(url)
            assert descriptors() <= before

    run(turns())
