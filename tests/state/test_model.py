"""The state of a session against a plain model of it, for any updates."""

from copy import deepcopy
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from acp_msgspec.state import (
    Change,
    SessionState,
    UnknownKept,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import SLOW, examples
from tests.oracle.instances import Maker, Style
from tests.oracle.schema_walk import Schema
from tests.oracle.strategies import strategy
from tests.state.state_model import Model
from tests.state.support import LABELS, MODULES, Chunk, Thought, UserChunk, text_block, update_of
from tests.support import raw_schema

IDS = ("messageId", "toolCallId", "terminalId", "compactionId", "planId", "sessionId", "cursorId")


@cache
def _tags(label: str) -> set[str]:
    union = raw_schema(label)["$defs"]["SessionUpdate"]
    found = [branch["properties"]["sessionUpdate"].get("const") for branch in union.get("oneOf", union.get("anyOf"))]
    return {tag for tag in found if tag is not None}


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("style", Style)
def test_every_variant_is_known(label: str, style: Style) -> None:
    seen: set[str] = set()
    for pair in Maker(Schema(label), style).pairs("SessionUpdate"):
        update = update_of(label, pair.given)
        state = SessionState()
        before = deepcopy(update)
        changes = state.apply(update)
        tag: str = pair.given["sessionUpdate"]
        unknown = [change for change in changes if isinstance(change, UnknownKept)]
        assert bool(unknown) == (tag not in _tags(label)), tag
        assert changes or tag == "session_info_update", f"{tag} changes nothing"
        state.apply(deepcopy(update))
        assert update == before
        seen.add(tag)
    assert seen >= _tags(label)


def _with_few_ids(value: dict[str, Any], draw: st.DrawFn) -> dict[str, Any]:
    few: dict[str, Any] = {
        k: draw(st.sampled_from("ab")) if k in IDS and isinstance(v, str) else v for k, v in value.items()
    }
    if isinstance(few.get("plan"), dict):
        few["plan"] = _with_few_ids(few["plan"], draw)
    return few


@st.composite
def steps(draw: st.DrawFn, label: str) -> list[tuple[str, Any]]:
    """Draw what happens in a session: updates, prompts, ends of turns."""
    out: list[tuple[str, Any]] = []
    for _ in range(draw(st.integers(1, 12))):
        match draw(st.integers(0, 9)):
            case 0:
                out.append(("user_prompt", [MODULES[label].TextContent(text=draw(st.sampled_from("pq")))]))
            case 1:
                out.append(("turn_ended", draw(st.sampled_from(["end_turn", "refusal", "cancelled", None]))))
            case n:
                value = _with_few_ids(draw(strategy(label, "SessionUpdate")), draw)
                if n > 6:  # more of what makes a conversation
                    tag = draw(st.sampled_from(["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"]))
                    value = {"sessionUpdate": tag, "content": {"type": "text", "text": draw(st.text(max_size=3))}}
                    value["messageId"] = draw(
                        st.sampled_from("ab") if label.startswith("v2") else st.sampled_from("ab_")
                    )
                    value = {k: v for k, v in value.items() if v != "_"}
                out.append(("apply", update_of(label, value)))
    return out


@pytest.mark.parametrize("label", LABELS)
@examples(150, suppress_health_check=SLOW)
@given(data=st.data())
def test_same_as_the_model(label: str, data: st.DataObject) -> None:
    state, model = SessionState(), Model()
    peeks = data.draw(st.booleans())
    for name, argument in data.draw(steps(label)):
        before = state.snapshot if peeks else None
        copied = deepcopy(before)
        heard: list[Change] = []
        forget = state.subscribe(heard.append)
        changes = getattr(state, name)(argument)
        forget()
        getattr(model, name)(argument)
        assert heard == list(changes)
        assert before == copied  # an old snapshot stays as it was
        if peeks:
            assert state.snapshot == model.shot
            assert changes or before is state.snapshot
    assert state.snapshot == model.shot
    assert state.snapshot is state.snapshot


@examples(100)
@given(
    parts=st.lists(
        st.tuples(st.sampled_from([Chunk, Thought, UserChunk]), st.sampled_from([None, "a", "b"]), st.text())
    ),
    data=st.data(),
)
def test_it_matters_not_where_text_is_cut(parts: list[tuple[Any, str | None, str]], data: st.DataObject) -> None:
    whole, pieces = SessionState(), SessionState()
    for kind, key, text in parts:
        whole.apply(kind(content=text_block(text), message_id=key))
        cuts = [0, *sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4))), len(text)]
        for start, end in pairwise(cuts):
            pieces.apply(kind(content=text_block(text[start:end]), message_id=key))
            if data.draw(st.booleans()):
                assert pieces.snapshot
    assert whole.snapshot == pieces.snapshot
