"""Malformed schemas: whatever stands in the place of a node, the run succeeds or stops with a line for each problem."""

import contextlib
import copy
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generator.emit import package, rendering
from generator.errors import GeneratorError
from generator.jsonutil import is_array, is_object
from generator.pipeline import generate_single
from generator.source import LOCK, load_lock
from tests.generator.command import generator
from tests.support import CASES, ROOT, meta_of

pytestmark = pytest.mark.slow

Path_ = tuple[str | int, ...]
ODD: list[Any] = [
    None, True, False, 0, -1, 1.5, 10**30, "", " ", "x", "\0", "#/$defs/Nowhere", "#/$defs/Part", [], ["x"], [None],
    [[]], [1, 1], {}, {"$ref": "#/$defs/Part"}, {"$ref": 1}, {"type": "object"}, {"type": ["string"]}, {"type": "null"},
    {"const": 1}, {"x": {}}, "string", "null",
]  # fmt: skip
PARTS = [slice(0, 15), pytest.param(slice(15, 50), marks=pytest.mark.endurance)]
"""Mutations that are tried of each schema, out of an order that its name decides."""


def _nodes(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    yield path
    if is_object(value):
        for key in value:
            yield from _nodes(value[key], (*path, key))
    elif is_array(value):
        for index, item in enumerate(value):
            yield from _nodes(item, (*path, index))


def _put(value: Any, path: Path_, new: Any) -> Any:
    made = copy.deepcopy(value)
    if not path:
        return new
    place = made
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = new
    return made


def _mutations(value: Any, seed: str, part: slice) -> list[tuple[Path_, Any]]:
    every = [(path, odd) for path in _nodes(value) for odd in ODD]
    random.Random(seed).shuffle(every)
    return every[part]


@pytest.fixture(autouse=True)
def unformatted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the formatter, which takes most of the time and changes nothing that matters here."""

    def as_it_is(code: str, _settings: Path) -> str:
        return code

    monkeypatch.setattr(rendering, "format_code", as_it_is)
    monkeypatch.setattr(package, "format_code", as_it_is)


def _try(folder: Path, schema: Any, meta: Any = None) -> bool:
    (folder / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    file = folder / "meta.json" if meta is not None else None
    if file is not None:
        file.write_text(json.dumps(meta), encoding="utf-8")
    try:
        generate_single(folder / "schema.json", "case", file, lambda _: None, folder)
    except GeneratorError as why:
        lines = str(why).splitlines()
        return len(lines) != len(why.problems) or not all(line.startswith(str(folder)) for line in lines)
    return False


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("shape", sorted(p.name for p in (CASES / "shapes").iterdir()))
def test_any_node_of_a_schema(shape: str, part: slice, tmp_path: Path) -> None:
    raw = json.loads((CASES / "shapes" / shape / "schema.json").read_text(encoding="utf-8"))
    for path, odd in _mutations(raw, shape, part):
        assert not _try(tmp_path, _put(raw, path, odd)), (path, odd)


@pytest.mark.parametrize("part", PARTS)
def test_any_node_of_a_meta_file(part: slice, tmp_path: Path) -> None:
    raw = json.loads((CASES / "shapes" / "messages" / "schema.json").read_text(encoding="utf-8"))
    meta = meta_of(raw)
    for path, odd in _mutations(meta, "meta", part):
        assert not _try(tmp_path, raw, {"version": 1, **_put(meta, path, odd)} if path else odd), (path, odd)


def test_any_node_of_a_lock(tmp_path: Path) -> None:
    raw = json.loads((ROOT / "schema" / LOCK).read_text(encoding="utf-8"))
    (tmp_path / "schema").mkdir()
    for path, odd in [(path, odd) for path in _nodes(raw) for odd in ODD]:
        (tmp_path / "schema" / LOCK).write_text(json.dumps(_put(raw, path, odd)), encoding="utf-8")
        with contextlib.suppress(GeneratorError):
            load_lock(tmp_path)


def _nested(keyword: str, depth: int) -> Any:
    node: Any = {"type": "string"}
    for _ in range(depth):
        match keyword:
            case "items":
                node = {"type": "array", "items": node}
            case "properties":
                node = {"type": "object", "properties": {"a": node}, "required": ["a"]}
            case "additionalProperties":
                node = {"type": "object", "additionalProperties": node}
            case _:
                node = {keyword: [node, {"type": "null"}]}
    return node


def _chain(length: int, *, closed: bool) -> dict[str, Any]:
    last = {"$ref": "#/$defs/A0"} if closed else {"type": "string"}
    links = {f"A{i}": {"$ref": f"#/$defs/A{i + 1}"} for i in range(length)}
    return {**links, f"A{length}": last}


DEEP = {
    **{f"{k} {n}": {"A": _nested(k, n)} for n in (20, 300, 3000)
       for k in ("items", "properties", "additionalProperties", "anyOf", "oneOf", "not")},
    "default": {"A": {"type": "object", "properties": {"a": {"default": json.loads("[" * 300 + "]" * 300)}}}},
    "long chain": _chain(3000, closed=False),
    "closed chain": _chain(3000, closed=True),
    "short circle": _chain(1, closed=True),
    "all of each other": {
        f"A{i}": {"type": "object", "allOf": [{"$ref": f"#/$defs/A{(i + 1) % 2000}"}]} for i in range(2000)
    },
}  # fmt: skip


@pytest.mark.parametrize("name", DEEP)
def test_depth(name: str, tmp_path: Path) -> None:
    text = _dumps({"$defs": DEEP[name]})
    (tmp_path / "schema.json").write_text(text, encoding="utf-8")
    told = [f"{tmp_path}/schema.json"]
    try:
        generate_single(tmp_path / "schema.json", "case", None, lambda _: None, tmp_path)
    except GeneratorError as why:
        told = str(why).splitlines()
    assert len(told) == 1
    assert told[0].startswith(f"{tmp_path}/schema.json")
    assert len(told[0]) < 500, "one line that can be read"


def _dumps(value: Any) -> str:
    """Write JSON of any depth."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        return json.dumps(value)
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"default": NaN}', "is not JSON: it has the number NaN"),
        ('{"default": -Infinity}', "is not JSON: it has the number -Infinity"),
        ('{"default": 1e999}', "#/default: has a number that is out of range"),
        ('{"default": [0, -1e999]}', "#/default/1: has a number that is out of range"),
        (f'{{"maximum": {"9" * 5000}}}', "has an integer of thousands of digits"),
        (f'{{"maximum": {"9" * 400}}}', "#/maximum: has an integer that is out of range"),
        ('{"description": "\\ud800"}', "#/description: has a lone surrogate"),
        ('{"\\udc00": {}}', "has a lone surrogate in the key"),
        ('\ufeff{"type": "string"}', "is not JSON: Unexpected UTF-8 BOM"),
        ('{"type": "string", "type": "string"}', "the key 'type' appears twice in one object"),
    ],
)
def test_json_that_is_none(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text(text, encoding="utf-8")
    good, bad = CASES / "shapes" / "messages" / "schema.json", tmp_path / "schema.json"
    files: list[tuple[Path, Path | None]] = [(bad, None), (good, bad)]
    for schema, meta in files:
        with pytest.raises(GeneratorError) as caught:
            generate_single(schema, "case", meta, lambda _: None, tmp_path)
        assert str(caught.value).startswith(f"{tmp_path}/schema.json")
        assert message in str(caught.value)


@pytest.mark.parametrize("method", ["", " ", 5, None, [], {}])
def test_a_method_that_is_none(method: Any, tmp_path: Path) -> None:
    node: dict[str, Any] = {"type": "object", "properties": {}, "x-side": "agent", "x-method": method}
    (tmp_path / "schema.json").write_text(json.dumps({"$defs": {"AskRequest": node}}), encoding="utf-8")
    run = generator("generate", "--schema", tmp_path / "schema.json", "--label", "case", "--out", tmp_path / "out")
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (1, "", 1)
    assert run.stderr.startswith(f"error: {tmp_path}/schema.json#/$defs/AskRequest/x-method: ")
