"""What a handler gives always becomes an answer, and only what its method allows becomes a result."""

import asyncio
import importlib
import json
from collections.abc import Callable
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import aio, v1, v2
from msgspec import Raw

from tests.aio.support import RawPeer, run

RESULT_CHECK: Any = importlib.import_module("acp_msgspec.aio._engine.result_check")
SESSION = v1.SessionId("s")
LOAD: dict[str, Any] = {"sessionId": "s", "cwd": "/a", "mcpServers": []}
CYCLE: list[Any] = []
CYCLE.append(CYCLE)


def asked(number: int | str, method: str = "_x", params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


class Shouting(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


def changed(**attributes: Any) -> acp.RequestError:
    """Make an error whose attributes were set to something else later on."""
    made = acp.RequestError("m")
    vars(made).update(attributes)
    return made


class Text(str):
    """Text of a class that msgspec does not write."""


class Number(int):
    def __int__(self) -> int:
        raise ValueError("no number")


class Handler(aio.Agent):
    """Does whatever its test says."""

    def __init__(self, do: Callable[[], Any]) -> None:
        self.do = do

    async def extension_request(self, method: str, params: Raw, /) -> Any:
        return "fine" if method == "_x/fine" else self.do()

    async def session_load(self, params: v1.LoadSessionRequest, /) -> v1.LoadSessionResponse:
        result: v1.LoadSessionResponse = self.do()
        return result


def raising(why: BaseException) -> Callable[[], Any]:
    def do() -> Any:
        raise why

    return do


async def answered(do: Callable[[], Any], *requests: Any, **options: Any) -> tuple[list[Any], list[aio.Problem]]:
    problems: list[aio.Problem] = []
    here, there = aio.memory_pair()
    peer = RawPeer(here)
    async with aio.AgentConnection(there, Handler(do), on_problem=problems.append, **options):
        for request in requests or (asked(1),):
            await peer.send(msgspec.json.encode(request))
        answers = [await peer.next() for _ in requests or (1,)]
    return answers, problems


BROKEN: dict[str, tuple[BaseException, int, str | None]] = {
    "an exception for a message": (acp.InternalError(OSError(2, "nope")), -32603, "[Errno 2] nope"),  # type: ignore[arg-type]
    "an exception for the message of another error": (acp.InvalidParams(KeyError("k")), -32603, "'k'"),  # type: ignore[arg-type]
    "a message that has no text": (changed(message=Shouting()), -32603, "Shouting"),
    "no message at all": (changed(message=None), -32603, "None"),
    "bytes for a message": (acp.RequestError(b"\xff"), -32603, "b'\\xff'"),  # type: ignore[arg-type]
    "a text for a code": (acp.RequestError("m", code="bad"), -32603, "m"),  # type: ignore[arg-type]
    "a float for a code": (acp.RequestError("m", code=1.5), -32603, "m"),  # type: ignore[arg-type]
    "a boolean for a code": (acp.RequestError("m", code=True), -32603, "m"),
    "a code out of range": (acp.RequestError("m", code=2**40), -32603, "m"),
    "a huge code": (changed(code=10**5000), -32603, "m"),
    "data that is cyclic": (acp.InvalidParams("m", CYCLE), -32602, "m"),
    "data that is not JSON": (acp.ResourceNotFound("m", {"a": object()}), -32002, "m"),
    "data with keys that are not text": (acp.InvalidParams("m", {(1, 2): 3}), -32602, "m"),
    "a lone surrogate in the message": (acp.InvalidParams("caf\udce9.txt"), -32602, "caf\ufffd.txt"),
    "a lone surrogate in the data": (acp.InvalidParams("m", {"path": "caf\udce9.txt"}), -32602, "m"),
}


@pytest.mark.parametrize("name", list(BROKEN))
def test_an_error_that_cannot_be_sent_as_it_is(name: str) -> None:
    why, code, text = BROKEN[name]
    (answer,), problems = run(answered(raising(why)))
    assert (answer["id"], answer["error"]["code"], answer["error"]["message"]) == (1, code, text)
    assert [(p.kind, p.method, p.id) for p in problems] == [(aio.ProblemKind.HANDLER, "_x", 1)]
    if name == "a lone surrogate in the data":
        assert answer["error"]["data"] == {"path": "caf\ufffd.txt"}


@pytest.mark.parametrize("name", list(BROKEN))
def test_an_error_takes_no_other_answer_of_its_batch_along(name: str) -> None:
    batch = [asked("a", "_x/fine"), asked("b"), asked("c", "_x/fine")]
    answers: list[Any]
    (answers,), _ = run(answered(raising(BROKEN[name][0]), batch))
    assert {a["id"]: a.get("result", "error") for a in answers} == {"a": "fine", "b": "error", "c": "fine"}


RESULTS: dict[str, Any] = {
    "a cyclic value": CYCLE,
    "an object": object(),
    "a set of objects": {object()},
    "an exception": ValueError("x"),
    "a RequestError": acp.InvalidParams("x"),
    "a deep value": json.loads("[" * 900 + "]" * 900),
}


@pytest.mark.parametrize("name", list(RESULTS))
def test_a_result_that_is_not_json(name: str) -> None:
    (answer,), problems = run(answered(lambda: RESULTS[name]))
    if name == "a deep value":  # which some recursion limits allow
        assert answer.get("error", {"code": -32603})["code"] == -32603
        return
    assert answer["error"]["code"] == -32603
    assert [p.kind for p in problems] == [aio.ProblemKind.HANDLER]


@pytest.mark.parametrize("message", [Text("m"), v1.StopReason.END_TURN])
@pytest.mark.parametrize("code", [Number(5), 5])
def test_text_and_numbers_of_other_classes_are_sent_as_what_they_are(message: str, code: int) -> None:
    answers, problems = run(answered(raising(acp.RequestError(message, code=code))))
    assert answers[0]["error"] == {"code": 5, "message": str.__str__(message)}
    assert problems == []


@pytest.mark.parametrize("raw", [b"{bad", b"", b"1,2", b"NaN"])
def test_raw_json_that_is_none_spoils_no_line(raw: bytes) -> None:
    for do in (lambda: Raw(raw), raising(acp.RequestError("m", Raw(raw)))):
        answers, problems = run(answered(do, [asked(1), asked(2, "_x/fine")]))
        assert [("error" in a, a.get("result")) for a in answers[0]] == [(True, None), (False, "fine")]
        assert [p.kind for p in problems] == [aio.ProblemKind.HANDLER]


def test_calls_that_could_not_be_read_are_not_sent() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with aio.ClientConnection(here) as client:
            wrong: Any = None
            for call, error in (
                (client.call("session/new", Raw(b"{bad")), ValueError),
                (client.extension_call("_x", Raw(b"")), ValueError),
                (client.extension_notify("_x", Raw(b"NaN")), ValueError),
                (client.call("", {}), ValueError),
                (client.call(wrong, {}), TypeError),
            ):
                with pytest.raises(error):
                    await call
            await client.extension_notify("_x/end")
            assert (await peer.next())["method"] == "_x/end"

    run(turn())


def test_a_lone_surrogate_in_a_result_is_replaced_and_told() -> None:
    (answer,), problems = run(answered(lambda: {"a": ["\ud83d", {"\udce9": 1}], "b": "\ud83d\ude00"}))
    assert answer["result"] == {"a": ["\ufffd", {"\ufffd": 1}], "b": "\U0001f600"}
    assert [p.kind for p in problems] == [aio.ProblemKind.HANDLER]
    assert "$.a[0]" in problems[0].detail


WRONG: dict[str, Any] = {
    "None": None,
    "another class": v1.NewSessionResponse(session_id=SESSION),
    "params": v1.LoadSessionRequest(session_id=SESSION, cwd="/a", mcp_servers=[]),
    "a class of another version": v2.NewSessionResponse(session_id=v2.SessionId("s")),
    "the class itself": v1.LoadSessionResponse,
    "text": "done",
    "a number": 5,
    "a list": [],
    "a boolean": True,
}


@pytest.mark.parametrize("name", list(WRONG))
def test_a_wrong_result_is_an_error(name: str) -> None:
    (answer,), problems = run(answered(lambda: WRONG[name], asked(1, "session/load", LOAD)))
    assert answer["error"]["code"] == -32603
    assert [(p.kind, p.method) for p in problems] == [(aio.ProblemKind.HANDLER, "session/load")]
    assert "LoadSessionResponse" in problems[0].detail


@pytest.mark.parametrize(
    "result",
    [v1.LoadSessionResponse(), {}, {"_meta": {"a": 1}}, Raw(b'{"_meta":{}}')],
    ids=["object", "{}", "dict", "raw"],
)
def test_a_right_result_passes(result: Any) -> None:
    (answer,), problems = run(answered(lambda: result, asked(1, "session/load", LOAD)))
    assert "result" in answer
    assert problems == []


class Odd:
    """An object that cannot even be asked what it is."""

    def __getattribute__(self, name: str) -> Any:
        raise KeyError(name)


def test_a_result_that_cannot_be_looked_at_is_an_error() -> None:
    (answer,), problems = run(answered(Odd, asked(1, "session/load", LOAD)))
    assert answer["error"]["code"] == -32603
    assert [(p.kind, p.method) for p in problems] == [(aio.ProblemKind.HANDLER, "session/load")]


def test_a_plain_result_must_fit() -> None:
    class New(aio.Agent):
        async def session_new(self, params: v1.NewSessionRequest, /) -> Any:
            return {"sessionId": params.cwd} if params.cwd == "/a" else {"session_id": "s"}

    async def turn() -> None:
        problems: list[aio.Problem] = []
        here, there = aio.memory_pair()
        agent = aio.AgentConnection(there, New(), on_problem=problems.append)
        async with agent, aio.ClientConnection(here) as client:
            made = await client.session_new(v1.NewSessionRequest(cwd="/a", mcp_servers=[]))
            assert made.session_id == "/a"
            with pytest.raises(acp.InternalError):
                await client.session_new(v1.NewSessionRequest(cwd="/b", mcp_servers=[]))
            assert [p.kind for p in problems] == [aio.ProblemKind.HANDLER]

    run(turn())


@pytest.mark.parametrize("label", ["v1", "v1_unstable", "v2", "v2_unstable"])
def test_null_is_a_result_only_where_the_schema_says_so(label: str) -> None:
    ends: Any = importlib.import_module(f"acp_msgspec.{label}.aio")
    for method, known in ends.AgentConnection.side.methods.items():
        if known.response is not None:
            problem = RESULT_CHECK.result_check(known.response, validates=False)(None)
            assert (problem is None) is _takes_none(known.response), method


def _takes_none(kind: Any) -> bool:
    try:
        return acp.decode_strict(b"null", type=kind) is None
    except msgspec.ValidationError:
        return False


PROMPT = v1.PromptRequest(session_id=SESSION, prompt=[])
PLAIN: list[Any] = [None, 5, "text", True, []]


def test_params_of_another_class_are_not_sent() -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with aio.ClientConnection(here) as client:
            calls: list[Any] = [
                client.session_new(PROMPT),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
                client.call("session/load", PROMPT),
                client.call("session/new", v2.NewSessionRequest(cwd=v2.AbsolutePath("/a"))),
                client.call("session/set_mode", acp.UnknownVariant("a", "b", {})),
                client.session_cancel(PROMPT),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
                client.notify(PROMPT),
                *(client.call("session/new", params) for params in PLAIN),
            ]
            for call in calls:
                with pytest.raises(TypeError, match=r"PromptRequest|NewSessionRequest|UnknownVariant"):
                    await call
            await client.extension_notify("_x/end")
            assert (await peer.next())["method"] == "_x/end"

    run(turn())


def test_subclasses_and_unions_are_sent() -> None:
    class Mine(v1.NewSessionRequest):
        pass

    async def turn() -> None:
        here, there = aio.memory_pair()
        async with aio.AgentConnection(there, Handler(lambda: None)), aio.ClientConnection(here) as client:
            for method, params in (
                ("session/new", Mine(cwd="/a", mcp_servers=[])),
                ("session/set_config_option", {"sessionId": "s", "configId": "c", "value": "v"}),
                ("session/new", Raw(b'{"cwd":"/a","mcpServers":[]}')),
            ):
                with pytest.raises(acp.MethodNotFound):
                    await client.call(method, params)

    run(turn())


LATE = v1.PlanEntry(content="c", priority=v1.PlanEntryPriority.HIGH, status=v1.PlanEntryStatus.PENDING)


def test_validate_checks_all_that_is_sent() -> None:
    class Loose(aio.Agent):
        async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
            if params.cwd == "/plain":
                plain: Any = {"sessionId": "s", "modes": 5}  # which a reader repairs
                return plain  # type: ignore[no-any-return]
            return v1.NewSessionResponse(session_id=5 if params.cwd == "/bad" else SESSION)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]

    async def turn() -> None:
        problems: list[aio.Problem] = []
        here, there = aio.memory_pair()
        agent = aio.AgentConnection(there, Loose(), on_problem=problems.append, validate=True)
        async with agent, aio.ClientConnection(here, validate=True, on_problem=problems.append) as client:
            with pytest.raises(msgspec.ValidationError, match=r"\$\.cwd"):
                await client.session_new(v1.NewSessionRequest(cwd=5, mcp_servers=[]))  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
            with pytest.raises(msgspec.ValidationError):
                await client.session_cancel(v1.CancelNotification(session_id=7))  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
            with pytest.raises(msgspec.ValidationError):
                await client.call("session/new", {"cwd": 5})
            assert (await client.session_new(v1.NewSessionRequest(cwd="/a", mcp_servers=[]))).session_id == "s"
            with pytest.raises(acp.InternalError):
                await client.session_new(v1.NewSessionRequest(cwd="/bad", mcp_servers=[]))
            assert [p.kind for p in problems] == [aio.ProblemKind.HANDLER]
            assert "$.sessionId" in problems[0].detail
            with pytest.raises(acp.InternalError):
                await client.session_new(v1.NewSessionRequest(cwd="/plain", mcp_servers=[]))
            assert "$.modes" in problems[1].detail

    run(turn())


def test_a_lone_surrogate_in_a_call_is_replaced_and_told() -> None:
    async def turn() -> None:
        problems: list[aio.Problem] = []
        here, there = aio.memory_pair()
        peer = RawPeer(there)
        async with aio.ClientConnection(here, on_problem=problems.append) as client:
            call = asyncio.ensure_future(client.extension_call("_x", {"path": "caf\udce9"}))
            assert (await peer.next())["params"] == {"path": "caf\ufffd"}
            await client.session_cancel(v1.CancelNotification(session_id=v1.SessionId("\ud83d")))
            assert (await peer.next())["params"] == {"sessionId": "\ufffd"}
            assert [p.kind for p in problems] == [aio.ProblemKind.REPLACED] * 2
            assert ["$.path" in problems[0].detail, "$.sessionId" in problems[1].detail] == [True, True]
            call.cancel()
            await asyncio.wait([call])

    run(turn())
