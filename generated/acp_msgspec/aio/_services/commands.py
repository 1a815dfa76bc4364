"""Data about a command: what an agent asks to run, its output and end, and its state for a user interface."""

import shlex
from collections.abc import Mapping

from msgspec import Struct


class Command(Struct, frozen=True):
    """A command that an agent asks to run."""

    session: str
    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    shell: bool = False
    """Whether the shell runs `command`, a line that may contain any number of commands."""

    @property
    def line(self) -> str:
        """The command as a user would type it."""
        return self.command if self.shell else shlex.join((self.command, *self.args))


class ExitStatus(Struct, frozen=True):
    """How a command ended: with an exit code, or by a signal, given by name."""

    exit_code: int | None
    signal: str | None


class TerminalEvent(Struct, frozen=True, kw_only=True):
    """A terminal was opened, has printed `data`, or its command has ended."""

    session: str
    terminal_id: str
    command: str
    """The beginning of the command as a user would type it."""
    cwd: str
    data: bytes = b""
    exit_code: int | None = None
    signal: str | None = None
    exited: bool = False


class TerminalSnapshot(Struct, frozen=True, kw_only=True):
    """The state of an open or released terminal, for a user interface."""

    session: str
    terminal_id: str
    command: str
    """The beginning of the command as a user would type it."""
    cwd: str
    output: str
    """The end of the output."""
    truncated: bool
    """Whether the beginning of the output was dropped."""
    status: ExitStatus | None
    """How the command ended; None while it runs."""
    released: bool
