"""What a type checker must see in the emitted types; `make types` checks this file, nothing runs it."""

from typing import Any, Literal, assert_never, assert_type

import acp_msgspec as acp
from acp_msgspec import aio, v1, v2
from acp_msgspec.v2 import aio as v2_aio
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
        case _:  # `test_typing` matches every variant of every union
            return "another"


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
            return "another"


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
    v2.SessionUpdateToolCallUpdate(tool_call_id=v2.ToolCallId("t"), status=v2.ToolCallStatus.COMPLETED)
    v2.SessionUpdateStateUpdateRunning()


def decoded(line: bytes) -> None:
    assert_type(acp.decode(line, type=v1.PromptRequest), v1.PromptRequest)
    assert_type(acp.decode_strict(line, type=v1.StopReason), v1.StopReason)
    assert_type(acp.convert({}, type=v1.LogoutRequest), v1.LogoutRequest)
    decoder = acp.Decoder(v1.SessionNotification, unknown="keep")
    assert_type(decoder.decode(line), v1.SessionNotification)
    block: v1.ContentBlock = acp.decode(line, type=v1.ContentBlock)
    content_text(block)
    other = acp.decode_strict(line, type=v2.ContentBlock)
    assert_type(other, v2.ContentBlock)
    open_content(other)
    reason = acp.decode(line, type=v1.StopReason)
    assert_type(reason, v1.StopReason)
    code = v1.ErrorCode.INVALID_PARAMS
    assert_type(code.is_known, bool)


def decoded_what_is_not_a_class(line: bytes, kind: type[Any], anything: Any) -> None:
    assert_type(acp.decode(line, type=v1.SessionUpdate), v1.SessionUpdate)
    assert_type(acp.decode(line, type=v1.CreateElicitationRequest), v1.CreateElicitationRequest)
    assert_type(acp.decode(line, type=v1.McpServer, unknown="keep"), v1.McpServer)
    assert_type(acp.decode(line, type=v1.RequestId), v1.RequestId)
    assert_type(acp.decode(line, type=v1.SessionId), v1.SessionId)
    assert_type(acp.decode(line, type=list[v1.ContentBlock]), list[v1.ContentBlock])
    assert_type(acp.decode(line, type=v1.Response[v1.PromptResponse]), v1.Response[v1.PromptResponse])
    assert_type(acp.decode_with_repairs(line, type=v1.SessionUpdate), tuple[v1.SessionUpdate, list[acp.Skipped]])
    assert_type(acp.convert({}, type=v1.ToolCallContent), v1.ToolCallContent)
    assert_type(acp.Decoder(v1.SessionUpdate, unknown="keep").decode(line), v1.SessionUpdate)
    assert_type(acp.decode(line, type=kind), Any)
    assert_type(acp.decode(line, type=anything), Any)
    update_name(acp.decode(line, type=v1.SessionUpdate))


def stop_reason(answer: v1.Response, typed: v1.Response[v1.PromptResponse]) -> v1.StopReason | str:
    assert_type(typed.result, v1.PromptResponse)
    assert_type(answer.result, Any)
    return typed.result.stop_reason


class ReadyClient(aio.ServesFiles, aio.ServesTerminals, aio.DecidesPermissions):
    def __init__(self) -> None:
        self.files = aio.Files("/work", read_only=True)
        self.terminals = aio.Terminals("/work", allow=lambda command: command.command == "make")
        self.permissions = aio.Permissions(policy, remember=True)

    def capabilities(self) -> v1.ClientCapabilities:
        made = super().capabilities()
        assert_type(made, v1.ClientCapabilities)
        return made


async def policy(request: v1.RequestPermissionRequest) -> aio.Decision | None:
    return "allow_once" if request.tool_call.kind is v1.ToolKind.READ else None


class LaterClient(v2_aio.DecidesPermissions):
    permissions = aio.Permissions[v2.RequestPermissionRequest]("reject_once")


async def connected(transport: aio.Transport) -> None:
    async with aio.ClientConnection(transport, ReadyClient()) as conn:
        assert_type(await conn.negotiate(), v1.InitializeResponse)
        assert_type(conn.handshake, aio.Handshake[v1.InitializeRequest, v1.InitializeResponse] | None)
        await conn.session_cancel(v1.CancelNotification(session_id=v1.SessionId("s")), force=True)
    async with v2_aio.ClientConnection(transport, LaterClient()) as later:
        info = v2.Implementation(name="me", version="1")
        assert_type(await later.negotiate(info=info, timeout=5), v2.InitializeResponse)
    async with aio.AgentConnection(transport, aio.Agent()) as agent:
        if agent.handshake is not None:
            assert_type(agent.handshake.request.client_capabilities, v1.ClientCapabilities)


def builders(path: str, capabilities: v1.PromptCapabilities, newer: v2.PromptCapabilities | None) -> v1.PromptRequest:
    assert_type(v1.text("x"), v1.TextContent)
    assert_type(v1.diff(path, None, "x"), v1.Diff)
    assert_type(v2.diff(path, "x", None), v2.Diff)
    assert_type(v1.plan_entries(["a", "b"], current=0), list[v1.PlanEntry])
    assert_type(v1.permission_options("allow_once", v1.PermissionOptionKind.REJECT_ONCE), list[v1.PermissionOption])
    assert_type(v2.embedded(path), v2.EmbeddedResource)
    update: v1.SessionUpdate = v1.Plan(entries=v1.plan_entries(step for step in ["a"]))
    blocks: list[v1.ContentBlock] = [v1.text("x"), v1.link(path), v1.file_block(path, capabilities)]
    later: list[v2.ContentBlock] = [v2.text("x"), v2.file_block(path, newer, as_text=True)]
    output: list[v1.ToolCallContent] = [v1.diff(path, "x", "y"), v1.Content(content=v1.text("done"))]
    match v1.file_block(path):
        case v1.TextContent() | v1.ImageContent() | v1.AudioContent() | v1.ResourceLink() | v1.EmbeddedResource():
            print(update, later, output)
    return v1.PromptRequest(session_id=v1.SessionId("s"), prompt=blocks)


class Ruled(aio.DecidesPermissions):
    def __init__(self, path: str) -> None:
        self.permissions = aio.Permissions(aio.Rules[v1.RequestPermissionRequest].load(path, ask="reject_once"))


async def ask_the_user(request: v2.RequestPermissionRequest) -> aio.Decision:
    return "allow_once" if request.title else "reject_once"


def ruled(request: v2.RequestPermissionRequest) -> aio.Permissions[v2.RequestPermissionRequest]:
    only = aio.Rule(decide="allow_once", kind=("read", "search"), path=["src/**"], why="reading is fine")
    rules = aio.Rules[v2.RequestPermissionRequest]([only], root=".", ask=ask_the_user, call_of=lambda r: r.subject)
    verdict = rules.judge(request)
    assert_type(verdict.decision, aio.Decide)
    assert_type(verdict.rule, aio.Rule | None)
    return aio.Permissions(rules, remember=True)
