"""Transcripts: what was written is what is read, whatever happened in between, and the sessions come back."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import v1, v2
from acp_msgspec.state import (
    BrokenLine,
    Recorded,
    Sender,
    SessionState,
    TranscriptWriter,
    replay,
    replay_runs,
    replay_states,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.from_schema import idle, least
from tests.oracle.strategies import JSON, strategy
from tests.state.support import MODULES
from tests.support import same

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
SENDERS: list[Sender] = ["client", "agent"]
S1 = v1.SessionId("s1")


def _lines(*messages: tuple[Sender, Any]) -> list[bytes]:
    out = io.BytesIO()
    writer = TranscriptWriter(out, clock=lambda: NOON)
    for sender, message in messages:
        writer.write(sender, message)
    return out.getvalue().splitlines(keepends=True)


def _good(lines: list[bytes]) -> list[Recorded]:
    found = list(replay(lines))
    assert all(isinstance(line, Recorded) for line in found)
    return [line for line in found if isinstance(line, Recorded)]


@examples(150)
@given(st.lists(st.tuples(st.sampled_from(SENDERS), JSON, st.sampled_from([None, 2]), st.booleans())))
def test_what_is_recorded_is_replayed(messages: list[tuple[Sender, Any, int | None, bool]]) -> None:
    given_: list[tuple[Sender, str]] = [
        (sender, json.dumps(value, indent=indent, ensure_ascii=escaped)) for sender, value, indent, escaped in messages
    ]
    lines = _lines(*given_)
    assert len(lines) == len(given_)
    read = _good(lines)
    assert [line.sender for line in read] == [sender for sender, _ in given_]
    assert all(
        same(json.loads(bytes(line.message)), json.loads(text)) for line, (_, text) in zip(read, given_, strict=True)
    )
    assert [line.number for line in read] == list(range(1, len(read) + 1))


@examples(40)
@given(data=st.data())
@pytest.mark.parametrize("label", MODULES)
def test_sessions_come_back(label: str, data: st.DataObject) -> None:
    module = MODULES[label]
    live: dict[str, SessionState] = {}
    messages: list[tuple[Sender, Any]] = []
    for _ in range(data.draw(st.integers(0, 8))):
        session = data.draw(st.sampled_from(["s1", "s2"]))
        state = live.setdefault(session, SessionState(session))
        if data.draw(st.integers(0, 3)) == 0:
            text = module.TextContent(text=data.draw(st.text(max_size=3)))
            number = len(messages)
            messages.append(("client", module.request(number, module.PromptRequest(session_id=session, prompt=[text]))))
            state.user_prompt([text])
            if data.draw(st.booleans()) and label.startswith("v1"):
                messages.append(("agent", module.response(number, module.PromptResponse(stop_reason="refusal"))))
                state.turn_ended("refusal", turn=state.turn)
        else:
            update = {"sessionId": session, "update": data.draw(strategy(label, "SessionUpdate"))}
            message = {"jsonrpc": "2.0", "method": "session/update", "params": update}
            messages.append(("agent", message))
            read = module.decode_agent_message(acp.encode(message), unknown="keep")
            state.apply(read.params)
    broken: list[BrokenLine] = []
    found = replay_states(_lines(*messages), module, on_broken=broken.append)
    assert broken == []
    assert {key: state.snapshot for key, state in found.items()} == {k: s.snapshot for k, s in live.items()}


def test_form_of_a_line() -> None:
    message = v1.notification(v1.CancelNotification(session_id=S1))
    (line,) = _lines(("client", message))
    assert line == (
        b'{"ts":"2025-03-01T12:00:00+00:00","dir":"client","message":'
        b'{"method":"session/cancel","jsonrpc":"2.0","params":{"sessionId":"s1"}}}\n'
    )
    (recorded,) = _good([line])
    assert v1.decode_client_message(bytes(recorded.message)) == message


def test_messages_in_any_form() -> None:
    lines = _lines(
        ("agent", b'{"a":\r\n [1]}'), ("agent", bytearray(b"[]")), ("agent", memoryview(b"{}")), ("agent", '"\u00fc"')
    )
    assert [bytes(line.message) for line in _good(lines)] == [b'{"a":   [1]}', b"[]", b"{}", b'"\xc3\xbc"']
    noise: list[Any] = [b"log: started\n", b"\xff{}", b'{"a":', b"", "\ud800", b"[" * 5000]
    messages: list[tuple[Sender, Any]] = [("agent", text) for text in noise]
    texts = [json.loads(bytes(line.message)) for line in _good(_lines(*messages))]
    assert texts == ["log: started\n", "\\xff{}", '{"a":', "", "\\ud800", "[" * 5000]


def test_hook_of_a_connection() -> None:
    for own in SENDERS:
        out = io.BytesIO()
        hook = TranscriptWriter(out).hook(own)
        hook("out", b"1")
        hook("in", b"2")
        found = {bytes(line.message): line.sender for line in _good(out.getvalue().splitlines())}
        assert found == {b"1": own, b"2": "agent" if own == "client" else "client"}


def test_files_are_added_to(tmp_path: Path) -> None:
    path = tmp_path / "log.ndjson"
    with TranscriptWriter(path) as writer:
        writer.write("client", {"id": 1})
        assert path.read_bytes().count(b"\n") == 1  # at once, and not when it is closed
    with path.open("ab") as file:
        file.write(b'{"ts":"","dir":"cli')  # a crash
    with TranscriptWriter(str(path)) as first, TranscriptWriter(path) as second:
        first.write("agent", {"id": 2})
        second.write("agent", {"id": 3})
        first.write("agent", {"id": 4})
    found = list(replay(path))
    assert [type(line) for line in found] == [Recorded, BrokenLine, Recorded, Recorded, Recorded]
    assert [bytes(line.message) for line in found if isinstance(line, Recorded)][1:] == [
        b'{"id":2}',
        b'{"id":3}',
        b'{"id":4}',
    ]
    assert all(datetime.fromisoformat(line.ts).tzinfo for line in found if isinstance(line, Recorded))
    with pytest.raises(FileNotFoundError):
        list(replay(tmp_path / "none"))
    with pytest.raises(IsADirectoryError):
        TranscriptWriter(tmp_path)


def test_broken_lines_are_told_of() -> None:
    chunk = v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text="a"))
    good = _lines(("agent", v1.notification(v1.SessionNotification(session_id=S1, update=chunk))))[0]
    lines: list[bytes | str] = [
        good,
        b"noise\n",
        "\n",
        '{"dir":"agent"}\n',
        b'{"ts":"","dir":"cook","message":{}}\n',
        b'{"ts":"","dir":"agent","message":"log: started"}\n',
        b'{"ts":"","dir":"agent","message":{"jsonrpc":"2.0","method":"session/update","params":{}}}\n',
        b'{"ts":"","dir":"agent","message":{"jsonrpc":"2.0","method":"_other/thing","params":7}}\n',
        b'{"ts":"","dir":"agent","message":{"jsonrpc":"2.0","id":{},"result":{}}}\n',
        b"\xff\n",
        "\ud800\n",
        b"[" * 100_000,
        good,
    ]
    broken: list[BrokenLine] = []
    states = replay_states(lines, v1, on_broken=broken.append)
    assert [line.number for line in broken] == [2, 4, 5, 6, 7, 10, 11, 12]
    assert all(line.problem and "\n" not in line.problem for line in broken)
    assert [message.text for message in states["s1"].snapshot.messages] == ["aa"]
    assert list(replay_states(lines, v1)) == ["s1"]


def _talk(*, loads: bool, fails: bool) -> list[bytes]:
    chunk = v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text="Hello"))
    said = v1.notification(v1.SessionNotification(session_id=S1, update=chunk))
    prompt = v1.PromptRequest(session_id=S1, prompt=[v1.TextContent(text="Hi")])
    mode = v1.SessionMode(id=v1.SessionModeId("ask"), name="Ask")
    modes = v1.SessionModeState(current_mode_id=mode.id, available_modes=[mode])
    messages: list[tuple[Sender, Any]] = [
        ("client", v1.request(1, v1.NewSessionRequest(cwd="/", mcp_servers=[]))),
        ("agent", v1.response(1, v1.NewSessionResponse(session_id=S1, modes=modes))),
        ("client", v1.request(2, prompt)),
        ("agent", [said, v1.response(2, v1.PromptResponse(stop_reason=v1.StopReason.END_TURN))]),
    ]
    if loads:
        messages.append(("client", v1.request(3, v1.LoadSessionRequest(session_id=S1, cwd="/", mcp_servers=[]))))
        messages.append(("agent", said))
        messages.append(
            ("agent", v1.error_response(3, acp.InternalError()))
            if fails
            else ("agent", v1.response(3, v1.LoadSessionResponse()))
        )
    return _lines(*messages)


def test_what_requests_and_responses_tell() -> None:
    shot = replay_states(_talk(loads=False, fails=False), v1)["s1"].snapshot
    assert [(message.role, message.text) for message in shot.messages] == [("user", "Hi"), ("agent", "Hello")]
    assert (shot.mode, shot.activity, shot.turns[0].stop_reason) == ("ask", "idle", "end_turn")


def test_a_loaded_session_is_told_anew() -> None:
    loaded = replay_states(_talk(loads=True, fails=False), v1)["s1"].snapshot
    assert [message.text for message in loaded.messages] == ["Hello"]
    failed = replay_states(_talk(loads=True, fails=True), v1)["s1"].snapshot
    assert [message.text for message in failed.messages] == ["Hi", "Hello"]


def test_a_prompt_that_fails_ends_its_turn() -> None:
    prompt = v1.request(7, v1.PromptRequest(session_id=S1, prompt=[v1.TextContent(text="Hi")]))
    lines = _lines(("client", prompt), ("agent", v1.error_response(7, acp.InternalError())))
    (turn,) = replay_states(lines, v1)["s1"].snapshot.turns
    assert (turn.ended, turn.stop_reason, turn.refused) == (True, None, False)


def _request(number: int, params: Any) -> tuple[Sender, Any]:
    module: Any = v1
    return "client", module.request(number, params)


def _said(text: str, session: v1.SessionId = S1) -> tuple[Sender, Any]:
    chunk = v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=text))
    return "agent", v1.notification(v1.SessionNotification(session_id=session, update=chunk))


def _prompt(number: int, text: str) -> tuple[Sender, Any]:
    return _request(number, v1.PromptRequest(session_id=S1, prompt=[v1.TextContent(text=text)]))


def _answer(number: int, result: Any) -> tuple[Sender, Any]:
    return "agent", v1.response(number, result)


def _failure(number: int) -> tuple[Sender, Any]:
    return "agent", v1.error_response(number, acp.InternalError())


INITIALIZE = _request(0, v1.InitializeRequest(protocol_version=1))
NEW = v1.NewSessionRequest(cwd="/", mcp_servers=[])
MADE = v1.NewSessionResponse(session_id=S1)


def _texts(state: SessionState) -> list[str]:
    return [message.text for message in state.snapshot.messages]


def test_the_turn_that_was_answered_ends() -> None:
    cancelled = v1.PromptResponse(stop_reason=v1.StopReason.CANCELLED)
    ended = v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)
    call = v1.ToolCall(tool_call_id=v1.ToolCallId("t"), title="x")
    called = v1.notification(v1.SessionNotification(session_id=S1, update=call))
    lines: list[tuple[Sender, Any]] = [_prompt(1, "a"), ("agent", called), _prompt(2, "b"), _answer(1, cancelled)]
    state = replay_states(_lines(*lines), v1)["s1"]
    assert [turn.stop_reason for turn in state.snapshot.turns] == ["cancelled", None]
    assert [turn.ended for turn in state.snapshot.turns] == [True, False]
    assert (state.snapshot.activity, state.snapshot.tool_calls[0].status) == ("running", "failed")
    state = replay_states(_lines(*lines, _answer(2, ended)), v1)["s1"]
    assert [turn.stop_reason for turn in state.snapshot.turns] == ["cancelled", "end_turn"]
    unreadable: tuple[Sender, Any] = ("agent", {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": 7}})
    broken: list[BrokenLine] = []
    state = replay_states(_lines(*lines, unreadable), v1, on_broken=broken.append)["s1"]
    assert [turn.ended for turn in state.snapshot.turns] == [True, True]
    assert len(broken) == 1


def test_what_the_client_sets_counts_once_it_is_answered() -> None:
    def asks(number: int, mode: str) -> tuple[Sender, Any]:
        return _request(number, v1.SetSessionModeRequest(session_id=S1, mode_id=v1.SessionModeId(mode)))

    done = v1.SetSessionModeResponse()
    lines = [asks(1, "ask"), asks(2, "code"), _failure(2), _answer(1, done), asks(3, "x")]
    assert replay_states(_lines(*lines), v1)["s1"].snapshot.mode == "ask"
    option = v1.SetSessionConfigOptionRequestValueId(
        session_id=S1, config_id=v1.SessionConfigId("c"), value=v1.SessionConfigValueId("v")
    )
    raw = {"id": "c", "name": "C", "type": "boolean", "currentValue": True}
    changed: tuple[Sender, Any] = ("agent", {"jsonrpc": "2.0", "id": 4, "result": {"configOptions": [raw]}})
    shot = replay_states(_lines(_request(4, option), changed), v1)["s1"].snapshot
    assert len(shot.config_options) == 1


@pytest.mark.parametrize("label", MODULES)
def test_permission_requests_are_replayed(label: str) -> None:
    call = {"toolCallId": "t", "title": "Delete all"}
    about = {"subject": {"type": "tool_call", "toolCall": call}} if label.startswith("v2") else {"toolCall": call}
    option = {"optionId": "y", "name": "Yes", "kind": "allow_once"}
    params = {"sessionId": "s1", "title": "May I?", "options": [option], **about}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": params}
    broken: list[BrokenLine] = []
    states = replay_states(_lines(("agent", asked)), MODULES[label], on_broken=broken.append)
    assert broken == []
    assert [view.title for view in states["s1"].snapshot.tool_calls] == ["Delete all"]


def test_runs_are_told_apart() -> None:
    run = [INITIALIZE, _request(1, NEW), _answer(1, MADE), _prompt(2, "Hi"), _said("Hello")]
    late = _answer(2, v1.PromptResponse(stop_reason=v1.StopReason.END_TURN))
    again = [INITIALIZE, late, _request(1, NEW), _answer(1, MADE), _prompt(2, "Ho"), _said("Again")]
    runs = replay_runs(_lines(*run, *again), v1)
    assert [_texts(states["s1"]) for states in runs] == [["Hi", "Hello"], ["Ho", "Again"]]
    assert [[turn.ended for turn in states["s1"].snapshot.turns] for states in runs] == [[False], [False]]
    assert _texts(replay_states(_lines(*run, *again), v1)["s1"]) == ["Ho", "Again"]
    # Nor is a session that was not loaded in its run the one of an earlier run.
    runs = replay_runs(_lines(*run, INITIALIZE, _said("Who?")), v1)
    assert [_texts(states["s1"]) for states in runs] == [["Hi", "Hello"], ["Who?"]]
    # What came before the first `initialize` is a run, too.
    assert [_texts(states["s1"]) for states in replay_runs(_lines(_said("?"), *run), v1)] == [["?"], ["Hi", "Hello"]]
    assert replay_runs(_lines(INITIALIZE, INITIALIZE), v1) == []


def test_sessions_that_a_later_run_goes_on_with() -> None:
    run = [INITIALIZE, _request(1, NEW), _answer(1, MADE), _said("Hello")]
    resume = [INITIALIZE, _request(1, v1.ResumeSessionRequest(session_id=S1, cwd="/"))]
    done, failed = _answer(1, v1.ResumeSessionResponse()), _failure(1)
    assert [_texts(states["s1"]) for states in replay_runs(_lines(*run, *resume, done, _said("!")), v1)] == [["Hello!"]]
    assert [_texts(states["s1"]) for states in replay_runs(_lines(*run, *resume, failed), v1)] == [["Hello"]]
    load = [INITIALIZE, _request(1, v1.LoadSessionRequest(session_id=S1, cwd="/", mcp_servers=[])), _said("Told")]
    loaded = _answer(1, v1.LoadSessionResponse())
    runs = replay_runs(_lines(*run, *load, loaded, _said(" anew")), v1)
    assert [_texts(states["s1"]) for states in runs] == [["Hello"], ["Told anew"]]
    assert [_texts(states["s1"]) for states in replay_runs(_lines(*run, *load, failed), v1)] == [["Hello"]]
    lines = _lines(*run, *load, loaded)
    assert list(replay_states(lines, v1)) == ["s1"]
    assert _texts(replay_states(lines, v1)["s1"]) == ["Told"]


@pytest.mark.parametrize("label", MODULES)
def test_a_turn_that_was_on_when_its_run_ended_has_failed(label: str) -> None:
    module = MODULES[label]
    said: dict[str, Any] = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress"}
    asked = {"sessionId": "s1", "prompt": [{"type": "text", "text": "Hi"}]}
    resume: dict[str, Any] = {"sessionId": "s1", "cwd": "/", "mcpServers": []}
    lines: list[tuple[Sender, Any]] = []
    for number, method, params in ((0, "initialize", {}), (1, "session/prompt", asked), (2, "session/prompt", asked)):
        lines.append(("client", {"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
    lines.append(
        ("agent", {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": said}})
    )
    for number, method, params in ((0, "initialize", {}), (1, "session/resume", resume), (2, "session/prompt", asked)):
        lines.append(("client", {"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
    shot = replay_states(_lines(*lines), module)["s1"].snapshot
    assert [(turn.ended, turn.stop_reason) for turn in shot.turns] == [(True, None), (True, None), (False, None)]
    assert [call.status for call in shot.tool_calls] == ["cancelled" if label.startswith("v2") else "failed"]
    failed: tuple[Sender, Any] = ("agent", {"jsonrpc": "2.0", "id": 2, "error": {"code": -32603, "message": "No"}})
    assert replay_states(_lines(*lines, failed), module)["s1"].snapshot.activity == "idle"


def test_a_new_session_of_a_known_id_starts_afresh() -> None:
    lines = [_request(1, NEW), _answer(1, MADE), _said("old"), _request(2, NEW), _answer(2, MADE), _said("new")]
    assert _texts(replay_states(_lines(*lines), v1)["s1"]) == ["new"]
    # What an agent tells of a session before it gives the id is about that session.
    early = [_request(1, NEW), _said("early"), _answer(1, MADE), _said(" bird")]
    assert _texts(replay_states(_lines(*early), v1)["s1"]) == ["early bird"]


def test_ids_that_look_alike() -> None:
    prompt: Any = {"sessionId": "s1", "prompt": []}
    message: Any = {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": prompt}
    others: list[Any] = [True, "1", 1.5, None, [1]]
    for other in others:
        answer: Any = {"jsonrpc": "2.0", "id": other, "result": {"stopReason": "end_turn"}}
        (turn,) = replay_states(_lines(("client", message), ("agent", answer)), v1)["s1"].snapshot.turns
        assert not turn.ended, other


def test_version_2() -> None:
    session = v2.SessionId("s1")
    prompt = v2.request(1, v2.PromptRequest(session_id=session, prompt=[v2.TextContent(text="Hi")]))
    said = v2.UserMessage(message_id=v2.MessageId("u"), content=[v2.TextContent(text="Hi")])
    lines = _lines(
        ("client", prompt),
        ("agent", v2.response(1, least(v2.PromptResponse))),
        ("agent", v2.notification(v2.UpdateSessionNotification(session_id=session, update=said))),
        ("agent", v2.notification(v2.UpdateSessionNotification(session_id=session, update=idle("v2", "end_turn")))),
    )
    shot = replay_states(lines, v2)["s1"].snapshot
    assert [message.message_id for message in shot.messages] == ["u"]
    assert [turn.stop_reason for turn in shot.turns] == ["end_turn"]
