"""What is known of commands that an agent runs: what is wanted, how it ended, and what a user sees of it."""

import shlex
from collections.abc import Mapping

from msgspec import Struct


class Command(Struct, frozen=True):
    """A command that an agent wants to run."""

    session: str
    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    shell: bool = False
    """Whether the shell runs `command`, a line with any number of commands in it."""

    @property
    def line(self) -> str:
        """The command as a user would type it."""
        return self.command if self.shell else shlex.join((self.command, *self.args))


class ExitStatus(Struct, frozen=True):
    """How a command ended: with an exit code, or by a signal, by its name."""

    exit_code: int | None
    signal: str | None


class TerminalEvent(Struct, frozen=True, kw_only=True):
    """What is new of a terminal, with what it is: it was opened, has printed `data`, or its command has ended."""

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
    """A terminal as a user interface shows it, open or released."""

    session: str
    terminal_id: str
    command: str
    """The beginning of the command as a user would type it."""
    cwd: str
    output: str
    """The end of what it has printed."""
    truncated: bool
    """Whether the beginning of the output is gone."""
    status: ExitStatus | None
    """How the command ended; None while it runs."""
    released: bool
