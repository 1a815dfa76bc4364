"""Subagents, messages between sessions, cursors and suggestions, whether the pinned schemas have them or not."""

from typing import Any, ClassVar

import msgspec
from acp_msgspec import v1, v2
from acp_msgspec.state import (
    BackgroundChanged,
    CursorChanged,
    ReplayCompleted,
    SessionMessageChanged,
    SessionMessageView,
    SessionState,
    SubagentChanged,
    SuggestionsChanged,
    to_html,
    to_markdown,
)
from msgspec import UNSET

FIELDS: dict[str, tuple[str, ...]] = {
    "subagent_update": ("session_id", "title", "description", "state", "cwd", "additional_directories", "meta"),
    "session_message": ("message_id", "sender_session_id", "recipient_session_id", "content", "meta"),
    "session_message_chunk": ("message_id", "content"),
    "cursor_update": ("cursor_id", "anchor", "capabilities", "meta"),
    "prompt_suggestions_update": ("suggestions", "meta"),
    "replay_complete": ("meta",),
    "state_update": ("state", "background"),
}


def _update(tag: str, **values: Any) -> Any:
    """Make an update as a schema has it, with three states for each field."""
    fields = [("session_update", str, tag), *((name, Any, UNSET) for name in FIELDS[tag])]
    return msgspec.defstruct("Update", fields)(**values)


def test_subagents() -> None:
    state = SessionState("parent")
    working = _update("state_update", state="running")
    first = _update("subagent_update", session_id="child", title="Helper", state=working, additional_directories=["/a"])
    assert state.apply(first) == (SubagentChanged(session_id="child", started=True),)
    assert state.apply(_update("subagent_update", session_id="child", description="Looks around")) == (
        SubagentChanged(session_id="child", started=False),
    )
    (child,) = state.snapshot.subagents
    assert (child.title, child.description, child.activity) == ("Helper", "Looks around", "running")
    assert (child.cwd, child.additional_directories) == (None, ("/a",))
    state.apply(_update("subagent_update", session_id="child", title=None, state=None, additional_directories=None))
    (child,) = state.snapshot.subagents
    assert (child.title, child.description, child.activity) == (None, "Looks around", None)
    assert child.additional_directories is None


def test_messages_between_sessions() -> None:
    state = SessionState("parent")
    state.apply(_update("subagent_update", session_id="child", title="Helper"))
    state.apply(v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text="Wait.")))
    for number, text in enumerate(("Look ", "here")):
        chunk = _update("session_message_chunk", message_id="m", content=v1.TextContent(text=text))
        assert state.apply(chunk) == (SessionMessageChanged(index=1, message_id="m", started=number == 0),)
    state.apply(_update("session_message", message_id="m", sender_session_id="parent", recipient_session_id="child"))
    state.apply(v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text="Done.")))
    assert [message.text for message in state.snapshot.messages] == ["Wait.", "Done."]  # the other one is between them
    view = state.snapshot.timeline[1]
    assert isinstance(view, SessionMessageView)
    assert (view.text, view.sender_session_id, view.recipient_session_id) == ("Look here", "parent", "child")
    assert "### Message to Helper" in to_markdown(state.snapshot)
    assert "<h2>Message to Helper</h2>" in to_html(state.snapshot)
    state.apply(_update("session_message", message_id="m", sender_session_id=None, recipient_session_id=None))
    assert "### Message between sessions" in to_markdown(state.snapshot)
    state.apply(_update("session_message", message_id="m", content=None))
    (view,) = (entry for entry in state.snapshot.timeline if isinstance(entry, SessionMessageView))
    assert view.blocks == ()


def test_cursors_suggestions_and_background_work() -> None:
    state = SessionState()
    assert state.apply(_update("cursor_update", cursor_id="c", anchor="here", capabilities={})) == (
        CursorChanged(cursor_id="c", started=True),
    )
    state.apply(_update("cursor_update", cursor_id="c", capabilities=None))
    (cursor,) = state.snapshot.cursors
    assert (cursor.anchor, cursor.capabilities) == ("here", None)
    hint = v1.TextContent(text="Go on")
    for suggestions in ([hint], []):
        assert state.apply(_update("prompt_suggestions_update", suggestions=suggestions)) == (SuggestionsChanged(),)
        assert state.snapshot.suggestions == tuple(suggestions)
    before = state.snapshot
    assert state.apply(_update("replay_complete")) == (ReplayCompleted(),)
    assert state.snapshot == before
    assert state.snapshot.background is None
    for background in ([hint], []):
        assert BackgroundChanged() in state.apply(_update("state_update", state="running", background=background))
        assert state.snapshot.background == tuple(background)
    state.apply(_update("state_update", state="running"))
    assert state.snapshot.background is None


class _Work(msgspec.Struct, tag_field="type", tag="tool_call"):
    type: ClassVar[str] = "tool_call"
    tool_call_id: str


class _Running(msgspec.Struct, tag_field="type", tag="terminal"):
    type: ClassVar[str] = "terminal"
    terminal_id: str


class _Helping(msgspec.Struct, tag_field="type", tag="subagent"):
    type: ClassVar[str] = "subagent"
    session_id: str


class _Suggestion(msgspec.Struct):
    prompt: list[Any]


def test_exports_list_what_is_beside_the_timeline() -> None:
    state = SessionState("parent")
    assert "Subagents" not in to_markdown(state.snapshot) + to_html(state.snapshot)
    working = _update("state_update", state="running")
    state.apply(
        _update("subagent_update", session_id="c1", title="<b>Helper", description="Looks *around*", state=working)
    )
    state.apply(_update("subagent_update", session_id="c2"))
    call = v2.ToolCallUpdate(tool_call_id=v2.ToolCallId("t"), title="Run the tests")
    state.apply(call)
    state.apply(v2.TerminalUpdate(terminal_id=v2.TerminalId("sh"), command="pytest"))
    other = v2.BackgroundWorkOther(type="_index", extra={"n": 1})
    work = [_Work("t"), _Work("gone"), _Running("sh"), _Helping("c1"), _Helping("c2"), other]
    state.apply(_update("state_update", state="running", background=work))
    prompts = [_Suggestion([v1.TextContent(text="Go **on**")]), _Suggestion([v1.TextContent(text="<i>Stop")])]
    state.apply(_update("prompt_suggestions_update", suggestions=prompts))
    text = to_markdown(state.snapshot)
    head, _, rest = text.partition("## In the background\n\n")
    assert head.endswith("## Subagents\n\n- &lt;b\\>Helper (running): Looks \\*around\\*\n\n- c2\n\n")
    names = ("tool call Run the tests", "tool call gone", "terminal pytest", "subagent &lt;b\\>Helper", "subagent c2")
    listed = "\n\n".join(f"- {name}" for name in names)
    assert rest.startswith(listed + "\n\n\\_index\n\n```\n{\n")
    assert text.partition("### Suggested prompt\n\n")[2].startswith(
        "> Go **on**\n\n### Suggested prompt\n\n> &lt;i>Stop\n"
    )
    page = to_html(state.snapshot)
    for part in (
        "<h2>Subagents</h2>",
        "&lt;b&gt;Helper (running): Looks *around*</p>",
        "<h2>In the background</h2>",
        "tool call Run the tests</p>",
        "<pre>{\n  &quot;type&quot;: &quot;_index&quot;",
        '<h2>Suggested prompt</h2><div class="text">&lt;i&gt;Stop</div>',
    ):
        assert part in page, part
    state.apply(_update("prompt_suggestions_update", suggestions=[]))
    state.apply(_update("state_update", state="idle", background=[]))
    assert "Suggested prompt" not in to_markdown(state.snapshot) + to_html(state.snapshot)
    assert "In the background" not in to_markdown(state.snapshot) + to_html(state.snapshot)
