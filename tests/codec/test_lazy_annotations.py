"""Annotations that are evaluated when they are asked for, as since Python 3.14; before, a stand-in plays that part."""

import importlib
import inspect
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

STRUCTS: Any = importlib.import_module("acp_msgspec._types.structs")
SIGNATURES: Any = importlib.import_module("acp_msgspec.aio._session.handler_signatures")
IS_LAZY = sys.version_info >= (3, 14)


@pytest.fixture
def lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `annotationlib` be there, with what its documentation says of it."""
    if IS_LAZY:
        return

    def from_class_namespace(namespace: dict[str, Any]) -> Any:
        return namespace.get("__annotate_func__")

    def call(annotate: Callable[[int], Any], form: int) -> Any:
        return annotate(form)

    library = SimpleNamespace(
        Format=SimpleNamespace(FORWARDREF=3),
        get_annotate_from_class_namespace=from_class_namespace,
        call_annotate_function=call,
    )
    monkeypatch.setitem(sys.modules, "annotationlib", library)
    for module in (STRUCTS, SIGNATURES):
        monkeypatch.setattr(module, "sys", SimpleNamespace(version_info=(3, 14)))


def _annotate(_: int) -> dict[str, Any]:
    return {"text": str}


@pytest.mark.usefixtures("lazy")
@pytest.mark.parametrize("body", [{"__annotate_func__": _annotate}, {"__annotations__": _annotate(1)}])
def test_a_guarded_struct_keeps_its_fields(body: dict[str, Any]) -> None:
    kind = STRUCTS.KeywordOnly("Kind", (STRUCTS.AcpStruct,), {"__module__": __name__, **body}, untagged_by="type")
    assert [f.encode_name for f in msgspec.structs.fields(kind)] == ["text", "type"]
    assert msgspec.json.decode(b'{"text":"x"}', type=kind) == kind(text="x")
    empty = STRUCTS.KeywordOnly("Empty", (STRUCTS.AcpStruct,), {"__module__": __name__}, untagged_by="type")
    assert [f.encode_name for f in msgspec.structs.fields(empty)] == ["type"]


@pytest.mark.usefixtures("lazy")
def test_signatures_are_read_without_what_only_type_checkers_import(monkeypatch: pytest.MonkeyPatch) -> None:
    async def handler(self: Any, params: Any) -> None: ...

    if IS_LAZY:
        exec("async def handler(self, params: Nowhere) -> None: ...", scope := {"__name__": __name__})
        assert list(SIGNATURES.read_signature(scope["handler"]).parameters) == ["self", "params"]
        return
    asked: list[Any] = []
    read = inspect.signature

    def signature(function: Any, **options: Any) -> inspect.Signature:
        asked.append(options)
        return read(function)

    monkeypatch.setattr(inspect, "signature", signature)
    assert list(SIGNATURES.read_signature(handler).parameters) == ["self", "params"]
    assert asked == [{"annotation_format": 3}]
