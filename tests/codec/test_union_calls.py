"""Unions that are called as if they were classes, which say what to call instead, and still decode as before."""

import builtins
import re
from types import ModuleType
from typing import Any, get_args, get_type_hints

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1, v1_unstable, v2, v2_unstable

from tests.support import check_each

UNIONS: Any = __import__("acp_msgspec._types.unions", fromlist=["x"])
ALIASES = [
    (module, name)
    for module in (v1, v1_unstable, v2, v2_unstable)
    for name in module.__all__
    if UNIONS.spec_of(getattr(module, name)) is not None
]


def test_every_union_names_itself_and_its_classes() -> None:
    check_each(ALIASES, _names_itself_and_its_classes)


def _names_itself_and_its_classes(alias: tuple[ModuleType, str]) -> None:
    module, name = alias
    union: Any = getattr(module, name)
    for arguments in ({}, {"text": "x"}, {"session_id": "s", "message": "?"}):
        with pytest.raises(TypeError) as caught:
            union(**arguments)
        # Aliases of the same classes, such as the answers of either side, have names of their own.
        begin, _, classes = str(caught.value).partition(" is a union and cannot be called; use one of its classes: ")
        assert begin == name
        found = classes.split(", ")
        assert found
        assert len(set(found)) == len(found)
        for each in found:
            inner = each.removeprefix("list[").removesuffix("]")
            kind: Any = vars(builtins).get(inner) or getattr(module, inner)
            assert isinstance(kind, type)
            assert issubclass(kind, msgspec.Struct | acp.CatchAll | str | int | float)


def test_positional_arguments() -> None:
    unions: list[Any] = [v1.ContentBlock, v1.McpServer, v1.CreateElicitationRequest, v2.StateUpdate]
    for union in unions:
        with pytest.raises(TypeError, match="is a union and cannot be called"):
            union("x")


def test_all_classes_are_named_those_of_unions_inside_too() -> None:
    called: Any = v1.CreateElicitationRequest
    names = ("FormSession", "FormRequest", "UrlSession", "UrlRequest", "OtherSession", "OtherRequest")
    with pytest.raises(TypeError, match=re.escape(", ".join(f"CreateElicitationRequest{n}" for n in names))):
        called(message="?")
    called = v1.MessageFromAgent
    with pytest.raises(TypeError, match=r"SessionNotificationMessage.*ErrorResponse$"):
        called()
    called = v1.SessionConfigSelectOptions
    with pytest.raises(TypeError, match=r"list\[SessionConfigSelectOption\], list\[SessionConfigSelectGroup\]$"):
        called()


class Holder(msgspec.Struct):
    one: v1.ContentBlock
    many: list[v1.ContentBlock]
    maybe: v1.McpServer | None = None


def test_unions_are_still_types() -> None:
    text = {"type": "text", "text": "x"}
    server: dict[str, Any] = {"name": "m", "command": "/m", "args": [], "env": []}
    got = acp.convert({"one": text, "many": [text], "maybe": server}, type=Holder)
    assert got == Holder(
        v1.TextContent(text="x"),
        [v1.TextContent(text="x")],
        v1.McpServerStdio(name="m", command="/m", args=[], env=[]),
    )
    assert set(get_type_hints(Holder)) == {"one", "many", "maybe"}
    union: Any = v1.ContentBlock
    assert set(get_args(get_args(union)[0])) > {v1.TextContent, v1.ImageContent}
    assert "TextContent | ImageContent" in repr(union)
    assert msgspec.json.decode(b'{"type":"text","text":"x"}', type=union) == v1.TextContent(text="x")
    assert isinstance(msgspec.inspect.type_info(union), msgspec.inspect.UnionType)
