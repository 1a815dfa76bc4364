"""Signing the user in when the agent asks for it."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from ..._rpc.errors import AuthenticationRequired
from .._connection import Connection
from .outline import Outline

OnLogin: TypeAlias = Callable[[Sequence[Any]], Awaitable[Any]]
"""Chooses one of the agent's ways to sign in; None gives up."""
TERMINAL = "terminal"
"""The type of a way for which the agent's program runs in a terminal."""


class Login:
    """Signs in once for all calls that ask for it at the same time."""

    def __init__(self, outline: Outline, on_login: OnLogin, command: Sequence[str | os.PathLike[str]] | None) -> None:
        """Keep the hook, and the agent's command if it was started by one."""
        self._outline = outline
        self._on_login = on_login
        self._command = command
        self._lock = asyncio.Lock()
        self.count = 0
        """How often the user has signed in."""
        self.is_running = False
        """Whether the user signs in at the moment."""

    async def after(self, before: int, connection: Connection[Any], why: AuthenticationRequired) -> None:
        """Sign in, unless that was done since `before`, the count when the refused call began.

        Raises `why` if the hook gives up, `AuthenticationRequired` for a login in a terminal that fails, and
        what `Connection.call` raises.
        """
        async with self._lock:
            if self.count != before:
                return
            self.is_running = True
            try:
                await self._sign_in(connection, why)
            finally:
                self.is_running = False
            self.count += 1

    async def _sign_in(self, connection: Connection[Any], why: AuthenticationRequired) -> None:
        handshake: Any = getattr(connection, "handshake", None)
        way = await self._on_login(tuple(handshake.response.auth_methods))
        if way is None:
            raise why
        if getattr(way, "type", "") == TERMINAL:
            await self._run_in_terminal(way)
            return
        method_id = getattr(way, "method_id", None) or way.id
        await connection.call(self._outline.login, self._outline.params_of(self._outline.login, method_id=method_id))

    async def _run_in_terminal(self, way: Any) -> None:
        if self._command is None:
            raise AuthenticationRequired("The login runs in a terminal, and this side has not started the agent")
        env: Any = way.env
        added: dict[str, str] = env if env.__class__ is dict else {variable.name: variable.value for variable in env}
        program = await asyncio.create_subprocess_exec(*self._command, *way.args, env={**os.environ, **added})
        try:
            status = await program.wait()
        except BaseException:
            with suppress(ProcessLookupError):
                program.kill()
            await program.wait()
            raise
        if status:
            raise AuthenticationRequired(f"The login in the terminal ended with status {status}")
