"""Text with lone surrogates: where `encode` finds it, and what `encode_replacing` makes of it."""

import importlib
import json
from collections.abc import Callable
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import v1, v2
from msgspec import Raw

encode_replacing: Callable[[Any], tuple[bytes, list[str]]] = importlib.import_module(
    "acp_msgspec._decode.outgoing"
).encode_replacing


def _prompt(text: str) -> v1.PromptRequestMessage:
    return v1.request(
        1, v1.PromptRequest(session_id=v1.SessionId("s"), prompt=[v1.TextContent(text="a"), v1.TextContent(text=text)])
    )


CASES: list[tuple[Any, str]] = [
    (v1.TextContent(text="\ud83d"), "$.text"),
    (v1.TextContent(text="a\udc80b"), "$.text"),
    (_prompt("\udfff"), "$.params.prompt[1].text"),
    (v1.TextContent(text="x", meta={"a": [1, "\ud800"]}), "$._meta.a[1]"),
    (v1.TextContent(text="x", meta={"a\ud800": 1}), "$._meta['a\\ud800']"),
    (v2.ContentBlockOther(type="video", extra={"src": "\ud800"}), "$.src"),
    (v2.ContentBlockOther(type="\ud800"), "$.type"),
    (acp.UnknownVariant("type", "z", {"type": "z", "k": ["\ud800"]}), "$.k[0]"),
    ([Raw(b'"fine"'), {"k": ("\ud800",)}], "$[1].k[0]"),
    ("\ud800", "$"),
]


def _into(obj: Any) -> None:
    acp.encode_into(obj, bytearray())


ENCODERS: tuple[Callable[[Any], object], ...] = (acp.encode, acp.encode_line, _into)


@pytest.mark.parametrize(("obj", "path"), CASES, ids=range(len(CASES)))
def test_the_path_is_told(obj: Any, path: str) -> None:
    for encode in ENCODERS:
        with pytest.raises(ValueError, match="lone surrogate") as caught:
            encode(obj)
        assert str(caught.value).endswith(f" - at `{path}`")
        assert caught.value.__suppress_context__
    data, paths = encode_replacing(obj)
    assert paths == [path]
    assert "\ufffd" in data.decode()
    json.loads(data)


def test_what_is_good_stays_as_it_is() -> None:
    obj = [_prompt("😀"), Raw(b"[ 1e400 ]"), {"é": 2**70}]
    assert encode_replacing(obj) == (acp.encode(obj), [])


def test_each_lone_surrogate_is_replaced_and_pairs_are_joined() -> None:
    data, paths = encode_replacing({"a": "\udc00\ud83d\ude00\ud83d", "\ud800b": 1, "c": Raw(b"[ 1E400 ]")})
    assert data == '{"a":"\ufffd😀\ufffd","\ufffdb":1,"c":[ 1E400 ]}'.encode()
    assert paths == ["$['\\ud800b']", "$.a"]


def test_the_list_of_paths_is_bounded() -> None:
    data, paths = encode_replacing(["\ud800"] * 1000)
    assert json.loads(data) == ["\ufffd"] * 1000
    assert paths == [f"$[{i}]" for i in range(100)]


@pytest.mark.parametrize("encode", [acp.encode, encode_replacing])
@pytest.mark.slow
def test_other_errors(encode: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match=r"more digits than Python converts - at `\$\.a\[1\]`"):
        encode({"a": [1, 10**5000]})
    with pytest.raises(ValueError, match=r"more digits than Python converts - at `\$\[1\]`"):
        encode(["\ud800", 10**5000] if encode is encode_replacing else [1, 10**5000])
    with pytest.raises(TypeError):
        encode(object())
    with pytest.raises(TypeError):
        encode(["\ud800", object()] if encode is encode_replacing else [object()])
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        encode(deep)
