"""Checking hand-built objects before they are sent."""

import dataclasses
import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1, v2
from msgspec import UNSET

from tests.support import generate_case, imported

SESSION = v1.SessionId("s")


def _chunk(**changes: Any) -> v1.SessionNotification:
    make: Any = v1.TextContent
    content: v1.TextContent = make(**{"text": "x", **changes})
    return v1.SessionNotification(session_id=SESSION, update=v1.SessionUpdateAgentMessageChunk(content=content))


GOOD: list[Any] = [
    _chunk(),
    _chunk(annotations=v1.Annotations(audience=[v1.Role.USER], priority=0.5), meta={"k": [1, None]}),
    v1.InitializeRequest(protocol_version=1),
    v2.ToolCallUpdate(tool_call_id=v2.ToolCallId("t"), title=None),
    v2.ContentBlockOther(type="video", extra={"src": "u"}),
    v2.ToolCallUpdate(tool_call_id=v2.ToolCallId("t"), status=v2.ToolCallStatus("later")),
    v1.McpServerStdio(name="n", command="c", args=[], env=[]),
    acp.decode('{"type":"zzz","a":1}', type=v1.ContentBlock, unknown="keep"),
]


@pytest.mark.parametrize("obj", GOOD, ids=lambda o: type(o).__name__)
def test_good(obj: Any) -> None:
    if not isinstance(obj, acp.UnknownVariant):
        acp.validate(obj)
    acp.validate([obj], type=list[Any])
    kind: Any = v1.ContentBlock if isinstance(obj, acp.UnknownVariant) else obj.__class__
    acp.validate(obj, type=kind)


BAD: list[tuple[Any, str]] = [
    (_chunk(text=1), r"Expected `str`, got `int` - at `\$\.update\.content\.text`"),
    (_chunk(text=None), r"Expected `str`, got `null` - at `\$\.update\.content\.text`"),
    (_chunk(text=UNSET), r"Object missing required field `text` - at `\$\.update\.content`"),
    (_chunk(text="\ud800"), r"lone surrogate"),
    (_chunk(text=object()), r"what JSON cannot carry"),
    (_chunk(text=math.inf), r"Expected `str`"),
    (_chunk(annotations=v1.Annotations(priority=math.nan)), r"JSON has no infinity and no NaN - at `.*priority`"),
    (_chunk(annotations=v1.Annotations(audience=["nobody"])), r"Invalid enum value 'nobody' - at `.*audience\[0\]`"),  # type: ignore[list-item] # pyright: ignore[reportArgumentType]
    (_chunk(meta={"a": {1, object()}}), r"what JSON cannot carry"),
    (v1.InitializeRequest(protocol_version=65536), r"Expected `int` <= 65535 - at `\$\.protocolVersion`"),
    (v1.InitializeRequest(protocol_version=True), r"Expected `int`, got `bool` - at `\$\.protocolVersion`"),
    (v1.ReadTextFileRequest(session_id=SESSION, path="/", line=-1), r"Expected `int` >= 0 - at `\$\.line`"),
    (v1.UsageUpdate(used=2**64, size=1), r"Expected `int` <= 18446744073709551615 - at `\$\.used`"),
    (
        v1.CreateTerminalRequest(session_id=SESSION, command="c", args=None),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        r"Expected `array`, got `null` - at `\$\.args`",
    ),
    (
        v1.PromptRequest(session_id=SESSION, prompt=[v1.Plan(entries=[])]),  # type: ignore[list-item] # pyright: ignore[reportArgumentType]
        r"Object missing required field `type` - at `\$\.prompt\[0\]`",
    ),
    (
        v1.PromptRequest(session_id=SESSION, prompt=[v1.Terminal(terminal_id=v1.TerminalId("t"))]),  # type: ignore[list-item] # pyright: ignore[reportArgumentType]
        r"Invalid value 'terminal' - at `\$\.prompt\[0\]\.type`",
    ),
    (v2.ContentBlockOther(type="text", extra={"text": "x"}), r"Invalid value 'text' - at `\$\.type`"),
]


@pytest.mark.parametrize(("obj", "message"), BAD, ids=range(len(BAD)))
def test_bad(obj: Any, message: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=message):
        acp.validate(obj)


LIMITS: dict[str, tuple[dict[str, Any], Any, Any, str]] = {
    "code": ({"type": "string", "pattern": "^[A-Z]{3}$"}, "EUR", "euro", r"text matching `\^\[A-Z\]\{3\}\$`"),
    "share": ({"type": "number", "minimum": 0, "maximum": 1}, 0.5, 1.5, "a number <= 1"),
    "least": ({"type": "number", "minimum": 1}, 1.0, 0.5, "a number >= 1"),
    "data": ({"type": "string", "contentEncoding": "base64"}, "aGk=", "%%", "Base64"),
    "link": ({"type": "string", "format": "uri"}, "a:b", "no scheme", "the format uri"),
    "at": ({"type": "string", "format": "date-time"}, "2025-02-28T23:59:59Z", "yesterday", "the format date-time"),
    "rows": ({"type": "array", "items": {"type": "string"}, "minItems": 1}, ["a"], [], "at least 1 items"),
    "title": ({"type": "string", "minLength": 1}, "t", "", "at least 1 characters"),
}
"""For each limit a property that has it, a value within it, one beyond it, and what is said of that one."""


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    """A package whose class `Limited` has all limits: which ones upstream's schemas have changes with a bump."""
    properties = {name: node for name, (node, *_) in LIMITS.items()}
    folder = tmp_path_factory.mktemp("limits")
    kind = {"type": "object", "properties": properties, "required": sorted(properties)}
    (folder / "schema.json").write_text(json.dumps({"$defs": {"Limited": kind}}), encoding="utf-8")
    generate_case(folder / "schema.json", "case", folder)
    with imported(folder, "case", "limits") as found:
        yield found


@pytest.mark.parametrize("name", LIMITS)
def test_limits_are_for_senders_only(limited: tuple[Any, Any], name: str) -> None:
    package, module = limited
    values = {each: good for each, (_, good, *_) in LIMITS.items()}
    package.validate(module.Limited(**values))
    _, _, bad, told = LIMITS[name]
    with pytest.raises(msgspec.ValidationError, match=rf"Expected {told} - at `\$\.{name}`"):
        package.validate(module.Limited(**values | {name: bad}))
    assert getattr(package.decode_strict(json.dumps(values | {name: bad}), type=module.Limited), name) == bad


def test_nesting() -> None:
    deep: Any = None
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(msgspec.ValidationError, match="nested too deeply"):
        acp.validate(_chunk(meta={"a": deep}))


def _nested(value: Any) -> dict[str, Any]:
    return {"a": [0, {"b": value}]}


class _Number(int):
    pass


UNSENDABLE: list[tuple[Any, str]] = [
    (math.nan, "JSON has no infinity and no NaN"),
    (math.inf, "JSON has no infinity and no NaN"),
    (-math.inf, "JSON has no infinity and no NaN"),
    ((1, math.nan), "JSON has no infinity and no NaN"),
    ({math.nan}, "JSON has no infinity and no NaN"),
    (10**5000, "An integer with more digits than Python converts"),
    (-(10**5000), "An integer with more digits than Python converts"),
    ("\ud800", "Text with a lone surrogate"),
    ({"\ud800": 1}, "A key with a lone surrogate"),
    ({math.inf: 1}, "JSON has no infinity and no NaN"),
    ({None: 1}, "A key of the class NoneType, where only text may stand"),
    ({(1,): 1}, "A key of the class tuple"),
    ({True: 1}, "A key of the class bool"),
    (object(), "The object holds what JSON cannot carry: an object of the class object"),
    (UNSET, "The object holds what JSON cannot carry: an object of the class UnsetType"),
    (1j, "an object of the class complex"),
    (_Number(1), "an object of the class _Number"),
    (msgspec.Raw(b"nope"), "JSON is malformed"),
    (msgspec.Raw(b""), "Input data was truncated"),
    (acp.UnknownVariant("type", "z", {"type": "z", "n": math.nan}), "JSON has no infinity and no NaN"),
    (acp.UnknownVariant("type", "z", [1]), "The data of an UnknownVariant is not an object"),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    (v2.ContentBlockOther(type="z", extra={"n": math.nan}), "JSON has no infinity and no NaN"),
    (v2.ContentBlockOther(type="z", extra={"type": "text"}), "The extra key 'type' is a key of the class itself"),
    (dataclasses.make_dataclass("Point", ["x"])(math.nan), "JSON has no infinity and no NaN"),
]


@pytest.mark.parametrize(("value", "problem"), UNSENDABLE, ids=range(len(UNSENDABLE)))
def test_what_json_has_no_form_for_is_found_everywhere(value: Any, problem: str) -> None:
    places: list[tuple[Any, str]] = [
        (_chunk(meta=_nested(value)), "$.update.content._meta.a[1].b"),
        (v1.ToolCallUpdate(tool_call_id=v1.ToolCallId("t"), raw_input=_nested(value)), "$.rawInput.a[1].b"),
        (v2.ContentBlockOther(type="video", extra={"k": value}), "$.k"),
        (acp.UnknownVariant("type", "z", {"type": "z", "k": value}), "$.k"),
        (v1.Error(code=v1.ErrorCode.INTERNAL_ERROR, message="m", data=[value]), "$.data[0]"),
        ({"k": value}, "$.k"),
        ([[value]], "$[0][0]"),
    ]
    for obj, path in places:
        with pytest.raises(msgspec.ValidationError) as caught:
            acp.validate(obj)
        assert str(caught.value).startswith(problem) or problem in str(caught.value)
        if not problem.startswith("The data"):
            assert f" - at `{path}" in str(caught.value)


FREE: list[Any] = [
    2**64,
    10**4000,
    -(2**70),
    1e308,
    {1: 2, 1.5: 3},
    (1, 2),
    {1},
    b"bytes",
    Decimal("1.5"),
    UUID(int=1),
    datetime(2020, 1, 1, tzinfo=UTC),
    msgspec.Raw(b'{"a":[1e400]}'),
    msgspec.Raw(b"[1]"),
    acp.UnknownVariant("type", "z", {"type": "z"}),
    {"\x00kept": True},
    v1.TextContent(text="x"),
]


@pytest.mark.parametrize("value", FREE, ids=range(len(FREE)))
def test_what_free_json_may_hold(value: Any) -> None:
    acp.validate(_chunk(meta=_nested(value)))
    acp.validate(v2.ContentBlockOther(type="video", extra={"k": value}))
    acp.encode(_chunk(meta=_nested(value)))


def test_no_key_makes_an_unknown_variant_of_an_object() -> None:
    disguised: list[Any] = [
        {"\x00kept": True, "type": "zzz"},
        {"\x00kept": True, "type": "zzz", "data": {}},
        v2.ContentBlockOther(type="zzz", extra={"\x00kept": True}),
    ]
    for obj in disguised:
        with pytest.raises(msgspec.ValidationError, match=r"Invalid value 'zzz' - at `\$\.type`"):
            acp.validate(obj, type=v1.ContentBlock)
    acp.validate(acp.UnknownVariant("type", "zzz", {"type": "zzz"}), type=v1.ContentBlock)
    acp.validate(acp.UnknownVariant("type", "zzz", {"type": "zzz"}), type=v2.ContentBlock)


def test_an_unknown_variant_is_what_its_data_say() -> None:
    acp.validate(acp.UnknownVariant("type", "zzz", {"type": "text", "text": "x"}), type=v1.ContentBlock)
    for data, problem in (
        ({"type": "text"}, "Object missing required field `text`"),
        ({}, "Object missing required field `type`"),
        ({"type": 1}, "Expected `str`, got `int`"),
        ({"sessionUpdate": "zzz"}, "Object missing required field `type`"),
    ):
        with pytest.raises(msgspec.ValidationError, match=problem):
            acp.validate(acp.UnknownVariant("type", "zzz", data), type=v1.ContentBlock)


ODD: list[Any] = [10**5000, -(10**5000), math.nan, "\ud800", {1: {2: 10**5000}}, object(), 1j, v1.PromptRequest, UNSET]


@pytest.mark.parametrize("obj", ODD, ids=range(len(ODD)))
def test_nothing_but_a_validation_error_is_raised(obj: Any) -> None:
    for kind in (None, Any, v1.ContentBlock, v1.ElicitationContentValue, int):
        with pytest.raises(msgspec.ValidationError):
            acp.validate(obj, type=kind)


@pytest.mark.parametrize("obj", [(1, 2), datetime(2020, 1, 1, tzinfo=UTC), b"x", None, True], ids=repr)
def test_any_json_value_may_be_asked_about(obj: Any) -> None:
    acp.validate(obj)


def test_cycles() -> None:
    ring: list[Any] = []
    ring.append({"a": ring})
    for obj in (ring, _chunk(meta={"a": ring}), v2.ContentBlockOther(type="z", extra={"k": ring})):
        with pytest.raises(msgspec.ValidationError, match="nested too deeply"):
            acp.validate(obj)


def test_raw_parts_are_read_where_a_type_is_expected() -> None:
    request = v1.extension_request(1, "_x", {"a": 1})
    acp.validate(request)
    make: Any = v1.PromptRequestMessage
    acp.validate(make(id=1, params=msgspec.Raw(b'{"sessionId":"s","prompt":[]}')))
    with pytest.raises(msgspec.ValidationError, match=r"missing required field `prompt` - at `\$\.params`"):
        acp.validate(make(id=1, params=msgspec.Raw(b'{"sessionId":"s"}')))
    with pytest.raises(msgspec.ValidationError, match=r"Expected `str`, got .* - at `\$\.text`"):
        acp.validate(v1.TextContent(text=msgspec.Raw(b"1e400")))  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
