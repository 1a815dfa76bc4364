"""The transport to a peer that this program starts as a child process."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..._types.printable import printable
from .descriptors import is_hung_up
from .flow_control import FlowControl
from .lines import LineBuffer, read_small, write_lines, write_lines_now
from .process_tree import ProcessTree, tree_of
from .receive_buffer import HIGH
from .start_process import start_program
from .transport import LIMIT, Take

_LOG = logging.getLogger(__name__.rsplit(".", 2)[0])
STDIN, STDOUT, STDERR = 0, 1, 2
STDERR_KEPT = 64 * 1024
"""How many bytes of standard error are kept."""
LAST_LINE = 300
"""How many characters of the last line of standard error are quoted when a process has failed."""
LAST_LINE_TIMEOUT = 0.2
"""How many seconds to wait for that line; a child of the process may hold standard error open."""
SILENCE = 1.0
"""After the process has ended, this many seconds without output end the stream; an ended stream waits as long for the
exit status."""
ROUNDS = 5
"""After this many times `SILENCE` the stream ends in any case, even if other processes still write to it."""
PIPE_CAPACITY = 1024 * 1024
"""The most that a pipe holds, and so the most that an ended process can have left to read."""
POLL_INTERVAL = 0.02


class _OutputProtocol(asyncio.Protocol):
    """Reads the output of the process directly: the loop's own protocol takes one more iteration for each piece."""

    def __init__(self, process: "_ProcessProtocol", own: Any) -> None:
        self.process = process
        self.own = own
        """The loop's protocol, which must learn the end of the pipe."""

    def data_received(self, data: bytes) -> None:
        process = self.process
        process.output_size += len(data)
        process.lines.feed(data)
        if process.output_size > PIPE_CAPACITY and process.silence_timer is not None:
            process.lines.set_high(HIGH)  # whatever still comes was written by other processes

    def eof_received(self) -> Any:
        return self.own.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.own.connection_lost(exc)


class _ProcessProtocol(asyncio.SubprocessProtocol):
    """Receives the output of the process and the news of its end."""

    def __init__(self, lines: LineBuffer, on_stderr: Callable[[bytes], object] | None) -> None:
        self.lines = lines
        self.flow = FlowControl()
        self.stderr = bytearray()
        """The end of standard error."""
        self.on_stderr = on_stderr
        self.exited = asyncio.Event()
        self.stderr_ended = asyncio.Event()
        self.closed = asyncio.Event()
        """Set once the process has ended and all pipes are closed."""
        self.tree: ProcessTree | None = None
        self.silence_timer: asyncio.TimerHandle | None = None
        """Looks for silence after the end of the process."""
        self._output: _OutputProtocol | None = None
        self.output_size = 0
        """Bytes of output so far; starts again when the process ends."""

    def connection_made(self, transport: Any) -> None:
        self.tree = tree_of(transport.get_pid())
        output = transport.get_pipe_transport(STDOUT)
        self.lines.pause, self.lines.resume = output.pause_reading, output.resume_reading
        read_small(output)
        self._output = _OutputProtocol(self, output.get_protocol())
        output.set_protocol(self._output)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == STDOUT:
            if self._output is not None:  # what was read before the pipe had this protocol
                self._output.data_received(data)
            return
        self.stderr += data
        if len(self.stderr) > STDERR_KEPT:
            del self.stderr[:-STDERR_KEPT]
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
            self.stderr_ended.set()
        elif fd == STDIN:
            self.flow.fail(exc or BrokenPipeError("The process takes no more input"))

    def pause_writing(self) -> None:
        self.flow.pause()

    def resume_writing(self) -> None:
        self.flow.resume()

    def process_exited(self) -> None:
        if self.tree is not None:
            self.tree.leader_exited()
        self.exited.set()
        self.output_size = 0
        # Read the rest of the pipe even if nothing receives it, so that the end of the stream is noticed.
        self.lines.set_high(None)
        self._await_silence(ROUNDS)

    def _await_silence(self, rounds: int) -> None:
        """End the output after some silence: processes started by this one may hold it open, or write for ever."""
        call_later = asyncio.get_running_loop().call_later
        self.silence_timer = call_later(SILENCE, self._check_silence, self.output_size, rounds - 1)

    def _check_silence(self, size_before: int, rounds: int) -> None:
        # Each round reads at least once, so the content of the pipe has been read after all of them.
        if rounds and self.output_size > size_before and not self.lines.is_paused:
            self._await_silence(rounds)
        else:
            self.lines.end()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.silence_timer is not None:
            self.silence_timer.cancel()
        self.lines.end(exc)
        self.closed.set()


class ProcessTransport:
    """A transport over the standard input and output of a process, one message per line. Created by `spawn`."""

    def __init__(self, transport: asyncio.SubprocessTransport, protocol: _ProcessProtocol, grace: float) -> None:
        """Take over a process that has just been started."""
        self._transport = transport
        self._protocol = protocol
        self._grace = grace
        self._closing: asyncio.Task[None] | None = None
        self._input: Any = transport.get_pipe_transport(STDIN)
        self._tree = protocol.tree or tree_of(transport.get_pid())
        self.pid = transport.get_pid()
        """The id of the process and of its group."""

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; None while the process runs."""
        return self._transport.get_returncode()

    @property
    def stderr(self) -> str:
        """The end of what the process wrote to standard error, at most 64 KiB."""
        return self._protocol.stderr.decode("utf-8", errors="replace")

    @property
    def reason(self) -> str | None:
        """How the process ended; for a failed one with its last line of standard error. None while it runs."""
        status = self.returncode
        if status is None:
            return None
        if status >= 0:
            last = self.stderr.strip().rpartition("\n")[2] if status else ""
            return f"the process exited with status {status}{f': {printable(last[:LAST_LINE])}' if last else ''}"
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return f"the process was killed by {name}"

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended or closed its output, though messages may be left to receive."""
        protocol = self._protocol
        return protocol.exited.is_set() or protocol.lines.is_ended or is_hung_up(self._output_descriptor())

    def _output_descriptor(self) -> int:
        output = self._transport.get_pipe_transport(STDOUT)
        pipe: Any = None if output is None or output.is_closing() else output.get_extra_info("pipe")
        return -1 if pipe is None else int(pipe.fileno())

    async def receive(self) -> Sequence[bytes]:
        """Return the lines that the process wrote."""
        lines = await self._protocol.lines.take()
        if not lines:
            # So that `reason` has the exit status, and the last line of a failed process.
            await self._wait(self._protocol.exited, SILENCE)
            if self.returncode:
                await self._wait(self._protocol.stderr_ended, LAST_LINE_TIMEOUT)
        return lines

    def deliver_to(self, take: Take) -> None:
        """Have lines handled as they come, while `receive` waits."""
        self._protocol.lines.deliver_to = take

    async def send(self, messages: Sequence[bytes]) -> None:
        """Write lines to the process."""
        await write_lines(self._input.write, self._protocol.flow, messages)

    def send_now(self, messages: Sequence[bytes]) -> bool:
        """Write lines to the process if it takes them without waiting; return whether it did."""
        return write_lines_now(self._input.write, self._protocol.flow, messages)

    async def close(self) -> None:
        """End the process group: close its input, then SIGTERM, then SIGKILL, with `grace` seconds in between."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        protocol = self._protocol
        protocol.lines.end()
        protocol.flow.fail(BrokenPipeError("The transport is closed"))
        self._input.close()
        if self.returncode is None and not await self._wait(protocol.exited, self._grace):
            self._tree.terminate()
            await self._wait(protocol.exited, self._grace)
        await self._end_tree()
        await self._wait(protocol.exited, self._grace)
        self._transport.close()
        await self._wait(protocol.closed, self._grace)

    async def _end_tree(self) -> None:
        """Ask the remaining processes of the tree to end, and kill those that do not."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._grace
        if self.returncode is not None:
            self._tree.terminate()
            while self._tree.is_alive and clock() < deadline:
                await asyncio.sleep(POLL_INTERVAL)
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
    """Start a program and return the transport over its standard input and output.

    `env` replaces the whole environment. `limit` is the maximum length of a line in bytes, 64 MiB by default, None for
    no limit. Standard error of the program is always read: its end is kept, and `on_stderr` gets all of it as it comes.
    The process leads a group of its own, which ends with the transport: `close` closes its input, sends SIGTERM and
    then SIGKILL, waiting `grace` seconds after each of the first two.

    Everything that the process wrote before its end is received. Output of other processes that share its standard
    output is received until there is one second of silence, for five seconds at most; then the stream ends.

    On Windows the program is looked up on the PATH with the extensions of PATHEXT, so that `npx` finds `npx.cmd`. The
    group is a job there, and CTRL_BREAK takes the place of SIGTERM.

    Raises `OSError` if the program cannot be started, and `ValueError` for a command that is empty or a string, and
    for an argument that a batch file of Windows cannot be given.
    """
    if not command or isinstance(command, str):
        raise ValueError("The command must be a list: the program and its arguments")
    lines = LineBuffer(limit)
    parts = [os.fspath(part) for part in command]
    transport, protocol = await start_program(lambda: _ProcessProtocol(lines, on_stderr), parts, env=env, cwd=cwd)
    return ProcessTransport(transport, protocol, grace)
