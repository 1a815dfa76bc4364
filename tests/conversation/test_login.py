"""Signing in when the agent asks for it: by the agent, in a terminal, once for all, or not at all."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio

from tests.aio.support import run
from tests.conversation.support import LABELS, Schema, Turn, agent_class, talk


@pytest.fixture(params=LABELS)
def schema(request: pytest.FixtureRequest) -> Schema:
    return Schema(request.param)


def _class(schema: Schema) -> Any:
    name = "method_id" if schema.has_idle else "id"

    base: Any = agent_class(schema)

    class Guarded(base):  # type: ignore[misc]
        is_in = False
        logins: list[str]

        async def initialize(self, params: Any, /) -> Any:
            self.logins = []
            answer: Any = await base.initialize(self, params)
            answer.auth_methods = [schema.AuthMethodAgent(**{name: "key"}, name="Key")]
            return answer

        async def session_new(self, params: Any, /) -> Any:
            if not self.is_in:
                await asyncio.sleep(0.01)
                raise acp.AuthenticationRequired
            return await base.session_new(self, params)

        async def _login(self, params: Any, /) -> Any:
            self.logins.append(params.method_id)
            self.is_in = True
            kind = schema.LoginAuthResponse if schema.has_idle else schema.AuthenticateResponse
            return kind()

        if schema.has_idle:
            auth_login = _login
        else:
            authenticate = _login

    return Guarded


async def _hello(turn: Turn) -> None:
    await turn.say("hello")


async def _first(ways: Any) -> Any:
    return ways[0]


def test_the_user_signs_in_once_for_all(schema: Schema) -> None:
    offered: list[Any] = []

    async def choose(ways: Any) -> Any:
        offered.append([way.name for way in ways])
        await asyncio.sleep(0.05)
        return ways[0]

    async def talk_in_session(agent: Any) -> str:
        async with agent.session(cwd="/") as session:
            answer: str = await session.ask("x")
            return answer

    async def main() -> None:
        async with talk(schema, _hello, kind=_class(schema), on_login=choose) as (agent, serving):
            assert await asyncio.gather(*(talk_in_session(agent) for _ in range(3))) == ["hello"] * 3
            assert serving.logins == ["key"]
            assert offered == [["Key"]]
            serving.is_in = False
            assert await talk_in_session(agent) == "hello"
            assert serving.logins == ["key", "key"]

    run(main())


async def _none(ways: Any) -> None:
    return None


@pytest.mark.parametrize("hook", [None, _none])
def test_without_a_login_the_refusal_stands(schema: Schema, hook: Any) -> None:
    async def main() -> None:
        async with talk(schema, _hello, kind=_class(schema), on_login=hook) as (agent, _):
            with pytest.raises(acp.AuthenticationRequired):
                await agent.session(cwd="/").__aenter__()

    run(main())


def test_a_login_in_the_middle_is_no_silence() -> None:
    schema = Schema("v1")
    refused: list[int] = []

    async def asking(turn: Turn) -> None:
        if not refused:
            refused.append(1)
            raise acp.AuthenticationRequired
        await turn.say("now")

    async def slow(ways: Any) -> Any:
        await asyncio.sleep(1.5)
        return ways[0]

    async def main() -> None:
        async with talk(schema, asking, kind=_class(schema), on_login=slow) as (agent, serving):
            serving.is_in = True
            async with agent.session(cwd="/", idle_timeout=1) as session:
                assert await session.ask("x") == "now"
            assert serving.logins == ["key"]

    run(main())


AGENT = """
import asyncio, os, pathlib, sys
import acp_msgspec as acp
from acp_msgspec.{label} import aio
from acp_msgspec import {label} as v

MARK = pathlib.Path(sys.argv[1])
if "--login" in sys.argv:
    MARK.write_text(os.environ["TOKEN"])
    sys.exit(int(sys.argv[-1]))

class Guarded(aio.Agent):
    def supports(self, name, /):
        return True

    async def initialize(self, params, /):
        answer = await super().initialize(params)
        env = {env}
        way = v.AuthMethodTerminal({name}="t", name="Terminal", args=["--login", sys.argv[2]], env=env)
        answer.auth_methods = [way]
        return answer

    async def session_new(self, params, /):
        if not MARK.exists() or sys.argv[2] != "0":
            raise acp.AuthenticationRequired
        return v.NewSessionResponse(session_id=MARK.read_text())

async def main():
    await aio.AgentConnection(await aio_stdio(), Guarded()).serve()

from acp_msgspec.aio import stdio as aio_stdio
asyncio.run(main())
"""


@pytest.mark.parametrize("status", [0, 3])
@pytest.mark.slow
def test_a_login_in_the_terminal(schema: Schema, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(acp.__file__).parent.parent))
    name, env = (
        ("method_id", "[v.EnvVariable(name='TOKEN', value='xyz')]") if schema.has_idle else ("id", "{'TOKEN': 'xyz'}")
    )
    script = tmp_path / "agent.py"
    script.write_text(AGENT.format(label=schema.label, name=name, env=env), encoding="utf-8")
    command = [sys.executable, str(script), str(tmp_path / "mark"), str(status)]

    async def main() -> None:
        async with schema.conversation.connect(command, on_login=_first) as agent:
            if status:
                with pytest.raises(acp.AuthenticationRequired, match="status 3"):
                    await agent.session(cwd="/").__aenter__()
                return
            async with agent.session(cwd="/") as session:
                assert session.id == "xyz"

    run(main())


def test_a_terminal_needs_the_command() -> None:
    schema = Schema("v1")

    async def terminal(ways: Any) -> Any:
        return schema.AuthMethodTerminal(id="t", name="T")

    async def main() -> None:
        async with talk(schema, _hello, kind=_class(schema), on_login=terminal) as (agent, _):
            with pytest.raises(acp.AuthenticationRequired, match="has not started the agent"):
                await agent.session(cwd="/").__aenter__()
            assert isinstance(agent, aio.ConnectedAgent)

    run(main())
