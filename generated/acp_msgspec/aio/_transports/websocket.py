"""Connecting to a WebSocket server and running one. Each message is one text frame.

Both need the library `websockets`, an optional dependency: `pip install acp-msgspec[ws]`. It is imported on first use
and by name, so that neither programs nor type checkers need it otherwise.
"""

import hmac
import logging
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pkgutil import resolve_name
from ssl import SSLContext
from types import TracebackType
from typing import Any, Self

from .transport import LIMIT, Transport
from .websocket_transport import CLOSE_TIMEOUT, WebSocketTransport, bounded_connection

_LOG = logging.getLogger(__name__.rsplit(".", 2)[0])
SUBPROTOCOL = "acp"
"""The WebSocket subprotocol of this protocol."""
BEARER = "acp.bearer."
"""Prefix of a subprotocol that carries a token, in URL-safe base64 without padding."""

Session = Callable[[Transport], Awaitable[object]]


def _library(module: str) -> Any:
    """Import a module of the library `websockets`."""
    try:
        return resolve_name(f"websockets.{module}")
    except ModuleNotFoundError as why:
        if why.name is None or why.name.partition(".")[0] != "websockets":
            raise
        problem = "WebSocket needs the library websockets, 15 or newer: pip install 'acp-msgspec[ws]'"
        raise ModuleNotFoundError(problem, name=why.name) from None


def _options(connection: Any, limit: int | None, *, compress: bool) -> dict[str, Any]:
    """Return the options of the library for a connection of either side."""
    return {
        "compression": "deflate" if compress else None,
        "max_size": limit,
        "create_connection": bounded_connection(connection),
        "close_timeout": CLOSE_TIMEOUT,
        # The transport limits the bytes that wait; the library would limit the number of frames.
        "max_queue": None,
        # The transport sends the pings; the library would close a connection whose pongs wait behind messages.
        "ping_interval": None,
    }


def _transport(
    socket: Any, limit: int | None, ping_interval: float | None, ping_timeout: float | None
) -> WebSocketTransport:
    closed: type[Exception] = _library("exceptions").ConnectionClosed
    counts_fragments = hasattr(_library("asyncio.messages"), "MAX_FRAGMENTS")
    return WebSocketTransport(socket, closed, limit, ping_interval, ping_timeout, counts_fragments=counts_fragments)


def _token_subprotocol(token: str) -> str:
    return BEARER + urlsafe_b64encode(token.encode()).decode().rstrip("=")


async def connect_websocket(
    url: str,
    *,
    token: str | None = None,
    token_in_subprotocol: bool = False,
    headers: Mapping[str, str] | None = None,
    origin: str | None = None,
    ssl: SSLContext | None = None,
    limit: int | None = LIMIT,
    compress: bool = False,
    open_timeout: float | None = 10.0,
    ping_interval: float | None = 20.0,
    ping_timeout: float | None = 20.0,
) -> Transport:
    """Connect to a server at a `ws://` or `wss://` address.

    `token` is sent as the header `Authorization: Bearer`, or, with `token_in_subprotocol`, as the subprotocol
    `acp.bearer.` and the token in base64, as pages in browsers send it because they cannot set headers. `ssl` is for
    `wss://` addresses whose certificate the system does not trust. `limit` is the maximum length of a message in bytes;
    a longer message ends the connection. Reading pauses while more than 4 MiB of messages wait to be received. A ping
    is sent every `ping_interval` seconds, and the connection ends if no pong comes within `ping_timeout`; None turns
    either off. Pongs come behind messages, so time in which reading is paused does not count; meanwhile the system is
    asked whether the peer still exists.

    Raises `OSError` (which includes `TimeoutError` after `open_timeout` seconds) if there is no server,
    `ConnectionError` if it refuses, `ValueError` for an invalid address, and `ModuleNotFoundError` without the extra
    `ws`.
    """
    client = _library("asyncio.client")
    subprotocols, sent = _with_token(token, headers, in_subprotocol=token_in_subprotocol)
    options = _options(client.ClientConnection, limit, compress=compress)
    if ssl is not None:
        options["ssl"] = ssl
    with _built_in_errors():
        socket = await client.connect(
            url, origin=origin, subprotocols=subprotocols, additional_headers=sent, open_timeout=open_timeout, **options
        )
    return _transport(socket, limit, ping_interval, ping_timeout)


def _with_token(
    token: str | None, headers: Mapping[str, str] | None, *, in_subprotocol: bool
) -> tuple[list[str], dict[str, str]]:
    """Return the subprotocols and headers to send, with the token in one of them."""
    subprotocols, sent = [SUBPROTOCOL], dict(headers or {})
    if token is not None and in_subprotocol:
        subprotocols.append(_token_subprotocol(token))
    elif token is not None:
        sent["Authorization"] = f"Bearer {token}"
    return subprotocols, sent


@contextmanager
def _built_in_errors() -> Generator[None]:
    """Raise built-in exceptions in place of the library's own."""
    exceptions = _library("exceptions")
    try:
        yield
    except exceptions.InvalidURI as why:
        raise ValueError(str(why)) from None
    except exceptions.InvalidStatus as why:
        raise ConnectionRefusedError(f"The server answered with the status {why.response.status_code}") from None
    except exceptions.WebSocketException as why:
        raise ConnectionError(f"The server does not speak WebSocket: {why}") from None


class WebSocketServer:
    """A listening server. Created by `serve_websocket`; leaving `async with` closes it."""

    def __init__(self, server: Any) -> None:
        """Take over a listening server of the library."""
        self._server = server

    @property
    def port(self) -> int:
        """The port that it listens on; useful after asking for port 0."""
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def __aenter__(self) -> Self:
        """Return the server itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, why: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the server."""
        await self.close()

    async def close(self) -> None:
        """Stop listening, close all connections, and wait until their sessions have ended."""
        self._server.close()
        await self._server.wait_closed()

    async def wait_closed(self) -> None:
        """Wait until the server is closed."""
        await self._server.wait_closed()


async def serve_websocket(
    session: Session,
    host: str | None = "localhost",
    port: int = 0,
    *,
    token: str | None = None,
    origins: Sequence[str | None] | None = (None,),
    ssl: SSLContext | None = None,
    limit: int | None = LIMIT,
    compress: bool = False,
    ping_interval: float | None = 20.0,
    ping_timeout: float | None = 20.0,
) -> WebSocketServer:
    """Listen for clients and run `session` with a transport for each, as in `AgentConnection(t, MyAgent).serve()`.

    If there is a `token`, a client must send it in one of the two ways of `connect_websocket`, or gets status 401.
    `origins` lists the pages whose scripts may connect; None in the list stands for clients that are not browsers. Any
    other page gets status 403. By default no page may connect; None in place of the list allows every page. `ssl` makes
    it a server for `wss://`. The other arguments are those of `connect_websocket`. The transport is closed when the
    session ends; an exception of the session is logged.

    Raises `OSError` if it cannot listen, and `ModuleNotFoundError` without the extra `ws`.
    """
    library = _library("asyncio.server")

    async def run(socket: Any) -> None:
        await _run_session(session, _transport(socket, limit, ping_interval, ping_timeout))

    server = await library.serve(
        run,
        host,
        port,
        origins=origins,
        process_request=partial(_check_token, token),
        select_subprotocol=_select_subprotocol,
        ssl=ssl,
        **_options(library.ServerConnection, limit, compress=compress),
    )
    return WebSocketServer(server)


async def _run_session(session: Session, transport: Transport) -> None:
    try:
        await session(transport)
    except Exception:
        _LOG.exception("A session raised")
    finally:
        await transport.close()


def _check_token(token: str | None, socket: Any, request: Any) -> Any:
    """Return the response that refuses a client without the token; None accepts it."""
    if token is None or _has_token(request.headers, token):
        return None
    response = socket.respond(401, "A token is needed.\n")
    response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _select_subprotocol(_: Any, offered: Sequence[str]) -> str | None:
    return SUBPROTOCOL if SUBPROTOCOL in offered else None


def _has_token(headers: Any, token: str) -> bool:
    """Return whether the headers contain the token; the time of the comparison does not reveal the token."""
    offered = [p.strip() for value in headers.get_all("Sec-WebSocket-Protocol") for p in value.split(",")]
    shown = [*headers.get_all("Authorization"), *(p for p in offered if p.startswith(BEARER))]
    wanted = [w.encode() for w in (f"Bearer {token}", _token_subprotocol(token))]
    return sum(hmac.compare_digest(s.encode("utf-8", "surrogateescape"), w) for s in shown for w in wanted) > 0
