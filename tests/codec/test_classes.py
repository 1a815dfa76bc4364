"""Which classes each type takes: what builders and connections check before they send."""

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1, v1_unstable, v2
from msgspec import Raw

LABELS = ["v1", "v1_unstable", "v2", "v2_unstable"]
CLASSES = importlib.import_module("acp_msgspec._decode.classes")
accepts: Callable[[Any], frozenset[type[Any]]] = CLASSES.accepts
instance_check: Callable[[Any], Callable[[Any], bool]] = CLASSES.instance_check
why_invalid: Callable[[Any, Any], str | None] = CLASSES.why_invalid
END = v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)


class OwnResponse(v1.PromptResponse):
    """A response with something more."""

    more: int = 0


@pytest.mark.parametrize("label", LABELS)
def test_every_public_type_has_its_classes(label: str) -> None:
    module: ModuleType = importlib.import_module(f"acp_msgspec.{label}")
    names: list[str] = module.__all__
    types = [getattr(module, n) for n in names if n[0].isupper() and n != "METHODS"]
    assert len(types) > 150
    for kind in types:
        classes = accepts(kind)
        assert classes
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            assert classes == {kind}


@pytest.mark.parametrize(
    ("kind", "classes"),
    [
        (v1.SessionId, {str}),
        (v1.RequestId, {str, int, type(None)}),
        (v1.StopReason, {v1.StopReason}),
        (v1.AvailableCommandInput, {v1.UnstructuredCommandInput}),
        (v2.SessionUpdateOther, {v2.SessionUpdateOther}),
        (v1.ExtRequest, {object}),
        (v1.Response[v1.PromptResponse], {v1.Response}),
    ],
)
def test_classes_of_types(kind: Any, classes: set[Any]) -> None:
    assert accepts(kind) == classes


def test_an_untagged_union_takes_each_of_its_types() -> None:
    texts, blobs = v1.TextResourceContents(text="", uri="x:"), v1.BlobResourceContents(blob="", uri="x:")
    assert all(map(instance_check(v1.EmbeddedResourceResource), (texts, blobs)))


def test_closed_unions_take_unknown_variants_and_open_ones_catch_alls() -> None:
    unknown = acp.UnknownVariant("type", "video", {"type": "video"})
    other = v2.ContentBlockOther(type="video")
    assert instance_check(v1.ContentBlock)(unknown)
    assert not instance_check(v2.ContentBlock)(unknown)
    assert instance_check(v2.ContentBlock)(other)
    assert not instance_check(v1.ContentBlock)(other)


@pytest.mark.parametrize(
    ("kind", "value", "is_taken"),
    [
        (v1.PromptResponse, END, True),
        (v1.PromptResponse, OwnResponse(stop_reason=v1.StopReason.END_TURN), True),
        (v1.PromptResponse, Raw(b"{}"), True),
        (v1.PromptResponse, v1_unstable.PromptResponse(stop_reason=v1_unstable.StopReason.END_TURN), False),
        (v1.PromptResponse, v1.LogoutResponse(), False),
        (v1.PromptResponse, None, False),
        (v1.PromptResponse, {}, False),
        (v1.RequestId, True, False),
        (v1.RequestId, None, True),
        (v1.ElicitationContentValue, True, True),
        (float, 1, True),
        (float, True, False),
        (v1.ExtRequest, object(), True),
    ],
)
def test_instances(kind: Any, value: Any, is_taken: bool) -> None:
    assert instance_check(kind)(value) is is_taken


@pytest.mark.parametrize(
    ("method", "value", "problem"),
    [
        ("session/prompt", END, None),
        ("session/prompt", {"stopReason": "end_turn"}, None),
        ("session/prompt", {"stopReason": v1.StopReason.END_TURN, "_meta": 5}, None),
        ("session/prompt", {"stopReason": "later"}, "PromptResponse was expected: Invalid enum value 'later'"),
        ("session/prompt", {}, "Expected PromptResponse, got dict"),
        ("session/prompt", [END], "Expected PromptResponse, got list"),
        ("session/prompt", None, "Expected PromptResponse, got None"),
        ("session/prompt", object(), "Expected PromptResponse, got object"),
        ("session/prompt", {"stopReason": 10**5000}, "PromptResponse was expected: "),
        ("session/prompt", {"stopReason": {1j}}, "Expected PromptResponse, got dict"),
        ("logout", None, None),
        ("logout", {}, None),
        ("logout", 0, "Expected LogoutResponse, got int"),
        ("logout", v1.LogoutRequest(), "Expected LogoutResponse, got LogoutRequest"),
        ("elicitation/create", {"action": "later", "x": 1}, None),
        ("elicitation/create", None, "Expected CreateElicitationResponseAccept | "),
    ],
)
def test_results_of_methods(method: str, value: Any, problem: str | None) -> None:
    found = why_invalid(v1.METHODS[method].response, value)
    assert found is None if problem is None else found is not None and found.startswith(problem)


def test_a_class_of_another_schema_is_named_in_full() -> None:
    found = why_invalid(v1.LogoutResponse, v1_unstable.LogoutResponse())
    assert found == "Expected LogoutResponse, got acp_msgspec.v1_unstable.types.LogoutResponse"


def test_foreign_classes_have_no_place() -> None:
    with pytest.raises(TypeError, match="is not a type"):
        accepts(complex)
