"""Turns, what the client itself does, and terminals of its own, in the state of a session."""

import asyncio
from typing import Any

import pytest
from acp_msgspec import aio, v1, v2, v2_unstable
from acp_msgspec.state import (
    ConfigChanged,
    EmptyChunk,
    IllegalMove,
    ModeChanged,
    Role,
    SessionState,
    TerminalChanged,
    ToolCallChanged,
    TurnEnded,
    TurnStarted,
    to_html,
    to_markdown,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.from_schema import idle
from tests.state.support import LABELS, MODULES

S1 = "s1"


def _chunk(text: str) -> v1.SessionUpdateAgentMessageChunk:
    return v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=text))


def _open_calls(label: str, state: SessionState) -> None:
    """Begin calls of each status."""
    module = MODULES[label]
    for status in ("pending", "in_progress", "completed", "failed"):
        update = module.SessionUpdateToolCallUpdate(tool_call_id=status, status=module.ToolCallStatus(status))
        state.apply(update)
    state.apply(module.SessionUpdateToolCallUpdate(tool_call_id="silent"))


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("reason", ["cancelled", None])
def test_a_turn_that_is_cut_short_ends_its_calls(label: str, reason: str | None) -> None:
    state = SessionState()
    state.user_prompt([])
    _open_calls(label, state)
    end = "cancelled" if label.startswith("v2") else "failed"
    changes = [change for change in state.turn_ended(reason) if isinstance(change, ToolCallChanged)]
    assert [(c.tool_call_id, c.before, c.status, c.fields) for c in changes] == [
        ("pending", "pending", end, ("status",)),
        ("in_progress", "in_progress", end, ("status",)),
        ("silent", "pending", end, ("status",)),
    ]
    assert [call.status for call in state.snapshot.tool_calls] == [end, end, "completed", "failed", end]
    assert type(state.snapshot.tool_calls[0].status) is MODULES[label].ToolCallStatus
    assert state.turn_ended(reason) == ()
    # What the agent says of a call after all is no illegal move, and then counts.
    module = MODULES[label]
    late = module.SessionUpdateToolCallUpdate(tool_call_id="pending", status=module.ToolCallStatus("completed"))
    assert [type(change) for change in state.apply(late)] == [ToolCallChanged]
    again = module.SessionUpdateToolCallUpdate(tool_call_id="pending", status=module.ToolCallStatus("failed"))
    assert isinstance(state.apply(again)[0], IllegalMove)


def test_calls_that_go_on() -> None:
    state = SessionState()
    _open_calls("v1", state)  # before the first turn
    for reason in ("end_turn", "max_tokens", "refusal"):
        state.user_prompt([])
        call = v1.ToolCallId(reason)
        state.apply(v1.ToolCall(tool_call_id=call, title="x"))
        state.turn_ended(reason)
    state.user_prompt([])
    state.turn_ended("cancelled")
    statuses = [call.status for call in state.snapshot.tool_calls]
    assert statuses == ["pending", "in_progress", "completed", "failed", "pending", "pending", "pending", "pending"]


def test_a_turn_of_version_2_is_cancelled() -> None:
    state = SessionState()
    state.apply(v2.UserMessage(message_id=v2.MessageId("u"), content=[v2.TextContent(text="Hi")]))
    chunk = v2.ToolCallContentChunk(
        tool_call_id=v2.ToolCallId("c"), content=v2.Content(content=v2.TextContent(text="x"))
    )
    state.apply(chunk)
    state.apply(v2.SessionUpdateToolCallUpdate(tool_call_id=v2.ToolCallId("x"), status=v2.ToolCallStatus("_queued")))
    state.apply(idle("v2"))  # it says nothing of how the turn ended
    assert [call.status for call in state.snapshot.tool_calls] == ["pending", "_queued"]
    changes = state.apply(idle("v2", "cancelled"))
    assert [type(change) for change in changes] == [TurnEnded, ToolCallChanged, ToolCallChanged]
    assert [call.status for call in state.snapshot.tool_calls] == ["cancelled", "cancelled"]


def test_two_prompts_at_once() -> None:
    state = SessionState()
    assert state.turn == 0
    assert TurnStarted(number=1) in state.user_prompt([v1.TextContent(text="a")])
    first = state.turn
    state.apply(v1.ToolCall(tool_call_id=v1.ToolCallId("t"), title="x"))
    state.user_prompt([v1.TextContent(text="b")])
    second = state.turn
    assert (first, second) == (1, 2)
    ended = state.turn_ended("cancelled", turn=first)
    assert ended[0] == TurnEnded(number=1, stop_reason="cancelled", refused=False)
    assert [(turn.ended, turn.stop_reason) for turn in state.snapshot.turns] == [(True, "cancelled"), (False, None)]
    assert state.snapshot.activity == "running"
    assert state.snapshot.tool_calls[0].status == "failed"
    state.apply(_chunk("goes "))
    state.turn_ended("refusal", turn=first)  # told twice, otherwise
    state.apply(_chunk("on"))
    assert [message.text for message in state.snapshot.messages] == ["a", "b", "goes on"]
    state.turn_ended("end_turn", turn=second)
    assert [turn.stop_reason for turn in state.snapshot.turns] == ["refusal", "end_turn"]
    assert state.snapshot.activity == "idle"
    for wrong in (0, 3, -1):
        with pytest.raises(ValueError, match="no turn"):
            state.turn_ended(None, turn=wrong)


def test_what_the_client_sets() -> None:
    state = SessionState()
    modes = [v1.SessionMode(id=v1.SessionModeId(name), name=name) for name in ("ask", "code")]
    state.adopt(v1.LoadSessionResponse(modes=v1.SessionModeState(current_mode_id=modes[0].id, available_modes=modes)))
    assert state.mode_set("code") == (ModeChanged(mode="code"),)
    assert (state.snapshot.mode, len(state.snapshot.modes)) == ("code", 2)
    assert state.mode_set("code") == ()
    assert state.adopt(v1.SetSessionConfigOptionResponse(config_options=[])) == (ConfigChanged(),)


def test_empty_chunks_make_no_entry() -> None:
    state = SessionState()
    for kind, role in (
        (v1.SessionUpdateUserMessageChunk, Role.USER),
        (v1.SessionUpdateAgentMessageChunk, Role.AGENT),
        (v1.SessionUpdateAgentThoughtChunk, Role.THOUGHT),
    ):
        for key in (None, v1.MessageId("m")):
            changes = state.apply(kind(content=v1.TextContent(text=""), message_id=key))
            assert changes == (EmptyChunk(role=role, message_id=key),)
    assert (state.snapshot.timeline, state.snapshot.turns) == ((), ())
    state.apply(_chunk("a"))
    state.apply(v1.SessionUpdateAgentThoughtChunk(content=v1.TextContent(text="")))
    state.apply(v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text="", meta={"a": 1})))
    state.apply(_chunk("b"))
    assert [message.blocks for message in state.snapshot.messages] == [(v1.TextContent(text="ab"),)]


def test_permission_requests_tell_of_calls() -> None:
    state = SessionState(S1)
    option = v1.PermissionOption(
        option_id=v1.PermissionOptionId("y"), name="Yes", kind=v1.PermissionOptionKind.ALLOW_ONCE
    )
    call = v1.ToolCallUpdate(tool_call_id=v1.ToolCallId("t"), title="Delete all", raw_input={"command": "rm"})
    asked = v1.RequestPermissionRequest(session_id=v1.SessionId(S1), tool_call=call, options=[option])
    (change,) = state.apply(asked)
    assert isinstance(change, ToolCallChanged)
    assert [(view.title, view.raw_input) for view in state.snapshot.tool_calls] == [("Delete all", {"command": "rm"})]
    with pytest.raises(ValueError, match="session 's2'"):
        state.apply(v1.RequestPermissionRequest(session_id=v1.SessionId("s2"), tool_call=call, options=[option]))


@pytest.mark.parametrize("module", [v2, v2_unstable])
def test_permission_requests_of_version_2(module: Any) -> None:
    state = SessionState(S1)
    update = module.ToolCallUpdate(tool_call_id="t", title="Delete all")
    command = module.CommandPermissionSubject(command="rm", cwd="/")
    other = module.RequestPermissionSubjectOther(type="_wish")
    for subject, changes in (
        (module.ToolCallPermissionSubject(tool_call=update), 1),
        (command, 0),
        (other, 0),
        (None, 0),
    ):
        asked = module.RequestPermissionRequest(session_id=S1, title="May I?", options=[], subject=subject)
        assert len(state.apply(asked)) == changes
    assert [view.title for view in state.snapshot.tool_calls] == ["Delete all"]


def test_raw_input_of_commands_is_exported() -> None:
    state = SessionState()
    content: list[v1.ToolCallContent] = [v1.Content(content=v1.TextContent(text="gone"))]
    state.apply(
        v1.ToolCall(
            tool_call_id=v1.ToolCallId("t"),
            title="Run",
            kind=v1.ToolKind.EXECUTE,
            raw_input={"command": "rm -r /tmp/x"},
            content=content,
        )
    )
    state.apply(v1.ToolCall(tool_call_id=v1.ToolCallId("u"), title="Run", raw_output={"said": "nothing"}))
    diff: list[v1.ToolCallContent] = [v1.Diff(path="a", new_text="b\n")]
    state.apply(v1.ToolCall(tool_call_id=v1.ToolCallId("v"), title="Edit", raw_input={"text": "same"}, content=diff))
    for text in (to_markdown(state.snapshot), to_html(state.snapshot)):
        assert text.count("rm -r /tmp/x") == 1
        assert text.count("gone") == 1
        assert text.count("nothing") == 1
        assert "same" not in text


def test_terminals_of_the_client() -> None:
    state = SessionState()
    terminal = v1.Terminal(terminal_id=v1.TerminalId("term"))
    state.apply(v1.ToolCall(tool_call_id=v1.ToolCallId("t"), title="Run the tests", content=[terminal]))
    heard = state.terminal_output("term", command="pytest -q", cwd="/p")
    assert heard == (TerminalChanged(terminal_id="term"),)
    assert state.terminal_output("term") == state.terminal_output("term", command="pytest -q", cwd="/p") == ()
    for part in (b"1 pas", b"sed\n"):
        assert state.terminal_output("term", data=part) == (TerminalChanged(terminal_id="term"),)
    before = state.snapshot
    assert state.terminal_output("term", exit_code=3) == (TerminalChanged(terminal_id="term"),)
    assert state.terminal_output("term", exit_code=3) == ()
    view = state.snapshot.terminal("term")
    assert view is not None
    assert (view.command, view.cwd, view.output) == ("pytest -q", "/p", b"1 passed\n")
    assert (view.exited, view.exit_code, view.signal, view.truncated) == (True, 3, None, False)
    assert before.terminals[0].exited is False
    state.terminal_output("other", command="sleep 9", signal="SIGKILL")
    state.terminal_output("last", exited=True)
    markdown, page = to_markdown(state.snapshot), to_html(state.snapshot)
    for text in (markdown, page):
        assert text.count("1 passed") == 1
        assert "$ pytest -q (exit code 3)" in text
        assert "$ sleep 9 (ended by SIGKILL)" in text
        assert "terminal last (exited)" in text
    assert (
        "### Tool call: Run the tests\n\nother, pending\n\n\\$ pytest -q (exit code 3)\n\n```\n1 passed\n```"
        in markdown
    )


def test_a_terminal_that_is_mentioned_often_is_shown_once() -> None:
    state = SessionState()
    state.terminal_output("term", data=b"shown " * 1000)
    for number in range(1000):
        call = v1.ToolCallId(str(number))
        terminal = v1.Terminal(terminal_id=v1.TerminalId("term"))
        state.apply(v1.ToolCall(tool_call_id=call, title="x", content=[terminal, terminal]))
    for text in (to_markdown(state.snapshot), to_html(state.snapshot)):
        assert text.count("shown ") == 1000 + 1999
        assert "terminal term, shown above" in text


@examples(100)
@given(st.lists(st.binary(max_size=30)), st.integers(1, 20), st.booleans())
def test_the_end_of_the_output_is_kept(parts: list[bytes], limit: int, peeks: bool) -> None:
    state = SessionState(output_limit=limit)
    for part in parts:
        state.terminal_output("term", data=part)
        assert not peeks or state.snapshot
    whole = b"".join(parts)
    (view,) = state.snapshot.terminals or (None,)
    if view is not None:
        assert whole.endswith(view.output)
        assert min(limit, len(whole)) - 3 <= len(view.output) <= limit
        assert view.truncated == (len(view.output) < len(whole))


def test_output_is_cut_between_characters() -> None:
    state = SessionState(output_limit=4)
    state.terminal_output("term", data="ab\u20ac\u20ac".encode())
    view = state.snapshot.terminals[0]
    assert (view.output, view.truncated) == ("\u20ac".encode(), True)
    assert "the beginning of the output is left out" in to_markdown(state.snapshot)
    with pytest.raises(ValueError, match="at least 1"):
        SessionState(output_limit=0)


def test_the_output_of_many_terminals_is_bounded() -> None:
    state = SessionState(output_limit=10)
    for number in range(100):
        for _ in range(3):
            state.terminal_output(str(number), data=b"0123456789")
    terminals = state.snapshot.terminals
    assert sum(len(terminal.output) for terminal in terminals) <= 160
    assert terminals[-1].output == b"0123456789"
    assert (terminals[0].output, terminals[0].truncated) == (b"", True)


def test_the_terminals_that_a_client_serves() -> None:
    pytest.importorskip("fcntl", reason="the command is that of a POSIX shell")
    state = SessionState()

    def show(event: aio.TerminalEvent) -> None:
        state.terminal_output(
            event.terminal_id,
            command=event.command,
            cwd=event.cwd,
            data=event.data,
            exit_code=event.exit_code,
            signal=event.signal,
            exited=event.exited,
        )

    async def main() -> str:
        terminals = aio.Terminals("/", on_output=show)
        number = await terminals.create("s", "/bin/sh", ["-c", "echo shown; exit 3"])
        await terminals.wait("s", number)
        await terminals.release("s", number)
        await terminals.close()
        return number

    number = asyncio.run(main())
    content: list[v1.ToolCallContent] = [v1.Terminal(terminal_id=v1.TerminalId(number))]
    state.apply(v1.ToolCall(tool_call_id=v1.ToolCallId("t"), title="Run", content=content))
    (view,) = state.snapshot.terminals
    assert (view.output, view.exited, view.exit_code) == (b"shown\n", True, 3)
    assert "(exit code 3)\n\n```\nshown\n```" in to_markdown(state.snapshot)


def test_a_prompt_waits_while_a_later_one_is_answered() -> None:
    state = SessionState()
    state.user_prompt([v1.TextContent(text="a")])
    state.user_prompt([v1.TextContent(text="b")])
    state.turn_ended("end_turn", turn=2)
    assert state.snapshot.activity == "running"
    state.turn_ended("end_turn", turn=1)
    assert state.snapshot.activity == "idle"
    state.user_prompt([])  # never ended
    state.user_prompt([])
    state.turn_ended("end_turn")
    assert state.snapshot.activity == "idle"


@pytest.mark.parametrize("label", ["v2", "v2_unstable"])
@pytest.mark.parametrize(("reason", "status"), [("cancelled", "cancelled"), ("end_turn", "in_progress")])
def test_an_idle_session_has_no_turn_on(label: str, reason: str, status: str) -> None:
    module: Any = MODULES[label]
    state = SessionState()
    for name in ("a", "b"):
        state.user_prompt([module.TextContent(text=name)])
        state.apply(module.SessionUpdateStateUpdateRunning())
        state.apply(module.SessionUpdateToolCallUpdate(tool_call_id=name, status=module.ToolCallStatus.IN_PROGRESS))
    changes = state.apply(idle(label, reason))
    assert [change.number for change in changes if isinstance(change, TurnEnded)] == [1, 2]
    assert [(turn.ended, turn.stop_reason) for turn in state.snapshot.turns] == [(True, None), (True, reason)]
    assert [call.status for call in state.snapshot.tool_calls] == [status, status]
    assert state.snapshot.activity == "idle"
