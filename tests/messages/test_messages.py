"""Whole messages: what each line is read as, what is answered to one that is none, and how messages are built."""

import importlib
import json
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1, v2
from msgspec import UNSET, Raw

from generator.jsonutil import is_array, is_object
from tests.from_schema import least
from tests.support import raw_schema, same

CASES = [
    json.loads(line)
    for name in ("messages.jsonl", "families.jsonl")
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
]
DEFAULTS: tuple[Any, ...] = (None, "other", "pending", [], {})


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        if is_array(value) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            value = value.get(key) if is_object(value) else None
    return value


def _expected(case: dict[str, Any]) -> dict[str, Any]:
    """Give what to expect of a line: one that is taken `while` a property forgives is refused when it does no longer."""
    place, _, flag = case.get("while", "").partition(" ")
    key, _, wire = place.partition(".")
    if not flag or raw_schema("v1")["$defs"][key]["properties"][wire].get(flag):
        return case
    return {**case, "expect": "reject", "code": PARAMS, "reply": "error"}


@pytest.mark.parametrize("case", CASES, ids=lambda c: str(c["id"]))
def test_lines_from_the_field(case: dict[str, Any]) -> None:
    case = _expected(case)
    side = "client" if case["reader"] == "agent" else "agent"
    is_batch = case["line"].startswith("[") and case["line"].endswith("]") and case["line"] != "[bridge] session ready"
    decode = getattr(v1, f"decode_{side}_{'batch' if is_batch else 'message'}")
    line = case["line"].encode("utf-8", "surrogatepass")

    def method_of(_: Any) -> str | None:
        answered: str | None = case.get("method_of")
        return answered

    if case["expect"] == "reject":
        with pytest.raises(acp.MessageError) as caught:
            decode(line, method_of=method_of)
        why = caught.value
        assert case["code"] in (None, why.code)
        assert case["reply"] == "optional" or (why.reply is not None) == (case["reply"] == "error")
        if case["reply"] == "error" and not is_batch:
            assert why.reply.id == json.loads(line)["id"]
        return
    message = decode(line, method_of=method_of)
    written = json.loads(acp.encode(message))
    for path, wanted in case["check"].items():
        found = _at(written, path)
        assert same(found, wanted) or (found is None and wanted in DEFAULTS), path
    if "again" in case:
        assert same(written, json.loads(case["again"]))


PARSE, INVALID, UNKNOWN, PARAMS = -32700, -32600, -32601, -32602
NO_REPLY = object()
PROMPT = '"method":"session/prompt","params":{"sessionId":"s","prompt":[]}'

# What an agent reads: a line, the code, the id of the reply (or that there is none), the path of the mismatch.
REFUSED: dict[str, tuple[str, int | None, Any, str]] = {
    "an empty line": ("", PARSE, None, "$"),
    "blanks": ("  ", PARSE, None, "$"),
    "no JSON": ("hello", PARSE, None, "$"),
    "cut short": ('{"jsonrpc":"2.0","id":1,', PARSE, None, "$"),
    "two values": ('{"jsonrpc":"2.0","id":1,"method":"logout"} {}', PARSE, 1, "$"),
    "two byte order marks": ("\ufeff\ufeff{}", PARSE, None, "$"),
    "a byte order mark and an empty object": ("\ufeff{}", INVALID, None, "$.jsonrpc"),
    "a lone surrogate": ('{"a":"\ud800"}', PARSE, None, "$"),
    "nested too deeply": ("[" * 100_000, PARSE, None, "$"),
    "no JSON in the params": ('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":nope}}', PARSE, 1, "$"),
    "no JSON in raw params": ('{"jsonrpc":"2.0","id":1,"method":"_x","params":{"a":"\\q"}}', PARSE, 1, "$"),
    "an array": ("[1]", INVALID, None, "$"),
    "a number": ("1", INVALID, None, "$"),
    "a text": ('"x"', INVALID, None, "$"),
    "null": ("null", INVALID, None, "$"),
    "an empty object": ("{}", INVALID, None, "$.jsonrpc"),
    "a number for a method, and no id": ('{"jsonrpc":"2.0","method":1,"params":"bar"}', INVALID, None, "$.method"),
    "a notification of another version": ('{"jsonrpc":"1.0","method":"session/cancel"}', INVALID, NO_REPLY, "$.jsonrpc"),
    "no version": ('{"id":1,' + PROMPT + "}", INVALID, 1, "$.jsonrpc"),
    "version 1.0": ('{"jsonrpc":"1.0","id":1,' + PROMPT + "}", INVALID, 1, "$.jsonrpc"),
    "version 2 as a number": ('{"jsonrpc":2.0,"id":"a",' + PROMPT + "}", INVALID, "a", "$.jsonrpc"),
    "a float id": ('{"jsonrpc":"2.0","id":1.5,' + PROMPT + "}", INVALID, None, "$.id"),
    "an object for an id": ('{"jsonrpc":"2.0","id":{},' + PROMPT + "}", INVALID, None, "$.id"),
    "a boolean id": ('{"jsonrpc":"2.0","id":true,' + PROMPT + "}", INVALID, None, "$.id"),
    "an id out of range": ('{"jsonrpc":"2.0","id":9223372036854775808,' + PROMPT + "}", INVALID, None, "$.id"),
    "no method": ('{"jsonrpc":"2.0","id":1}', INVALID, 1, "$.method"),
    "a number for a method": ('{"jsonrpc":"2.0","id":1,"method":5}', INVALID, 1, "$.method"),
    "an unknown method": ('{"jsonrpc":"2.0","id":1,"method":"session/fly"}', UNKNOWN, 1, "$.method"),
    "an empty method": ('{"jsonrpc":"2.0","id":1,"method":""}', UNKNOWN, 1, "$.method"),
    "an unknown notification": ('{"jsonrpc":"2.0","method":"session/fly"}', UNKNOWN, NO_REPLY, "$.method"),
    "a method of the other side": ('{"jsonrpc":"2.0","id":1,"method":"session/update","params":{}}', UNKNOWN, 1, "$.method"),
    "a request for a notification": ('{"jsonrpc":"2.0","id":1,"method":"session/cancel","params":{"sessionId":"s"}}', UNKNOWN, 1, "$.method"),
    "a request without an id": ('{"jsonrpc":"2.0",' + PROMPT + "}", INVALID, NO_REPLY, "$.id"),
    "no params": ('{"jsonrpc":"2.0","id":1,"method":"session/prompt"}', PARAMS, 1, "$"),
    "null params": ('{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":null}', PARAMS, 1, "$.params"),
    "params as an array": ('{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":["s",[]]}', PARAMS, 1, "$.params"),
    "a bad param": ('{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text"}]}}', PARAMS, 1, "$.params.prompt[0]"),
    "a bad param of a notification": ('{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":4}}', PARAMS, NO_REPLY, "$.params.sessionId"),
    "a result and an error": ('{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}', INVALID, NO_REPLY, "$"),
    "a response without an id": ('{"jsonrpc":"2.0","result":{}}', INVALID, NO_REPLY, "$.id"),
    "a response with a bad id": ('{"jsonrpc":"2.0","id":[],"result":{}}', INVALID, NO_REPLY, "$.id"),
    "a response without a version": ('{"id":1,"result":{}}', INVALID, NO_REPLY, "$.jsonrpc"),
    "an error that is none": ('{"jsonrpc":"2.0","id":1,"error":"no"}', None, NO_REPLY, "$.error"),
    "a null error": ('{"jsonrpc":"2.0","id":1,"error":null}', None, NO_REPLY, "$.error"),
    "a result that does not fit": ('{"jsonrpc":"2.0","id":7,"result":{"content":5}}', None, NO_REPLY, "$.result.content"),
    "a null result that must say something": ('{"jsonrpc":"2.0","id":7,"result":null}', None, NO_REPLY, "$.result"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(REFUSED))
@pytest.mark.parametrize("as_text", [False, True])
def test_refused(name: str, as_text: bool) -> None:
    line, code, reply_id, path = REFUSED[name]
    pending = {7: "fs/read_text_file"}
    buffer: Any = line if as_text or "\ud800" in line else line.encode()
    with pytest.raises(acp.MessageError) as caught:
        v1.decode_client_message(buffer, method_of=pending.get)
    why = caught.value
    assert isinstance(why, msgspec.ValidationError)
    assert (why.code, why.path) == (code, path)
    if reply_id is NO_REPLY:
        assert why.reply is None
    else:
        assert isinstance(why.reply, v1.ErrorResponse)
        assert (why.reply.id, why.reply.error.code) == (reply_id, code)
        assert v1.decode_agent_message(acp.encode(why.reply)) == why.reply
        assert why.id == reply_id


def test_what_an_error_knows() -> None:
    line = '{"jsonrpc":"2.0","id":"x","method":"session/prompt","params":{"sessionId":1,"prompt":[]}}'
    with pytest.raises(acp.MessageError, match=r"Expected `str`, got `int` - at `\$\.params\.sessionId`") as caught:
        v1.decode_client_message(line)
    why = caught.value
    assert (why.id, why.method, why.code, why.path) == ("x", "session/prompt", PARAMS, "$.params.sessionId")
    assert json.loads(acp.encode(why.reply)) == {
        "jsonrpc": "2.0",
        "id": "x",
        "error": {
            "code": -32602,
            "message": "Invalid params",
            "data": "Expected `str`, got `int` - at `$.params.sessionId`",
        },
    }


def test_requests_and_notifications_in_one_pass() -> None:
    message = v1.decode_client_message(
        '{"id":3,"params":{"prompt":[],"sessionId":"s"},"method":"session/prompt","jsonrpc":"2.0"}'
    )
    match message:
        case v1.Request(id=request_id, params=v1.PromptRequest() as params):
            assert (request_id, params.session_id, message.method) == (3, "s", "session/prompt")
        case _:
            pytest.fail("not matched")
    note = v1.decode_agent_message('{"jsonrpc":"2.0","method":"elicitation/complete","params":{"elicitationId":"e"}}')
    assert isinstance(note, v1.Notification)
    assert note.id is UNSET
    for decode in (v1.decode_agent_message, v1.decode_client_message):
        cancel = decode('{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":null}}')
        assert isinstance(cancel, v1.CancelRequestNotificationMessage)
        assert cancel.params.request_id is None


@pytest.mark.parametrize("params", ["", ',"params":null', ',"params":{}'])
def test_params_that_say_nothing(params: str) -> None:
    seen: list[acp.Skipped] = []
    message = v1.decode_client_message(f'{{"jsonrpc":"2.0","id":1,"method":"logout"{params}}}', on_skip=seen.append)
    assert isinstance(message, v1.LogoutRequestMessage)
    assert message.params == v1.LogoutRequest()
    assert [(s.path, s.action) for s in seen] == ([] if "{" in params else [("$.params", "default")])
    assert json.loads(acp.encode(message))["params"] == {}


def test_repairs_have_paths_from_the_message() -> None:
    seen: list[acp.Skipped] = []
    line = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientInfo":5}}'
    v1.decode_client_message(line, on_skip=seen.append)
    v1.decode_agent_message('{"jsonrpc":"2.0","id":1,"result":null}', method_of=lambda _: "logout", on_skip=seen.append)
    assert [(s.path, s.value) for s in seen] == [("$.params.clientInfo", 5), ("$.result", None)]


def test_extensions_keep_their_params_byte_for_byte() -> None:
    params = b'{ "b" : 1.0,\n "a":[ 1e2 , "\\u00e9" ] }'
    line = b'{"jsonrpc":"2.0","id":1,"method":"_vendor.example/do","params":' + params + b"}"
    message = v1.decode_client_message(line)
    assert isinstance(message, v1.ExtensionRequest)
    assert isinstance(message, v1.Request)
    assert isinstance(message.params, Raw)
    assert (message.method, bytes(message.params)) == ("_vendor.example/do", params)
    assert params in acp.encode(message)
    assert acp.encode_line(message).count(b"\n") == 1
    assert json.loads(acp.encode_line(message)) == json.loads(line)
    note = v1.decode_agent_message('{"jsonrpc":"2.0","method":"_x"}')
    assert isinstance(note, v1.ExtensionNotification)
    assert note.params is UNSET
    assert acp.encode(note) == b'{"jsonrpc":"2.0","method":"_x"}'
    buffer = bytearray(line)
    kept = v1.decode_client_message(buffer)
    buffer[:] = b" " * len(buffer)  # a server reuses its buffer
    assert acp.encode(kept) == acp.encode(message)


@pytest.mark.parametrize("raw", [b"1E400", b'{"a":-1e999, "b":[1E400]}'])
def test_raw_parts_may_hold_numbers_that_no_float_holds(raw: bytes) -> None:
    note = v1.decode_agent_message(b'{"jsonrpc":"2.0","method":"_x","params":' + raw + b"}")
    assert isinstance(note, v1.ExtensionNotification)
    assert isinstance(note.params, Raw)
    assert bytes(note.params) == raw
    answer = v1.decode_agent_message(b'{"jsonrpc":"2.0","id":1,"result":' + raw + b"}")
    assert isinstance(answer, v1.Response)
    assert bytes(answer.result) == bytes(v1.decode_result("_x", raw)) == raw
    with pytest.raises(acp.MessageError):
        v1.decode_agent_message(b'{"jsonrpc":"2.0","method":"_x","params":[1E400,"\xff"]}')


@pytest.mark.parametrize(
    ("line", "is_answered"),
    [
        ('{"jsonrpc":"2.0","id":1,"result":["PART"]}', False),
        ('{"jsonrpc":"2.0","method":"_x","params":["PART"]}', False),
        ('{"jsonrpc":"2.0","id":1,"method":"_x","params":["PART"]}', True),
    ],
)
def test_a_part_that_is_no_json_is_answered_as_the_message_would_be(line: str, is_answered: bool) -> None:
    with pytest.raises(acp.MessageError) as caught:
        v1.decode_agent_message(line.encode().replace(b"PART", b"\xff"))
    assert caught.value.code == PARSE
    assert (caught.value.reply is not None) == is_answered


def test_a_method_of_both_kinds_and_sides(relaying: tuple[Any, Any]) -> None:
    module = relaying[1]
    for decode in (module.decode_client_message, module.decode_agent_message):
        request = decode('{"jsonrpc":"2.0","id":1,"method":"relay","params":{}}')
        note = decode('{"jsonrpc":"2.0","method":"relay","params":{}}')
        assert isinstance(request, module.RelayRequestMessage)
        assert isinstance(note, module.RelayNotificationMessage)


def test_unknown_variants_in_messages() -> None:
    line = (
        '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"zzz","n":1}}}'
    )
    with pytest.raises(acp.MessageError, match="Invalid value 'zzz'"):
        v1.decode_agent_message(line)
    message = v1.decode_agent_message(line, unknown="keep")
    assert isinstance(message, v1.SessionNotificationMessage)
    assert isinstance(message.params.update, acp.UnknownVariant)
    assert json.loads(acp.encode(message)) == json.loads(line)
    assert isinstance(v2.decode_agent_message(line), v2.UpdateSessionNotificationMessage)
    with pytest.raises(ValueError, match="must be 'reject' or 'keep'"):
        v1.decode_agent_message("", unknown="drop")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def test_batches() -> None:
    good = '{"jsonrpc":"2.0","id":1,"method":"logout","params":{}}'
    bad = '{"jsonrpc":"2.0","id":2,"method":"authenticate","params":{"methodId":3}}'
    first, second = v1.decode_client_batch(f"[{good},{good}]")
    assert first == second == v1.request(1, v1.LogoutRequest())
    seen: list[acp.Skipped] = []
    v1.decode_client_batch(f"[{good},{good.replace('{}', 'null')}]", on_skip=seen.append)
    assert [s.path for s in seen] == ["$[1].params"]
    with pytest.raises(acp.MessageError) as caught:
        v1.decode_client_batch(f"[{good},{bad},7]")
    why = caught.value
    assert (why.id, why.code, why.path) == (2, PARAMS, "$[1].params.methodId")
    assert why.batch is not None
    assert why.batch[0] == first
    assert [(m.code, m.path) for m in why.batch[1:]] == [(PARAMS, "$.params.methodId"), (INVALID, "$")]
    for text, code in (("[]", INVALID), (good, INVALID), ("[", PARSE), ("[" * 100_000, PARSE), ("3", INVALID)):
        with pytest.raises(acp.MessageError) as caught:
            v1.decode_client_batch(text)
        assert caught.value.code == code
        assert caught.value.reply.id is None


@pytest.mark.parametrize("label", ["v1", "v1_unstable", "v2", "v2_unstable"])
def test_builders_know_every_method(label: str) -> None:
    module = importlib.import_module(f"acp_msgspec.{label}")
    for method in module.METHODS.values():
        for kind, of_request in ((method.request, True), (method.notification, False)):
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
                params: Any = least(kind)
                message = module.request(1, params) if of_request else module.notification(params)
                # Params that are another name for others' go by the method of those.
                first = min(m.name for m in module.METHODS.values() if kind in (m.request, m.notification))
                assert (message.method, message.params, message.jsonrpc) == (first, params, "2.0")


def test_builders() -> None:
    request = v1.request("r", v1.SetSessionConfigOptionRequestValueId(
        session_id=v1.SessionId("s"), config_id=v1.SessionConfigId("c"), value=v1.SessionConfigValueId("v")
    ))  # fmt: skip
    assert json.loads(acp.encode(request)) == {
        "jsonrpc": "2.0",
        "id": "r",
        "method": "session/set_config_option",
        "params": {"sessionId": "s", "configId": "c", "value": "v"},
    }
    assert v1.decode_client_message(acp.encode(request)) == request
    note = v1.notification(v1.CancelNotification(session_id=v1.SessionId("s")))
    assert acp.encode_line(note) == b'{"method":"session/cancel","jsonrpc":"2.0","params":{"sessionId":"s"}}\n'
    with pytest.raises(TypeError, match="No notification has params of the class PromptRequest"):
        v1.notification(v1.PromptRequest(session_id=v1.SessionId("s"), prompt=[]))  # type: ignore[call-overload] # pyright: ignore[reportCallIssue, reportArgumentType]
    with pytest.raises(TypeError, match="No request has params of the class dict"):
        v1.request(1, {})  # type: ignore[call-overload] # pyright: ignore[reportCallIssue, reportArgumentType]
    assert v1.extension_request(1, "_x/y", {"a": 1}) == v1.decode_agent_message(
        '{"jsonrpc":"2.0","id":1,"method":"_x/y","params":{"a":1}}'
    )
    with pytest.raises(ValueError, match="does not begin with an underscore"):
        v1.extension_notification("x", None)
    error = v1.Error(code=v1.ErrorCode.INTERNAL_ERROR, message="m")
    assert v1.error_response(None, error).error is error
    # By hand it is no more than this, and the version is never forgotten.
    assert (
        v1.PromptRequestMessage(id=1, params=v1.PromptRequest(session_id=v1.SessionId("s"), prompt=[])).jsonrpc == "2.0"
    )


@pytest.mark.parametrize(
    ("cls", "code"),
    [
        (acp.ParseError, PARSE),
        (acp.InvalidRequest, INVALID),
        (acp.MethodNotFound, UNKNOWN),
        (acp.InvalidParams, PARAMS),
        (acp.InternalError, -32603),
        (acp.RequestCancelled, -32800),
        (acp.AuthenticationRequired, -32000),
        (acp.ResourceNotFound, -32002),
    ],
)
def test_errors_as_exceptions(cls: type[acp.RequestError], code: int) -> None:
    assert {c.value for c in v1.ErrorCode} >= {code}
    raised = cls(data={"k": [1]})
    assert (raised.code, str(raised)) == (code, f"{raised.message} ({code}): {{'k': [1]}}")
    assert str(cls()) == f"{cls.default_message} ({code})"
    assert str(cls(data="x" * 1000)).endswith("xxx…")
    sent = v1.error_response(1, raised)
    assert (sent.error.code, sent.error.message, sent.error.data) == (code, raised.message, {"k": [1]})
    again = acp.RequestError.of(sent.error)
    assert type(again) is cls
    assert (again.code, again.message, again.data) == (code, raised.message, {"k": [1]})


def test_errors_with_codes_of_others() -> None:
    own = acp.RequestError.of(v1.Error(code=v1.ErrorCode(-5), message="m"))
    assert (type(own), own.code, own.message, own.data) == (acp.RequestError, -5, "m", None)
    assert acp.RequestError("m", code=7).code == 7


def test_encode_into() -> None:
    note = v1.notification(v1.CancelNotification(session_id=v1.SessionId("s")))
    buffer = bytearray(
        b"prefix and something longer than the message, which goes away, all of it, in one go, to the end"
    )
    acp.encode_into(note, buffer, 6)
    assert buffer == b"prefix" + acp.encode(note)
    acp.encode_into(note, buffer)
    assert buffer == acp.encode(note)
    for offset in (-1, len(buffer) + 1):
        with pytest.raises(ValueError, match="lies outside the buffer"):
            acp.encode_into(note, buffer, offset)
