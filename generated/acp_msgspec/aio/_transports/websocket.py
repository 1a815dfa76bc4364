"""Transports over WebSocket, one message in a text frame, and the server that makes them.

They need the library `websockets`, which `pip install acp-msgspec[ws]` brings along. It is loaded at the first use and
by name, so that neither programs nor type checkers miss it where nobody uses it.
"""

import hmac
import logging
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pkgutil import resolve_name
from ssl import SSLContext
from types import TracebackType
from typing import Any, Self

from .transport import LIMIT, Transport
from .websocket_transport import CLOSE_TIMEOUT, WebSocketTransport, careful

_LOG = logging.getLogger(__name__.rsplit(".", 2)[0])
SUBPROTOCOL = "acp"
"""What both ends call what they speak."""
BEARER = "acp.bearer."
"""Begins a subprotocol that carries a token: it goes on in base64 for addresses, without padding."""
OPTIONS: dict[str, Any] = {
    # What waits counts by bytes here, and by the number of frames there.
    "max_queue": None,
    # The pings there end a connection whose pongs wait behind messages.
    "ping_interval": None,
    "close_timeout": CLOSE_TIMEOUT,
}
"""What the library is told of every connection."""

Session = Callable[[Transport], Awaitable[object]]


def _library(part: str) -> Any:
    try:
        return resolve_name(f"websockets.{part}")
    except ModuleNotFoundError as why:
        if why.name is None or why.name.partition(".")[0] != "websockets":
            raise
        problem = "WebSocket needs the library websockets, 15 or newer: pip install 'acp-msgspec[ws]'"
        raise ModuleNotFoundError(problem, name=why.name) from None


def _transport(
    socket: Any, limit: int | None, ping_interval: float | None, ping_timeout: float | None
) -> WebSocketTransport:
    closed: type[Exception] = _library("exceptions").ConnectionClosed
    counts = hasattr(_library("asyncio.messages"), "MAX_FRAGMENTS")
    return WebSocketTransport(socket, closed, limit, ping_interval, ping_timeout, counts_fragments=counts)


def _subprotocol_of(token: str) -> str:
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

    `token` goes into the header `Authorization: Bearer`, or with `token_in_subprotocol` where pages in browsers have to
    put it, since they cannot set headers: into a subprotocol, `acp.bearer.` and the token in base64. `ssl` is for
    `wss://` addresses whose certificate the system does not know. `limit` is the greatest length of a message in bytes;
    a longer one ends the connection. Over 4 MiB of messages that nobody takes, nothing more is read. A ping goes out
    every `ping_interval` seconds, and where no pong comes within `ping_timeout` the connection ends; None turns either
    off. Pongs come behind messages, so the time in which nothing is read does not count; meanwhile the system is asked
    whether the peer is there.

    Raises `OSError` (`TimeoutError` after `open_timeout` seconds included) where there is no server, `ConnectionError`
    where it refuses, `ValueError` for an address that is none, and `ModuleNotFoundError` without the extra `ws`.
    """
    client, exceptions = _library("asyncio.client"), _library("exceptions")
    subprotocols, sent = [SUBPROTOCOL], dict(headers or {})
    if token is not None and token_in_subprotocol:
        subprotocols.append(_subprotocol_of(token))
    elif token is not None:
        sent["Authorization"] = f"Bearer {token}"
    options: dict[str, Any] = {"ssl": ssl} if ssl is not None else {}
    try:
        socket = await client.connect(
            url,
            origin=origin,
            subprotocols=subprotocols,
            additional_headers=sent,
            compression="deflate" if compress else None,
            open_timeout=open_timeout,
            max_size=limit,
            create_connection=careful(client.ClientConnection),
            **OPTIONS,
            **options,
        )
    except exceptions.InvalidURI as why:
        raise ValueError(str(why)) from None
    except exceptions.InvalidStatus as why:
        raise ConnectionRefusedError(f"The server answered with the status {why.response.status_code}") from None
    except exceptions.WebSocketException as why:
        raise ConnectionError(f"The server does not speak WebSocket: {why}") from None
    return _transport(socket, limit, ping_interval, ping_timeout)


class WebSocketServer:
    """A server that listens; made by `serve_websocket`, and closed at the end of `async with`."""

    def __init__(self, server: Any) -> None:
        """Take over a server that listens."""
        self._server = server

    @property
    def port(self) -> int:
        """The port that it listens at, where it was asked for any."""
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def __aenter__(self) -> Self:
        """Give the server itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, why: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the server."""
        await self.close()

    async def close(self) -> None:
        """Listen no more, close all connections, and wait until their sessions have ended."""
        self._server.close()
        await self._server.wait_closed()

    async def wait_closed(self) -> None:
        """Wait until it is closed."""
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
    """Listen for clients, and run `session` with the transport of each, as in `AgentConnection(t, MyAgent).serve()`.

    A client must show `token`, where there is one, in either of the ways that `connect_websocket` knows; it gets the
    status 401 otherwise. `origins` are the pages whose scripts may connect, and None among them stands for clients that
    are no browser; others get 403. The default lets no page connect, and None instead of a list lets every one. `ssl`
    makes it a server for `wss://`. The other arguments are those of `connect_websocket`. The transport closes when the
    session ends; what a session raises is logged.

    Raises `OSError` where it cannot listen, and `ModuleNotFoundError` without the extra `ws`.
    """
    library = _library("asyncio.server")

    async def run(socket: Any) -> None:
        transport = _transport(socket, limit, ping_interval, ping_timeout)
        try:
            await session(transport)
        except Exception:
            _LOG.exception("A session raised")
        finally:
            await transport.close()

    def check(socket: Any, request: Any) -> Any:
        if token is None or _shows(request.headers, token):
            return None
        response = socket.respond(401, "A token is needed.\n")
        response.headers["WWW-Authenticate"] = "Bearer"
        return response

    def select(_: Any, offered: Sequence[str]) -> str | None:
        return SUBPROTOCOL if SUBPROTOCOL in offered else None

    server = await library.serve(
        run,
        host,
        port,
        origins=origins,
        process_request=check,
        select_subprotocol=select,
        compression="deflate" if compress else None,
        max_size=limit,
        create_connection=careful(library.ServerConnection),
        ssl=ssl,
        **OPTIONS,
    )
    return WebSocketServer(server)


def _shows(headers: Any, token: str) -> bool:
    """Say whether a client's headers have the token, in a time that tells nothing of it."""
    offered = [p.strip() for value in headers.get_all("Sec-WebSocket-Protocol") for p in value.split(",")]
    shown = [*headers.get_all("Authorization"), *(p for p in offered if p.startswith(BEARER))]
    wanted = [w.encode() for w in (f"Bearer {token}", _subprotocol_of(token))]
    return sum(hmac.compare_digest(s.encode("utf-8", "surrogateescape"), w) for s in shown for w in wanted) > 0
