"""The inspector: reads a log of the wire and shows what was said, what was repaired, and what is wrong.

Lines are found (`lines`), the message of each and its marks (`entries`, `clock`), then who sent it and what it answers
(`conversation`, `pending`, `schemas`, `unknowns`). What each says in some words is for `summaries` and `updates`, how
it looks for `text`, `machine` and `page`; `tally` counts, and `command` puts it all together.
"""

from .command import INTERRUPTED, TROUBLE, InspectError, Options, inspect
from .schemas import LABELS

__all__ = ["INTERRUPTED", "LABELS", "TROUBLE", "InspectError", "Options", "inspect"]
