"""Targets of `connect`: what a transport can be made from, and made again."""

from collections.abc import Awaitable, Callable, Sequence
from os import PathLike
from typing import Any, TypeAlias

from .._transports.process import spawn
from .._transports.transport import Transport
from .._transports.websocket import connect_websocket

Target: TypeAlias = Sequence[str | PathLike[str]] | str | Transport | Callable[[], Awaitable[Transport]]
"""A command as a list, a `ws://` or `wss://` address, a transport, or a coroutine function that makes transports."""


def opener(target: Target) -> Callable[[], Awaitable[Transport]] | None:
    """Return what makes a transport to the target, any number of times; None for a transport, which exists once.

    Raises `TypeError` for anything else, and `ValueError` for another address.
    """
    if isinstance(target, str):
        if not target.startswith(("ws://", "wss://")):
            raise ValueError(
                f"{target!r} is not a ws:// or wss:// address; a command is a list, as in ['agent', 'acp']"
            )
        return lambda: connect_websocket(target)
    command = command_of(target)
    if command is not None:
        return lambda: spawn(command)
    if all(callable(getattr(target, name, None)) for name in ("receive", "send", "close")):
        return None
    if callable(target):
        return target
    wants: Any = type(target).__name__
    raise TypeError(f"connect takes a command, a WebSocket address, a transport or a function, not {wants}")


def command_of(target: Target) -> list[str | PathLike[str]] | None:
    """Return the command that the target is; None for another target."""
    if isinstance(target, str) or not isinstance(target, Sequence):
        return None
    parts: Sequence[Any] = target  # pyright: ignore[reportUnknownVariableType]
    return list(parts)
