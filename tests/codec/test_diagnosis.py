"""What a reader says of JSON that it does not take: marks before it, lone surrogates, numbers out of range."""

import importlib
import json
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1, v1_unstable, v2
from msgspec import Raw

from tests.from_schema import least_json

BOM = b"\xef\xbb\xbf"
TEXT = b'{"text":"x"}'
REPAIRED = b'{"text":"x","annotations":5}'
REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"logout","params":{}}'
LABELS = ["v1", "v1_unstable", "v2", "v2_unstable"]


def _buffers(data: bytes) -> list[Any]:
    return [data, bytearray(data), memoryview(data), data.decode()]


@pytest.mark.parametrize(
    "buffer", [b for t in (TEXT, REPAIRED) for b in _buffers(BOM + t)], ids=lambda b: type(b).__name__
)
def test_a_byte_order_mark_is_skipped_by_decoders(buffer: Any) -> None:
    wanted = v1.TextContent(text="x")
    assert acp.decode(buffer, type=v1.TextContent) == wanted
    assert acp.Decoder(v1.TextContent).decode(buffer) == wanted
    value, repairs = acp.decode_with_repairs(buffer, type=v1.TextContent)
    assert (value, [r.path for r in repairs]) == (wanted, ["$.annotations"] if len(buffer) > 20 else [])
    if len(buffer) > 20:
        with pytest.raises(msgspec.ValidationError, match="annotations"):
            acp.decode_strict(buffer, type=v1.TextContent)
    else:
        assert acp.decode_strict(buffer, type=v1.TextContent) == wanted


@pytest.mark.parametrize("label", LABELS)
def test_a_byte_order_mark_is_skipped_by_message_readers(label: str) -> None:
    module = importlib.import_module(f"acp_msgspec.{label}")
    method_of = {1: "session/prompt"}.get
    bad = b'{"jsonrpc":"2.0","id":7,"method":"session/fly"}'
    result = least_json(module.METHODS["session/prompt"].response).encode()
    response = b'{"jsonrpc":"2.0","id":1,"result":%s}' % result
    for line in (response, b'{"jsonrpc":"2.0","method":"_x","params":[1]}'):
        plain = acp.encode(module.decode_agent_message(line, method_of))
        for buffer in _buffers(BOM + line):
            assert acp.encode(module.decode_agent_message(buffer, method_of)) == plain
    for buffer in _buffers(BOM + bad):
        with pytest.raises(acp.MessageError) as caught:
            module.decode_client_message(buffer)
        assert (caught.value.code, caught.value.id) == (-32601, 7)
    for buffer in _buffers(BOM + b"[%b]" % response):
        assert len(module.decode_agent_batch(buffer, method_of=method_of)) == 1


def test_a_byte_order_mark_is_skipped_before_a_result() -> None:
    for buffer in _buffers(BOM + b'{"stopReason":"end_turn"}'):
        assert v1.decode_result("session/prompt", buffer).stop_reason is v1.StopReason.END_TURN


def test_a_buffer_with_a_mark_may_be_used_again() -> None:
    buffer = bytearray(BOM + b'{"jsonrpc":"2.0","method":"_x","params":[1]}')
    note = v1.decode_agent_message(buffer)
    buffer[:] = b" " * len(buffer)
    assert isinstance(note, v1.ExtensionNotification)
    assert isinstance(note.params, Raw)
    assert bytes(note.params) == b"[1]"


@pytest.mark.parametrize("data", [BOM + BOM + REQUEST, b" " + BOM + REQUEST, REQUEST + BOM, b"[%b]" % (BOM + REQUEST)])
def test_one_mark_alone_and_only_at_the_beginning(data: bytes) -> None:
    read = v1.decode_client_batch if data.startswith(b"[") else v1.decode_client_message
    for buffer in _buffers(data):
        with pytest.raises(acp.MessageError, match="malformed") as caught:
            read(buffer)
        assert caught.value.code == -32700


@pytest.mark.parametrize("data", [BOM, BOM + b"  "])
def test_nothing_behind_a_mark(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError, match="truncated"):
        acp.decode(data, type=v1.TextContent)


MALFORMED: list[tuple[bytes, str]] = [
    (rb'"\ud83d"', r"JSON is malformed: lone surrogate \ud83d in a string (byte 1)"),
    (rb'"\uDE00"', r"JSON is malformed: lone surrogate \uDE00 in a string (byte 1)"),
    (rb'"ab\ud83dcd"', r"JSON is malformed: lone surrogate \ud83d in a string (byte 3)"),
    (rb'"\ud83d\n"', r"JSON is malformed: lone surrogate \ud83d in a string (byte 1)"),
    (rb'"\ud83d\u0041"', r"JSON is malformed: lone surrogate \ud83d in a string (byte 1)"),
    (rb'"\ud83d\ud83d\ude00"', r"JSON is malformed: lone surrogate \ud83d in a string (byte 1)"),
    (rb'"\ud83d\ude00\ude00"', r"JSON is malformed: lone surrogate \ude00 in a string (byte 13)"),
    (rb'"\\\ud83d"', r"JSON is malformed: lone surrogate \ud83d in a string (byte 3)"),
    (rb'{"\ud83d":1}', r"JSON is malformed: lone surrogate \ud83d in a string (byte 2)"),
    (rb'{"a":"\\ud83d","b":"\udc00"}', r"JSON is malformed: lone surrogate \udc00 in a string (byte 20)"),
    (rb'"\ud83d', "Input data was truncated"),
    (rb'"\ud83d\u', "Input data was truncated"),
    (rb'"\ud83d\ude0', "Input data was truncated"),
    (rb'"\u12', "Input data was truncated"),
    (rb'"\u12"', "JSON is malformed: invalid character in unicode escape (byte 1)"),
    (rb'"\\u12', "Input data was truncated"),
    (b'"a', "Input data was truncated"),
    (b'"a\x01b"', r"JSON is malformed: control character \x01 (byte 2)"),
    (b'"a\nb"', r"JSON is malformed: control character \x0a (byte 2)"),
    (b"\x00", r"JSON is malformed: control character \x00 (byte 0)"),
    (b'"\xff"', "Invalid UTF-8 encoded string (byte 1)"),
    (b'"\xc3"', "Invalid UTF-8 encoded string (byte 1)"),
    (b'"a\xed\xa0\xbd"', "Invalid UTF-8 encoded string (byte 2)"),
    (b"[1e400,nope]", "JSON is malformed: invalid character"),
    (b"[%b,nope]" % (b"1" * 5000), "JSON is malformed: invalid character"),
]


@pytest.mark.parametrize(("data", "problem"), MALFORMED, ids=lambda v: repr(v)[:30])
def test_malformed_json_is_called_what_it_is(data: bytes, problem: str) -> None:
    kinds: list[Any] = [Any, str, v1.TextContent, list[int]]
    for kind in kinds:
        with pytest.raises(msgspec.DecodeError) as caught:
            acp.decode(data, type=kind)
        assert not isinstance(caught.value, msgspec.ValidationError)
        assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(("data", "problem"), MALFORMED, ids=lambda v: repr(v)[:30])
def test_malformed_messages_are_called_what_they_are(data: bytes, problem: str) -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"_x","params":' + data
    line += b"" if "truncated" in problem else b"}"
    with pytest.raises(acp.MessageError) as caught:
        v1.decode_client_message(line)
    assert caught.value.code == -32700
    assert str(caught.value).partition(" (byte")[0] == problem.partition(" (byte")[0]


@pytest.mark.parametrize(("data", "problem"), MALFORMED, ids=lambda v: repr(v)[:30])
@pytest.mark.parametrize("method", ["session/prompt", "_x"])
def test_malformed_results_are_called_what_they_are(data: bytes, problem: str, method: str) -> None:
    for raw in (data, Raw(data)):
        with pytest.raises(acp.MessageError) as caught:
            v1.decode_result(method, raw)
        assert (caught.value.code, caught.value.path, caught.value.method) == (None, "$", method)
        assert str(caught.value).startswith(problem)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings(encoding: str) -> None:
    data = "\ufeff{}".encode(encoding)
    with pytest.raises(msgspec.DecodeError, match=r"JSON is malformed: the text is UTF-(16|32), not UTF-8 \(byte 0\)"):
        acp.decode(data, type=v1.TextContent)


@pytest.mark.parametrize("text", ['{"text":"\ud83d"}', "\udc00", '["\ud83dx"]'])
def test_text_with_a_lone_surrogate(text: str) -> None:
    with pytest.raises(msgspec.DecodeError, match=r"lone surrogate \\ud[8c][30][d0] \(character \d\)"):
        acp.decode(text, type=Any)
    with pytest.raises(acp.MessageError, match="lone surrogate") as caught:
        v1.decode_client_message(text)
    assert caught.value.code == -32700


NUMBERS = ["1e400", "-1e400", "1E999", "1" * 400 + ".0", "1" * 5000, "-" + "1" * 5000]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: n[:8])
@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"text":NUMBER}', "$.text"),
        ('{"text":"x","_meta":{"a":[0,{"b":NUMBER}]}}', "$._meta.a[1].b"),
        ('{"text":"x","annotations":NUMBER}', "$.annotations"),
        ('{"text":"x","annotations":{"priority":NUMBER}}', "$.annotations.priority"),
        ('{"text":"NUMBER","_meta":{"x-y":NUMBER}}', "$._meta['x-y']"),
        ('{"text":"x","_meta":{"a":[[],{},[0.5,1e300],[1.5e-400,NUMBER]]}}', "$._meta.a[3][1]"),
        ("[NUMBER]", "$[0]"),
        ("NUMBER", "$"),
    ],
)
def test_a_number_out_of_range_has_its_path(text: str, path: str, number: str) -> None:
    wanted = "Number out of range" + (f" - at `{path}`" if path != "$" else "")
    for decode in (acp.decode, acp.decode_strict, acp.decode_with_repairs):
        with pytest.raises(msgspec.ValidationError) as caught:
            decode(text.replace("NUMBER", number), type=v1.TextContent)
        assert str(caught.value) == wanted


def test_numbers_that_can_be_held() -> None:
    assert acp.decode(f"[1e-400,1e308,{10**4000}]", type=list[Any]) == [0.0, 1e308, 10**4000]
    # Keys that the schema does not know are not read.
    assert acp.decode('{"text":"x","zzz":1e400}', type=v1.TextContent) == v1.TextContent(text="x")


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: n[:8])
@pytest.mark.parametrize(
    ("line", "code", "path"),
    [
        ('{"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"methodId":NUMBER}}', -32602, "$.params.methodId"),
        ('{"jsonrpc":"2.0","id":1,"method":"logout","params":{"_meta":{"a":NUMBER}}}', -32602, "$.params._meta.a"),
        ('{"jsonrpc":"2.0","id":1,"method":"logout","params":NUMBER}', -32602, "$.params"),
        ('{"jsonrpc":"2.0","id":1,"result":{"_meta":{"a":[NUMBER]}}}', None, "$.result._meta.a[0]"),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":NUMBER,"message":"m"}}', None, "$.error.code"),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":NUMBER}}', None, "$.error.data"),
        ('{"jsonrpc":"2.0","id":NUMBER,"method":"logout"}', -32600, "$.id"),
        ('{"jsonrpc":"2.0","id":1,"method":NUMBER}', -32600, "$.method"),
        ('{"jsonrpc":NUMBER,"id":1,"method":"logout"}', -32600, "$.jsonrpc"),
        ("[NUMBER]", -32600, "$"),
        ("NUMBER", -32600, "$"),
    ],
)  # fmt: skip
def test_a_number_out_of_range_in_a_message(line: str, code: int | None, path: str, number: str) -> None:
    def method_of(_: Any) -> str | None:
        return "session/prompt" if '"result"' in line or '"error"' in line else None

    for read in (v1.decode_client_message, v1.decode_agent_message):
        with pytest.raises(acp.MessageError) as caught:
            read(line.replace("NUMBER", number), method_of=method_of)
        if caught.value.code != -32601:  # what only the other side handles
            assert (caught.value.code, caught.value.path) == (code, path)
            assert (caught.value.reply is not None) == (code is not None)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: n[:8])
def test_raw_parts_hold_any_number(number: str) -> None:
    note = v1.decode_agent_message('{"jsonrpc":"2.0","method":"_x","params":[NUMBER]}'.replace("NUMBER", number))
    assert isinstance(note, v1.ExtensionNotification)
    assert bytes(note.params) == f"[{number}]".encode()  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    answer = v2.decode_agent_message('{"jsonrpc":"2.0","id":1,"result":[NUMBER]}'.replace("NUMBER", number))
    assert isinstance(answer, v2.Response)
    assert bytes(answer.result) == f"[{number}]".encode()


@pytest.mark.parametrize(
    ("text", "kind"),
    [("[1]", "array"), ('"x"', "str"), ("null", "null"), (" true", "bool"), ("1", "int"), ("-1.5", "float")],
)
def test_what_came_instead_of_a_message(text: str, kind: str) -> None:
    with pytest.raises(acp.MessageError, match=f"Expected `object`, got `{kind}`"):
        v1_unstable.decode_agent_message(text)


def test_the_reply_says_it() -> None:
    with pytest.raises(acp.MessageError) as caught:
        v1.decode_client_message(rb'{"jsonrpc":"2.0","id":1,"method":"\ud83d"}')
    data = json.loads(acp.encode(caught.value.reply))["error"]["data"]
    assert data == r"JSON is malformed: lone surrogate \ud83d in a string (byte 34)"


@pytest.mark.parametrize("surrogate", [rb"\ud83d", rb"\uDE00", rb"\ud83d\u0041", rb"\ud83d\ud83d", rb"\ud83dx"])
@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"%b","prompt":[]}}',
        b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":5,"prompt":"%b"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"%b","params":{"a":"and more text"}}',
        b'{"jsonrpc":"2.0","method":"_x","params":{"%b":"and more text"}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"stopReason":"%b"},"more":"text"}',
        b'{"jsonrpc":"2.0","id":"%b","result":{"a":"and more text"}}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"%b"},"more":"text"}',
        b'[{"jsonrpc":"2.0","id":1,"method":"logout"},{"jsonrpc":"2.0","id":2,"method":"%b"},"more"]',
    ],
)
def test_lone_surrogates_in_texts_that_a_reader_passes_over(line: bytes, surrogate: bytes) -> None:
    data = line % surrogate
    read = v1.decode_client_batch if line.startswith(b"[") else v1.decode_client_message
    for buffer in _buffers(data):
        with pytest.raises(acp.MessageError, match="malformed: lone surrogate") as caught:
            read(buffer, method_of={1: "session/prompt"}.get)
        assert caught.value.code == -32700
