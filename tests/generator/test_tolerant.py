"""What is left out of a schema that cannot be read whole: as little as possible, in two passes whatever is wrong."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from generator import tolerant
from generator.errors import GeneratorError, Problems
from generator.model import Module, Struct
from generator.overrides import Overrides
from generator.pipeline import lower_partly
from generator.source import Source
from generator.tolerant import Tolerated, lower_what_can_be_read

RAW: dict[str, Any] = {
    "$defs": {
        "Limits": {"type": "object", "properties": {"most": {"type": ["integer", "null"], "format": "int32"}}},
        "Item": {
            "type": "object",
            "properties": {
                "limits": {"allOf": [{"$ref": "#/$defs/Limits"}], "default": {"most": 3}},
                "name": {"type": "string"},
                "unit": {"type": "string", "default": "s"},
                "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}},
            },
            "required": ["name"],
        },
        "Part": {"oneOf": [{"title": "A", "type": "string"}, {"title": "B", "type": "integer"}]},
    }
}


def _read(raw: dict[str, Any]) -> Tolerated:
    source = Source("v1", "schema.json", "", raw, None, "meta.json", commit=None, pinned=False)
    return lower_what_can_be_read(source, lambda _: Overrides())


def _fields(found: Tolerated, name: str) -> list[str]:
    (made,) = [d for d in found.module.definitions if d.name == name]
    assert isinstance(made, Struct)
    return [f.wire for f in made.fields]


def _keyword(defs: dict[str, Any]) -> None:
    defs["Item"]["x-deserialize-oddly"] = True


def _misplaced(defs: dict[str, Any]) -> None:
    defs["Item"]["properties"]["name"]["x-method"] = "a/b"


def _default(defs: dict[str, Any]) -> None:
    defs["Item"]["properties"]["limits"]["default"] = {"least": 3}


def _needed_default(defs: dict[str, Any]) -> None:
    defs["Item"]["properties"]["unit"]["default"] = 3


def _property(defs: dict[str, Any]) -> None:
    defs["Item"]["properties"]["name"]["type"] = "tuple"


def _in_property(defs: dict[str, Any]) -> None:
    defs["Item"]["properties"]["parts"]["items"] = {"$ref": "#/$defs/Nothing"}


def _definition(defs: dict[str, Any]) -> None:
    defs["Part"] = {"type": "tuple"}


CHANGES = [_keyword, _misplaced, _default, _needed_default, _property, _in_property, _definition]


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: c.__name__.strip("_"))
def test_a_problem_leaves_the_rest(change: Callable[[dict[str, Any]], None]) -> None:
    raw = copy.deepcopy(RAW)
    change(raw["$defs"])
    kept = copy.deepcopy(raw)
    found = _read(raw)
    assert raw == kept, "the source stays as it is"
    assert len(found.problems) == 1
    assert _fields(found, "Item") == ["limits", "name", "unit", "parts"]
    assert found.is_whole == (change in (_keyword, _misplaced))


def test_a_default_goes_alone() -> None:
    raw = copy.deepcopy(RAW)
    _default(raw["$defs"])
    (item,) = [d for d in _read(raw).module.definitions if d.name == "Item"]
    (sound,) = [d for d in _read(RAW).module.definitions if d.name == "Item"]
    assert isinstance(item, Struct)
    assert isinstance(sound, Struct)
    assert [f.kind for f in item.fields] == [f.kind for f in sound.fields]


def test_two_passes_however_much_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = copy.deepcopy(RAW)
    item = raw["$defs"]["Item"]
    for number in range(30):
        item["properties"][f"p{number}"] = {"type": "tuple"}
        raw["$defs"][f"D{number}"] = copy.deepcopy(RAW["$defs"]["Item"])
        _default(raw["$defs"] | {"Item": raw["$defs"][f"D{number}"]})
    passes: list[int] = []

    def count(source: Source, overrides: Overrides, problems: Problems) -> Module | None:
        made = lower_partly(source, overrides, problems)
        passes.append(len(problems))
        return made

    monkeypatch.setattr(tolerant, "lower_partly", count)
    found = _read(raw)
    assert passes == [60, 0]
    assert len(found.problems) == 60
    assert len(_fields(found, "Item")) == 34


def test_what_has_no_place_stops() -> None:
    with pytest.raises(GeneratorError):
        _read({"$defs": {}})
