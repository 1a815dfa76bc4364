"""Programs that use one part of a vendored copy, named `copied`, each with nothing else of the package at hand."""

START = """
import sys

sys.modules["acp_msgspec"] = None  # importing the original raises
import copied as acp
from copied import v1
"""
USES = {
    "types": """
block = acp.decode(b'{"type":"text","text":"hi"}', type=v1.ContentBlock)
assert block == v1.TextContent(text="hi")
assert acp.encode(block) == b'{"type":"text","text":"hi"}'
call, repairs = acp.decode_with_repairs(b'{"toolCallId":"t","title":"x","kind":"?"}', type=v1.ToolCall)
assert call.kind is v1.ToolKind.OTHER and [r.path for r in repairs] == ["$.kind"]
acp.validate(call)
assert set(acp.__all__) <= set(dir(acp)) and set(v1.__all__) <= set(dir(v1))
""",
    "messages": """
line = b'{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}'
message = v1.decode_client_message(line)
assert isinstance(message, v1.PromptRequestMessage) and message.params.session_id == "s"
try:
    v1.decode_client_message(line.replace(b'"s"', b"1"))
except acp.MessageError as why:
    assert why.path == "$.params.sessionId" and why.reply.id == 7
else:
    raise AssertionError
""",
    "state": """
from copied import state

session = state.SessionState()
session.apply(v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text="hi")))
assert "hi" in state.to_markdown(session.snapshot)
""",
    "aio": """
import asyncio
from copied import aio

class Answering(aio.Agent):
    async def session_new(self, params, /):
        return v1.NewSessionResponse(session_id=v1.SessionId("s1"))

async def main():
    here, there = aio.memory_pair()
    async with aio.AgentConnection(there, Answering()), aio.ClientConnection(here) as agent:
        return await agent.session_new(v1.NewSessionRequest(cwd="/project", mcp_servers=[]))

assert asyncio.run(main()).session_id == "s1"
""",
    "tools": """
import contextlib, io, pathlib
from copied.tools.cli import main

pathlib.Path("wire.log").write_text('> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}')
with contextlib.redirect_stdout(io.StringIO()) as out:
    assert main(["inspect", "wire.log"]) == 0
assert "initialize #0" in out.getvalue()
""",
}
IMPORT_ALL = """
import importlib, pathlib

folder = pathlib.Path(acp.__file__).parent
for path in sorted(folder.rglob("*.py")):
    name = ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
    importlib.import_module(name)
"""
