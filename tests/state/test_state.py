"""The state of a session: every update of every schema, held against a plain model, and what it must not cost."""

import subprocess
import sys
from pathlib import Path
from types import FrameType

import acp_msgspec as acp
import pytest
from acp_msgspec import v1, v2
from acp_msgspec.state import (
    ActivityChanged,
    BadOutput,
    Change,
    CompactionView,
    IllegalMove,
    MessageAppended,
    MessageReplaced,
    ModeChanged,
    NoticeGiven,
    PlanRemoved,
    PlanReplaced,
    Role,
    SessionState,
    TitleChanged,
    ToolCallChanged,
    TurnEnded,
    TurnStarted,
    Unannounced,
    UnknownKept,
    UnknownView,
)

from tests.from_schema import by_tag, idle
from tests.state.support import LABELS, Chunk, Thought, UserChunk, text_block, update_of

CALL = v1.ToolCallId("t")


def _said(state: SessionState) -> list[tuple[str, str]]:
    return [(message.role.value, message.text) for message in state.snapshot.messages]


def test_messages() -> None:
    state = SessionState()
    for update in (
        UserChunk(content=text_block("Hi")),
        Thought(content=text_block("hm")),
        Thought(content=text_block("m.")),
        Chunk(content=text_block("Hel")),
        v1.Plan(entries=[]),  # no part of the conversation
        Chunk(content=text_block("lo")),
        v1.ToolCall(tool_call_id=CALL, title="Look"),
        Chunk(content=text_block("there")),
        v1.SessionUpdateToolCallUpdate(tool_call_id=CALL, title="Looked"),  # of a call that began before
        Chunk(content=text_block("!")),
        Chunk(content=v1.ImageContent(data="", mime_type="image/png")),
        Chunk(content=text_block("x")),
    ):
        state.apply(update)
    said = [("user", "Hi"), ("thought", "hmm."), ("agent", "Hello"), ("agent", "there!x")]
    assert _said(state) == said
    assert [len(message.blocks) for message in state.snapshot.messages] == [1, 1, 1, 3]


def test_messages_by_id() -> None:
    state = SessionState()
    first, second = v1.MessageId("1"), v1.MessageId("2")
    changes = state.apply(Chunk(content=text_block("a"), message_id=first))
    assert changes == (MessageAppended(index=0, role=Role.AGENT, message_id="1", block=text_block("a"), started=True),)
    state.apply(Thought(content=text_block("t"), message_id=first))  # a thought of the same id is apart
    state.apply(v1.ToolCall(tool_call_id=CALL, title="x"))
    state.apply(Chunk(content=text_block("b"), message_id=second))
    state.apply(Chunk(content=text_block("c"), message_id=first))
    assert _said(state) == [("agent", "ac"), ("thought", "t"), ("agent", "b")]


def test_what_ends_a_message_and_what_begins_a_turn() -> None:
    state = SessionState()
    state.apply(UserChunk(content=text_block("a"), message_id=v1.MessageId("1")))
    state.apply(UserChunk(content=text_block("b"), message_id=v1.MessageId("2")))
    assert [turn.number for turn in state.snapshot.turns] == [1]  # nobody has answered in between
    state.apply(Chunk(content=text_block("c")))
    for status in ("in_progress", "completed"):
        state.apply(by_tag("compaction_update", compactionId="c", status=status))
        state.apply(Chunk(content=text_block("d")))
    assert _said(state)[2:] == [("agent", "c"), ("agent", "dd")]
    state.apply(UserChunk(content=text_block("e")))
    assert [entry.turn for entry in state.snapshot.timeline] == [1, 1, 1, 1, 1, 2]


def test_whole_messages() -> None:
    state = SessionState()
    key = v2.MessageId("m")
    text = v2.TextContent(text="old")
    assert state.apply(v2.AgentMessage(message_id=key, content=[text])) == (
        MessageReplaced(index=0, role=Role.AGENT, message_id="m", started=True),
    )
    state.apply(v2.SessionUpdateAgentMessageChunk(message_id=key, content=v2.TextContent(text="er")))
    assert _said(state) == [("agent", "older")]
    state.apply(v2.AgentMessage(message_id=key, meta={"a": 1}))
    state.apply(v2.AgentMessage(message_id=key, content=[v2.TextContent(text="new")]))
    assert _said(state) == [("agent", "new")]
    assert state.snapshot.messages[0].meta == {"a": 1}
    state.apply(v2.AgentMessage(message_id=key, content=None, meta=None))
    assert state.snapshot.messages[0].blocks == ()
    assert state.snapshot.messages[0].meta is None
    assert text.text == "old"


def test_prompts_and_turns() -> None:
    state = SessionState()
    assert state.user_prompt([text_block("a"), text_block("b")]) == (
        TurnStarted(number=1),
        MessageReplaced(index=0, role=Role.USER, message_id=None, started=True),
        ActivityChanged(activity="running"),
    )
    assert len(state.snapshot.messages[0].blocks) == 2
    state.apply(Chunk(content=text_block("no")))
    ended = TurnEnded(number=1, stop_reason="refusal", refused=True)
    assert state.turn_ended(v1.StopReason.REFUSAL) == (ended, ActivityChanged(activity="idle"))
    assert state.turn_ended("refusal") == ()
    state.user_prompt([text_block("again")])
    state.apply(Chunk(content=text_block("yes")))
    state.turn_ended("end_turn")
    shot = state.snapshot
    assert [entry.turn for entry in shot.timeline] == [1, 1, 2, 2]
    assert [shot.is_dropped(entry) for entry in shot.timeline] == [True, True, False, False]
    assert shot.conversation == shot.timeline[2:]
    assert [(turn.stop_reason, turn.refused) for turn in shot.turns] == [("refusal", True), ("end_turn", False)]


def test_the_prompt_is_repeated() -> None:
    state = SessionState()
    state.user_prompt([text_block("Hi there")])
    state.apply(UserChunk(content=text_block("Hi ")))
    state.apply(UserChunk(content=text_block("there")))
    state.apply(Chunk(content=text_block("Hello")))
    state.apply(UserChunk(content=text_block("Hi there")))  # now it is another one
    assert _said(state) == [("user", "Hi there"), ("agent", "Hello"), ("user", "Hi there")]
    assert [turn.number for turn in state.snapshot.turns] == [1, 2]

    state = SessionState()
    state.user_prompt([v2.TextContent(text="Hi")])
    state.apply(v2.UserMessage(message_id=v2.MessageId("u"), content=[v2.TextContent(text="Hi!")]))
    state.apply(v2.UserMessage(message_id=v2.MessageId("u"), meta={}))
    assert [(m.message_id, m.text) for m in state.snapshot.messages] == [("u", "Hi!")]

    state = SessionState()
    state.user_prompt([v2.TextContent(text="Hi")])
    state.turn_ended("end_turn")
    state.apply(v2.UserMessage(message_id=v2.MessageId("u"), content=[v2.TextContent(text="Ho")]))  # too late for that
    assert [(m.message_id, m.text) for m in state.snapshot.messages] == [(None, "Hi"), ("u", "Ho")]


def test_a_turn_of_version_2() -> None:
    state = SessionState()
    state.apply(v2.UserMessage(message_id=v2.MessageId("u"), content=[v2.TextContent(text="Hi")]))
    state.apply(v2.SessionUpdateStateUpdateRunning())
    assert state.apply(v2.SessionUpdateStateUpdateRequiresAction()) == (ActivityChanged(activity="requires_action"),)
    changes = state.apply(idle("v2", "refusal"))
    assert changes == (
        TurnEnded(number=1, stop_reason="refusal", refused=True),
        ActivityChanged(activity="idle"),
    )
    # What the agent does on its own afterwards does not bring the turn back.
    state.apply(idle("v2", "end_turn"))
    assert state.snapshot.conversation == ()
    state.apply(v2.SessionUpdateStateUpdateOther(state="_dreaming"))
    assert state.snapshot.activity == "_dreaming"


MOVES = {
    ("pending", "in_progress"): True,
    ("pending", "completed"): True,
    ("pending", "failed"): True,
    ("in_progress", "completed"): True,
    ("in_progress", "failed"): True,
    ("in_progress", "cancelled"): True,
    ("in_progress", "pending"): False,
    ("completed", "failed"): False,
    ("failed", "in_progress"): False,
    ("cancelled", "completed"): False,
    ("completed", "completed"): True,
    ("completed", "_archived"): True,
    ("_queued", "pending"): True,
}


@pytest.mark.parametrize("move", MOVES, ids="-".join)
def test_moves_of_tool_calls(move: tuple[str, str]) -> None:
    before, after = move
    state = SessionState()
    call = v2.ToolCallId("t")
    state.apply(v2.SessionUpdateToolCallUpdate(tool_call_id=call, status=v2.ToolCallStatus(before)))
    changes = state.apply(v2.SessionUpdateToolCallUpdate(tool_call_id=call, status=v2.ToolCallStatus(after)))
    illegal = [change for change in changes if isinstance(change, IllegalMove)]
    assert illegal == ([] if MOVES[move] else [IllegalMove(what="tool_call", id="t", before=before, after=after)])
    assert state.snapshot.tool_calls[0].status == after  # the agent knows best


def test_tool_calls() -> None:
    state = SessionState()
    content = v1.Content(content=text_block("x"))
    given: list[v1.ToolCallContent] = [content]
    state.apply(v1.ToolCall(tool_call_id=CALL, title="Read", kind=v1.ToolKind.READ, content=given))
    (change,) = state.apply(v1.SessionUpdateToolCallUpdate(tool_call_id=CALL, status=v1.ToolCallStatus.IN_PROGRESS))
    assert change == ToolCallChanged(
        index=0, tool_call_id="t", before="pending", status="in_progress", fields=("status",)
    )
    old = state.snapshot
    state.apply(v1.SessionUpdateToolCallUpdate(tool_call_id=CALL, content=[], raw_output={"n": 1}))
    (call,) = state.snapshot.tool_calls
    assert (call.title, call.kind, call.content, call.raw_output) == ("Read", "read", (), {"n": 1})
    assert old.tool_calls[0].content == (content,)
    assert given == [content]
    # A call that is announced again is there anew, where it was.
    state.apply(v1.ToolCall(tool_call_id=CALL, title="Read again"))
    (call,) = state.snapshot.tool_calls
    assert (call.title, call.kind, call.status, call.raw_output) == ("Read again", "other", "pending", None)


def test_what_was_not_announced() -> None:
    state = SessionState()
    update = v1.SessionUpdateToolCallUpdate(tool_call_id=CALL, title="Late")
    assert state.apply(update)[0] == Unannounced(what="tool_call", id="t")
    assert state.snapshot.tool_calls[0].title == "Late"
    assert not any(isinstance(change, Unannounced) for change in state.apply(update))
    state = SessionState()
    call = v2.ToolCallId("t")
    chunk = v2.ToolCallContentChunk(tool_call_id=call, content=v2.Content(content=v2.TextContent(text="x")))
    assert state.apply(chunk)[0] == Unannounced(what="tool_call", id="t")
    assert len(state.apply(chunk)) == 1
    assert len(state.snapshot.tool_calls[0].content) == 2
    state = SessionState()
    # In version 2 an update begins a call, and a permission request tells of one in every version.
    assert len(state.apply(v2.SessionUpdateToolCallUpdate(tool_call_id=call))) == 1
    assert len(state.apply(v1.ToolCallUpdate(tool_call_id=v1.ToolCallId("new"), title="May I?"))) == 1


def test_clearing() -> None:
    state = SessionState()
    call = v2.ToolCallId("t")
    content: list[v2.ToolCallContent] = [v2.Content(content=v2.TextContent(text="x"))]
    status = v2.ToolCallStatus.PENDING
    state.apply(
        v2.SessionUpdateToolCallUpdate(
            tool_call_id=call, title="T", kind=v2.ToolKind.EDIT, status=status, content=content
        )
    )
    state.apply(v2.SessionUpdateToolCallUpdate(tool_call_id=call, title=None, kind=None, content=None))
    (view,) = state.snapshot.tool_calls
    assert (view.title, view.kind, view.status, view.content) == (None, "other", "pending", ())
    info = v2.SessionInfoUpdate
    assert state.apply(info(title="A")) == (TitleChanged(title="A"),)
    assert state.apply(info()) == ()
    assert state.apply(info(title=None)) == (TitleChanged(title=None),)


def test_updates_stay_as_they_are() -> None:
    state = SessionState()
    call = v2.ToolCallId("t")
    item = v2.Content(content=v2.TextContent(text="x"))
    update = v2.SessionUpdateToolCallUpdate(tool_call_id=call, content=[item])
    state.apply(update)
    state.apply(v2.ToolCallContentChunk(tool_call_id=call, content=item))
    assert update.content == [item]
    assert state.snapshot.tool_calls[0].content == (item, item)


def test_plans() -> None:
    state = SessionState()
    step = v1.PlanEntry(content="a", priority=v1.PlanEntryPriority.HIGH, status=v1.PlanEntryStatus.PENDING)
    assert state.apply(v1.Plan(entries=[step, step])) == (PlanReplaced(plan_id=None),)
    state.apply(v1.Plan(entries=[step]))
    assert [[item.content for item in plan.items] for plan in state.snapshot.plans] == [["a"]]
    state.apply(by_tag("plan_update", plan={"type": "markdown", "planId": "p", "content": "# x"}))
    assert [plan.markdown for plan in state.snapshot.plans] == [None, "# x"]
    for existed in (True, False):
        removed = state.apply(by_tag("plan_removed", planId="p"))
        assert removed == (PlanRemoved(plan_id="p", existed=existed),)


def test_terminals() -> None:
    state = SessionState()
    key = v2.TerminalId("t")
    assert state.apply(v2.TerminalOutputChunk(terminal_id=key, data="b25l"))[0] == Unannounced(what="terminal", id="t")
    state.apply(v2.TerminalUpdate(terminal_id=key, command="make"))
    state.apply(v2.TerminalOutputChunk(terminal_id=key, data="IHR3bw=="))
    bad = state.apply(v2.TerminalOutputChunk(terminal_id=key, data="%"))
    assert isinstance(bad[0], BadOutput)
    old = state.snapshot.terminal("t")
    assert old is not None
    assert (old.command, old.output, old.exited) == ("make", b"one two", False)
    state.apply(v2.TerminalUpdate(terminal_id=key, exit_status=v2.TerminalExitStatus(exit_code=2)))
    end = v2.TerminalOutput(data="ZW5k")
    state.apply(v2.TerminalUpdate(terminal_id=key, output=end))
    new = state.snapshot.terminal("t")
    assert new is not None
    assert (new.output, new.exited, new.exit_code) == (b"end", True, 2)
    assert old.output == b"one two"


def test_compactions_and_notices() -> None:
    state = SessionState()
    state.apply(by_tag("compaction_update", compactionId="c", status="in_progress"))
    for text in ("so ", "far"):
        state.apply(by_tag("compaction_summary_chunk", compactionId="c", content={"type": "text", "text": text}))
    state.apply(by_tag("compaction_update", compactionId="c", status="completed"))
    (view,) = state.snapshot.timeline
    assert isinstance(view, CompactionView)
    summary = [{"type": "text", "text": "so far"}]
    assert (view.status, [acp.to_builtins(block) for block in view.summary]) == ("completed", summary)
    moved = state.apply(by_tag("compaction_update", compactionId="c", status="failed"))
    assert moved[0] == IllegalMove(what="compaction", id="c", before="completed", after="failed")
    before = state.snapshot
    given = NoticeGiven(severity="warning", title="Slow", description=None)
    assert state.apply(by_tag("notice", severity="warning", title="Slow")) == (given,)
    assert state.snapshot == before


def test_what_is_unknown_is_kept_in_order() -> None:
    state = SessionState()
    state.apply(Chunk(content=text_block("a")))
    for label in LABELS:
        (kept,) = state.apply(update_of(label, {"sessionUpdate": "_weather", "sky": "blue"}))
        assert kept == UnknownKept(index=len(state.snapshot.timeline) - 1, tag="_weather")
    state.apply(Chunk(content=text_block("b")))  # goes on with its message
    assert _said(state) == [("agent", "ab")]
    unknown = [entry for entry in state.snapshot.timeline if isinstance(entry, UnknownView)]
    assert [acp.to_builtins(entry.update) for entry in unknown] == [{"sessionUpdate": "_weather", "sky": "blue"}] * 4


def test_plans_of_unknown_kinds() -> None:
    state = SessionState()
    for label in ("v1_unstable", "v2"):
        value = {"sessionUpdate": "plan_update", "plan": {"type": "_graph", "planId": "p"}}
        assert state.apply(update_of(label, value)) == (PlanReplaced(plan_id="p"),)
    (plan,) = state.snapshot.plans
    assert plan.other is not None
    assert acp.to_builtins(plan.other) == {"type": "_graph", "planId": "p"}


def test_what_opens_a_session() -> None:
    state = SessionState("s")
    mode = v1.SessionMode(id=v1.SessionModeId("ask"), name="Ask")
    modes = v1.SessionModeState(current_mode_id=mode.id, available_modes=[mode])
    assert state.adopt(v1.NewSessionResponse(session_id=v1.SessionId("s"), modes=modes)) == (ModeChanged(mode="ask"),)
    assert (state.snapshot.mode, state.snapshot.modes) == ("ask", (mode,))
    assert state.apply(v1.CurrentModeUpdate(current_mode_id=mode.id)) == ()
    assert state.adopt(v1.LoadSessionResponse()) == ()


def test_params_and_what_is_no_update() -> None:
    state = SessionState("s1")
    chunk = Chunk(content=text_block("a"))
    state.apply(v1.SessionNotification(session_id=v1.SessionId("s1"), update=chunk))
    state.apply(v2.UpdateSessionNotification(session_id=v2.SessionId("s1"), update=v2.SessionInfoUpdate(title="T")))
    assert (_said(state), state.snapshot.title) == ([("agent", "a")], "T")
    with pytest.raises(ValueError, match="session 's2'"):
        state.apply(v1.SessionNotification(session_id=v1.SessionId("s2"), update=chunk))
    for wrong in (text_block("a"), v1.NewSessionResponse(session_id=v1.SessionId("s"))):
        with pytest.raises(TypeError, match="is not a session update"):
            state.apply(wrong)


def test_listeners() -> None:
    state = SessionState()
    heard: list[Change] = []

    def fail(change: Change) -> None:
        raise RuntimeError(str(change))

    forget = state.subscribe(heard.append)
    forget_failure = state.subscribe(fail)
    with pytest.raises(RuntimeError):
        state.apply(Chunk(content=text_block("a")))
    forget_failure()
    state.apply(Chunk(content=text_block("b")))
    forget()
    forget()
    state.apply(Chunk(content=text_block("c")))
    assert len(heard) == 2
    assert _said(state) == [("agent", "abc")]


def test_snapshots_share_what_did_not_change() -> None:
    state = SessionState()
    for number in range(50):
        state.apply(Chunk(content=text_block(f"{number}"), message_id=v1.MessageId(str(number))))
    state.apply(v1.AvailableCommandsUpdate(available_commands=[]))
    first = state.snapshot
    state.apply(Chunk(content=text_block("!"), message_id=v1.MessageId("7")))
    second = state.snapshot
    changed = [i for i, (a, b) in enumerate(zip(first.timeline, second.timeline, strict=True)) if a is not b]
    assert changed == [7]
    assert (first.messages[7].text, second.messages[7].text) == ("7", "7!")
    assert first.commands is second.commands


def _calls(count: int, *, text: bool) -> int:
    """Count the calls of functions, those written in C too, that so many chunks and a snapshot take."""
    state = SessionState()
    block = text_block("x") if text else v1.ImageContent(data="", mime_type="image/png")
    chunk = Chunk(content=block)
    calls = 0

    def count_call(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count_call)
    try:
        for _ in range(count):
            state.apply(chunk)
        shot = state.snapshot
    finally:
        sys.setprofile(None)
    assert len(shot.messages[0].blocks) == (1 if text else count)
    assert not text or shot.messages[0].text == "x" * count
    return calls


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.slow
def test_many_chunks_take_linear_work(text: bool) -> None:
    few, many = _calls(1_000, text=text), _calls(10_000, text=text)
    assert many < 10.1 * few


def test_no_schema_and_no_asyncio_is_loaded() -> None:
    code = (
        "import sys, acp_msgspec.state; "
        "print([m for m in sys.modules if m.startswith('acp_msgspec.v') or m.partition('.')[0] == 'asyncio'])"
    )
    generated = Path(str(acp.__file__)).parent.parent
    run = subprocess.run([sys.executable, "-c", code], cwd=generated, capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
