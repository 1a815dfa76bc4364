"""The official Python SDK, `agent-client-protocol`: the steps that its connection takes with a line.

Receiving (`acp._transport`, `acp.connection`, `acp.router`): strip the line, `json.loads`, look at `method` and `id`,
then `model_validate` of the params, or of the result of a response. "routed" goes on through the SDK's own router:
the route of the method, its coroutine, the model's fields as keyword arguments. Event loop, tasks and streams are
left out, as no other side has them.

Sending (`acp.utils`, `acp.connection`, `acp.task.sender`): `model_dump` of params or result, `json.dumps` of the
envelope, a newline, UTF-8.

This module runs in the venv of the SDK, which it reaches by name, since type checkers see another one.
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.lines import Line, load
from benchmarks.peers.serve import serve

SIDE = "official SDK"
schema: Any = import_module("acp.schema")
utils: Any = import_module("acp.utils")
MODELS: dict[str, Any] = {
    "session/update": schema.SessionNotification,
    "session/prompt": schema.PromptRequest,
    "session/new": schema.NewSessionRequest,
    "initialize result": schema.InitializeResponse,
}


class Handler:
    """A client and an agent that do nothing."""

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        """Take an update."""

    async def prompt(self, prompt: Any, session_id: str, **kwargs: Any) -> None:
        """Take a prompt."""


def receive(line: bytes, model: Any) -> Any:
    """Turn a line into the model of its params or result."""
    message = json.loads(line.strip())
    method = message.get("method")
    has_id = "id" in message
    if method is not None:
        return model.model_validate(message.get("params"))
    if has_id and "result" in message:
        return model.model_validate(message.get("result"))
    return None


def receive_routed(line: bytes, router: Any) -> None:
    """Turn a line into a call of the handler; its coroutine never waits, so one step runs it."""
    message = json.loads(line.strip())
    method = message.get("method")
    has_id = "id" in message
    if method is not None:
        coroutine = router(message["method"], message.get("params"), not has_id)
        try:
            coroutine.send(None)
        except StopIteration:
            return
        raise AssertionError("The handler waits")


def send(envelope: dict[str, Any], part: str, model: Any) -> bytes:
    """Turn a model into a line."""
    if part == "params":
        plain = utils.serialize_params(model)
    else:
        plain = model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)
    payload = {**envelope, part: plain}
    return (json.dumps(payload, separators=(",", ":")) + "\n").encode("utf-8")


def dump_json(model: Any) -> bytes:
    """Use pydantic's own encoder, as the SDK does not."""
    text: str = model.model_dump_json(by_alias=True, exclude_none=True, exclude_defaults=True)
    return text.encode()


def cases_of(line: Line, routers: dict[str, Any]) -> dict[str, Callable[[], object]]:
    """List what is timed on one line."""
    model_class = MODELS[line.kind]
    model = receive(line.line, model_class)
    plain = json.loads(line.line)
    part = "result" if "result" in plain else "params"
    del plain[part]
    if json.loads(send(plain, part, model)).keys() != json.loads(line.line).keys():
        raise AssertionError(f"{line.name}: the line does not come back")
    cases: dict[str, Callable[[], object]] = {
        f"decode line|{SIDE}|{line.name}": partial(receive, line.line, model_class),
        f"decode params|pydantic|{line.name}": partial(model_class.model_validate_json, line.params),
        f"encode line|{SIDE}|{line.name}": partial(send, plain, part, model),
        f"encode params|pydantic|{line.name}": partial(dump_json, model),
    }
    if line.kind in routers:
        cases[f"decode line|{SIDE}, routed|{line.name}"] = partial(receive_routed, line.line, routers[line.kind])
    return cases


def main() -> None:
    """Serve the cases of all lines."""
    routers = {
        "session/update": import_module("acp.client.router").build_client_router(Handler()),
        "session/prompt": import_module("acp.agent.router").build_agent_router(Handler()),
    }
    cases: dict[str, Callable[[], object]] = {}
    for line in load(Path(sys.argv[1])):
        cases |= cases_of(line, routers)
    serve(cases, {}, "agent-client-protocol", "pydantic")


if __name__ == "__main__":
    main()
