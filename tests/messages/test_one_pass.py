"""Lines that are read in one pass: second choices that are expected, error responses, results of unknown type."""

import json
from functools import partial
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1
from acp_msgspec._rpc import decoder, schema
from acp_msgspec._rpc.decoder import MessageDecoder

TEXT = {"type": "resource", "resource": {"uri": "u", "text": "t"}}
BLOB = {"type": "resource", "resource": {"uri": "u", "blob": "b"}}
AGENT = {"id": "a", "name": "Agent"}
TERMINAL = {"type": "terminal", "id": "t", "name": "Terminal"}


def line(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}, separators=(",", ":")).encode()


def prompt(*blocks: Any) -> bytes:
    return line(id=3, method="session/prompt", params={"sessionId": "s", "prompt": list(blocks)})


def initialized(*methods: Any) -> bytes:
    return line(id=0, result={"protocolVersion": 1, "authMethods": list(methods)})


def initialize(_: Any) -> str:
    return "initialize"


def refuse(*_: object, **__: object) -> Any:
    raise AssertionError("the slow path was taken")


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> MessageDecoder[Any]:
    """Put a new decoder of what clients send in place of the shared one."""
    old = vars(v1.messages)["_FROM_CLIENT"]
    made: MessageDecoder[Any] = MessageDecoder(old.schema, old.envelopes)
    monkeypatch.setattr(v1.messages, "_FROM_CLIENT", made)
    return made


def test_a_second_choice_is_expected_after_one(reader: MessageDecoder[Any]) -> None:
    first = v1.decode_client_message(prompt(TEXT, BLOB))
    for blocks in ([BLOB, TEXT], [BLOB], [TEXT, BLOB]):
        found: Any = reader.strict(prompt(*blocks))
        assert type(found) is type(first) is v1.PromptRequestMessage
        assert found.params == acp.convert({"sessionId": "s", "prompt": blocks}, type=v1.PromptRequest)
        assert reader.expected


def test_a_first_choice_ends_the_expectation(reader: MessageDecoder[Any]) -> None:
    v1.decode_client_message(prompt(BLOB))
    assert reader.expected
    text = v1.decode_client_message(prompt(TEXT))
    assert type(text) is v1.PromptRequestMessage
    assert not reader.expected
    with pytest.raises(msgspec.ValidationError):
        reader.strict(prompt(BLOB))
    assert reader.strict(prompt(TEXT)) == text


def test_other_messages_are_read_while_a_second_choice_is_expected(reader: MessageDecoder[Any]) -> None:
    v1.decode_client_message(prompt(BLOB))
    cancel = v1.decode_client_message(line(method="session/cancel", params={"sessionId": "s"}))
    assert isinstance(cancel, v1.CancelNotificationMessage)
    assert reader.expected
    with pytest.raises(acp.MessageError, match=r"\$.params.prompt"):
        v1.decode_client_message(prompt(BLOB, {"type": "resource", "resource": {"uri": "u", "blob": 1}}))


def test_what_is_expected_may_change_often_and_builds_little(reader: MessageDecoder[Any]) -> None:
    wanted = [v1.decode_client_message(prompt(block)) for block in (BLOB, TEXT)]
    for _ in range(100):
        assert [v1.decode_client_message(prompt(block)) for block in (BLOB, TEXT)] == wanted
    assert len(reader.expectations.classes) == 1
    assert len(reader.expectations.decoders) == 2


def test_a_new_place_is_expected_as_well(reader: MessageDecoder[Any]) -> None:
    http: dict[str, Any] = {"type": "http", "name": "n", "url": "u", "headers": []}
    for method, extra in (("session/new", {}), ("session/load", {"sessionId": "s"})):
        data = line(id=3, method=method, params={"cwd": "/", "mcpServers": [http], **extra})
        assert v1.decode_client_message(data) == reader.strict(data)
    v1.decode_client_message(prompt(BLOB))
    assert len(reader.expected) == 3


def test_a_second_choice_is_expected_in_a_result() -> None:
    answers = vars(v1.messages)["_FROM_AGENT"].answers
    first = v1.decode_agent_message(initialized(AGENT, TERMINAL), initialize)
    read = answers.results["initialize"]
    assert read(initialized(TERMINAL, AGENT)).result.auth_methods == first.result.auth_methods[::-1]  # type: ignore[union-attr]
    v1.decode_agent_message(initialized(AGENT), initialize)
    assert answers.results["initialize"] is not read
    assert v1.decode_agent_message(initialized(AGENT, TERMINAL), initialize) == first


ERROR = line(id=1, error={"code": -32603, "message": "Internal error", "data": {"a": [1]}})


@pytest.mark.parametrize("method_of", [None, initialize])
def test_an_error_response_is_read_in_one_pass(method_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = v1.decode_agent_message(b" " + ERROR, method_of)  # without `method_of`, the next one is expected
    monkeypatch.setattr(decoder, "decode_frame", refuse)
    found = v1.decode_agent_message(ERROR, method_of)
    assert found == wanted
    assert type(found) is v1.ErrorResponse


def unknown(_: Any) -> None:
    return None


def extension(_: Any) -> str:
    return "_later"


@pytest.mark.parametrize("method_of", [None, unknown, extension])
def test_a_result_of_unknown_type_is_read_in_one_pass(method_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = initialized(AGENT)
    wanted = v1.decode_agent_message(b" " + data, method_of)
    monkeypatch.setattr(decoder, "decode_frame", refuse)
    found = v1.decode_agent_message(data, method_of)
    assert found == wanted
    assert type(found) is v1.Response
    assert isinstance(found.result, msgspec.Raw)


def test_after_a_response_any_message_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    cancel = line(method="session/cancel", params={"sessionId": "s"})
    for data in (initialized(AGENT), cancel, ERROR, cancel.decode(), ERROR.decode(), cancel, ERROR, ERROR):
        found: Any = v1.decode_client_message(data)
        assert found == v1.decode_client_message(b" " + data if isinstance(data, bytes) else " " + data)
    monkeypatch.setattr(decoder, "decode_frame", refuse)
    v1.decode_client_message(ERROR)
    v1.decode_client_message(cancel)
    v1.decode_client_message(cancel)


OTHERS = {
    "an error and a result": b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"},"result":{}}',
    "a result and an error": b'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}',
    "an error and a method": b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"},"method":"session/prompt"}',
    "an error and an unknown key": b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"},"later":1}',
    "an error that does not fit": b'{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"m"}}',
    "an error twice": b'{"jsonrpc":"2.0","id":1,"error":1,"error":{"code":1,"message":"m"}}',
    "an error without an id": b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}',
    "an id twice": b'{"jsonrpc":"2.0","id":1,"result":{},"id":2}',
    "an id that is not one": b'{"jsonrpc":"2.0","id":1.5,"result":{}}',
    "a result in the text of an id": b'{"jsonrpc":"2.0","id":"1,\\"result\\":","method":"session/list","params":{}}',
    "a lone surrogate in a result": b'{"jsonrpc":"2.0","id":1,"result":{"a":"\\ud800"}}',
    "a number out of range in a result": b'{"jsonrpc":"2.0","id":1,"result":{"a":1e999}}',
    "a result of null": b'{"jsonrpc":"2.0","id":1,"result":null}',
    "a result that is cut off": b'{"jsonrpc":"2.0","id":1,"result":{',
    "another version": b'{"jsonrpc":"1.0","id":1,"result":{}}',
    "short": b"{}",
    "nothing": b"",
}


@pytest.mark.parametrize("method_of", [None, initialize])
@pytest.mark.parametrize("name", OTHERS)
def test_the_fast_path_of_responses_has_the_verdicts_of_the_slow_one(name: str, method_of: Any) -> None:
    data = OTHERS[name]
    shared: MessageDecoder[Any] = vars(v1.messages)["_FROM_AGENT"]
    slow = outcome(partial(shared.decode, unknown="reject", on_skip=None), data, method_of)
    assert outcome(v1.decode_agent_message, data, method_of) == slow


def outcome(decode: Any, data: bytes, method_of: Any) -> Any:
    try:
        return decode(data, method_of)
    except acp.MessageError as why:
        return str(why), why.id, why.method, why.code, why.reply


def test_a_result_is_checked_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    checks: list[Any] = []
    monkeypatch.setattr(schema, "check_json", checks.append)
    v1.decode_agent_message(initialized(AGENT))
    assert len(checks) == 1
