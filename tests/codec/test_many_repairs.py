"""Values with many repairs: what is told of them, and that being quick about them changes no verdict."""

import importlib
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1

from generator.jsonutil import is_array, is_object
from tests.oracle.instances import Maker, Style
from tests.oracle.schema_parts import ROUTING
from tests.oracle.schema_walk import Schema
from tests.support import EACH_LABEL

CONTEXT = importlib.import_module("acp_msgspec._decode.context")
READER_OF: Callable[[Any], Any] = importlib.import_module("acp_msgspec._decode.compile").reader_of
HEAD = b'{"toolCallId":"t","content":['
GOOD = b'{"type":"terminal","terminalId":"x"}'
KEPT = v1.Terminal(terminal_id=v1.TerminalId("x"))

BAD: list[bytes] = [
    b"0",
    b"null",
    b'"x"',
    b"[]",
    b"{}",
    b'{"type":""}',
    b'{"type":0}',
    b'{"type":[]}',
    b'{"type":"content"}',
    b'{"type":"content","content":0}',
    b'{"type":"content","content":{"type":"text","text":0}}',
    b'{"type":"diff","path":"","newText":0}',
]


def _update(*items: bytes) -> bytes:
    return HEAD + b",".join(items) + b"]}"


@pytest.mark.parametrize("bad", BAD, ids=repr)
@pytest.mark.parametrize("count", [99, 100, 101, 1000])
def test_many_bad_items(bad: bytes, count: int) -> None:
    data = _update(GOOD, *[bad] * count, GOOD, bad, GOOD)
    seen: list[acp.Skipped] = []
    for on_skip in (None, seen.append):
        update = acp.decode(data, type=v1.ToolCallUpdate, on_skip=on_skip)
        assert update.content == [KEPT] * 3
    total = count + 1
    assert sum(s.count for s in seen) == total
    assert [s.path for s in seen[:100]] == [f"$.content[{i}]" for i in [*range(1, count + 1), count + 2]][:100]
    assert len(seen) == min(total, 101)
    if total > 100:
        assert seen[-1] == acp.Skipped("$", None, f"{total - 100} more repairs", "default", total - 100)


def test_many_repairs_in_messages() -> None:
    update = b'{"sessionUpdate":"tool_call_update",' + _update(*[b"0"] * 500)[1:]
    line = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%b}}' % update
    seen: list[acp.Skipped] = []
    v1.decode_agent_message(line, on_skip=seen.append)
    assert [s.path for s in (seen[0], seen[99], seen[100])] == [
        "$.params.update.content[0]",
        "$.params.update.content[99]",
        "$.params",
    ]
    assert (len(seen), seen[100].count) == (101, 400)
    seen.clear()
    v1.decode_agent_batch(b"[%b]" % line, on_skip=seen.append)
    assert [s.path for s in (seen[0], seen[100])] == ["$[0].params.update.content[0]", "$[0].params"]


def test_many_repaired_fields() -> None:
    item = b'{"path":"/a","line":"x","_meta":5}'
    data = b'{"toolCallId":"t","locations":[%b]}' % b",".join([item] * 1000)
    value, repairs = acp.decode_with_repairs(data, type=v1.ToolCallUpdate)
    assert value.locations == [v1.ToolCallLocation(path="/a")] * 1000
    assert [r.path for r in repairs[:2]] == ["$.locations[0].line", "$.locations[0]._meta"]
    assert (len(repairs), repairs[-1].count) == (101, 1900)
    assert acp.decode(data, type=v1.ToolCallUpdate) == value
    with pytest.raises(
        msgspec.ValidationError, match=r"Expected `int \| null`, got `str` - at `\$\.locations\[0\]\.line`"
    ):
        acp.decode_strict(data, type=v1.ToolCallUpdate)


def test_an_error_behind_many_repairs_has_its_path() -> None:
    data = b'{"content":[%b],"toolCallId":5}' % b",".join([b"0"] * 1000)
    for on_skip in (None, print):
        with pytest.raises(msgspec.ValidationError, match=r"Expected `str`, got `int` - at `\$\.toolCallId`"):
            acp.decode(data, type=v1.ToolCallUpdate, on_skip=on_skip)


def test_unknown_variants_are_kept_among_many_bad_items() -> None:
    data = _update(*[b"0"] * 300, b'{"type":"video","k":1}', GOOD)
    update = acp.decode(data, type=v1.ToolCallUpdate, unknown="keep")
    assert update.content == [acp.UnknownVariant("type", "video", {"type": "video", "k": 1}), KEPT]
    assert acp.decode(data, type=v1.ToolCallUpdate).content == [KEPT]


def test_unknown_members_are_only_counted() -> None:
    data = b"[%b]" % b",".join([b'{"toolCallId":"t","kind":"zzz"}'] * 300)
    value, repairs = acp.decode_with_repairs(data, type=list[v1.ToolCallUpdate])
    assert {u.kind for u in value} == {v1.ToolKind.OTHER}
    assert (len(repairs), repairs[-1].count) == (101, 200)


CORRUPT: list[Any] = [0, None, "", [], {}, True, 1.5, "zzz", -1, 2**70, [0], {"type": "zzz"}, [{}]]


SAMPLE = 60
"""So many values are tried of each definition; all of them take minutes."""


def _corrupted(value: Any) -> Iterator[Any]:
    """Put each bad value in each place of a value, and leave each key out."""
    yield from CORRUPT
    if is_object(value):
        entries = value
        for key in entries:
            yield {k: v for k, v in entries.items() if k != key}
            for inner in _corrupted(entries[key]):
                yield {**entries, key: inner}
    elif is_array(value):
        items = value
        for index in range(min(len(items), 2)):
            for inner in _corrupted(items[index]):
                yield [*items[:index], inner, *items[index + 1 :]]


@pytest.mark.parametrize("label", EACH_LABEL)
@pytest.mark.slow
def test_being_quick_changes_no_verdict(label: str) -> None:
    """A value that is refused without a look is one that the slow path refuses; what is read quietly is the same."""
    module = importlib.import_module(f"acp_msgspec.{label}")
    made = Maker(Schema(label), Style.MAXIMAL)
    refused = 0
    for key in Schema(label).defs:
        if key in ROUTING:
            continue
        kind = getattr(module, key)
        reader = READER_OF(kind)
        values = list(_corrupted(made.pairs(key)[0].given))
        for value in Random(key).sample(values, min(len(values), SAMPLE)):
            results: list[Any] = []
            for told in (100, 0):
                context = CONTEXT.RepairContext(limit=told)
                if reader.refuses(value, context):
                    refused += 1
                    results.append("refused")
                    with pytest.raises(CONTEXT.Mismatch):
                        reader.read(value, CONTEXT.RepairContext(limit=told))
                    continue
                try:
                    results.append((reader.read(value, context), context.count))
                except CONTEXT.Mismatch:
                    results.append("refused")
            assert results[0] == results[1]
    assert refused > 1000


def _seconds(data: bytes, kind: Any) -> float:
    best = 1e9
    for _ in range(5):
        start = time.process_time()
        acp.decode(data, type=kind)
        best = min(best, time.process_time() - start)
    return best / len(data)


RATIO = 20 * 4
"""How many times a byte of a good list a byte of a bad one may cost, with a margin for busy machines."""


@pytest.mark.parametrize("bad", [*BAD, b'{"type":"content","content":{"type":"text","text":"","_meta":0}}'], ids=repr)
@pytest.mark.slow
def test_a_bad_byte_costs_a_bounded_number_of_good_ones(bad: bytes) -> None:
    size = 200_000
    good_list = _update(*[GOOD] * (size // (len(GOOD) + 1)))
    bad_list = _update(*[bad] * (size // (len(bad) + 1)))
    assert _seconds(bad_list, v1.ToolCallUpdate) < RATIO * _seconds(good_list, v1.ToolCallUpdate)


def test_one_bad_item_among_many_good_ones() -> None:
    data = _update(*[GOOD] * 5000, b"0", *[GOOD] * 5000)
    assert _seconds(data, v1.ToolCallUpdate) < RATIO * _seconds(_update(*[GOOD] * 10_000), v1.ToolCallUpdate)
    assert acp.decode(data, type=v1.ToolCallUpdate).content == [KEPT] * 10_000
    places = b",".join([b'{"path":"/a"}'] * 1000 + [b'{"path":"/a","_meta":5}'])
    update = acp.decode(b'{"toolCallId":"t","locations":[%b]}' % places, type=v1.ToolCallUpdate)
    assert update.locations == [v1.ToolCallLocation(path="/a")] * 1001
