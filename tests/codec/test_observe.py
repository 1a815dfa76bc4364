"""Repairs are heard of: by the caller, by the whole process, in a log; and good input is silent."""

import logging
from collections.abc import Generator

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1

BAD = '{"content":{"type":"text","text":"x","annotations":5},"messageId":[]}'
GOOD = '{"content":{"type":"text","text":"x"}}'
PATHS = ["$.content.annotations", "$.messageId"]


@pytest.fixture(autouse=True)
def no_listener() -> Generator[None]:
    assert acp.set_skip_listener(None) is None
    yield
    acp.set_skip_listener(None)


def test_every_way_in_reports_alike() -> None:
    seen: list[acp.Skipped] = []
    acp.decode(BAD, type=v1.ContentChunk, on_skip=seen.append)
    acp.Decoder(v1.ContentChunk, on_skip=seen.append).decode(BAD)
    acp.convert(acp.decode(BAD, type=dict), type=v1.ContentChunk, on_skip=seen.append)
    value, listed = acp.decode_with_repairs(BAD, type=v1.ContentChunk)
    assert value == v1.ContentChunk(content=v1.TextContent(text="x"))
    assert [s.path for s in listed] == PATHS
    assert seen == listed * 3
    assert acp.decode_with_repairs(GOOD, type=v1.ContentChunk)[1] == []


def test_listener_of_the_process() -> None:
    heard: list[acp.Skipped] = []
    own: list[acp.Skipped] = []
    assert acp.set_skip_listener(heard.append) is None
    acp.decode(BAD, type=v1.ContentChunk)
    acp.decode(BAD, type=v1.ContentChunk, on_skip=own.append)
    acp.decode(GOOD, type=v1.ContentChunk)
    assert [s.path for s in heard] == PATHS * 2
    assert [s.path for s in own] == PATHS
    previous = acp.set_skip_listener(None)
    assert previous is not None
    acp.decode(BAD, type=v1.ContentChunk)
    assert len(heard) == 4


def test_nothing_is_reported_of_a_decode_that_fails() -> None:
    heard: list[acp.Skipped] = []
    acp.set_skip_listener(heard.append)
    with pytest.raises(msgspec.ValidationError):
        acp.decode('{"content":{"type":"text"},"messageId":[]}', type=v1.ContentChunk)
    assert heard == []


def test_repairs_inside_something_dropped_are_no_repairs() -> None:
    text = '{"toolCallId":"t","content":[{"type":"diff","path":"p","newText":1,"oldText":2}]}'
    _, skipped = acp.decode_with_repairs(text, type=v1.ToolCallUpdate)
    assert [(s.path, s.action) for s in skipped] == [("$.content[0]", "dropped")]
    # A variant that was tried and did not fit leaves no trace either.
    server = '{"type":"http","name":"n","url":"u","headers":5,"command":"c","args":[],"env":[],"_meta":7}'
    value, skipped = acp.decode_with_repairs(server, type=v1.McpServer)
    assert isinstance(value, v1.McpServerStdio)
    assert [s.path for s in skipped] == ["$._meta"]


def test_log(caplog: pytest.LogCaptureFixture) -> None:
    acp.set_skip_listener(acp.log_skips())
    acp.decode(BAD, type=v1.ContentChunk)
    assert [r.getMessage() for r in caplog.records] == [
        "$.content.annotations: default (Expected `object | null`, got `int`)",
        "$.messageId: default (Expected `str | null`, got `array`)",
    ]
    assert {(r.name, r.levelno) for r in caplog.records} == {("acp_msgspec", logging.WARNING)}
    caplog.clear()
    logger = logging.getLogger("mine")
    logger.setLevel(logging.DEBUG)
    acp.decode(BAD, type=v1.ContentChunk, on_skip=acp.log_skips(logger, logging.DEBUG))
    assert {(r.name, r.levelno) for r in caplog.records} >= {("mine", logging.DEBUG)}


def test_what_a_listener_raises_reaches_the_caller() -> None:
    def refuse(skipped: acp.Skipped) -> None:
        raise RuntimeError(skipped.path)

    with pytest.raises(RuntimeError, match=r"\$\.content\.annotations"):
        acp.decode(BAD, type=v1.ContentChunk, on_skip=refuse)


def test_paths_with_odd_keys() -> None:
    schema = '{"properties":{"a b":{"type":"string","title":4}}}'
    text = f'{{"mode":"form","message":"m","sessionId":"s","requestedSchema":{schema}}}'
    _, skipped = acp.decode_with_repairs(text, type=v1.CreateElicitationRequest)
    assert [s.path for s in skipped] == ["$.requestedSchema.properties['a b'].title"]
