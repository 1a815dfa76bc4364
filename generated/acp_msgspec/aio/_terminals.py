"""Terminals for an agent: commands that run as processes, with the end of their output."""

import asyncio
import os
import secrets
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from .._errors import InvalidParams, ResourceNotFound
from ._output import Tail
from ._platform import Tree, group_options, tree_of
from ._start import execute, started

LIMIT = 1024 * 1024
PIPE = 1024 * 1024
"""As much as a pipe holds at most: what is read after the end of a process."""
STDOUT = 1
GONE = 5.0
"""So many seconds a killed process may take to go."""


class Command(Struct, frozen=True):
    """A command that an agent wants to run."""

    session: str
    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str


class ExitStatus(Struct, frozen=True):
    """How a command ended: with an exit code, or by a signal, by its name."""

    exit_code: int | None
    signal: str | None


Allow = Callable[[Command], bool | Awaitable[bool]]


class Terminals:
    """Runs commands for one connection; the agent has a right to nothing else of this system than they give it.

    - `root`: the folder in which commands start, and that the folder of each must be in. It does not confine what a
      command does. By default commands start where this process is, and anywhere else.
    - `allow`: decides whether a command may run, maybe async; by default all may.
    - `max_bytes`: the greatest number of bytes of output that is kept, the end of it; the agent may ask for less.
    - `env`: the environment that a command gets beneath what the agent adds; by default this process's own.
    - `shell`: a command without arguments is a line for the shell.

    Standard output and standard error are one stream, standard input is empty. A command and what it starts are one
    group, and killed as one.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        allow: Allow | None = None,
        max_bytes: int = LIMIT,
        env: Mapping[str, str] | None = None,
        shell: bool = False,
    ) -> None:
        """Take the choices; nothing runs yet."""
        self.root = None if root is None else Path(root).resolve()
        self._allow = allow
        self._max_bytes = max_bytes
        self._env = env
        self._shell = shell
        self._open: dict[tuple[str, str], _Terminal] = {}

    async def create(
        self,
        session: str,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        limit: int | None = None,
    ) -> str:
        """Run a command, and give the id of its terminal.

        Raises `InvalidParams` for a command that is refused or cannot be started.
        """
        wanted = Command(session, command, tuple(args), dict(env or {}), self._folder(command, cwd))
        if self._allow is not None:
            allowed = self._allow(wanted)
            if not (await allowed if isinstance(allowed, Awaitable) else allowed):
                raise _refused(command, "the command is not allowed here")
        terminal = _Terminal(self._max_bytes if limit is None else min(limit, self._max_bytes))
        await terminal.start(wanted, self._env, shell=self._shell)
        number = f"term_{secrets.token_hex(8)}"
        self._open[session, number] = terminal
        return number

    def output(self, session: str, terminal: str) -> tuple[str, bool, ExitStatus | None]:
        """Give the end of the output, whether its beginning was cut off, and how the command ended if it has."""
        found = self._get(session, terminal)
        text, is_cut = found.tail.text(is_whole=found.status is not None)
        return text, is_cut, found.status

    async def wait(self, session: str, terminal: str) -> ExitStatus:
        """Wait for the end of a command."""
        return await self._get(session, terminal).wait()

    async def kill(self, session: str, terminal: str) -> None:
        """Kill a command and what it started; the terminal stays."""
        await self._get(session, terminal).kill()

    async def release(self, session: str, terminal: str) -> None:
        """Kill a command and forget its terminal."""
        found = self._get(session, terminal)
        del self._open[session, terminal]
        await found.close()

    async def close(self) -> None:
        """Release all terminals."""
        found = list(self._open.values())
        self._open.clear()
        await asyncio.gather(*(terminal.close() for terminal in found))

    def _get(self, session: str, terminal: str) -> "_Terminal":
        found = self._open.get((session, terminal))
        if found is None:
            raise ResourceNotFound(data={"terminalId": terminal})
        return found

    def _folder(self, command: str, cwd: str | None) -> str:
        if cwd is None:
            return str(self.root or Path.cwd())
        if "\0" in cwd or not Path(cwd).is_absolute():
            raise _refused(command, "the folder is no absolute path", cwd=cwd)
        try:
            folder = Path(cwd).resolve()
            is_there = folder.is_dir()
        except (OSError, RuntimeError, ValueError):
            raise _refused(command, "there is no such folder", cwd=cwd) from None
        if self.root is not None and not folder.is_relative_to(self.root):
            raise _refused(command, "the folder is outside of the root folder", cwd=cwd)
        if not is_there:
            raise _refused(command, "there is no such folder", cwd=cwd)
        return str(folder)


class _Terminal(asyncio.SubprocessProtocol):
    """One command and its output."""

    def __init__(self, limit: int) -> None:
        self.tail = Tail(limit)
        self.status: ExitStatus | None = None
        self._ended = asyncio.Event()
        self._lost = asyncio.Event()
        self._transport: asyncio.SubprocessTransport | None = None
        self._tree: Tree | None = None
        self._leaves_others = True
        """Whether something else of the group may run."""

    async def start(self, wanted: Command, env: Mapping[str, str] | None, *, shell: bool) -> None:
        whole = {**(os.environ if env is None else env), **wanted.env}
        choices: dict[str, Any] = {
            "stdin": asyncio.subprocess.DEVNULL,
            "stdout": asyncio.subprocess.PIPE,
            "stderr": asyncio.subprocess.STDOUT,
            "cwd": wanted.cwd,
            "env": whole,
        }
        loop = asyncio.get_running_loop()
        try:
            if shell and not wanted.args:
                choices |= group_options()
                await started(loop.subprocess_shell(lambda: self, wanted.command, **choices))
            else:
                await execute(lambda: self, [wanted.command, *wanted.args], **choices)
        except (OSError, ValueError) as why:
            detail = getattr(why, "strerror", None) or str(why)
            raise _refused(wanted.command, f"it cannot be started: {detail.lower()}") from None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._tree = tree_of(transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.tail.add(data)

    def process_exited(self) -> None:
        # What the loop has just read is on its way, and may come behind this.
        asyncio.get_running_loop().call_soon(self._finish)

    def _finish(self) -> None:
        assert self._transport is not None
        self._read_rest(self._transport.get_pipe_transport(STDOUT))
        code = self._transport.get_returncode()
        # Nobody else can have the group's number yet, so this tells whether it is still in use.
        self._leaves_others = self._signal(0)
        self.status = ExitStatus(None, _name(-code)) if code is not None and code < 0 else ExitStatus(code, None)
        self._ended.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost.set()

    def _read_rest(self, pipe: Any) -> None:
        """Read what the process has written before its end; something else may hold the pipe open."""
        file = pipe.get_extra_info("pipe") if pipe is not None else None
        if pipe is None or file is None or os.name == "nt" or pipe.is_closing():
            return
        size = 0
        with suppress(OSError):
            while size < PIPE and (data := os.read(file.fileno(), 65536)):
                self.tail.add(data)
                size += len(data)

    async def wait(self) -> ExitStatus:
        await self._ended.wait()
        assert self.status is not None
        return self.status

    async def kill(self) -> None:
        if self.status is None or self._leaves_others:
            self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        with suppress(TimeoutError):
            async with asyncio.timeout(GONE):
                await self._ended.wait()

    async def close(self) -> None:
        await self.kill()
        assert self._transport is not None
        self._transport.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(GONE):
                await self._lost.wait()

    def _signal(self, number: int) -> bool:
        """Send a signal to the group; say whether there is one."""
        assert self._tree is not None
        if number:
            self._tree.kill()
        return self._tree.is_alive


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def _refused(command: str, detail: str, **more: str) -> InvalidParams:
    return InvalidParams(data={"command": command, **more, "detail": detail})
