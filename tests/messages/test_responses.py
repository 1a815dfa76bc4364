"""Responses: their results by the method of the request, and the fast path for those that begin with their id."""

from contextlib import suppress
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1
from msgspec import Raw

from tests.support import same

HEAD = b'{"jsonrpc":"2.0","id":'
METHOD_OF = {1: "session/new", "a,b": "session/new", 2: "initialize"}


def test_a_response_is_generic_in_its_result() -> None:
    line = b'{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn","_meta":3}}'
    wanted = v1.response(1, v1.PromptResponse(stop_reason=v1.StopReason.END_TURN))
    by_method = v1.decode_agent_message(line.replace(b',"_meta":3', b""), method_of=lambda _: "session/prompt")

    assert type(by_method) is v1.Response
    assert by_method == wanted
    assert same(acp.decode(line, type=v1.Response[v1.PromptResponse]), wanted)
    assert acp.decode(line, type=v1.Response) == v1.Response(id=1, result={"stopReason": "end_turn", "_meta": 3})
    with pytest.raises(acp.MessageError, match="both a result and an error"):
        v1.decode_agent_message(line[:-1] + b',"error":{}}', method_of=lambda _: "session/prompt")
    with pytest.raises(msgspec.ValidationError):
        acp.decode(line[:-1] + b',"error":{}}', type=v1.Response[v1.PromptResponse])


def test_responses() -> None:
    pending = {1: "session/new", "two": "session/prompt"}
    made = v1.decode_agent_message('{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}', method_of=pending.get)
    assert made == v1.response(1, v1.NewSessionResponse(session_id=v1.SessionId("s")))
    raw = v1.decode_agent_message('{"jsonrpc":"2.0","id":9,"result":{ "a" : 1 }}', method_of=pending.get)
    assert isinstance(raw, v1.Response)
    assert bytes(raw.result) == b'{ "a" : 1 }'
    assert acp.encode(raw) == b'{"jsonrpc":"2.0","id":9,"result":{ "a" : 1 }}'
    failed = v1.decode_agent_message('{"jsonrpc":"2.0","id":null,"error":{"code":-32002,"message":"m","data":{"k":1}}}')
    assert isinstance(failed, v1.ErrorResponse)
    assert (failed.id, failed.error.code, failed.error.data) == (None, v1.ErrorCode.RESOURCE_NOT_FOUND, {"k": 1})
    custom = v1.decode_agent_message('{"jsonrpc":"2.0","id":1,"error":{"code":4242,"message":"m"}}')
    assert isinstance(custom, v1.ErrorResponse)
    assert (custom.error.code, custom.error.code.is_known) == (4242, False)
    # Ids are kept apart: 1 is not "1", and null is an id like others.
    asked: list[Any] = []
    for text in ("1", '"1"', "null"):
        v1.decode_agent_message(f'{{"jsonrpc":"2.0","id":{text},"result":0}}', method_of=asked.append)
    assert asked == [1, "1", None]


def test_results_by_method(relaying: tuple[Any, Any]) -> None:
    assert v1.decode_result("session/prompt", b'{"stopReason":"refusal"}').stop_reason is v1.StopReason.REFUSAL
    assert v1.decode_result("logout", "null") == v1.LogoutResponse()
    assert bytes(v1.decode_result("_vendor/x", Raw(b"[1]"))) == b"[1]"
    for raw, path in (
        ("{}", "$.result"),
        ("nope", "$"),
        ('{"stopReason":"later"}', "$.result.stopReason"),
        ("\ud800", "$"),
    ):
        with pytest.raises(acp.MessageError) as caught:
            v1.decode_result("session/prompt", raw)
        assert (caught.value.code, caught.value.method, caught.value.reply) == (None, "session/prompt", None)
        assert caught.value.path == path
    with pytest.raises(ValueError, match="'session/cancel' is not a request"):
        v1.decode_result("session/cancel", "{}")
    assert relaying[1].decode_result("relay", '{"tools":[]}') == {"tools": []}


@pytest.mark.parametrize(
    "line",
    [
        HEAD + b'1,"result":{"sessionId":"s"}}',
        HEAD + b'"a,b","result":{"sessionId":"s"}}',
        HEAD + b'1,"result":{"sessionId":"s"},"id":2}',
        HEAD + b'1.5,"result":{"sessionId":"s"}}',
        HEAD + b'12345678901234567890123,"result":{}}',
        HEAD + b'1,"result":{"sessionId":3}}',
        HEAD + b'1,"result":{"sessionId":"s"}',
        HEAD + b'"\xff","result":{"sessionId":"s"}}',
        HEAD + b'1,"result":{"sessionId":"s"},"error":{"code":1,"message":"m"}}',
        HEAD + b'1,"result":{"sessionId":"s"},"method":"x"}',
        HEAD + b'2,"result":{"protocolVersion":1,"agentCapabilities":4}}',
        HEAD + b'1 ,"result":null}',
        HEAD.rstrip(b":") + b' "result"',
        HEAD + b'1,"result":{"sessionId":"s","configOptions":[1]}}',
        HEAD + b'1,"result":null}',
        HEAD + b'1,"results":{},"method":"session/update","params":{}}',
        HEAD + b'1,"r":{},"method":"fs/read_text_file","params":{"sessionId":"s","path":"/a"}}',
        HEAD + b'1,"result":{"sessionId":"\\ud800"}}',
    ],
)
def test_the_fast_path_of_responses_gives_what_the_slow_path_gives(line: bytes) -> None:
    found: list[Any] = []
    for buf in (line, bytearray(line)):  # only bytes take the fast path
        try:
            found.append(v1.decode_agent_message(buf, method_of=METHOD_OF.get))
        except acp.MessageError as why:
            found.append((str(why), why.id, why.method, why.code, why.path))
    assert found[0] == found[1]
    assert type(found[0]) is type(found[1])


@pytest.mark.parametrize(
    ("rest", "asked"),
    [
        (b'1,"result":{"sessionId":"s"}}', [1]),
        (b'1,"result":{"sessionId":5}}', [1]),
        (b'1,"result":null}', [1]),
        (b'"a,b","result":{}}', ["a,b"]),
        (b'1,"r":{},"method":"fs/read_text_file","params":{"sessionId":"s","path":"/a"}}', []),
        (b'1,"results":{}}', [1]),
        (b'1.5,"result":{}}', []),
    ],
)
def test_the_method_of_a_response_is_asked_for_once(rest: bytes, asked: list[Any]) -> None:
    found: list[Any] = []

    def method_of(request_id: Any) -> str:
        found.append(request_id)
        return "session/new"

    with suppress(acp.MessageError):
        v1.decode_agent_message(HEAD + rest, method_of=method_of)
    assert found == asked
