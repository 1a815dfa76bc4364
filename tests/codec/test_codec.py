"""The codec's own promises: buffers, errors and their paths, strictness, unknown variants, repairs."""

import copy
import json
import pickle
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1, v2
from msgspec import UNSET

from tests.support import ROOT

CHUNK = b'{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}'
NOTE = v1.SessionNotification(
    session_id=v1.SessionId("s1"),
    update=v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text="hi")),
)


BUFFERS: list[bytes | bytearray | memoryview | str] = [CHUNK, bytearray(CHUNK), memoryview(CHUNK), CHUNK.decode()]


@pytest.mark.parametrize("buffer", BUFFERS, ids=lambda b: type(b).__name__)
def test_buffers(buffer: bytes | bytearray | memoryview | str) -> None:
    assert acp.decode(buffer, type=v1.SessionNotification) == NOTE
    assert acp.decode_strict(buffer, type=v1.SessionNotification) == NOTE
    assert acp.Decoder(v1.SessionNotification).decode(buffer) == NOTE


def test_encode_and_builtins() -> None:
    assert acp.encode(NOTE) == CHUNK
    assert acp.to_builtins(NOTE) == json.loads(CHUNK)
    assert acp.convert(json.loads(CHUNK), type=v1.SessionNotification) == NOTE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"sessionId":1}', r"Expected `str`, got `int` - at `\$\.sessionId`"),
        ('{"sessionId":"s"}', r"Object missing required field `update`"),
        ('{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]},"x":', r"Input data was truncated"),
        ('{"sessionId":"s","update":{}}', r"Object missing required field `sessionUpdate` - at `\$\.update`"),
        ('{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":5}}', r"`\$\.update\.title`"),
        ('{"sessionId":"s","update":{"sessionUpdate":"zzz"}}', r"Invalid value 'zzz' - at `\$\.update\.sessionUpdate`"),
        ("", "Input data was truncated"),
        ("{} {}", "trailing characters"),
        ("[1,2", "Input data was truncated"),
        ("nul", "JSON is malformed|truncated"),
        ("\ufeff\ufeff{}", r"JSON is malformed: byte order mark \(byte 3\)"),
        (" \ufeff{}", r"JSON is malformed: byte order mark \(byte 1\)"),
        ('{"sessionId":"\ud800"}', "lone surrogate"),
        ("[" * 100_000, "nested too deeply"),
        ('{"sessionId":' + "[" * 100_000, "nested too deeply"),
        ('{"sessionId":1e999}', r"Number out of range - at `\$\.sessionId`"),
    ],
)
def test_errors_are_those_of_msgspec(text: str, message: str) -> None:
    with pytest.raises(msgspec.DecodeError, match=message):
        acp.decode(text, type=v1.SessionNotification)
    with pytest.raises(msgspec.DecodeError, match=message):
        acp.decode_strict(text, type=v1.SessionNotification)
    with pytest.raises(msgspec.DecodeError, match=message):
        acp.Decoder(v1.SessionNotification, unknown="reject").decode(text)


def test_malformed_json_is_an_error_also_in_a_forgiven_field() -> None:
    with pytest.raises(msgspec.DecodeError, match="malformed"):
        acp.decode('{"text":"x","annotations":nope}', type=v1.TextContent)
    with pytest.raises(msgspec.DecodeError, match=r"malformed|truncated"):
        acp.decode('{"text":"x","annotations":5,"_meta":{"a":}}', type=v1.TextContent)


def test_repairs_are_reported_with_path_value_reason_and_action() -> None:
    seen: list[acp.Skipped] = []
    contents = '[{"type":"content","content":3},4,{"type":"terminal","terminalId":"x"}]'
    text = f'{{"toolCallId":"t","kind":"zzz","content":{contents},"locations":7}}'
    update = acp.decode(text, type=v1.ToolCallUpdate, on_skip=seen.append)
    assert update == v1.ToolCallUpdate(
        tool_call_id=v1.ToolCallId("t"),
        kind=v1.ToolKind.OTHER,
        content=[v1.Terminal(terminal_id=v1.TerminalId("x"))],
    )
    assert [(s.path, s.value, s.action) for s in seen] == [
        ("$.kind", "zzz", "default"),
        ("$.content[0]", {"type": "content", "content": 3}, "dropped"),
        ("$.content[1]", 4, "dropped"),
        ("$.locations", 7, "default"),
    ]
    assert seen[1].error == "Expected `object`, got `int` - at `$.content`"
    assert seen[3].error == "Expected `array | null`, got `int`"
    with pytest.raises(msgspec.ValidationError):
        acp.decode_strict(text, type=v1.ToolCallUpdate)


def test_no_report_where_nothing_was_repaired() -> None:
    seen: list[acp.Skipped] = []
    decoder = acp.Decoder(v2.SessionUpdate, on_skip=seen.append)
    # A second look is needed for each of these, and none is a repair.
    assert isinstance(decoder.decode('{"sessionUpdate":"zzz","a":1}'), v2.SessionUpdateOther)
    state = decoder.decode('{"sessionUpdate":"state_update","state":"idle","stopReason":"soon"}')
    assert type(state).__name__.startswith("SessionUpdateStateUpdateIdle")
    assert acp.to_builtins(state)["stopReason"] == "soon"
    assert seen == []


def test_unknown_variants() -> None:
    text = b'[{"type":"text","text":"a"},{"type":"video","src":"u","n":[1,{"k":null}]}]'
    with pytest.raises(msgspec.ValidationError, match=r"Invalid value 'video' - at `\$\[1\]\.type`"):
        acp.decode(text, type=list[v1.ContentBlock])
    kept = acp.decode(text, type=list[v1.ContentBlock], unknown="keep")
    assert isinstance(kept[1], acp.UnknownVariant)
    assert (kept[1].tag_field, kept[1].tag, kept[1].data["src"]) == ("type", "video", "u")
    assert acp.encode(kept) == text
    assert acp.to_builtins(kept) == json.loads(text)
    assert acp.Decoder(list[v1.ContentBlock], unknown="keep").decode(text) == kept
    with pytest.raises(ValueError, match="must be 'reject' or 'keep'"):
        acp.Decoder(v1.ContentBlock, unknown="drop")  # type: ignore[call-overload] # pyright: ignore[reportCallIssue, reportArgumentType]
    with pytest.raises(ValueError, match="must be 'reject' or 'keep'"):
        acp.decode(text, type=v1.ContentBlock, unknown="drop")  # type: ignore[call-overload] # pyright: ignore[reportCallIssue, reportArgumentType]


def test_catch_alls_are_ordinary_objects() -> None:
    text = b'{"type":"sso","methodId":"m","name":"n","issuer":"i"}'
    method = acp.decode(text, type=v2.AuthMethod)
    assert method == v2.AuthMethodOther(type="sso", method_id=v2.AuthMethodId("m"), name="n", extra={"issuer": "i"})
    assert acp.to_builtins(method) == json.loads(text)
    assert copy.deepcopy(method) == method
    assert pickle.loads(pickle.dumps(method)) == method
    assert repr(method) == "AuthMethodOther(type='sso', method_id='m', name='n', extra={'issuer': 'i'})"
    with pytest.raises(TypeError, match="Missing required argument 'name'"):
        v2.AuthMethodOther(type="sso", method_id=v2.AuthMethodId("m"))  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="Unexpected keyword argument 'issuer'"):
        v2.ContentBlockOther(type="x", issuer="i")  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]


def test_open_enumerations_keep_what_they_do_not_know() -> None:
    kind = acp.decode('"later"', type=v2.ToolCallStatus)
    assert (kind, kind.value, kind.is_known) == ("later", "later", False)
    assert v2.ToolCallStatus.PENDING.is_known
    assert kind == v2.ToolCallStatus("later")
    assert pickle.loads(pickle.dumps(kind)) == kind
    assert acp.encode([kind, v1.ErrorCode(-5), v1.ErrorCode.PARSE_ERROR]) == b'["later",-5,-32700]'
    assert "later" not in [status.value for status in v2.ToolCallStatus]  # nothing is added to the class


def test_three_states() -> None:
    for text, value in (("{}", UNSET), ('{"title":null}', None), ('{"title":"t"}', "t"), ('{"title":5}', UNSET)):
        update = acp.decode(text, type=v1.SessionInfoUpdate)
        assert update.title == value
        assert acp.encode(update) == (
            b'{"sessionUpdate":"session_info_update"'
            + (b"" if value is UNSET else b',"title":' + json.dumps(value).encode())
            + b"}"
        )


def test_numbers_stay_exact_in_free_json() -> None:
    text = b'{"toolCallId":"t","rawInput":[123456789012345678901234567890,0.1,1e300,-0.0,true,null]}'
    update = acp.decode(text, type=v1.ToolCallUpdate)
    assert update.raw_input == [123456789012345678901234567890, 0.1, 1e300, -0.0, True, None]
    assert acp.decode(acp.encode(update), type=v1.ToolCallUpdate) == update


def test_uint64_has_its_whole_range_and_no_more() -> None:
    for number, fits in ((2**64 - 1, True), (2**64, False), (-1, False), (0, True)):
        text = f'{{"sessionUpdate":"usage_update","used":{number},"size":1}}'
        if fits:
            assert acp.decode_strict(text, type=v1.UsageUpdate).used == number
        else:
            with pytest.raises(msgspec.ValidationError, match=r"Expected `int` .* - at `\$\.used`"):
                acp.decode(text, type=v1.UsageUpdate)


def test_types_that_are_no_types_of_the_package() -> None:
    class Foreign:
        pass

    with pytest.raises(TypeError):
        acp.decode("{}", type=Foreign)
    with pytest.raises(TypeError):
        acp.encode(Foreign())
    assert acp.decode('{"a":[1]}', type=dict[str, list[int]]) == {"a": [1]}
    plain: Any = acp.decode("[1]", type=Any)
    assert plain == [1]


def test_versions(relaying: tuple[Any, Any]) -> None:
    lock = json.loads((ROOT / "schema" / "lock.json").read_text(encoding="utf-8"))
    assert lock["commit"] == acp.UPSTREAM_COMMIT
    assert set(acp.SCHEMA_VERSIONS) == {"v1", "v1_unstable", "v2", "v2_unstable"}
    assert acp.__version__.count(".") == 2
    assert relaying[1].METHODS["relay"].handled_by == {"agent", "client"}
    assert v1.METHODS["session/prompt"].request is v1.PromptRequest
