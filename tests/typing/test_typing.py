"""Type checkers accept the examples (`make types` runs them) and refuse what is wrong."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT

pytestmark = pytest.mark.slow

WRONG = {
    "an arm is missing": (
        "def f(block: v1.ContentBlock) -> str:\n"
        "    match block:\n"
        "        case v1.TextContent() | v1.ImageContent() | v1.AudioContent() | v1.ResourceLink(): return ''\n"
        "        case v1.EmbeddedResource(): return ''\n"
        "        case _: assert_never(block)\n",
        5,
    ),
    "a field of another type": ("v1.TextContent(text=1)\n", 1),
    "a required field is missing": ("v1.ImageContent(data='')\n", 1),
    "a field that does not exist": ("v1.TextContent(text='', txt='')\n", 1),
    "a positional argument": ("v1.TextContent('')\n", 1),
    "plain text for an id": ("v1.PromptRequest(session_id='s', prompt=[])\n", 1),
    "a variant of another union": ("x: v1.ToolCallContent = v1.TextContent(text='')\n", 1),
    "null where nothing is nullable": ("v1.ToolCall(tool_call_id=v1.ToolCallId('t'), title='', kind=None)\n", 1),
    "unset where there are two states": (
        "from msgspec import UNSET\nv1.ToolCallUpdate(tool_call_id=v1.ToolCallId('t'), title=UNSET)\n",
        2,
    ),
    "params of another method": (
        "async def f(c: aio.ClientConnection) -> None:\n"
        "    await c.session_load(v1.NewSessionRequest(cwd='', mcp_servers=[]))\n",
        2,
    ),
    "a method of the other side": (
        "async def f(c: aio.AgentConnection) -> None:\n"
        "    print(await c.session_new(v1.NewSessionRequest(cwd='', mcp_servers=[])))\n",
        2,
    ),
    "a handler whose result is another": (
        "class A(aio.Agent):\n"
        "    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.PromptResponse:\n"
        "        raise NotImplementedError\n",
        2,
    ),
    "a handler of the other side": ("def f(t: aio.Transport) -> None:\n    aio.AgentConnection(t, aio.Client())\n", 2),
    "a name that is not there": ("print(aio.Nobody)\n", 1),
    "a transport that is none": ("aio.AgentConnection(5)\n", 1),
    "a handler of another method's params": (
        "class C(aio.Client):\n"
        "    async def fs_read_text_file(self, params: v1.PromptRequest, /) -> v1.ReadTextFileResponse: ...\n",
        2,
    ),
    "a decision that is none": ("aio.Permissions[v1.RequestPermissionRequest]('allow')\n", 1),
    "capabilities of the other side": (
        "async def f(c: aio.ClientConnection) -> None: await c.negotiate(capabilities=v1.AgentCapabilities())\n",
        1,
    ),
    "a ready handler that the schema has not": ("from acp_msgspec.v2.aio import ServesFiles\n", 1),
    "a misspelt way to treat unknown tags": ("acp.decode(b'', type=v1.TextContent, unknown='ignore')\n", 1),
}
HEAD = (
    "from typing import assert_never\nimport acp_msgspec as acp\nfrom acp_msgspec import aio, v1\n"
    "print(assert_never, acp, aio, v1)\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("wrong")
    for number, (text, _) in enumerate(WRONG.values()):
        (made / f"wrong_{number}.py").write_text(HEAD + text, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def pyright_lines(folder: Path) -> dict[str, set[int]]:
    run = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, folder],
        cwd=ROOT / "generated",
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[str, set[int]] = {}
    for entry in json.loads(run.stdout)["generalDiagnostics"]:
        if entry["severity"] == "error":
            name = Path(entry["file"]).name
            found.setdefault(name, set()).add(entry["range"]["start"]["line"] + 1 - HEAD.count("\n"))
    return found


@pytest.fixture(scope="module")
def mypy_lines(folder: Path) -> dict[str, set[int]]:
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--no-error-summary",
            "--config-file=",
            f"--cache-dir={folder / 'cache'}",  # not beside the emitted package
            *sorted(folder.glob("*.py")),
        ],
        cwd=ROOT / "generated",
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[str, set[int]] = {}
    for line in run.stdout.splitlines():
        path, number, kind, *_ = line.split(":")
        if kind.strip() == "error":
            found.setdefault(Path(path).name, set()).add(int(number) - HEAD.count("\n"))
    return found


@pytest.mark.parametrize("checker", ["pyright_lines", "mypy_lines"])
@pytest.mark.parametrize("number", range(len(WRONG)), ids=list(WRONG))
def test_refused(number: int, checker: str, request: pytest.FixtureRequest) -> None:
    lines: dict[str, set[int]] = request.getfixturevalue(checker)
    assert lines.get(f"wrong_{number}.py") == {list(WRONG.values())[number][1]}
