"""Errors of the peer become exceptions, in schemas that leave them free JSON, too."""

import asyncio
import importlib
import json
from collections.abc import Iterator
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1, v2

from tests.aio.support import run
from tests.support import generate_case, imported, raw_schema


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any, Any]]:
    """Give the package of a schema that has no definition `Error`, its module and its ends."""
    out = tmp_path_factory.mktemp("bare")
    raw = raw_schema("v1")
    del raw["$defs"]["Error"]
    schema = out / "schema.json"
    schema.write_text(json.dumps(raw).replace('{"$ref": "#/$defs/Error"}', "true"), encoding="utf-8")
    generate_case(schema, "bare", out / "made")
    with imported(out / "made", "bare", "bare_acp") as (package, module):
        yield package, module, importlib.import_module("bare_acp.bare.aio")


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ({"code": -32602, "message": "m", "data": [1]}, "m (-32602): [1]"),
        ({"code": 7, "message": "m"}, "m (7)"),
        ({"code": "7", "message": "m"}, "Internal error (-32603): {'code': '7', 'message': 'm'}"),
        ({"code": 7}, "Internal error (-32603): {'code': 7}"),
        ("boom", "Internal error (-32603): boom"),
        ([1], "Internal error (-32603): [1]"),
        (None, "Internal error (-32603)"),
        (0, "Internal error (-32603): 0"),
    ],
)
@pytest.mark.slow
def test_an_error_in_a_schema_without_errors(bare: tuple[Any, Any, Any], error: Any, shown: str) -> None:
    package, _, ends = bare
    aio = importlib.import_module(f"{package.__name__}.aio")

    async def main() -> None:
        ours, theirs = aio.memory_pair()
        async with ends.ClientConnection(ours, ends.Client()) as connection:
            for _ in range(2):  # the connection lives on
                call = asyncio.ensure_future(connection.call("session/list", {}))
                (request,) = map(json.loads, await theirs.receive())
                await theirs.send([json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}).encode()])
                with pytest.raises(package.RequestError) as caught:
                    await call
                assert str(caught.value) == shown

    run(main())


@pytest.mark.slow
def test_refusals_in_a_schema_without_errors(bare: tuple[Any, Any, Any]) -> None:
    package, module, _ = bare
    made = module.error_response(1, package.InvalidParams(data={"k": 1}))
    assert json.loads(package.encode(made))["error"] == {"code": -32602, "message": "Invalid params", "data": {"k": 1}}
    for _ in range(2):
        with pytest.raises(package.MessageError) as caught:
            module.decode_client_message(b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":1}')
        assert json.loads(package.encode(caught.value.reply))["error"]["code"] == -32602
    lines = importlib.import_module(f"{package.__name__}.tools.inspect.summaries")
    assert lines._error({"code": 5, "message": "m", "data": [1]}) == "5 m: [1]"
    assert lines._error("boom") == "-32603 Internal error: boom"


@pytest.mark.parametrize("module", [v1, v2])
def test_an_error_of_a_schema_keeps_its_class(module: Any) -> None:
    error = module.Error(code=module.ErrorCode(-32602), message="m", data={"k": 1})
    made = acp.RequestError.of(error)
    assert (type(made), made.code, made.message, made.data) == (acp.InvalidParams, -32602, "m", {"k": 1})
    assert type(made.code) is int
    bare = msgspec.defstruct("Bare", [("code", int), ("message", str), ("data", Any, msgspec.UNSET)])
    assert acp.RequestError.of(bare(code=1, message="m")).data is None
