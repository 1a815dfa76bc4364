"""Building messages: what of another class is refused, and what the error says."""

import copy
import importlib
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import v1, v1_unstable
from msgspec import Raw

from tests.oracle.instances import Maker, Style
from tests.oracle.schema_walk import Schema

LABELS = ["v1", "v1_unstable", "v2", "v2_unstable"]
END = v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)
PROMPT = v1.PromptRequest(session_id=v1.SessionId("s"), prompt=[])


class OwnResponse(v1.PromptResponse):
    """A response with something more."""

    more: int = 0


RESULTS: list[Any] = [
    END,
    OwnResponse(stop_reason=v1.StopReason.END_TURN),
    Raw(b"null"),
    v1.CreateElicitationResponseCancel(),
    v1.CreateElicitationResponseOther(action="later"),
]


@pytest.mark.parametrize("result", RESULTS, ids=lambda r: type(r).__name__)
def test_results(result: Any) -> None:
    assert v1.response(1, result).result is result


WRONG: list[tuple[Any, str]] = [
    (PROMPT, "No method has a result of the class PromptRequest; expected a response class"),
    (v1.TextContent(text="x"), "No method has a result of the class TextContent"),
    (v1_unstable.PromptResponse(stop_reason=v1_unstable.StopReason.END_TURN), "No method has a result of the class"),
    (v1.response(1, END), "No method has a result of the class Response"),
    (v1.Error(code=v1.ErrorCode.INTERNAL_ERROR, message="m"), "No method has a result of the class Error"),
    (acp.InternalError(), "No method has a result of the class InternalError"),
    (acp.UnknownVariant("a", "b", {"a": "b"}), "No method has a result of the class UnknownVariant"),
    (v1.PromptResponse, "No method has a result of the class StructMeta|KeywordOnly"),
    (None, "No method has a result of the class NoneType; .* plain values need `method`, or to be Raw"),
    ({"stopReason": "end_turn"}, "No method has a result of the class dict; .* plain values need `method`"),
    ([], "class list"),
    (5, "class int"),
    (True, "class bool"),
    ("x", "class str"),
    (object(), "class object"),
]


@pytest.mark.parametrize(("result", "problem"), WRONG, ids=lambda v: type(v).__name__)
def test_wrong_results(result: Any, problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        v1.response(1, result)
    with pytest.raises(TypeError, match=r"for the result of 'session/prompt'") as caught:
        v1.response(1, result if result != {"stopReason": "end_turn"} else {"stopReason": 5}, method="session/prompt")
    assert "PromptResponse" in str(caught.value)


def test_results_of_a_method(relaying: tuple[Any, Any]) -> None:
    plain = {"stopReason": "end_turn", "_meta": {"k": 1}}
    assert v1.response(1, END, method="session/prompt").result is END
    assert v1.response(1, plain, method="session/prompt").result is plain
    assert v1.response(1, None, method="logout").result is None
    assert v1.response(1, [1], method="_vendor/x").result == [1]
    assert relaying[1].response(1, [1], method="relay").result == [1]
    with pytest.raises(TypeError, match="Expected LogoutResponse, got PromptResponse, for the result of 'logout'"):
        v1.response(1, END, method="logout")
    for method in ("session/cancel", "session/fly", ""):
        with pytest.raises(ValueError, match="is not a request of this protocol"):
            v1.response(1, END, method=method)


def test_free_json_is_no_place_for_params(relaying: tuple[Any, Any]) -> None:
    # What answers `relay` may be any JSON.
    module = relaying[1]
    assert module.response(1, {"tools": []}).result == {"tools": []}
    with pytest.raises(TypeError, match="No method has a result of the class AskRequest"):
        module.response(1, module.AskRequest(q="?"))


@pytest.mark.parametrize("label", LABELS)
def test_every_response_class_is_taken(label: str) -> None:
    module = importlib.import_module(f"acp_msgspec.{label}")
    made = Maker(Schema(label), Style.MINIMAL)
    for name, method in module.METHODS.items():
        if isinstance(method.response, type) and method.response is not Any:
            for given, _ in made.pairs(str(method.response.__name__)):
                kind: Any = method.response
                result: Any = acp.convert(given, type=kind)
                assert module.response(1, result, method=name).result is result
                assert module.response(1, result).result is result


def test_a_schema_without_results_takes_any() -> None:
    schema: Any = importlib.import_module("acp_msgspec.v1.messages")._SCHEMA
    early = copy.copy(schema)
    early.methods, early.results, early.error = {}, set(), Any
    for result in (None, {"a": 1}, END):
        early.check_result(result, None)
    assert early.refused(1, {"code": 1}).error == {"code": 1}


NO_ERRORS: list[Any] = [
    {"code": 1, "message": "m"},
    None,
    "refused",
    5,
    END,
    ValueError("no"),
    acp.InternalError,
    v1_unstable.Error(code=v1_unstable.ErrorCode.INTERNAL_ERROR, message="m"),
]


@pytest.mark.parametrize("error", NO_ERRORS, ids=lambda e: type(e).__name__)
def test_wrong_errors(error: Any) -> None:
    with pytest.raises(TypeError, match="An error response needs an error: expected Error or RequestError, got "):
        v1.error_response(1, error)


WRONG_PARAMS: list[Any] = [
    END,
    {},
    None,
    5,
    Raw(b"{}"),
    v1.TextContent(text="x"),
    v1.response(1, END),
    v1.PromptRequest,
]


@pytest.mark.parametrize("params", WRONG_PARAMS, ids=lambda e: type(e).__name__)
def test_wrong_params(params: Any) -> None:
    make_request: Any = v1.request
    make_notification: Any = v1.notification
    with pytest.raises(TypeError, match=r"No request has params of the class .*; expected the class that a method has"):
        make_request(1, params)
    with pytest.raises(TypeError, match="No notification has params of the class "):
        make_notification(params)


def test_params_of_the_other_kind() -> None:
    make: Any = v1.notification
    with pytest.raises(
        TypeError, match="No notification has params of the class PromptRequest; it belongs to a request"
    ):
        make(PROMPT)
