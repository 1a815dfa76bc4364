"""What the tests of handlers share: making classes from text."""

import asyncio
import functools
import inspect
import sys
import textwrap
import types
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from unittest.mock import AsyncMock

import pytest
from acp_msgspec import aio, v1, v1_unstable, v2
from acp_msgspec.v1 import aio as v1_aio
from acp_msgspec.v1_unstable import aio as v1_unstable_aio
from acp_msgspec.v2 import aio as v2_aio
from acp_msgspec.v2_unstable import aio as v2_unstable_aio

ENDS: list[Any] = [v1_aio, v1_unstable_aio, v2_aio, v2_unstable_aio]
each_schema = pytest.mark.parametrize("ends", ENDS, ids=[m.__name__.split(".")[1] for m in ENDS])
NAMES = {
    "Any": Any,
    "AsyncMock": AsyncMock,
    "Awaitable": Awaitable,
    "Coroutine": Coroutine,
    "aio": aio,
    "asyncio": asyncio,
    "functools": functools,
    "sys": sys,
    "types": types,
    "v1": v1,
    "v1_unstable": v1_unstable,
    "v2": v2,
}


def made(body: str, base: Any = aio.Agent, *, name: str = "Mine", head: str = "") -> Any:
    """Make a class of the text of its body."""
    found: dict[str, Any] = {}
    text = f"class {name}(Base{head}):\n{textwrap.indent(body, '    ')}{' ...' if body.endswith(':') else ''}\n"
    exec(text, {**NAMES, "Base": base}, found)
    return found[name]


def refused(body: str, base: Any = aio.Agent) -> str:
    """Give what the class is refused with; the same methods are refused of an object of a class of its own, too."""
    with pytest.raises(TypeError) as caught:
        made(body, base)
    return str(caught.value)


class Plain:
    async def session_prompt(self, params: v1.PromptRequest) -> v1.PromptResponse:
        return v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)


class Agent(aio.Agent):
    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        return v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)


class Client(aio.Client):
    async def session_update(self, params: v1.SessionNotification, /) -> None: ...


def returns(value: Any) -> Callable[[object], Any]:
    def factory(connection: object) -> Any:
        return value() if inspect.iscoroutinefunction(value) else value

    return factory


async def later() -> Agent:
    return Agent()
