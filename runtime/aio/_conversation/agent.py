"""An agent that a client talks to: the connection, and what its sessions share."""

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, ClassVar, Generic, Self, TypedDict, TypeVar, cast

from ..._decode.report import OnSkip
from ..._types.inputs import Unknown
from ...state import Snapshot
from .._engine.options import OnMessage
from .._engine.problems import OnProblem
from .._transports.transport import Transport
from .line import Line
from .login import Login, OnLogin
from .opening import Target, command_of, opener
from .outline import Outline
from .prompt_parts import absolute
from .router import Router
from .session import SessionOptions

C = TypeVar("C")
H = TypeVar("H")


class ConnectionOptions(TypedDict, total=False):
    """The options of a connection, as `Connection` takes them."""

    max_requests: int
    max_notifications: int
    unknown: Unknown
    on_skip: OnSkip | None
    on_problem: OnProblem | None
    on_message: OnMessage | None
    grace: float
    debug: bool
    validate: bool


class RemoteAgent(Generic[C, H]):
    """An agent to talk to: the base of each schema's `ConnectedAgent`, which `connect` returns."""

    outline: ClassVar[Outline]
    connection_class: ClassVar[Callable[..., Any]]
    handler_class: ClassVar[type[Any]]

    def __init__(
        self,
        target: Target,
        handler: H | Callable[[C], H] | None,
        timeout: float | None,
        options: ConnectionOptions,
        on_login: OnLogin | None = None,
    ) -> None:
        """Keep what is needed to connect. Raises `TypeError` and `ValueError` for an invalid target."""
        self._target = target
        self._make = opener(target)
        self._handler: Any = self.handler_class() if handler is None else handler
        self._timeout = timeout
        self._options = options
        self._on_login = on_login
        self._line: Line | None = None

    @property
    def connection(self) -> C:
        """The connection to the agent. Raises `RuntimeError` outside of `async with`."""
        connection: C = cast("Any", self.line().connection)
        return connection

    async def __aenter__(self) -> Self:
        """Open the transport, start the connection, and negotiate version and capabilities.

        Raises `OSError` for a program that does not start or a server that cannot be reached, `UnsupportedVersion`,
        `TimeoutError` for an agent that does not answer in time, and what `Connection.call` raises.
        """
        if self._line is not None:
            raise RuntimeError("An agent is connected to once only: call `connect` again")
        transport: Any = self._target if self._make is None else await self._make()
        self._line = await self._connect(transport)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connection, and end the agent's process if it was started here."""
        await self.line().connection.close()

    async def _connect(self, transport: Transport) -> Line:
        try:
            connection: Any = self.connection_class(transport, self._handler, **self._options)
            router = Router(self.outline, connection.side)
            connection.wrap_handlers(router.wrappers)
            connection.start()
        except BaseException:
            await transport.close()
            raise
        try:
            await connection.negotiate(timeout=self._timeout)
        except BaseException:
            await connection.close()
            raise
        login = None if self._on_login is None else Login(self.outline, self._on_login, command_of(self._target))
        return Line(outline=self.outline, connection=connection, router=router, login=login)

    def line(self) -> Line:
        """Return what a session needs of its agent. Raises `RuntimeError` outside of `async with`."""
        if self._line is None:
            raise RuntimeError("The agent is not connected: use it within `async with`")
        return self._line

    def session_options(
        self,
        params: Mapping[str, Any],
        cwd: str | PathLike[str],
        earlier: tuple[str | None, Snapshot | None, int | None],
        idle_timeout: float | None,
        patience: float,
    ) -> SessionOptions:
        """Return the options of a session; `params` are those of the schema besides `cwd`."""
        if idle_timeout is not None and idle_timeout <= 0:
            raise ValueError("The timeout must be positive")
        session_id, snapshot, limit = earlier
        return SessionOptions(
            params={"cwd": absolute(cwd), **params},
            idle_timeout=idle_timeout,
            patience=patience,
            timeout=self._timeout,
            session_id=session_id,
            snapshot=snapshot,
            limit=limit,
        )

    @staticmethod
    def absolute(paths: Iterable[str | PathLike[str]]) -> list[str]:
        """Make paths absolute."""
        return [absolute(path) for path in paths]
