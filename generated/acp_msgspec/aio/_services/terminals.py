"""Terminals for an agent: commands that run as processes, with the end of their output."""

import asyncio
import logging
import os
import secrets
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Literal

from ..._rpc.errors import InvalidParams, ResourceNotFound
from .._transports.platforms import Tree, group_options, tree_of
from .._transports.start_process import execute, started
from .budget import WORST, Budget, answering, held_size
from .commands import Command, ExitStatus, TerminalEvent, TerminalSnapshot
from .output_buffer import Tail
from .shell import is_line

LIMIT = 1024 * 1024
TOTAL = 16 * 1024 * 1024
HELD = 32 * 1024 * 1024
"""How many bytes of answers may wait to be sent, as JSON."""
OPEN = 64
LINE = 16 * 1024
"""How many characters of a command are kept to be shown."""
NAME = 64 * 1024
"""The greatest length of a session's id, in characters, as it is kept."""
RELEASED = 64
"""How many released terminals a snapshot shows; the oldest go first."""
PIPE = 1024 * 1024
"""As much as a pipe holds at most: what is read after the end of a process."""
STDOUT = 1
_NUMBERS = count()
GONE = 5.0
"""So many seconds a killed process may take to go."""


Allow = Callable[[Command], bool | Awaitable[bool]]
OnOutput = Callable[[TerminalEvent], object]
_LOG = logging.getLogger(__name__.rsplit(".", 2)[0])


class Terminals:
    """Runs commands for one connection; the agent has a right to nothing else of this system than they give it.

    - `root`: the folder in which commands start, and that the folder of each must be in. It does not confine what a
      command does. By default commands start where this process is, and anywhere else.
    - `allow`: decides whether a command may run, maybe async; by default all may. Where `Command.shell` is true, the
      line may do all that the shell can do, whatever its first word is.
    - `max_bytes`: the greatest number of bytes of output that is kept, the end of it; the agent may ask for less.
    - `max_open`: how many terminals may be open at once, of which the commands have ended or not. Others are refused.
    - `max_total`: how many bytes of output are kept of all terminals together. Released ones lose theirs first, then
      those with most.
    - `env`: the environment that a command gets beneath what the agent adds; by default this process's own.
    - `shell`: whether a command without arguments is a line for the shell. "auto" takes it for a line unless it is a
      program, as agents send `"command": "make && ./run"`. False refuses what is not a program. True is for all.
    - `on_output`: called with a `TerminalEvent` when a terminal is opened, prints something, and ends.

    Standard output and standard error are one stream, standard input is empty. A command and what it starts are one
    group, and killed as one.
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
        """Take the choices; nothing runs yet. Raises `ValueError` for any other `shell`."""
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
        self._open: dict[tuple[str, str], _Terminal] = {}
        self._released: dict[tuple[str, str], _Terminal] = {}
        self._answers = Budget(HELD)
        self._busy = 0
        """Terminals that are being opened or closed."""

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
        if len(self._open) + self._busy >= self._max_open:
            raise _refused(command, f"there are {self._max_open} terminals open already; release some of them")
        if len(session) > NAME:
            raise _refused(command, f"the id of the session is longer than {NAME} characters")
        wanted = self._command(Command(session, command, tuple(args), dict(env or {}), self._folder(command, cwd)))
        terminal_id = f"term_{secrets.token_hex(8)}"
        most = self._max_bytes if limit is None else min(limit, self._max_bytes)
        terminal = _Terminal(wanted, most, partial(self._heard, terminal_id))
        self._busy += 1
        try:
            await self._check_allowed(wanted)
            await terminal.start(wanted, self._env, shell=wanted.shell)
        finally:
            self._busy -= 1
        terminal.forget_arguments()
        self._open[session, terminal_id] = terminal
        if not terminal.is_heard:
            self._heard(terminal_id, terminal)
        return terminal_id

    def _command(self, given: Command) -> Command:
        """Settle who runs a command; what `allow` is told is what will be done."""
        if given.args or self._shell is False:
            return given
        path = {**(os.environ if self._env is None else self._env), **given.env}.get("PATH")
        if self._shell == "auto" and not is_line(given.command, given.cwd, path):
            return given
        return Command(given.session, given.command, (), given.env, given.cwd, shell=True)

    async def _check_allowed(self, wanted: Command) -> None:
        if self._allow is not None:
            allowed = self._allow(wanted)
            if not (await allowed if isinstance(allowed, Awaitable) else allowed):
                raise _refused(wanted.command, "the command is not allowed here")

    def output(self, session: str, terminal: str) -> tuple[str, bool, ExitStatus | None]:
        """Give the end of the output, whether its beginning was cut off, and how the command ended if it has."""
        found = self._get(session, terminal)
        text, is_cut = found.tail.text(is_whole=found.status is not None)
        return text, is_cut, found.status

    async def answer(self, session: str, terminal: str) -> tuple[str, bool, ExitStatus | None]:
        """Give what `output` gives, for a request of the agent; wait while too many answers are still to be sent."""
        with answering():
            share = await self._answers.take(WORST * self._get(session, terminal).tail.size)
            try:
                found = self.output(session, terminal)
            except BaseException:
                share.release()
                raise
            share.keep(held_size(found[0]))
        return found

    def snapshot(self, session: str | None = None) -> tuple[TerminalSnapshot, ...]:
        """Show the terminals of a session, or all, in the order in which they were opened; also those released last."""
        known = {**self._released, **self._open}
        found = [(of, number, t) for (of, number), t in known.items() if session in (None, of)]
        return tuple(
            t.view(of, number, released=(of, number) in self._released)
            for of, number, t in sorted(found, key=lambda each: each[2].opened)
        )

    async def wait(self, session: str, terminal: str) -> ExitStatus:
        """Wait for the end of a command."""
        return await self._get(session, terminal).wait()

    async def kill(self, session: str, terminal: str) -> None:
        """Kill a command and what it started; the terminal stays."""
        await self._get(session, terminal).kill()

    async def release(self, session: str, terminal: str) -> None:
        """Kill a command and forget its terminal; only `snapshot` shows it from now on."""
        found = self._get(session, terminal)
        self._retire(session, terminal)
        await self._close(found)

    async def close(self) -> None:
        """Release all terminals."""
        found = list(self._open.items())
        for key, _ in found:
            self._retire(*key)
        await asyncio.gather(*(self._close(terminal) for _, terminal in found))

    def _retire(self, session: str, terminal: str) -> None:
        self._released[session, terminal] = self._open.pop((session, terminal))
        if len(self._released) > RELEASED:
            del self._released[next(iter(self._released))]

    async def _close(self, terminal: "_Terminal") -> None:
        self._busy += 1
        try:
            await terminal.close()
        finally:
            self._busy -= 1

    def _heard(
        self, terminal_id: str, terminal: "_Terminal", data: bytes = b"", status: ExitStatus | None = None
    ) -> None:
        """Take what is new of a terminal: bytes that it has kept already, or its end."""
        if data:
            self._trim()
        if self._on_output is None:
            return
        event = TerminalEvent(
            session=terminal.session,
            terminal_id=terminal_id,
            command=terminal.line,
            cwd=terminal.cwd,
            data=data,
            exit_code=None if status is None else status.exit_code,
            signal=None if status is None else status.signal,
            exited=status is not None,
        )
        try:
            self._on_output(event)
        except Exception:
            if not terminal.is_complained:  # it may fail for each of many lines
                _LOG.exception("on_output raised")
            terminal.is_complained = True

    def _trim(self) -> None:
        """Throw output away where all terminals together keep too much."""
        while True:
            tails = [terminal.tail for terminal in (*self._released.values(), *self._open.values())]
            over = sum(tail.size for tail in tails) - self._max_total
            if over <= 0:
                return
            if self._released:
                del self._released[next(iter(self._released))]
            else:
                longest = max(tails, key=lambda tail: tail.size)
                longest.cut(max(longest.size // 2, longest.size - over))

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

    def __init__(self, command: Command, limit: int, heard: Callable[..., None]) -> None:
        self.session = command.session
        self.line = command.line[:LINE]
        self.cwd = command.cwd
        self.tail = Tail(limit)
        self._heard = heard
        self.opened = next(_NUMBERS)
        self.is_heard = False
        self.is_complained = False
        """Whether the listener has failed for it before."""
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

    def forget_arguments(self) -> None:
        """Let go of what the process was started with, which may be megabytes; its object is kept by the transport."""
        assert self._transport is not None
        process = self._transport.get_extra_info("subprocess")
        if process is not None:
            process.args = self.line

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._tree = tree_of(transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._add(data)

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
        self._heard(self, status=self.status)

    def _add(self, data: bytes) -> None:
        self.is_heard = True
        self.tail.add(data)
        self._heard(self, data)

    def view(self, session: str, terminal_id: str, *, released: bool) -> TerminalSnapshot:
        text, is_cut = self.tail.text(is_whole=self.status is not None)
        return TerminalSnapshot(
            session=session,
            terminal_id=terminal_id,
            command=self.line,
            cwd=self.cwd,
            output=text,
            truncated=is_cut,
            status=self.status,
            released=released,
        )

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
                self._add(data)
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
        assert self._transport is not None
        try:
            await self.kill()
        finally:
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
