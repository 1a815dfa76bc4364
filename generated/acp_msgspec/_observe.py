"""Who hears of repairs: the caller of one decode, a listener for the whole package, a log."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

import msgspec

from ._repair import Skipped

if TYPE_CHECKING:
    import logging

T = TypeVar("T")
OnSkip = Callable[[Skipped], object]

_listener: OnSkip | None = None
_is_heard: ContextVar[bool] = ContextVar("acp_listener_is_heard", default=True)


def set_skip_listener(listener: OnSkip | None, /) -> OnSkip | None:
    """Have `listener` called with every repair of every decode in this process; None ends that.

    Gives the listener that was set before. A decode calls its own `on_skip` first, then the listener, both only after
    the whole value was read, and once for each repair. What they raise reaches the caller of the decode. Good input
    never gets here, and costs nothing.
    """
    global _listener
    before, _listener = _listener, listener
    return before


def log_skips(logger: "logging.Logger | None" = None, level: int = 30) -> OnSkip:
    """Make a listener that writes each repair to `logger`, by default the package's own, as a warning.

    The record's arguments are path, action and error; the value itself stays out of the log, since it may be
    anything a peer sends.
    """
    import logging  # only those who want a log pay for it

    target = logger if logger is not None else logging.getLogger(__name__.rpartition(".")[0])

    def listen(skipped: Skipped) -> None:
        target.log(level, "%s: %s (%s)", skipped.path, skipped.action, skipped.error)

    return listen


def report(skipped: list[Skipped], on_skip: OnSkip | None) -> None:
    """Tell of the repairs of one decode."""
    for entry in skipped:
        if on_skip is not None:
            on_skip(entry)
        if _listener is not None and _is_heard.get():
            _listener(entry)


def unheard(decode: Callable[[], T], /) -> T:
    """Run a decode without the listener of the package: once more, as the listener raised the first time."""
    token = _is_heard.set(False)
    try:
        return decode()
    finally:
        _is_heard.reset(token)


def placed(on_skip: OnSkip | None, index: int) -> OnSkip | None:
    """Put a batch's index in front of the paths that are reported."""
    if on_skip is None:
        return None
    return lambda skipped: on_skip(msgspec.structs.replace(skipped, path=f"$[{index}]{skipped.path[1:]}"))
