"""Stock datamodel-code-generator as a second opinion: on plain objects and enumerations it must agree with us.

It gets the pinned schema with every type that it cannot express (unions of objects, catch-alls) replaced by free JSON,
and its emitter's msgspec classes are held against ours: names, JSON keys, required, kinds of types, enumeration values.
"""

import enum
import importlib
import sys
import types
from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, NewType, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest
from datamodel_code_generator import generate
from datamodel_code_generator.enums import DataModelType, InputFileType
from datamodel_code_generator.format import Formatter

from generator.jsonutil import is_array, is_object
from generator.lower import lower
from generator.model import Enumeration, Module, Struct
from generator.overrides import load_overrides
from generator.read import read_schema
from generator.source import load_pinned
from tests.support import EACH_LABEL

pytestmark = pytest.mark.slow

SOURCES = {s.label: s for s in load_pinned()[0]}


def _plain(module: Module) -> tuple[dict[str, Struct], dict[str, Enumeration]]:
    keys = {f"/$defs/{d.name}" for d in module.definitions}
    structs = {d.name: d for d in module.definitions if isinstance(d, Struct) and d.pointer in keys}
    enums = {d.name: d for d in module.definitions if isinstance(d, Enumeration) and not d.is_int}
    return structs, enums


def _closed(raw: dict[str, Any]) -> dict[str, Any]:
    """Take the open end off an enumeration, which the other emitter does not know."""
    return {k: [b for b in v if "const" in b] if k == "anyOf" else v for k, v in raw.items()}


def _reduced(raw: Any, kept: Mapping[str, Any]) -> Any:
    """Replace references to what is not kept by free JSON, and drop what the other emitter need not know."""
    if is_object(raw):
        reference = raw.get("$ref")
        if isinstance(reference, str) and reference.removeprefix("#/$defs/") not in kept:
            return {}
        if is_object(properties := raw.get("properties")):
            raw = {**raw, "properties": {k: _reduced(v, kept) for k, v in properties.items()}}
        out = {
            k: v if k == "properties" else _reduced(v, kept)
            for k, v in raw.items()
            if not k.startswith("x-") and k != "default"
        }
        if is_array(out.get("allOf")) and len(out["allOf"]) == 1 and "properties" not in out:
            return out["allOf"][0]
        return out
    return [_reduced(v, kept) for v in raw] if is_array(raw) else raw


def _stock(label: str, kept: Mapping[str, Any]) -> types.ModuleType:
    raw = SOURCES[label].raw["$defs"]
    schema = {
        "$defs": {
            n: _closed(raw[n]) if isinstance(kept[n], Enumeration) else _reduced(raw[n], kept) for n in sorted(kept)
        }
    }
    text = generate(
        schema,
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.MsgspecStruct,
        snake_case_field=True,
        remove_special_field_name_prefix=True,
        capitalise_enum_members=True,
        use_subclass_enum=True,
        use_one_literal_as_default=True,
        formatters=[Formatter.RUFF_FORMAT],
        disable_timestamp=True,
    )
    assert isinstance(text, str)
    module = types.ModuleType(f"stock_{label}")
    sys.modules[module.__name__] = module
    exec(compile(text, module.__name__, "exec"), module.__dict__)
    return module


def _kind(annotation: Any) -> str:
    """Reduce a type to what both emitters can say: the JSON kind, item kinds included, null and names of classes."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kind(get_args(annotation)[0])
    if origin in (Union, UnionType):
        kinds = {_kind(a) for a in get_args(annotation) if a is not msgspec.UnsetType}
        return "Any" if "Any" in kinds else " | ".join(sorted(kinds))
    if origin in (list, dict):
        return f"{origin.__name__}[{_kind(get_args(annotation)[-1])}]"
    if isinstance(annotation, NewType):
        return _kind(annotation.__supertype__)
    if annotation is Any or annotation is type(None):
        return "Any" if annotation is Any else "None"
    name = str(getattr(annotation, "__name__", annotation))
    return "int" if name == "UInt64" else name


# Formats of integers mean nothing to the stock emitter; the parity test holds them against ours.
@pytest.mark.filterwarnings("ignore:format of 'uint:UserWarning")
@pytest.mark.parametrize("label", EACH_LABEL)
def test_plain_objects_and_enumerations(label: str) -> None:
    module = lower(read_schema(SOURCES[label]), load_overrides(SOURCES[label]))
    structs, enums = _plain(module)
    ours = importlib.import_module(f"acp_msgspec.{label}")
    stock = _stock(
        label, {**structs, **enums, **{d.name: d for d in module.definitions if type(d).__name__ == "Identifier"}}
    )
    wrong: list[str] = []
    for name in structs:
        theirs = {f.name: f for f in msgspec.structs.fields(getattr(stock, name))}
        hints = get_type_hints(getattr(stock, name))
        # What bears the tag of another variant is no variant of an untagged union; ours has a field to refuse it.
        fields = [f for f in msgspec.structs.fields(getattr(ours, name)) if f.name != "untagged_"]
        if {f.name for f in fields} != theirs.keys():
            wrong.append(f"{name}: fields {[f.name for f in fields]} and {list(theirs)}")
            continue
        for field in fields:
            other = theirs[field.name]
            kind, their_kind = _kind(field.type), _kind(hints[field.name])
            if not field.required and field.default is not None:
                their_kind = " | ".join(sorted(set(their_kind.split(" | ")) - {"None"})) or "None"
                kind = " | ".join(sorted(set(kind.split(" | ")) - {"None"})) or "None"
            known = "Any" not in their_kind and "Union" not in kind
            if (field.encode_name, field.required) != (other.encode_name, other.required) or (
                known and kind != their_kind
            ):
                wrong.append(f"{name}.{field.name}: {field.encode_name, field.required, kind} and {other, their_kind}")
    for name in enums:
        members: type[enum.Enum] = getattr(ours, name)
        others: type[enum.Enum] = getattr(stock, name)
        if {m.name: m.value for m in members} != {m.name: m.value for m in others}:
            wrong.append(f"{name}: {list(members)} and {list(others)}")
    assert len(structs) > 100
    assert len(enums) >= 5
    assert not wrong, "\n".join(wrong)
