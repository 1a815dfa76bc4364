"""The transport to a peer that is started here, as a process of its own."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..._types.printable import printable
from . import platforms
from .descriptors import is_hung_up
from .lines import Lines, write_lines
from .receive_buffer import HIGH
from .start_process import execute
from .transport import LIMIT, Flow

_LOG = logging.getLogger(__name__.rsplit(".", 2)[0])
STDIN, STDOUT, STDERR = 0, 1, 2
TAIL = 64 * 1024
"""How many bytes of standard error are kept."""
LAST = 300
"""How many characters of its last line are told where a process failed."""
LAST_WORDS = 0.2
"""How many seconds that line is waited for; what it has started may hold standard error open."""
LINGER = 1.0
"""How many seconds of silence after the end of a process end its output, and the other way round."""
ROUNDS = 5
"""After how many times that long the output ends in any case, though others go on to write."""
PIPE = 1024 * 1024
"""As much as a pipe holds at most: what a process may have left behind there."""
STEP = 0.02


class _Protocol(asyncio.SubprocessProtocol):
    """Hears from the process."""

    def __init__(self, lines: Lines, on_stderr: Callable[[bytes], object] | None) -> None:
        self.lines = lines
        self.flow = Flow()
        self.tail = bytearray()
        self.on_stderr = on_stderr
        self.exited = asyncio.Event()
        self.told = asyncio.Event()
        """Standard error has ended."""
        self.ended = asyncio.Event()
        """Everything is closed, and the process is gone."""
        self.tree: platforms.Tree | None = None
        self._linger: asyncio.TimerHandle | None = None
        self._heard = 0
        """How many bytes of output came, since the end of the process once that has come."""

    def connection_made(self, transport: Any) -> None:
        self.tree = platforms.tree_of(transport.get_pid())
        output = transport.get_pipe_transport(STDOUT)
        self.lines.pause, self.lines.resume = output.pause_reading, output.resume_reading

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == STDOUT:
            self._heard += len(data)
            self.lines.feed(data)
            if self._heard > PIPE and self._linger is not None:
                self.lines.bound(HIGH)  # the process can have written nothing of what still comes
            return
        self.tail += data
        if len(self.tail) > TAIL:
            del self.tail[:-TAIL]
        if self.on_stderr is not None:
            try:
                self.on_stderr(data)
            except Exception:
                _LOG.exception("on_stderr raised")

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == STDOUT:
            self.lines.pause = self.lines.resume = None
            self.lines.end(exc)
        elif fd == STDERR:
            self.told.set()
        elif fd == STDIN:
            self.flow.lose(exc or BrokenPipeError("The process takes no more input"))

    def pause_writing(self) -> None:
        self.flow.pause()

    def resume_writing(self) -> None:
        self.flow.resume()

    def process_exited(self) -> None:
        if self.tree is not None:
            self.tree.leader_exited()
        self.exited.set()
        self._heard = 0
        # What it has left in the pipe is read whether somebody takes it or not, so that the end behind it shows.
        self.lines.bound(None)
        self._wait_for_output(ROUNDS)

    def _wait_for_output(self, rounds: int) -> None:
        """Give the rest of the output its time; what the process has started may hold it open, or write for ever."""
        wait = asyncio.get_running_loop().call_later
        self._linger = wait(LINGER, self._end_of_wait, self._heard, rounds - 1)

    def _end_of_wait(self, heard: int, rounds: int) -> None:
        # A round reads at least once, so all of them have read what was in the pipe.
        if rounds and self._heard > heard and not self.lines.is_paused:
            self._wait_for_output(rounds)
        else:
            self.lines.end()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._linger is not None:
            self._linger.cancel()
        self.lines.end(exc)
        self.ended.set()


class ProcessTransport:
    """A transport over the standard input and output of a process, one message on a line; made by `spawn`."""

    def __init__(self, transport: asyncio.SubprocessTransport, protocol: _Protocol, grace: float) -> None:
        """Take over a process that has just been started."""
        self._transport = transport
        self._protocol = protocol
        self._grace = grace
        self._closing: asyncio.Task[None] | None = None
        self._input: Any = transport.get_pipe_transport(STDIN)
        self._tree = protocol.tree or platforms.tree_of(transport.get_pid())
        self.pid = transport.get_pid()
        """The id of the process, which is that of its group, too."""

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; None while the process runs."""
        return self._transport.get_returncode()

    @property
    def stderr(self) -> str:
        """The end of what the process wrote to standard error, at most 64 KiB."""
        return self._protocol.tail.decode("utf-8", errors="replace")

    @property
    def reason(self) -> str | None:
        """How the process ended, in words, with the last line that a failed one wrote; None while it runs."""
        status = self.returncode
        if status is None:
            return None
        if status >= 0:
            last = self.stderr.strip().rpartition("\n")[2] if status else ""
            return f"the process exited with status {status}{f': {printable(last[:LAST])}' if last else ''}"
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return f"the process was killed by {name}"

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended, or has closed its output, though something may be left to receive."""
        protocol = self._protocol
        return protocol.exited.is_set() or protocol.lines.is_ended or is_hung_up(self._descriptor())

    def _descriptor(self) -> int:
        output = self._transport.get_pipe_transport(STDOUT)
        pipe: Any = None if output is None or output.is_closing() else output.get_extra_info("pipe")
        return -1 if pipe is None else int(pipe.fileno())

    async def receive(self) -> Sequence[bytes]:
        """Give the lines that the process wrote."""
        lines = await self._protocol.lines.take()
        if not lines:
            # For the status to be known with the end, and for what a failed process had to say.
            await self._wait(self._protocol.exited, LINGER)
            if self.returncode:
                await self._wait(self._protocol.told, LAST_WORDS)
        return lines

    async def send(self, messages: Sequence[bytes]) -> None:
        """Write lines to the process."""
        await write_lines(self._input.write, self._protocol.flow, messages)

    async def close(self) -> None:
        """End the process and its group: its input is closed, then it is asked, then killed, with `grace` between."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        protocol = self._protocol
        protocol.lines.end()
        protocol.flow.lose(BrokenPipeError("The transport is closed"))
        self._input.close()
        if self.returncode is None and not await self._wait(protocol.exited, self._grace):
            self._tree.ask()
            await self._wait(protocol.exited, self._grace)
        await self._end_tree()
        await self._wait(protocol.exited, self._grace)
        self._transport.close()
        await self._wait(protocol.ended, self._grace)

    async def _end_tree(self) -> None:
        """Ask what is left of the tree to end, and kill what does not."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._grace
        if self.returncode is not None:
            self._tree.ask()
            while self._tree.is_alive and clock() < deadline:
                await asyncio.sleep(STEP)
        self._tree.kill()

    @staticmethod
    async def _wait(event: asyncio.Event, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()
        return event.is_set()


async def spawn(
    command: Sequence[str | os.PathLike[str]],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    limit: int | None = LIMIT,
    on_stderr: Callable[[bytes], object] | None = None,
    grace: float = 2.0,
) -> ProcessTransport:
    """Start a program and give the transport over its standard input and output.

    `env` replaces the whole environment. `limit` is the greatest length of a line in bytes, 64 MiB by default, None for
    no limit. What the program writes to standard error is always read: the end of it is kept, and `on_stderr` gets all
    of it as it comes. The process leads a group of its own, and the end of the transport is the end of the group:
    `close` closes its input, asks it with SIGTERM and kills it with SIGKILL, waiting `grace` seconds after each of the
    first two.

    All that the process wrote before its end is received, however late. What others write who have its output is
    received until it has been silent for a second, and for five seconds at most; then the stream ends.

    On Windows the program is looked up on the PATH with the extensions of PATHEXT, so that `npx` finds `npx.cmd`, and
    the group is a job, which is asked with CTRL_BREAK.

    Raises `OSError` where the program cannot be started, and `ValueError` for a command that is empty or a text, and
    for an argument that a batch file of Windows cannot be given.
    """
    if not command or isinstance(command, str):
        raise ValueError("The command must be a list: the program and its arguments")
    lines = Lines(limit)
    parts = [os.fspath(part) for part in command]
    transport, protocol = await execute(lambda: _Protocol(lines, on_stderr), parts, env=env, cwd=cwd)
    return ProcessTransport(transport, protocol, grace)
