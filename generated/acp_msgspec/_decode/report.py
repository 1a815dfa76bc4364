"""Reports of repairs: to the caller of one decode, and to the listener of the whole process."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

import msgspec

from .context import MAX_RECORDED, Skipped

T = TypeVar("T")
OnSkip = Callable[[Skipped], object]
"""A callback that receives each repair."""

_listener: OnSkip | None = None
_listens: ContextVar[bool] = ContextVar("acp_listener_listens", default=True)


def replace_listener(listener: OnSkip | None) -> OnSkip | None:
    """Set the listener of the process and return the previous one."""
    global _listener
    before, _listener = _listener, listener
    return before


def record_limit(on_skip: OnSkip | None) -> int:
    """Return how many repairs of one value to record: none where nobody listens."""
    return 0 if on_skip is None and _listener is None else MAX_RECORDED


def report(skipped: list[Skipped], on_skip: OnSkip | None) -> None:
    """Pass the repairs of one decode to `on_skip` and to the listener."""
    for entry in skipped:
        if on_skip is not None:
            on_skip(entry)
        if _listener is not None and _listens.get():
            _listener(entry)


def without_listener(decode: Callable[[], T], /) -> T:
    """Run a decode again without the listener, which raised the first time."""
    token = _listens.set(False)
    try:
        return decode()
    finally:
        _listens.reset(token)


def in_batch(on_skip: OnSkip | None, index: int) -> OnSkip | None:
    """Prefix the reported paths with the index of a message in its batch."""
    if on_skip is None:
        return None
    return lambda skipped: on_skip(msgspec.structs.replace(skipped, path=f"$[{index}]{skipped.path[1:]}"))
