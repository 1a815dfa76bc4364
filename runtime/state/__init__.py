"""What a user interface shows of a session: its state, kept up to date by what the agent sends, and ways to pass it on.

`SessionState` takes the updates of any schema, and gives immutable snapshots and events. Nothing here does input or
output but to what it is handed.
"""

from ._blocks import Block
from ._carry import transcript_prompt
from ._changes import (
    ActivityChanged,
    BadOutput,
    Change,
    CommandsChanged,
    CompactionChanged,
    ConfigChanged,
    IllegalMove,
    InfoChanged,
    MessageAppended,
    MessageReplaced,
    ModeChanged,
    NoticeGiven,
    PlanRemoved,
    PlanReplaced,
    TerminalChanged,
    TitleChanged,
    ToolCallChanged,
    TurnEnded,
    TurnStarted,
    Unannounced,
    UnknownKept,
    UsageChanged,
)
from ._html import to_html
from ._markdown import to_markdown
from ._replay import replay_states
from ._session import Listener, SessionState, Update
from ._transcript import (
    BrokenLine,
    Recorded,
    Sender,
    TranscriptWriter,
    replay,
)
from ._views import (
    CompactionView,
    Entry,
    MessageView,
    PlanItem,
    PlanView,
    Role,
    Snapshot,
    TerminalView,
    ToolCallView,
    TurnView,
    UnknownView,
    UsageView,
    View,
)

__all__ = [
    "ActivityChanged",
    "BadOutput",
    "Block",
    "BrokenLine",
    "Change",
    "CommandsChanged",
    "CompactionChanged",
    "CompactionView",
    "ConfigChanged",
    "Entry",
    "IllegalMove",
    "InfoChanged",
    "Listener",
    "MessageAppended",
    "MessageReplaced",
    "MessageView",
    "ModeChanged",
    "NoticeGiven",
    "PlanItem",
    "PlanRemoved",
    "PlanReplaced",
    "PlanView",
    "Recorded",
    "Role",
    "Sender",
    "SessionState",
    "Snapshot",
    "TerminalChanged",
    "TerminalView",
    "TitleChanged",
    "ToolCallChanged",
    "ToolCallView",
    "TranscriptWriter",
    "TurnEnded",
    "TurnStarted",
    "TurnView",
    "Unannounced",
    "UnknownKept",
    "UnknownView",
    "Update",
    "UsageChanged",
    "UsageView",
    "View",
    "replay",
    "replay_states",
    "to_html",
    "to_markdown",
    "transcript_prompt",
]
