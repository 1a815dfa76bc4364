"""The lowered model as JSON, for programs and for SDKs in other languages.

The document is described by a JSON Schema, `docs/reference/model.schema.json`; every field of the classes in
`generator/model.py` is part of it, under its own name. So a new field there needs a line in that schema, and a new kind
of type or definition a line in `KINDS`. Renaming or removing a key of the document changes `FORMAT`.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from enum import Enum, StrEnum
from operator import attrgetter
from typing import Any, TypeGuard

from generator.docs import Docs, load_docs
from generator.errors import GeneratorError
from generator.model import (
    Alias,
    Annotation,
    CatchAll,
    Choice,
    ClientTurn,
    Constrained,
    Definition,
    Enumeration,
    Field,
    Identifier,
    Integer,
    ListOf,
    MapOf,
    Member,
    Method,
    Module,
    Named,
    Need,
    Nullable,
    Plain,
    Presence,
    Struct,
    Union,
)
from generator.overrides import load_overrides
from generator.pipeline import load_module
from generator.source import Source
from generator.values import ListValue, Literal, MapValue, MemberOf, New, Value

FORMAT = 1
"""The version of the document."""
FORMATS = ("json",)

KINDS: dict[type, str] = {
    Named: "named",
    Plain: "plain",
    Integer: "integer",
    Constrained: "constrained",
    ListOf: "list",
    MapOf: "map",
    Nullable: "nullable",
    Choice: "choice",
    Struct: "struct",
    CatchAll: "catch-all",
    Enumeration: "enumeration",
    Identifier: "identifier",
    Alias: "alias",
    Union: "union",
}
"""The key `kind` of each type expression and definition, which tells it from the others."""
KEYS = {(Field, "kind"): "type", (Alias, "kind"): "type"}
"""Keys of the document that differ from the name of the field."""
PLACE = ("pointer", "keyword")
"""What orders annotations: their places, and not the order of the schema file."""
PLAIN = {"str": "string", "bool": "boolean", "float": "number", "int": "integer", "None": "null", "Any": "any"}
"""The names of plain types in JSON Schema's words."""


def model_document(sources: Iterable[Source]) -> dict[str, Any]:
    """Describe the modules of schemas as one JSON document."""
    return {"format": FORMAT, "modules": [_module(source) for source in sources]}


def render_model(sources: Iterable[Source], fmt: str) -> str:
    """Write the document; an unknown format is an error."""
    if fmt not in FORMATS:
        raise GeneratorError(f"unknown format {fmt!r}", hint=f"one of {', '.join(FORMATS)}")
    return json.dumps(model_document(sources), indent=1, ensure_ascii=False) + "\n"


def _module(source: Source) -> dict[str, Any]:
    module = load_module(source)
    renamed = load_overrides(source).renamed if source.pinned else {}
    made: dict[str, Any] = Writer(module, load_docs(source)).value(module)
    return {
        "label": made.pop("label"),
        "source": {"commit": source.commit, "sha256": source.sha256},
        "deprecated_names": dict(sorted(renamed.items())),
        **made,
    }


class Writer:
    """Writes the parts of one module as plain JSON values."""

    def __init__(self, module: Module, docs: Docs) -> None:
        """Prepare the look-up of definitions, for default values and texts."""
        self._definitions: dict[str, Definition] = {d.name: d for d in module.definitions}
        self._docs = docs
        self._special: dict[tuple[type, str], Callable[[Any], Any]] = {
            (Plain, "name"): PLAIN.__getitem__,
            (Constrained, "constraints"): dict,
            (Constrained, "enforced"): dict,
            (Field, "default"): self._default,
            (Need, "leaf"): self._default,
            (Annotation, "value"): self._default,
            (Module, "annotations"): lambda found: self.value(tuple(sorted(found, key=attrgetter(*PLACE)))),
            (Union, "variants"): lambda pairs: [{"path": path, "class": name} for path, name in pairs],
            (ClientTurn, "idle"): lambda both: both and {"notification": self.value(both[0]), "update": list(both[1])},
        }

    def value(self, found: Any, owner: str = "") -> Any:
        """Write any part of a model; `owner` is the definition that it is in."""
        if isinstance(found, StrEnum):
            return found.value
        if isinstance(found, Enum):
            return found.name.lower().replace("_", "-")
        if _is_set(found):
            return sorted(found)
        if _is_tuple(found):
            return [self.value(item, owner) for item in found]
        if is_dataclass(found):
            return self._object(found, owner)
        return found

    def _object(self, found: Any, owner: str) -> dict[str, Any]:
        cls: Any = found.__class__
        inner = found.name if isinstance(found, Definition) else owner
        out: dict[str, Any] = {"kind": KINDS[cls]} if cls in KINDS else {}
        out.update(self._text(found, owner))
        for entry in fields(found):
            value, special = getattr(found, entry.name), self._special.get((cls, entry.name))
            written = self.value(value, inner) if special is None else special(value)
            out[KEYS.get((cls, entry.name), entry.name)] = written
        return out

    def _text(self, found: Any, owner: str) -> dict[str, str | None]:
        """Return the docstring of what has one, in the words of `schema/docs`."""
        match found:
            case Field():
                return {"doc": self._docs.of_field(owner, found.wire, found.pointer)}
            case Enumeration() | Struct() | CatchAll() | Identifier() | Alias() | Union():
                return {"doc": self._docs.of_class(found.name, found.pointer)}
            case Member():
                return {"doc": self._docs.of_member(owner, found.value, found.pointer)}
            case Method():
                return {"doc": self._docs.of_method(found.name)}
            case _:
                return {}

    def _default(self, found: Value | None) -> dict[str, Any] | None:
        return None if found is None else {"json": self.json(found)}

    def json(self, found: Value) -> Any:
        """Write a default value as the JSON that a message has for it."""
        match found:
            case Literal(value=plain):
                return plain
            case MemberOf(enumeration=name, member=member):
                return next(m.value for m in self._members(name) if m.name == member)
            case ListValue(items=items):
                return [self.json(item) for item in items]
            case MapValue(entries=entries):
                return {key: self.json(item) for key, item in entries}
            case New(cls=name, arguments=arguments):
                return self._instance(self._definitions[name], dict(arguments))

    def _members(self, name: str) -> Iterable[Any]:
        found = self._definitions[name]
        return found.members if isinstance(found, Enumeration) else ()

    def _instance(self, made: Definition, arguments: dict[str, Value]) -> dict[str, Any]:
        """Write an object with its tag, and with the fields that are set or always written."""
        if not isinstance(made, Struct | CatchAll):
            return {}
        out: dict[str, Any] = {} if made.tag is None else {made.tag.field: made.tag.value}
        for entry in made.fields:
            given = arguments.get(entry.name, entry.default if entry.presence is Presence.DEFAULTED else None)
            if entry.constant is not None:
                out[entry.wire] = entry.constant
            elif given is not None and not _is_left_out(entry, given):
                out[entry.wire] = self.json(given)
        return out


def _is_set(value: object) -> TypeGuard[frozenset[str]]:
    return isinstance(value, frozenset)


def _is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def _is_left_out(entry: Field, given: Value) -> bool:
    """Return whether a field with this value is not written."""
    match entry.presence:
        case Presence.OPTION:
            return given == Literal(None)
        case Presence.EMPTY:
            return given == entry.default
        case _:
            return False
