"""The inspector: reads a log of the wire and shows what was said, what was repaired, and what is wrong.

Lines are found (`lines`) and put together (`assembly`), then the message of each and its marks (`entries`, `marks`,
`clock`), who sent it, what it answers and what is unknown (`conversation`, `pending`, `schemas`, `unknowns`, `titles`).
What each says in some words is for `summaries` and `updates`, how it looks for `text`, `machine` and `page`;
`selection` chooses, `tally` counts, and `command` puts it all together.
"""

from .command import INTERRUPTED, TROUBLE, InspectError, Options, inspect
from .schemas import LABELS

__all__ = ["INTERRUPTED", "LABELS", "TROUBLE", "InspectError", "Options", "inspect"]
