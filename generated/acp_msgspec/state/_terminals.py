"""The terminals of a session: those of the agent's own, and those that this client runs for it."""

import binascii
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Struct, structs

from .._patch import apply_patch
from ._changes import BadOutput, Change, TerminalChanged, Unannounced
from ._views import TerminalView

_MOST = 16
"""How much all terminals of this client keep together, in limits of one."""


class _Exit(Struct, frozen=True):
    """How a terminal of this client ended; the names are those of the schemas."""

    exit_code: int | None = None
    signal: str | None = None


class _TerminalFacts(Struct):
    """What updates patch as it is; the names are those of the schemas."""

    command: str | None = None
    cwd: str | None = None
    meta: dict[str, Any] | None = None


class _Terminal:
    """A terminal that may still print. With a limit, it keeps the end of its output."""

    __slots__ = ("_limit", "_output", "_truncated", "_view", "exit_status", "facts", "size", "terminal_id")

    def __init__(self, terminal_id: str, limit: int | None = None) -> None:
        self.terminal_id = terminal_id
        self.facts = _TerminalFacts()
        self.exit_status: Any = None
        self.size = 0
        """How many bytes are kept: at most twice the limit, so that leaving some out costs no more than adding them."""
        self._limit = limit
        self._output: list[bytes] = []
        self._truncated = False
        self._view: TerminalView | None = None

    def has(self, facts: dict[str, Any], status: Any) -> bool:
        """Say whether facts and an exit status are known already."""
        is_known = all(getattr(self.facts, name) == value for name, value in facts.items())
        return is_known and (status is None or status == self.exit_status)

    def touch(self) -> None:
        """Show the terminal anew next time."""
        self._view = None

    def clear(self, *, truncated: bool = False) -> None:
        """Let all output go."""
        self._output, self.size, self._view, self._truncated = [], 0, None, truncated

    def print(self, data: bytes) -> None:
        """Add output."""
        self._output.append(data)
        self.size += len(data)
        self._view = None
        if self._limit is not None and self.size > 2 * self._limit:
            kept = _end_of(b"".join(self._output), self._limit)
            self._output, self.size, self._truncated = [kept], len(kept), True

    def show(self) -> TerminalView:
        if self._view is None:
            output = b"".join(self._output)
            self._output = [output]
            shown = output if self._limit is None else _end_of(output, self._limit)
            self._view = TerminalView(
                terminal_id=self.terminal_id,
                command=self.facts.command,
                cwd=self.facts.cwd,
                output=shown,
                exited=self.exit_status is not None,
                exit_code=getattr(self.exit_status, "exit_code", None),
                signal=getattr(self.exit_status, "signal", None),
                meta=self.facts.meta,
                truncated=self._truncated or len(shown) < len(output),
            )
        return self._view


def _end_of(output: bytes, limit: int) -> bytes:
    """Give the last bytes, from the start of a character on where they are UTF-8."""
    if len(output) <= limit:
        return output
    kept = output[-limit:]
    return kept[next((i for i, byte in enumerate(kept[:4]) if byte & 0xC0 != 0x80), 0) :]


class Terminals:
    """The terminals of a session, by id. Of those of this client, the end of the output is kept."""

    __slots__ = ("_kept", "_limit", "_printed", "_terminals")

    def __init__(self, limit: int) -> None:
        """Start with none; `limit` is how many bytes each of this client keeps."""
        self._limit = limit
        self._terminals: dict[str, _Terminal] = {}
        self._printed: dict[str, _Terminal] = {}
        """Those of this client that have printed, the last one at the end."""
        self._kept = 0
        """How many bytes of output they keep together, at most."""

    def views(self) -> tuple[TerminalView, ...]:
        """Show all terminals, in the order in which they began."""
        return tuple(terminal.show() for terminal in self._terminals.values())

    def patch(self, update: Any) -> Iterator[Change]:
        """Begin a terminal of the agent or change what an update carries."""
        terminal = self._terminals.setdefault(update.terminal_id, _Terminal(update.terminal_id))
        terminal.facts = apply_patch(terminal.facts, update)
        terminal.touch()
        if update.exit_status is not UNSET:
            terminal.exit_status = update.exit_status
        if update.output is not UNSET:
            terminal.clear()
            if update.output is not None:
                yield from _print(terminal, update.output.data)
        yield TerminalChanged(terminal_id=update.terminal_id)

    def append(self, terminal_id: str, data: str) -> Iterator[Change]:
        """Add what a terminal of the agent has printed."""
        terminal = self._terminals.get(terminal_id)
        if terminal is None:
            terminal = self._terminals[terminal_id] = _Terminal(terminal_id)
            yield Unannounced(what="terminal", id=terminal_id)
        terminal.touch()
        yield from _print(terminal, data)
        yield TerminalChanged(terminal_id=terminal_id)

    def tell(self, terminal_id: str, facts: dict[str, Any], data: bytes, status: Any) -> Iterator[Change]:
        """Begin a terminal of this client, or add what is new of it: its facts, what it printed, how it ended."""
        terminal = self._terminals.get(terminal_id)
        if terminal is None:
            terminal = self._terminals[terminal_id] = _Terminal(terminal_id, self._limit)
        elif not data and terminal.has(facts, status):
            return
        terminal.facts = structs.replace(terminal.facts, **facts)
        terminal.exit_status = terminal.exit_status if status is None else status
        terminal.touch()
        if data:
            self._keep(terminal, data)
        yield TerminalChanged(terminal_id=terminal_id)

    def _keep(self, terminal: _Terminal, data: bytes) -> None:
        """Add output; where there is too much in all, let that of the terminals go which have been silent longest."""
        self._printed.pop(terminal.terminal_id, None)
        self._printed[terminal.terminal_id] = terminal
        before = terminal.size
        terminal.print(data)
        self._kept += terminal.size - before
        while self._kept > _MOST * self._limit and len(self._printed) > 1:
            oldest = self._printed.pop(next(iter(self._printed)))
            self._kept -= oldest.size
            oldest.clear(truncated=True)


def exit_of(*, exited: bool, exit_code: int | None, signal: str | None) -> Any:
    """Make the exit status of a terminal of this client, None while it runs."""
    return _Exit(exit_code, signal) if exited or exit_code is not None or signal is not None else None


def _print(terminal: _Terminal, data: str) -> Iterator[Change]:
    try:
        terminal.print(b64decode(data, validate=True))
    except (binascii.Error, ValueError) as why:
        yield BadOutput(terminal_id=terminal.terminal_id, problem=str(why))
