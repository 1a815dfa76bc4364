"""Whatever a peer says becomes a change or an unknown entry, live and replayed: nothing raises."""

import json
from copy import deepcopy
from typing import Any, Literal

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import CatchAll, UnknownVariant, v2, v2_unstable
from acp_msgspec.state import (
    BrokenLine,
    Change,
    SessionState,
    UnknownKept,
    UnknownView,
    replay_runs,
    replay_states,
    to_html,
    to_markdown,
    transcript_prompt,
)
from hypothesis import example, given
from hypothesis import strategies as st

from tests.examples import SLOW, examples
from tests.from_schema import tags
from tests.oracle.strategies import JSON, Strategy, strategy
from tests.state.support import LABELS, MODULES
from tests.support import raw_schema

CALM = examples(150, suppress_health_check=SLOW)


def _all_tags() -> list[str]:
    tags: set[str] = {"mode", "tool_call_", "_x", "", "unknown", "tool_call_removed", "mode_update"}
    for label in LABELS:
        union = raw_schema(label)["$defs"]["SessionUpdate"]
        branches = union.get("oneOf", union.get("anyOf"))
        tags |= {branch["properties"]["sessionUpdate"].get("const", "_other") for branch in branches}
    return sorted(tags)


TAGS = _all_tags()
KEYS = [
    *("content", "messageId", "toolCallId", "status", "state", "stopReason", "plan", "planId", "entries", "terminalId"),
    *("output", "data", "exitStatus", "compactionId", "summary", "title", "kind", "locations", "rawInput", "update"),
    *("usage", "used", "size", "cost", "availableCommands", "currentModeId", "configOptions", "severity", "_meta"),
]
TEXT_BLOCK: Any = {"type": "text", "text": "x"}
PAYLOADS: Strategy = JSON | st.sampled_from(
    [TEXT_BLOCK, [TEXT_BLOCK], {"type": "content", "content": TEXT_BLOCK}, "a", "idle", {}]
)


def _tagged(tag: str, rest: dict[str, Any]) -> dict[str, Any]:
    return {**rest, "sessionUpdate": tag}


HOSTILE_UPDATES: Strategy = st.builds(
    _tagged, st.sampled_from(TAGS), st.dictionaries(st.sampled_from(KEYS), PAYLOADS, max_size=6)
)


def _exports(state: SessionState, text: Any) -> None:
    shot = state.snapshot
    assert to_markdown(shot)
    assert to_html(shot)
    assert transcript_prompt(shot, text) is not None


def _applied(state: SessionState, update: Any) -> tuple[Change, ...]:
    before = deepcopy(state.snapshot)
    changes = state.apply(update)
    tag = update.tag if isinstance(update, UnknownVariant) else update.session_update
    assert changes or before == state.snapshot
    if isinstance(update, UnknownVariant) or (isinstance(update, CatchAll) and tag != "state_update"):
        assert changes == (UnknownKept(index=len(state.snapshot.timeline) - 1, tag=tag),)
    return changes


@CALM
@given(data=st.data())
@pytest.mark.parametrize("label", LABELS)
def test_no_update_raises(label: str, data: st.DataObject) -> None:
    module = MODULES[label]
    state = SessionState()
    for _ in range(data.draw(st.integers(1, 6))):
        value: Any = data.draw(HOSTILE_UPDATES | strategy(label, "SessionUpdate"))
        try:
            update = acp.convert(value, type=module.SessionUpdate, unknown="keep")
        except msgspec.ValidationError:
            update = UnknownVariant("sessionUpdate", value["sessionUpdate"], value)
        _applied(state, update)
        _applied(state, UnknownVariant("sessionUpdate", value["sessionUpdate"], value))
    _exports(state, module.TextContent)


@pytest.mark.parametrize("tag", TAGS)
def test_tags_that_a_schema_does_not_know(tag: str) -> None:
    for module in (v2, v2_unstable):
        extra = {"compactionId": "c", "status": "in_progress", "toolCallId": "t", "content": TEXT_BLOCK, "plan": 7}
        state = SessionState()
        update = module.SessionUpdateOther(session_update=tag, extra=extra)
        assert state.apply(update) == (UnknownKept(index=0, tag=tag),)
        (entry,) = state.snapshot.timeline
        assert isinstance(entry, UnknownView)
        assert entry.update is update
        assert "in_progress" in to_markdown(state.snapshot)


@pytest.mark.parametrize("tag", TAGS)
def test_classes_of_another_schema(tag: str) -> None:
    """A schema of the user's own may mean something else by a tag that is known here."""
    kind = msgspec.defstruct("Other", [("session_update", str), ("colour", str)])
    state = SessionState()
    assert state.apply(kind(tag, "red")) == (UnknownKept(index=0, tag=tag),)
    _exports(state, v2.TextContent)


def test_updates_that_version_2_does_not_know() -> None:
    state = SessionState("s")
    foreign = {tag: update for label in LABELS for tag, update in tags(label).items() if tag not in tags("v2")}
    assert foreign
    for update in foreign.values():
        value = {"sessionId": "s", "update": update}
        message = {"jsonrpc": "2.0", "method": "session/update", "params": value}
        read = v2.decode_agent_message(acp.encode(message), unknown="keep")
        assert isinstance(read, v2.Notification)
        assert [type(change) for change in state.apply(read.params)] == [UnknownKept]  # type: ignore[arg-type]


def test_values_that_no_json_holds() -> None:
    state = SessionState()
    deep: Any = "x"
    for _ in range(2000):
        deep = [deep]
    for value in (10**400, -(10**30), float("inf"), float("nan"), "\ud800", {"\udfff": 1}, deep, {1: 2}, object()):
        data: Any = {"sessionUpdate": "_x", "value": value}
        state.apply(UnknownVariant("sessionUpdate", "\ud800\u202e", data))
    _exports(state, v2.TextContent)
    assert not any(0xD800 <= ord(char) < 0xE000 or char == "\u202e" for char in to_markdown(state.snapshot))


MODES: Any = {"currentModeId": "ask", "availableModes": []}
NOTHING: list[Any] = []
EMPTY: Strategy = st.just(NOTHING)
ODD_IDS: list[Any] = [1, 2, 3, "1", None, True, 1.0, 10**30, "x", {}, [1]]
IDS: Strategy = st.sampled_from(ODD_IDS)
METHODS = [
    *(
        "initialize",
        "session/new",
        "session/load",
        "session/resume",
        "session/fork",
        "session/prompt",
        "session/set_mode",
    ),
    *("session/set_config_option", "session/update", "session/request_permission", "session/cancel", "_ext", "", "x"),
]
PARAMS: Strategy = st.fixed_dictionaries(
    {},
    optional={
        "sessionId": st.sampled_from(["s1", "s2", 7, None]),
        "update": HOSTILE_UPDATES,
        "prompt": st.just([TEXT_BLOCK]) | JSON,
        "cwd": st.just("/"),
        "mcpServers": EMPTY | JSON,
        "modeId": st.just("ask") | JSON,
        "configId": st.just("c"),
        "value": st.just("v") | JSON,
        "toolCall": st.just({"toolCallId": "t"}) | JSON,
        "subject": st.just({"type": "tool_call", "toolCall": {"toolCallId": "t"}}) | JSON,
        "title": st.just("May I?"),
        "options": EMPTY | JSON,
        "replayFrom": st.just({"type": "start"}) | JSON,
        "protocolVersion": st.just(1),
    },
)
RESULTS: Strategy = st.fixed_dictionaries(
    {},
    optional={
        "sessionId": st.sampled_from(["s1", "s2"]) | JSON,
        "stopReason": st.sampled_from(["end_turn", "cancelled", "refusal", "x"]),
        "modes": st.just(MODES) | JSON,
        "configOptions": EMPTY | JSON,
    },
)
MESSAGES: Strategy = st.one_of(
    st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0"), "method": st.sampled_from(METHODS), "params": PARAMS}, optional={"id": IDS}
    ),
    st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "id": IDS}, optional={"result": RESULTS | JSON, "error": JSON}),
    JSON,
)
SENDERS = st.sampled_from(["client", "agent", "cook"])
Side = Literal["client", "agent"]


def _line(sender: str, message: Any) -> bytes:
    return json.dumps({"ts": "", "dir": sender, "message": message}).encode()


LINES: Strategy = st.one_of(
    st.builds(_line, SENDERS, MESSAGES),
    st.builds(_line, SENDERS, st.lists(MESSAGES | st.lists(MESSAGES, max_size=2), max_size=3)),
    st.binary(max_size=20),
    st.just(b'{"ts":"","dir":"agent","message":{"jsonrpc":"2.0","id":1e400,"result":{}}}'),
)


@CALM
@given(lines=st.lists(LINES, max_size=15))
@example(lines=[_line("client", [[[{"method": "session/prompt"}]]])])
@example(lines=[b'{"ts":"","dir":"agent","message":' + b"[" * 3000 + b"]" * 3000 + b"}"])
@example(lines=[b'{"ts":"","dir":"agent","message":{"id":' + b"9" * 6000 + b',"result":1e400}}'])
@pytest.mark.parametrize("label", LABELS)
def test_no_transcript_raises(label: str, lines: list[bytes]) -> None:
    module = MODULES[label]
    broken: list[BrokenLine] = []
    states = replay_states(lines, module, on_broken=broken.append)
    assert len(broken) <= len(lines)
    assert all(line.problem.isprintable() for line in broken)
    for state in states.values():
        _exports(state, module.TextContent)
    runs = replay_runs(lines, module)
    assert {key for run in runs for key in run} == set(states)


def test_a_batch_within_a_batch_is_broken() -> None:
    prompt = {"sessionId": "s1", "prompt": [TEXT_BLOCK]}
    message = {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": prompt}
    broken: list[BrokenLine] = []
    states = replay_states([_line("client", [7, [message], message])], v2, on_broken=broken.append)
    assert len(broken) == 1
    assert [m.text for m in states["s1"].snapshot.messages] == ["x"]  # what can be read of it counts
