"""Real agents, without credentials: how far each lets us come. `make interop-agents` installs them and tries.

They are installed into `.venv/agents` and run with a home folder that is thrown away. What is recorded in
`agents.json` has no times, paths or ids in it. `python -m tests.interop.agents NAME …` tries some again.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import acp_msgspec as acp
import msgspec
from acp_msgspec import aio, v1

from docs.build import Failure, node, npm
from tests.interop import install, table
from tests.support import ROOT

FOLDER = ROOT / ".venv" / "agents"
LIMIT = 60.0  # seconds for one step
INSTALLING = 600.0
T = TypeVar("T")
STEPS = ("initialize", "session/new", "session/prompt")


@dataclass(frozen=True, slots=True)
class Agent:
    """A package of npm or PyPI that has an agent, and the command that starts it."""

    package: str
    version: str
    command: tuple[str, ...]
    registry: str = "npm"
    python: tuple[int, int] = (3, 11)

    @property
    def folder(self) -> Path:
        """Where it is installed."""
        return FOLDER / re.sub(r"\W+", "-", f"{self.package}-{self.version}").strip("-")


AGENTS = [
    Agent("@google/gemini-cli", "0.61.0", ("gemini", "--acp")),
    Agent("opencode-ai", "1.18.33", ("opencode", "acp")),
    Agent("@agentclientprotocol/claude-agent-acp", "0.101.0", ("claude-agent-acp",)),
    Agent("@agentclientprotocol/codex-acp", "2.6.0", ("codex-acp",)),
    Agent("@qwen-code/qwen-code", "0.24.4", ("qwen", "--acp")),
    Agent("@github/copilot", "1.0.102", ("copilot", "--acp")),
    Agent("@augmentcode/auggie", "0.36.0", ("auggie", "--acp")),
    Agent("cline", "3.0.65", ("cline", "--acp")),
    Agent("droid", "0.215.0", ("droid", "exec", "--output-format", "acp")),
    # 1.52.0 only says that it has a successor elsewhere.
    Agent("kimi-cli", "1.51.0", ("kimi", "acp"), "PyPI", (3, 13)),
    Agent("fast-agent-mcp", "0.10.48", ("fast-agent-acp", "--model", "passthrough"), "PyPI", (3, 13)),
    Agent("mistral-vibe", "2.26.1", ("vibe-acp",), "PyPI", (3, 12)),
]


def installed(agent: Agent) -> None:
    """Install an agent unless that was done; raise `Failure` where it cannot be."""
    stamp = agent.folder / ".installed"
    if stamp.exists():
        return
    agent.folder.mkdir(parents=True, exist_ok=True)
    wanted = f"{agent.package}@{agent.version}"
    if agent.registry == "npm":
        (agent.folder / "package.json").write_text('{"name": "agent", "private": true}\n', encoding="utf-8")
        install.run(
            [*npm(), "install", "--no-audit", "--no-fund", "--loglevel=error", wanted], agent.folder, INSTALLING
        )
    else:
        python = _python(agent)
        install.run([python, "-m", "venv", "--clear", str(agent.folder / "python")], agent.folder)
        own = str(agent.folder / "python" / "bin" / "python")
        pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        install.run([*pip, f"{agent.package}=={agent.version}"], agent.folder, INSTALLING)
    stamp.touch()


def _python(agent: Agent) -> str:
    """Find an interpreter that the package accepts."""
    if sys.version_info >= agent.python:
        return sys.executable
    for minor in range(agent.python[1], 20):
        found = shutil.which(f"python3.{minor}")
        if found is not None and subprocess.run([found, "--version"], capture_output=True, check=False).returncode == 0:
            return found
    raise Failure(f"it needs Python 3.{agent.python[1]} or newer, which was not there")


def program(agent: Agent) -> list[str]:
    """Give the command with the path of its program."""
    bins = agent.folder / ("node_modules/.bin" if agent.registry == "npm" else "python/bin")
    return [str(bins / agent.command[0]), *agent.command[1:]]


class Reader:
    """What our reader met: repairs, unknown variants, problems."""

    def __init__(self) -> None:
        self.met: Counter[str] = Counter()

    def skipped(self, skipped: acp.Skipped) -> None:
        """Keep the place of a repair, without the numbers in it."""
        path = re.sub(r"\[\d+\]", "[…]", str(skipped.path))
        self.met[f"a repair at `{path}`: {skipped.action}"] += 1

    def problem(self, problem: aio.Problem) -> None:
        """Keep what went wrong."""
        about = f" of `{problem.method}`" if problem.method else ""
        self.met[f"{problem.kind.value}{about}: {shown(problem.detail)}"] += 1

    def looked_at(self, value: Any) -> None:
        """Look for what was kept because its kind is unknown."""
        if isinstance(value, acp.UnknownVariant):
            self.met[f"an unknown `{value.tag_field}`: `{value.tag}`"] += 1
        elif isinstance(value, msgspec.Struct):
            for name in value.__struct_fields__:
                self.looked_at(getattr(value, name))
        elif isinstance(value, list):
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                self.looked_at(item)

    def told(self) -> str:
        """Say all of it in a cell of a table."""
        parts = [f"{what} ({times} times)" if times > 1 else what for what, times in sorted(self.met.items())]
        return "; ".join(parts) or "nothing"


class Client(aio.Client):
    """A client that can read and write no files: it only listens."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.text: list[str] = []

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        self.reader.looked_at(params)
        if isinstance(params.update, v1.SessionUpdateAgentMessageChunk) and isinstance(
            params.update.content, v1.TextContent
        ):
            self.text.append(params.update.content.text)

    async def session_request_permission(self, params: v1.RequestPermissionRequest, /) -> v1.RequestPermissionResponse:
        return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled())


def shown(text: str, limit: int = 100) -> str:
    """Make a text fit into a cell: one line, without paths and ids."""
    line = " ".join(text.split()).replace("|", "/").replace("<", "&lt;")
    line = re.sub(r"(/[\w.@+-]+){2,}", "(path)", line)
    line = re.sub(r"\b[0-9a-f]{8}-[0-9a-f-]{20,}\b", "(id)", line)
    return line if len(line) <= limit else line[: limit - 1] + "…"


async def attempt(work: Awaitable[T]) -> tuple[T | None, str]:
    """Wait for an answer; give it, or in words why there is none."""
    try:
        async with asyncio.timeout(LIMIT):
            return await work, "ok"
    except acp.RequestError as why:
        more = f": {shown(why.data)}" if isinstance(why.data, str) else ""
        return None, f"{why.code} {shown(why.message)}{more}"
    except acp.MessageError as why:
        return None, f"unreadable: {shown(str(why))}"
    except TimeoutError:
        return None, f"no answer in {LIMIT:.0f} s"
    except aio.ConnectionClosed as why:
        return None, f"ended: {shown(str(why))}"


async def tried(agent: Agent, home: Path) -> dict[str, Any]:
    """Go as far as an agent lets us."""
    reader = Reader()
    client = Client(reader)
    work = home / "work"
    work.mkdir()
    transport = await aio.spawn(program(agent), cwd=work, env=_environment(home))
    made = aio.ClientConnection(transport, client, on_skip=reader.skipped, on_problem=reader.problem)
    async with made as connection:
        steps = await taken(connection, client, work)
    return {"steps": steps, "reader": reader.told()}


async def taken(connection: aio.ClientConnection, client: Client, work: Path) -> dict[str, str]:
    """Take the steps until one fails; tell how each went."""
    steps: dict[str, str] = {}
    about = v1.Implementation(name="acp-msgspec", version=acp.__version__)
    first, steps[STEPS[0]] = await attempt(
        connection.initialize(v1.InitializeRequest(protocol_version=1, client_info=about))
    )
    if first is None:
        return steps
    client.reader.looked_at(first)
    name = f"{first.agent_info.name} {first.agent_info.version}, " if first.agent_info else ""
    ways = ", ".join(method.id for method in first.auth_methods if not isinstance(method, acp.UnknownVariant))
    steps[STEPS[0]] = f"ok: {name}version {first.protocol_version}" + (f"; signs in by {ways}" if ways else "")
    session, steps[STEPS[1]] = await attempt(
        connection.session_new(v1.NewSessionRequest(cwd=str(work), mcp_servers=[]))
    )
    if session is None:
        return steps
    client.reader.looked_at(session)
    modes = len(session.modes.available_modes) if session.modes else 0
    steps[STEPS[1]] = f"ok: {modes} modes, {len(session.config_options or [])} settings"
    prompt = v1.PromptRequest(session_id=session.session_id, prompt=[v1.TextContent(text="Say hello.")])
    answer, steps[STEPS[2]] = await attempt(connection.session_prompt(prompt))
    if answer is not None:
        steps[STEPS[2]] = f"ok: {answer.stop_reason}"
    if client.text:
        steps[STEPS[2]] += f", “{shown(''.join(client.text))}”"
    return steps


def _environment(home: Path) -> dict[str, str]:
    """Give the environment of an agent: no credentials, and the node that installed it."""
    paths = [str(node().parent), *os.environ.get("PATH", "").split(os.pathsep)]
    return {"HOME": str(home), "PATH": os.pathsep.join(paths), "TERM": "dumb", "LANG": "C.UTF-8", "NO_BROWSER": "1"}


def main() -> None:
    """Install and try all agents, or those named; record, and fill the page."""
    known = {entry["package"]: entry for entry in json.loads(table.AGENTS.read_text())} if table.AGENTS.exists() else {}
    chosen = [agent for agent in AGENTS if len(sys.argv) < 2 or agent.package in sys.argv[1:]]
    for agent in chosen:
        about = {"package": agent.package, "version": agent.version}
        try:
            installed(agent)
        except Failure as why:
            said = [line for line in str(why).splitlines() if line.strip()]
            last = said[-2 if len(said) > 1 else -1]  # the tool's last words, before ours
            entry = {**about, "problem": f"not installed: {shown(last)}"}
        else:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
                entry = {**about, **asyncio.run(tried(agent, Path(home)))}
        known[agent.package] = entry
        print(json.dumps(entry, ensure_ascii=False))
    table.AGENTS.write_text(table.as_json([known[a.package] for a in AGENTS if a.package in known]), encoding="utf-8")


if __name__ == "__main__":
    main()
