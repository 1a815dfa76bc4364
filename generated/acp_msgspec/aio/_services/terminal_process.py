"""One command that runs as a process, and its output."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from typing import Any

from ..._rpc.errors import InvalidParams
from .._transports.process_tree import ProcessTree, new_group_options, tree_of
from .._transports.start_process import await_start, start_program
from .commands import Command, ExitStatus, TerminalSnapshot
from .output_buffer import OutputBuffer

SHOWN_COMMAND = 16 * 1024
"""How many characters of a command are kept for display."""
PIPE_CAPACITY = 1024 * 1024
"""The most that a pipe holds, and so the most to read after the end of a process."""
UNKNOWN_CODE = 255
"""What asyncio reports for a process whose end it could not see."""
KILL_TIMEOUT = 5.0
"""How many seconds to wait for a killed process to end."""
STDOUT = 1
_NUMBERS = count()


def refused(command: str, detail: str, **more: str) -> InvalidParams:
    """Return the error that refuses to run a command."""
    return InvalidParams(data={"command": command, **more, "detail": detail})


class TerminalProcess(asyncio.SubprocessProtocol):
    """The process of one command; keeps the end of its output and how it ended."""

    def __init__(self, command: Command, limit: int, on_news: Callable[..., None]) -> None:
        """`on_news` is called with this process and its new output as `data`, or with its end as `status`."""
        self.session = command.session
        self.line = command.line[:SHOWN_COMMAND]
        self.cwd = command.cwd
        self.output = OutputBuffer(limit)
        self._on_news = on_news
        self.number = next(_NUMBERS)
        """Counts the terminals of this program in the order in which they were opened."""
        self.has_output = False
        self.has_failed_listener = False
        """Whether an exception of `Terminals.on_output` was logged for it."""
        self.status: ExitStatus | None = None
        self._exited = asyncio.Event()
        self._closed = asyncio.Event()
        self._transport: asyncio.SubprocessTransport | None = None
        self._tree: ProcessTree | None = None
        self._may_have_children = True
        """Whether other processes of the group may still run after its end."""

    async def start(self, command: Command, base_env: Mapping[str, str] | None) -> None:
        """Run the command; its variables are added to `base_env`, by default this program's environment.

        Raises `InvalidParams` if it cannot be started.
        """
        options: dict[str, Any] = {
            "stdin": asyncio.subprocess.DEVNULL,
            "stdout": asyncio.subprocess.PIPE,
            "stderr": asyncio.subprocess.STDOUT,
            "cwd": command.cwd,
            "env": {**(os.environ if base_env is None else base_env), **command.env},
        }
        loop = asyncio.get_running_loop()
        try:
            if command.shell and not command.args:
                options |= new_group_options()
                await await_start(loop.subprocess_shell(lambda: self, command.command, **options))
            else:
                await start_program(lambda: self, [command.command, *command.args], **options)
        except (OSError, ValueError) as why:
            detail = getattr(why, "strerror", None) or str(why)
            raise refused(command.command, f"it cannot be started: {detail.lower()}") from None

    def drop_arguments(self) -> None:
        """Drop the arguments of the process, which may be megabytes; asyncio keeps the process object."""
        assert self._transport is not None
        process = self._transport.get_extra_info("subprocess")
        if process is not None:
            process.args = self.line

    def snapshot(self, session: str, terminal_id: str, *, released: bool) -> TerminalSnapshot:
        """Return its state for a user interface."""
        text, is_truncated = self.text()
        return TerminalSnapshot(
            session=session,
            terminal_id=terminal_id,
            command=self.line,
            cwd=self.cwd,
            output=text,
            truncated=is_truncated,
            status=self.status,
            released=released,
        )

    def text(self) -> tuple[str, bool]:
        """Return the end of the output, and whether its beginning was dropped."""
        return self.output.text(is_complete=self.status is not None)

    async def wait(self) -> ExitStatus:
        """Wait for the end of the process."""
        await self._exited.wait()
        assert self.status is not None
        return self.status

    async def kill(self) -> None:
        """Kill the process group and wait for the end of the process."""
        if self.status is None or self._may_have_children:
            self._require_tree().kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(KILL_TIMEOUT):
                await self._exited.wait()

    async def close(self) -> None:
        """Kill the process group and close the pipes."""
        assert self._transport is not None
        try:
            await self.kill()
        finally:
            self._transport.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(KILL_TIMEOUT):
                await self._closed.wait()

    def connection_made(self, transport: Any) -> None:
        """Keep the transport; called by asyncio, like the next three methods."""
        self._transport = transport
        self._tree = tree_of(transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep output."""
        self._add_output(data)

    def process_exited(self) -> None:
        """Note the end of the process."""
        # Data that the loop has just read is delivered by a callback that may come after this one.
        asyncio.get_running_loop().call_soon(self._finish)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that all pipes are closed."""
        self._closed.set()

    def _finish(self) -> None:
        assert self._transport is not None
        self._read_rest(self._transport.get_pipe_transport(STDOUT))
        code = self._return_code(self._transport)
        # The system cannot have reused the group's id yet, so this tells whether other processes of it still run.
        self._may_have_children = self._require_tree().is_alive
        if code is not None and code < 0:
            self.status = ExitStatus(None, _signal_name(-code))
        else:
            self.status = ExitStatus(code, None)
        self._exited.set()
        self._on_news(self, status=self.status)

    def _add_output(self, data: bytes) -> None:
        self.has_output = True
        self.output.add(data)
        self._on_news(self, data)

    def _read_rest(self, pipe: Any) -> None:
        """Read what the process has written before its end; another process may hold the pipe open."""
        file = pipe.get_extra_info("pipe") if pipe is not None else None
        if pipe is None or file is None or os.name == "nt" or pipe.is_closing():
            return
        size = 0
        with suppress(OSError):
            while size < PIPE_CAPACITY and (data := os.read(file.fileno(), 65536)):
                self._add_output(data)
                size += len(data)

    @staticmethod
    def _return_code(transport: Any) -> int | None:
        """Return the code of the process.

        `transport.close` may take the code from the system before the child watcher of asyncio does. The watcher then
        reports 255, and only the `Popen` object has the code.
        """
        code: int | None = transport.get_returncode()
        taken: int | None = getattr(transport.get_extra_info("subprocess"), "returncode", None)
        return taken if code == UNKNOWN_CODE and taken else code

    def _require_tree(self) -> ProcessTree:
        assert self._tree is not None
        return self._tree


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
