"""The state of a session for user interfaces, kept up to date by what the agent sends, and its exports.

`SessionState` applies the updates of any schema, and returns immutable snapshots and events. Input and output happen
only on the files and streams that are passed in.
"""

from ._blocks import Block
from ._changes import (
    ActivityChanged,
    BadOutput,
    Change,
    CommandsChanged,
    CompactionChanged,
    ConfigChanged,
    EmptyChunk,
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
from ._diff import unified_diff
from ._replay import replay_runs, replay_states
from ._session import Listener, SessionState, Update
from ._transcript import BrokenLine, Recorded, Sender, TranscriptWriter, replay
from ._transcript_prompt import TextBlock, transcript_prompt
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
from .export.html import to_html
from .export.markdown import to_markdown

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
    "EmptyChunk",
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
    "TextBlock",
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
    "replay_runs",
    "replay_states",
    "to_html",
    "to_markdown",
    "transcript_prompt",
    "unified_diff",
]
