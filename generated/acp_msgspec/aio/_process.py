"""The transport to a peer that is started here, as a process of its own."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ._lines import Lines, write_lines
from ._start import started
from ._transport import Flow

_LOG = logging.getLogger(__name__.rpartition(".")[0])
STDIN, STDOUT, STDERR = 0, 1, 2
TAIL = 64 * 1024
"""So many bytes of standard error are kept."""
LAST = 300
"""So many characters of its last line are told where a process failed."""
LAST_WORDS = 0.2
"""So many seconds that line is waited for; what it has started may hold standard error open."""
LINGER = 1.0
"""So many seconds of silence after the end of a process count as the end of its output, and the other way round."""
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
        self._linger: asyncio.TimerHandle | None = None
        self._has_heard = False

    def connection_made(self, transport: Any) -> None:
        output = transport.get_pipe_transport(STDOUT)
        self.lines.pause, self.lines.resume = output.pause_reading, output.resume_reading

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == STDOUT:
            self._has_heard = True
            self.lines.feed(data)
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
        self.exited.set()
        self._wait_for_output()

    def _wait_for_output(self) -> None:
        """Give the rest of the output its time; something that the process started may hold it open for ever."""
        self._has_heard = False
        self._linger = asyncio.get_running_loop().call_later(LINGER, self._end_of_wait)

    def _end_of_wait(self) -> None:
        if self._has_heard or self.lines.is_paused:
            self._wait_for_output()
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
            return f"the process exited with status {status}{f': {last[:LAST]}' if last else ''}"
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return f"the process was killed by {name}"

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended, though something that it wrote may not have been received."""
        return self._protocol.exited.is_set()

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
        if self._is_alive and not await self._wait(protocol.exited, self._grace):
            self._signal(signal.SIGTERM)
            await self._wait(protocol.exited, self._grace)
        await self._end_group()
        await self._wait(protocol.exited, self._grace)
        self._transport.close()
        await self._wait(protocol.ended, self._grace)

    async def _end_group(self) -> None:
        """Ask what is left of the group to end, and kill what does not."""
        if sys.platform == "win32":
            self._signal(signal.SIGTERM)
            return
        deadline = asyncio.get_running_loop().time() + self._grace
        if self.returncode is not None:
            self._signal(signal.SIGTERM)
            while self._group_is_alive() and asyncio.get_running_loop().time() < deadline:
                await asyncio.sleep(STEP)
        self._signal(signal.SIGKILL)

    @property
    def _is_alive(self) -> bool:
        return self.returncode is None

    def _group_is_alive(self) -> bool:
        try:
            os.killpg(self.pid, 0)
        except OSError:
            return False
        return True

    def _signal(self, number: signal.Signals) -> None:
        with suppress(OSError):
            if sys.platform == "win32":
                self._transport.terminate()
            else:
                os.killpg(self.pid, number)

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
    limit: int | None = None,
    on_stderr: Callable[[bytes], object] | None = None,
    grace: float = 2.0,
) -> ProcessTransport:
    """Start a program and give the transport over its standard input and output.

    `env` replaces the whole environment. `limit` is the greatest length of a line in bytes, None for no limit. What it
    writes to standard error is always read: the end of it is kept, and `on_stderr` gets all of it as it comes. The
    process leads a session and a group of its own, and the end of the transport is the end of the group: `close` closes
    its input, asks it with SIGTERM and kills it with SIGKILL, waiting `grace` seconds after each of the first two.

    Raises `OSError` where the program cannot be started, and `ValueError` for a command that is empty or a text.
    """
    if not command or isinstance(command, str):
        raise ValueError("The command must be a list: the program and its arguments")
    loop = asyncio.get_running_loop()
    lines = Lines(limit)
    transport, protocol = await started(
        loop.subprocess_exec(
            lambda: _Protocol(lines, on_stderr),
            *(os.fspath(part) for part in command),
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
    )
    return ProcessTransport(transport, protocol, grace)
