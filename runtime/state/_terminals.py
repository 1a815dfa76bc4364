"""The terminals of a session: the agent's own, and those that this client runs for it."""

import binascii
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Struct, structs

from .._patch import apply_patch
from ._changes import BadOutput, Change, TerminalChanged, Unannounced
from ._views import TerminalView

_TOTAL_LIMITS = 16
"""How much output all terminals of this client keep together, as a multiple of the limit of one."""


class _ExitStatus(Struct, frozen=True):
    """How a terminal of this client ended; the names are those of the schemas."""

    exit_code: int | None = None
    signal: str | None = None


class _TerminalFields(Struct):
    """The fields that an update changes as they are; the names are those of the schemas."""

    command: str | None = None
    cwd: str | None = None
    size: Any = None
    capabilities: Any = None
    meta: dict[str, Any] | None = None


class _Terminal:
    """A terminal that may still print. With a limit, it keeps only the end of its output."""

    __slots__ = ("_limit", "_output", "_truncated", "_view", "exit_status", "fields", "size", "terminal_id")

    def __init__(self, terminal_id: str, limit: int | None = None) -> None:
        self.terminal_id = terminal_id
        self.fields = _TerminalFields()
        self.exit_status: Any = None
        self.size = 0
        """Number of bytes kept: up to twice the limit, so that cutting costs no more than appending."""
        self._limit = limit
        self._output: list[bytes] = []
        self._truncated = False
        self._view: TerminalView | None = None

    def has(self, fields: dict[str, Any], status: Any) -> bool:
        """Return whether the terminal has these fields and this exit status already."""
        is_known = all(getattr(self.fields, name) == value for name, value in fields.items())
        return is_known and (status is None or status == self.exit_status)

    def touch(self) -> None:
        """Discard the view, since the terminal has changed."""
        self._view = None

    def clear(self, *, truncated: bool = False) -> None:
        """Discard all output."""
        self._output, self.size, self._view, self._truncated = [], 0, None, truncated

    def print(self, data: bytes) -> None:
        """Append output."""
        self._output.append(data)
        self.size += len(data)
        self._view = None
        if self._limit is not None and self.size > 2 * self._limit:
            kept = _end_of(b"".join(self._output), self._limit)
            self._output, self.size, self._truncated = [kept], len(kept), True

    def view(self) -> TerminalView:
        if self._view is None:
            output = b"".join(self._output)
            self._output = [output]
            shown = output if self._limit is None else _end_of(output, self._limit)
            self._view = TerminalView(
                terminal_id=self.terminal_id,
                command=self.fields.command,
                cwd=self.fields.cwd,
                output=shown,
                exited=self.exit_status is not None,
                exit_code=getattr(self.exit_status, "exit_code", None),
                signal=getattr(self.exit_status, "signal", None),
                size=self.fields.size,
                capabilities=self.fields.capabilities,
                meta=self.fields.meta,
                truncated=self._truncated or len(shown) < len(output),
            )
        return self._view


def _end_of(output: bytes, limit: int) -> bytes:
    """Return the last bytes, from the start of a character on if they are UTF-8."""
    if len(output) <= limit:
        return output
    kept = output[-limit:]
    return kept[next((i for i, byte in enumerate(kept[:4]) if byte & 0xC0 != 0x80), 0) :]


class Terminals:
    """The terminals of a session, by id. Those of this client keep only the end of their output."""

    __slots__ = ("_kept", "_limit", "_printed", "_terminals")

    def __init__(self, limit: int) -> None:
        """Start with no terminals; `limit` is the number of bytes that each one of this client keeps."""
        self._limit = limit
        self._terminals: dict[str, _Terminal] = {}
        self._printed: dict[str, _Terminal] = {}
        """The terminals of this client with output, the latest to print last."""
        self._kept = 0
        """Number of bytes of output that they keep together, at most."""

    def views(self) -> tuple[TerminalView, ...]:
        """Return views of all terminals, in the order in which they began."""
        return tuple(terminal.view() for terminal in self._terminals.values())

    def apply(self, update: Any) -> Iterator[Change]:
        """Apply an update of a terminal of the agent. The first one of an id begins the terminal."""
        terminal = self._terminals.setdefault(update.terminal_id, _Terminal(update.terminal_id))
        terminal.fields = apply_patch(terminal.fields, update)
        terminal.touch()
        if update.exit_status is not UNSET:
            terminal.exit_status = update.exit_status
        if update.output is not UNSET:
            terminal.clear()
            if update.output is not None:
                yield from _print(terminal, update.output.data)
        yield TerminalChanged(terminal_id=update.terminal_id)

    def append(self, terminal_id: str, data: str) -> Iterator[Change]:
        """Append output of a terminal of the agent."""
        terminal = self._terminals.get(terminal_id)
        if terminal is None:
            terminal = self._terminals[terminal_id] = _Terminal(terminal_id)
            yield Unannounced(what="terminal", id=terminal_id)
        terminal.touch()
        yield from _print(terminal, data)
        yield TerminalChanged(terminal_id=terminal_id)

    def report(self, terminal_id: str, fields: dict[str, Any], data: bytes, status: Any) -> Iterator[Change]:
        """Begin a terminal of this client, or change its fields, append output, and set its exit status."""
        terminal = self._terminals.get(terminal_id)
        if terminal is None:
            terminal = self._terminals[terminal_id] = _Terminal(terminal_id, self._limit)
        elif not data and terminal.has(fields, status):
            return
        terminal.fields = structs.replace(terminal.fields, **fields)
        terminal.exit_status = terminal.exit_status if status is None else status
        terminal.touch()
        if data:
            self._keep(terminal, data)
        yield TerminalChanged(terminal_id=terminal_id)

    def _keep(self, terminal: _Terminal, data: bytes) -> None:
        """Append output. Beyond the limit of all terminals, discard the output of the ones silent for longest."""
        self._printed.pop(terminal.terminal_id, None)
        self._printed[terminal.terminal_id] = terminal
        before = terminal.size
        terminal.print(data)
        self._kept += terminal.size - before
        while self._kept > _TOTAL_LIMITS * self._limit and len(self._printed) > 1:
            oldest = self._printed.pop(next(iter(self._printed)))
            self._kept -= oldest.size
            oldest.clear(truncated=True)


def exit_status_of(*, exited: bool, exit_code: int | None, signal: str | None) -> Any:
    """Return the exit status of a terminal of this client; None while it runs."""
    return _ExitStatus(exit_code, signal) if exited or exit_code is not None or signal is not None else None


def _print(terminal: _Terminal, data: str) -> Iterator[Change]:
    try:
        terminal.print(b64decode(data, validate=True))
    except (binascii.Error, ValueError) as why:
        yield BadOutput(terminal_id=terminal.terminal_id, problem=str(why))
