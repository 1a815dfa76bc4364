"""What a type checker must see in the emitted types; `make types` checks this file, nothing runs it."""

from typing import Any, Literal, assert_never, assert_type

import acp_msgspec as acp
from acp_msgspec import v1, v2
from msgspec import UNSET, UnsetType


def content_text(block: v1.ContentBlock) -> str:
    match block:
        case v1.TextContent(text=text):
            return text
        case v1.ImageContent() | v1.AudioContent():
            assert_type(block.data, str)
            return block.mime_type
        case v1.ResourceLink(uri=uri):
            return uri
        case v1.EmbeddedResource(resource=v1.TextResourceContents(text=text)):
            return text
        case v1.EmbeddedResource(resource=v1.BlobResourceContents(blob=blob)):
            return blob
        case v1.EmbeddedResource():
            return ""
        case acp.UnknownVariant(tag=tag):
            assert_type(block.data, dict[str, Any])
            return tag
        case _:
            assert_never(block)


def update_name(update: v1.SessionUpdate) -> str:
    match update:
        case v1.SessionUpdateUserMessageChunk():
            assert_type(update.session_update, Literal["user_message_chunk"])
            return "user"
        case v1.SessionUpdateAgentMessageChunk() | v1.SessionUpdateAgentThoughtChunk():
            assert_type(update.message_id, v1.MessageId | None)
            return "agent"
        case v1.ToolCall():
            assert_type(update.kind, v1.ToolKind)
            assert_type(update.content, list[v1.ToolCallContent])
            return update.title
        case v1.SessionUpdateToolCallUpdate():
            assert_type(update.status, v1.ToolCallStatus | None)
            assert_type(update.content, list[v1.ToolCallContent] | None)
            return update.tool_call_id
        case v1.Plan():
            return "plan"
        case v1.AvailableCommandsUpdate():
            return "commands"
        case v1.CurrentModeUpdate():
            return update.current_mode_id
        case v1.ConfigOptionUpdate():
            return "config"
        case v1.SessionInfoUpdate():
            assert_type(update.title, str | UnsetType | None)
            return "info" if update.title is UNSET else "title"
        case v1.UsageUpdate():
            assert_type(update.used, int)
            return "usage"
        case acp.UnknownVariant():
            return update.tag
        case _:
            assert_never(update)


def tool_content(content: v1.ToolCallContent) -> str:
    match content:
        case v1.Content():
            return content_text(content.content)
        case v1.Diff():
            assert_type(content.old_text, str | None)
            return content.new_text
        case v1.Terminal():
            return content.terminal_id
        case acp.UnknownVariant():
            return content.tag
        case _:
            assert_never(content)


def open_content(block: v2.ContentBlock) -> str:
    match block:
        case v2.TextContent():
            return block.text
        case v2.ImageContent() | v2.AudioContent():
            return block.data
        case v2.ResourceLink() | v2.EmbeddedResource():
            return "resource"
        case v2.ContentBlockOther():
            assert_type(block.type, str)
            assert_type(block.extra, dict[str, Any])
            return block.type
        case _:
            assert_never(block)


def servers(server: v1.McpServer) -> str:
    match server:
        case v1.McpServerHttp() | v1.McpServerSse():
            return server.url
        case v1.McpServerStdio():
            return server.command
        case acp.UnknownVariant():
            return server.tag
        case _:
            assert_never(server)


def request_params(message: v1.ClientRequest) -> str:
    match message:
        case v1.Request(id=request_id, params=v1.PromptRequest() as params):
            assert_type(request_id, v1.RequestId)
            assert_type(params.prompt, list[v1.ContentBlock])
            return params.session_id
        case v1.InitializeRequestMessage():
            assert_type(message.params, v1.InitializeRequest)
            assert_type(message.params.client_capabilities.fs.read_text_file, bool)
            return message.method
        case _:
            return "other"


def narrowed_by_tag(outcome: v1.RequestPermissionOutcome) -> str:
    if isinstance(outcome, acp.UnknownVariant):
        return outcome.tag
    if outcome.outcome == "cancelled":
        assert_type(outcome, v1.RequestPermissionOutcomeCancelled)
        return "cancelled"
    assert_type(outcome, v1.SelectedPermissionOutcome)
    return outcome.option_id


def three_states(update: v2.ToolCallUpdate) -> str:
    match update.title:
        case None:
            return "removed"
        case str() as title:
            return title
        case _:
            assert_type(update.title, UnsetType)
            return "unchanged"


def built() -> None:
    chunk = v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text="hello"))
    note = v1.SessionNotification(session_id=v1.SessionId("s1"), update=chunk)
    assert_type(note.meta, dict[str, Any] | None)
    assert_type(acp.encode(note), bytes)
    other = v2.ContentBlockOther(type="video", extra={"src": "x"})
    assert_type(other.type, str)
    usage = v1.UsageUpdate(used=1, size=2)
    assert_type(usage.size, int)
    v1.SetSessionConfigOptionRequestBoolean(session_id=v1.SessionId("s"), config_id=v1.SessionConfigId("c"), value=True)
    v1.SessionInfoUpdate(title=None)
    v2.SessionUpdateStateUpdateIdle(stop_reason=v2.StopReason.END_TURN)


def decoded(line: bytes) -> None:
    assert_type(acp.decode(line, type=v1.PromptRequest), v1.PromptRequest)
    assert_type(acp.decode_strict(line, type=v1.StopReason), v1.StopReason)
    assert_type(acp.convert({}, type=v1.LogoutRequest), v1.LogoutRequest)
    decoder = acp.Decoder(v1.SessionNotification, unknown="keep")
    assert_type(decoder.decode(line), v1.SessionNotification)
    block: v1.ContentBlock = acp.decode(line, type=v1.ContentBlock)
    content_text(block)
    reason = acp.decode(line, type=v1.StopReason)
    assert_type(reason, v1.StopReason)
    code = v1.ErrorCode.INVALID_PARAMS
    assert_type(code.is_known, bool)


def stop_reason(answer: v1.Response, typed: v1.Response[v1.PromptResponse]) -> v1.StopReason | str:
    assert_type(typed.result, v1.PromptResponse)
    assert_type(answer.result, Any)
    return typed.result.stop_reason
