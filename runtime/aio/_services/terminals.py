"""Terminals for an agent: commands that run as processes, with the end of their output."""

import asyncio
import logging
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from ..._rpc.errors import ResourceNotFound
from .budget import Budget, held_until_answered
from .commands import Command, ExitStatus, TerminalEvent, TerminalSnapshot
from .json_size import MAX_EXPANSION, memory_size
from .output_buffer import OutputBuffer
from .shell import is_shell_line
from .terminal_process import TerminalProcess, refused

LIMIT = 1024 * 1024
"""Default maximum number of bytes of output kept per terminal."""
TOTAL = 16 * 1024 * 1024
"""Default maximum number of bytes of output kept in all terminals."""
HELD = 32 * 1024 * 1024
"""How many bytes of answers may wait to be sent, counted as JSON."""
OPEN = 64
"""Default maximum number of open terminals."""
SESSION_ID = 64 * 1024
"""The maximum length of a session id in characters, because ids are kept."""
RELEASED = 64
"""How many released terminals a snapshot shows; the oldest are dropped first."""

Allow = Callable[[Command], bool | Awaitable[bool]]
OnOutput = Callable[[TerminalEvent], object]
_LOG = logging.getLogger(__name__.rsplit(".", 2)[0])


class Terminals:
    """Runs commands for one connection. The agent can only use the terminals that it has opened here.

    - `root`: the folder in which commands start; each command's folder must be in it. This does not restrict what a
      command does. By default commands start in the current folder of this process, and may ask for any other.
    - `allow`: decides whether a command may run; may be async. By default all may. If `Command.shell` is true, the line
      can do anything the shell can do, whatever its first word is.
    - `max_bytes`: the maximum number of bytes of output kept, from the end; the agent may ask for less.
    - `max_open`: how many terminals may be open at once, including those whose command has ended. More are refused.
    - `max_total`: the maximum number of bytes of output kept in all terminals. Released ones lose their output first,
      then those with the most.
    - `env`: the environment of commands, to which the agent adds variables; by default this process's own.
    - `shell`: whether a command without arguments is a line for the shell. "auto" runs it as a line unless it names a
      program, because agents send `"command": "make && ./run"`. False never uses the shell, True always.
    - `on_output`: called with a `TerminalEvent` when a terminal is opened, prints something, and ends.

    Standard output and standard error are one stream; standard input is empty. A command and the processes that it
    starts form a group and are killed together.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        allow: Allow | None = None,
        max_bytes: int = LIMIT,
        max_open: int = OPEN,
        max_total: int = TOTAL,
        env: Mapping[str, str] | None = None,
        shell: bool | Literal["auto"] = "auto",
        on_output: OnOutput | None = None,
    ) -> None:
        """Raise `ValueError` for an unknown `shell`."""
        if shell not in (True, False, "auto"):
            raise ValueError(f"shell={shell!r}: use True, False or 'auto'")
        self.root = None if root is None else Path(root).resolve()
        self._allow = allow
        self._max_bytes = max_bytes
        self._max_open = max_open
        self._max_total = max_total
        self._env = env
        self._shell = shell
        self._on_output = on_output
        self._open: dict[tuple[str, str], TerminalProcess] = {}
        self._released: dict[tuple[str, str], TerminalProcess] = {}
        self._answers = Budget(HELD)
        self._changing = 0
        """How many terminals are being opened or closed."""

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
        """Run a command and return the id of its terminal.

        Raises `InvalidParams` for a command that is refused or cannot be started.
        """
        if len(self._open) + self._changing >= self._max_open:
            raise refused(command, f"there are {self._max_open} terminals open already; release some of them")
        if len(session) > SESSION_ID:
            raise refused(command, f"the id of the session is longer than {SESSION_ID} characters")
        wanted = self._with_shell(Command(session, command, tuple(args), dict(env or {}), self._folder(command, cwd)))
        terminal_id = f"term_{secrets.token_hex(8)}"
        max_bytes = self._max_bytes if limit is None else min(limit, self._max_bytes)
        process = TerminalProcess(wanted, max_bytes, partial(self._publish, terminal_id))
        self._changing += 1
        try:
            await self._check_allowed(wanted)
            await process.start(wanted, self._env)
        finally:
            self._changing -= 1
        process.drop_arguments()
        self._open[session, terminal_id] = process
        if not process.has_output:
            self._publish(terminal_id, process)
        return terminal_id

    def _with_shell(self, command: Command) -> Command:
        """Decide whether the shell runs a command, before `allow` sees it."""
        if command.args or self._shell is False:
            return command
        path = {**(os.environ if self._env is None else self._env), **command.env}.get("PATH")
        if self._shell == "auto" and not is_shell_line(command.command, command.cwd, path):
            return command
        return Command(command.session, command.command, (), command.env, command.cwd, shell=True)

    async def _check_allowed(self, command: Command) -> None:
        if self._allow is not None:
            allowed = self._allow(command)
            if not (await allowed if isinstance(allowed, Awaitable) else allowed):
                raise refused(command.command, "the command is not allowed here")

    def output(self, session: str, terminal: str) -> tuple[str, bool, ExitStatus | None]:
        """Return the end of the output, whether its beginning was dropped, and how the command ended, if it has."""
        process = self._get(session, terminal)
        text, is_truncated = process.text()
        return text, is_truncated, process.status

    async def answer(self, session: str, terminal: str) -> tuple[str, bool, ExitStatus | None]:
        """Return the same as `output`, to answer a request; wait while too many answers are still to be sent."""
        with held_until_answered():
            reservation = await self._answers.reserve(MAX_EXPANSION * self._get(session, terminal).output.size)
            try:
                found = self.output(session, terminal)
            except BaseException:
                reservation.release()
                raise
            reservation.hold(memory_size(found[0]))
        return found

    def snapshot(self, session: str | None = None) -> tuple[TerminalSnapshot, ...]:
        """Return the state of the terminals of a session, or of all, open or released, in the order of creation."""
        known = {**self._released, **self._open}
        found = [(of, number, process) for (of, number), process in known.items() if session in (None, of)]
        return tuple(
            process.snapshot(of, number, released=(of, number) in self._released)
            for of, number, process in sorted(found, key=lambda each: each[2].number)
        )

    async def wait(self, session: str, terminal: str) -> ExitStatus:
        """Wait for the end of a command."""
        return await self._get(session, terminal).wait()

    async def kill(self, session: str, terminal: str) -> None:
        """Kill a command and the processes that it started; the terminal stays open."""
        await self._get(session, terminal).kill()

    async def release(self, session: str, terminal: str) -> None:
        """Kill a command and release its terminal; only `snapshot` shows it from now on."""
        process = self._get(session, terminal)
        self._mark_released(session, terminal)
        await self._close(process)

    async def close(self) -> None:
        """Release all terminals."""
        found = list(self._open.items())
        for key, _ in found:
            self._mark_released(*key)
        await asyncio.gather(*(self._close(process) for _, process in found))

    def _mark_released(self, session: str, terminal: str) -> None:
        self._released[session, terminal] = self._open.pop((session, terminal))
        if len(self._released) > RELEASED:
            del self._released[next(iter(self._released))]

    async def _close(self, process: TerminalProcess) -> None:
        self._changing += 1
        try:
            await process.close()
        finally:
            self._changing -= 1

    def _publish(
        self, terminal_id: str, process: TerminalProcess, data: bytes = b"", status: ExitStatus | None = None
    ) -> None:
        """Call `on_output` with new output, which the process has already kept, or with the end of a command."""
        if data:
            self._limit_total()
        if self._on_output is None:
            return
        event = TerminalEvent(
            session=process.session,
            terminal_id=terminal_id,
            command=process.line,
            cwd=process.cwd,
            data=data,
            exit_code=None if status is None else status.exit_code,
            signal=None if status is None else status.signal,
            exited=status is not None,
        )
        try:
            self._on_output(event)
        except Exception:
            if not process.has_failed_listener:  # log once: it may fail for each piece of output
                _LOG.exception("on_output raised")
            process.has_failed_listener = True

    def _limit_total(self) -> None:
        """Drop output while all terminals together keep too much."""
        while True:
            outputs = [process.output for process in (*self._released.values(), *self._open.values())]
            excess = sum(output.size for output in outputs) - self._max_total
            if excess <= 0:
                return
            if self._released:
                del self._released[next(iter(self._released))]
            else:
                _shorten(max(outputs, key=lambda output: output.size), excess)

    def _get(self, session: str, terminal: str) -> TerminalProcess:
        found = self._open.get((session, terminal))
        if found is None:
            raise ResourceNotFound(data={"terminalId": terminal})
        return found

    def _folder(self, command: str, cwd: str | None) -> str:
        """Return the folder in which a command runs, resolved."""
        if cwd is None:
            return str(self.root or Path.cwd())
        if "\0" in cwd or not Path(cwd).is_absolute():
            raise refused(command, "the folder is not an absolute path", cwd=cwd)
        try:
            folder = Path(cwd).resolve()
            exists = folder.is_dir()
        except (OSError, RuntimeError, ValueError):
            raise refused(command, "the folder does not exist", cwd=cwd) from None
        if self.root is not None and not folder.is_relative_to(self.root):
            raise refused(command, "the folder is outside of the root folder", cwd=cwd)
        if not exists:
            raise refused(command, "the folder does not exist", cwd=cwd)
        return str(folder)


def _shorten(output: OutputBuffer, excess: int) -> None:
    """Drop at least `excess` bytes if there are as many, but at most half of the output."""
    output.truncate(max(output.size // 2, output.size - excess))
