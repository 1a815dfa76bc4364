"""Type checkers accept the examples (`make types` runs them) and refuse what is wrong."""

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.schema_files import LABELS
from tests.support import ROOT, check_each

pytestmark = pytest.mark.slow
UNIONS: Any = importlib.import_module("acp_msgspec._types.unions")

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
        "from msgspec import UNSET\nv1.ImageContent(data='', mime_type='image/png', uri=UNSET)\n",
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
    "a rule with a misspelt decision": ("print(aio.Rule(decide='allow'))\n", 1),
    "a rule with a misspelt condition": ("print(aio.Rule(decide='ask', paths='a'))\n", 1),
    "rules for the requests of another version": (
        "def f(r: aio.Rules[v2.RequestPermissionRequest], q: v1.RequestPermissionRequest) -> None: r.judge(q)\n",
        1,
    ),
    "a misspelt kind of option": ("print(v1.permission_options('allow'))\n", 1),
    "capabilities of another kind": ("print(v1.file_block('a', v1.AgentCapabilities()))\n", 1),
    "a diff without a new text": ("print(v1.diff('/a', 'x', None))\n", 1),
    "a builder that is not there": ("print(v1.texts('a'))\n", 1),
    "a misspelt way to treat unknown tags": ("acp.decode(b'', type=v1.TextContent, unknown='ignore')\n", 1),
}
HEAD = (
    "from typing import assert_never\nimport acp_msgspec as acp\nfrom acp_msgspec import aio, v1, v2\n"
    "print(assert_never, acp, aio, v1, v2)\n"
)


def right() -> Iterator[str]:
    """Write a match of every union, with a case for each class, and a call of every method: all as the schemas are."""
    yield "from typing import Any, assert_never, assert_type\nimport acp_msgspec as acp\n"
    yield "print(Any, assert_never, assert_type, acp)\n"
    for label in LABELS:
        module: Any = importlib.import_module(f"acp_msgspec.{label}")
        ends: Any = importlib.import_module(f"acp_msgspec.{label}.aio")
        yield f"from acp_msgspec import {label}\nfrom acp_msgspec.{label} import aio as {label}_aio\n"
        for name in module.__all__:
            spec: Any = UNIONS.spec_of(getattr(module, name))
            if spec is None:
                continue
            classes = list(UNIONS._variants(spec))
            if all(getattr(module, getattr(kind, "__name__", ""), None) is kind for kind in classes):
                yield from _match(label, name, [kind.__name__ for kind in classes], closed=spec.closed)
        names = {id(getattr(module, name)): f"{label}.{name}" for name in module.__all__} | {id(Any): "Any"}
        both = ends.ClientConnection, ends.AgentConnection
        for caller, handler in (both, both[::-1]):
            for envelope, coroutine in {**handler.side.requests, **handler.side.notifications}.items():
                method = module.METHODS[envelope.__struct_config__.tag]
                is_request = envelope in handler.side.requests
                params = names[id(method.request if is_request else method.notification)]
                result = names[id(method.response)] if is_request else "None"
                yield f"async def {caller.__name__}_{label}_{coroutine}(c: {label}_aio.{caller.__name__},"
                yield f" params: {params}) -> None:\n    assert_type(await c.{coroutine}(params), {result})\n"


def _match(label: str, union: str, classes: list[str], *, closed: bool) -> Iterator[str]:
    yield f"def match_{label}_{union}(it: {label}.{union}) -> None:\n    match it:\n"
    yield from (f"        case {label}.{name}():\n            return\n" for name in dict.fromkeys(classes))
    yield "        case acp.UnknownVariant():\n            return\n" if closed else ""
    yield "        case _:\n            assert_never(it)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "wrong"
    made.mkdir()
    for number, (text, _) in enumerate(WRONG.values()):
        (made / f"wrong_{number}.py").write_text(HEAD + text, encoding="utf-8")
    (made / "right.py").write_text("".join(right()), encoding="utf-8")
    return made


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


@pytest.mark.parametrize("checker", [pyright_lines, mypy_lines])
def test_what_is_wrong_is_refused_and_what_is_right_is_not(
    checker: Callable[[Path], dict[str, set[int]]], folder: Path
) -> None:
    """Take all files in one run of each checker; a match can be complete, and calls have types."""
    lines = checker(folder)

    def check(number: int) -> None:
        assert lines.get(f"wrong_{number}.py") == {list(WRONG.values())[number][1]}, list(WRONG)[number]

    check_each(range(len(WRONG)), check)
    assert "right.py" not in lines
