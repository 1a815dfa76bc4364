"""The inspector: reads a log of messages and shows what was sent, what was repaired, and what is wrong.

`command` runs these steps in order:

1. `lines` reads lines, and `multiline` joins those of one message.
2. `extraction` finds the message in a line, `direction` and `clock` read its sender and its time.
3. `conversation` decodes each message with one of the `schemas`, and adds its request (`pending`), the message that it
   carries (`carried`), its tool call (`tool_calls`) and what its schema does not know (`unknowns`). The result is a
   `LogMessage` (`log_message`).
4. `selection` chooses the messages to show, and `statistics` counts all of them.
5. `text_view`, `json_view` and `page` show them, with texts from `summaries` and `update_summaries`. The page consists
   of `rows`, with `diffs`, and of a `chart` of `call_history`.
"""

from .command import INTERRUPTED, TROUBLE, InspectError, Options, inspect
from .schemas import LABELS

__all__ = ["INTERRUPTED", "LABELS", "TROUBLE", "InspectError", "Options", "inspect"]
