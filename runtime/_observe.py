"""Observing repairs: a listener for the whole process, and one that writes a log."""

from typing import TYPE_CHECKING

from ._decode.context import Skipped
from ._decode.report import OnSkip, replace_listener

if TYPE_CHECKING:
    import logging


def set_skip_listener(listener: OnSkip | None, /) -> OnSkip | None:
    """Call `listener` with every repair of every decode in this process; None removes it.

    Returns the previous listener. A decode calls its own `on_skip` first, then the listener, both only after the whole
    value was read, and once for each repair; of more than 100 repairs, the others have one call together. What they
    raise reaches the caller of the decode. Valid input never gets here and costs nothing.
    """
    return replace_listener(listener)


def log_skips(logger: "logging.Logger | None" = None, level: int = 30) -> OnSkip:
    """Return a listener that writes each repair to `logger`, by default the package's own, as a warning.

    The record's arguments are path, action and error. The value itself stays out of the log, since it may be anything
    that a peer sends.
    """
    import logging  # loaded only by programs that log

    target = logger if logger is not None else logging.getLogger(__name__.rpartition(".")[0])

    def listen(skipped: Skipped) -> None:
        target.log(level, "%s: %s (%s)", skipped.path, skipped.action, skipped.error)

    return listen
