"""What the sessions of an agent share: its connection, who routes its messages, and how the user signs in."""

from typing import Any

from msgspec import Struct

from ..._rpc.errors import AuthenticationRequired
from .._connection import Connection
from .login import Login
from .outline import Outline
from .router import Router


class Line(Struct, kw_only=True):
    """The line to one agent."""

    outline: Outline
    connection: Connection[Any]
    router: Router
    login: Login | None = None

    async def call(self, method: str, params: Any, *, timeout: float | None = None) -> Any:
        """Call a method as `Connection.call` does; if the agent asks for it, sign in and call once more."""
        login = self.login
        if login is None:
            return await self.connection.call(method, params, timeout=timeout)
        before = login.count
        try:
            return await self.connection.call(method, params, timeout=timeout)
        except AuthenticationRequired as why:
            await login.after(before, self.connection, why)
        return await self.connection.call(method, params, timeout=timeout)

    @property
    def is_signing_in(self) -> bool:
        """Whether the user signs in at the moment, so that time passes on this side."""
        return self.login is not None and self.login.is_running
