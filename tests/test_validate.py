"""Checking hand-built objects before they are sent."""

import math
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1, v1_unstable, v2
from msgspec import UNSET

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
    (v2.Cost(amount=1.0, currency="euro"), r"Expected text matching `\^\[A-Z\]\{3\}\$` - at `\$\.currency`"),
    (v2.Annotations(priority=1.5), r"Expected a number <= 1 - at `\$\.priority`"),
    (v2.ImageContent(data="%%", mime_type=v2.MediaType("image/png")), r"Expected Base64 - at `\$\.data`"),
    (v2.ResourceLink(name="n", uri="no scheme"), r"Expected the format uri - at `\$\.uri`"),
    (v2.Annotations(last_modified="yesterday"), r"Expected the format date-time - at `\$\.lastModified`"),
    (
        v2.RequestPermissionRequest(session_id=v2.SessionId("s"), title="t", options=[]),
        r"Expected at least 1 items - at `\$\.options`",
    ),
    (
        v1_unstable.Notice(severity=v1_unstable.NoticeSeverity.INFO, title=""),
        r"Expected at least 1 characters - at `\$\.title`",
    ),
    (v2.ContentBlockOther(type="text", extra={"text": "x"}), r"Invalid value 'text' - at `\$\.type`"),
]


@pytest.mark.parametrize(("obj", "message"), BAD, ids=range(len(BAD)))
def test_bad(obj: Any, message: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=message):
        acp.validate(obj)


def test_advice_is_for_senders_only() -> None:
    assert acp.decode_strict('{"amount":1,"currency":"euro"}', type=v2.Cost).currency == "euro"
    assert acp.decode_strict('{"priority":7}', type=v2.Annotations).priority == 7.0


def test_nesting() -> None:
    deep: Any = None
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(msgspec.ValidationError, match="nested too deeply"):
        acp.validate(_chunk(meta={"a": deep}))
