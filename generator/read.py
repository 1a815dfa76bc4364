"""Reading: the run stops at any keyword that the generator does not support in its place.

Each schema node has one of a few shapes, and `KEYWORDS` lists the keywords that a shape may have. A keyword belongs in
the table only if lowering uses it, so that no part of the input is dropped silently.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from generator.engine import SchemaObject, typed
from generator.errors import GeneratorError, child
from generator.jsonutil import is_array, is_object
from generator.source import Source, definitions_of


class Shape(StrEnum):
    """The shapes of schema nodes."""

    REFERENCE = "reference"
    OBJECT = "object"
    ARRAY = "array"
    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    NULL = "null"
    UNION = "union"
    FREE = "free JSON value"


ON_ERROR = "x-deserialize-default-on-error"
ON_NULL = "x-deserialize-default-on-null"
SKIP_ITEMS = "x-deserialize-skip-invalid-items"
STATE = "x-state"

ANYWHERE = frozenset({"title", "description"})
OF_DEFINITION = frozenset({"x-side", "x-method", "x-docs-ignore", STATE})
OF_BRANCH = frozenset({"x-docs-ignore", STATE})
OF_PROPERTY = frozenset({"default", ON_ERROR, ON_NULL})
OF_ROOT = frozenset({"$schema", "$defs"})

KEYWORDS: dict[Shape, frozenset[str]] = {
    Shape.REFERENCE: frozenset({"$ref", "allOf"}),
    Shape.OBJECT: frozenset(
        {
            "type",
            "properties",
            "required",
            "additionalProperties",
            "unevaluatedProperties",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "discriminator",
            "propertyNames",
        }
    ),
    Shape.ARRAY: frozenset({"type", "items", "minItems", SKIP_ITEMS}),
    Shape.STRING: frozenset(
        {"type", "const", "enum", "format", "minLength", "maxLength", "pattern", "contentEncoding"}
    ),
    Shape.INTEGER: frozenset({"type", "const", "format", "minimum", "maximum"}),
    Shape.NUMBER: frozenset({"type", "format", "minimum", "maximum"}),
    Shape.BOOLEAN: frozenset({"type"}),
    Shape.NULL: frozenset({"type"}),
    Shape.UNION: frozenset({"anyOf", "oneOf", "discriminator"}),
    Shape.FREE: frozenset[str](),
}

STATE_KEYS = frozenset({"action", "target", "id", "field", "value"})
STATE_ACTIONS = frozenset({"append", "remove", "replace", "upsert"})

_PLACED = OF_DEFINITION | OF_PROPERTY | frozenset({SKIP_ITEMS})
"""Keywords that lowering uses, each in its own places only."""
_DESCRIBING = frozenset({"$comment", "deprecated", "examples", "readOnly", "writeOnly", "contentMediaType"})


def is_annotation(keyword: str) -> bool:
    """Return whether a keyword only describes: it changes neither which values a reader takes nor what it returns."""
    if keyword.startswith("x-"):
        return keyword not in _PLACED - {STATE, "x-docs-ignore"} and not keyword.startswith("x-deserialize-")
    return keyword in _DESCRIBING


INTEGER_FORMATS = frozenset({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})
FORMATS: dict[Shape, frozenset[str]] = {
    Shape.INTEGER: INTEGER_FORMATS,
    Shape.NUMBER: frozenset({"double", "float"}),
    Shape.STRING: frozenset({"uri", "date-time", "regex"}),
}
SIDES = frozenset({"agent", "client", "both", "protocol", "proxy"})

JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "properties": dict,
    "required": list,
    "items": dict,
    "anyOf": list,
    "oneOf": list,
    "allOf": list,
    "not": dict,
    "discriminator": dict,
    "$ref": str,
    "format": str,
    "title": str,
    "description": str,
    "enum": list,
    "pattern": str,
    "contentEncoding": str,
    "x-side": str,
    "x-method": str,
    "x-docs-ignore": bool,
    ON_ERROR: bool,
    ON_NULL: bool,
    SKIP_ITEMS: bool,
    "minItems": int,
    "minLength": int,
    "maxLength": int,
    "propertyNames": dict,
    STATE: dict,
    "minimum": (int, float),
    "maximum": (int, float),
    "unevaluatedProperties": bool,
    "additionalProperties": (bool, dict),
}


@dataclass(frozen=True, slots=True)
class Schema:
    """A checked schema: its source, and its definitions in typed form."""

    source: Source
    names: tuple[str, ...]
    definitions: dict[str, SchemaObject]

    def fail(self, pointer: str, problem: str, hint: str = "") -> GeneratorError:
        """Return the error for a problem at `pointer`."""
        return GeneratorError(problem, file=self.source.file, pointer=pointer, hint=hint)


def read_schema(source: Source) -> Schema:
    """Check every keyword and reference of a schema, and return its definitions in typed form."""
    raw = definitions_of(source.raw, source.file)
    reader = _Reader(source.file, frozenset(raw))
    reader.check(source.raw, "", OF_ROOT | OF_DEFINITION, is_root=True)
    for name in raw:
        reader.check(raw[name], child("", "$defs", name), OF_DEFINITION)
    return Schema(source, tuple(sorted(raw)), {name: _typed(raw[name], name, source.file) for name in sorted(raw)})


def _typed(raw: Any, name: str, file: str) -> SchemaObject:
    try:
        return typed({} if raw is True else raw)
    except ValueError as why:  # a value that none of the checks covers
        reason = " ".join(str(why).split("\n")[1:3])
        raise GeneratorError(f"is not a schema: {reason}", file=file, pointer=child("", "$defs", name)) from None


def shape_of(raw: dict[str, Any]) -> Shape | None:
    """Return the shape of a raw schema; None if its type is unknown or missing."""
    kind = raw.get("type")
    if is_array(kind):
        rest = [k for k in kind if k != "null"]
        kind = rest[0] if len(rest) == 1 and len(kind) == 2 else "?"
    if kind is None:
        if "properties" in raw:
            return None
        if "$ref" in raw or ("allOf" in raw and not {"anyOf", "oneOf"} & raw.keys()):
            return Shape.REFERENCE
        return Shape.UNION if {"anyOf", "oneOf"} & raw.keys() else Shape.FREE
    return Shape(kind) if isinstance(kind, str) and kind in _TYPED_SHAPES else None


_TYPED_SHAPES = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})


def _only_excludes(names: dict[str, Any]) -> bool:
    """Return whether a schema of property names is a `not` with the keys that it excludes."""
    excluded = names.get("not")
    if names.keys() != {"not"} or not is_object(excluded) or len(excluded) != 1:
        return False
    if is_array(keys := excluded.get("enum")):
        return bool(keys) and all(isinstance(k, str) for k in keys)
    return isinstance(excluded.get("const"), str)


class _Reader:
    """Checks one schema document."""

    def __init__(self, file: str, names: frozenset[str]) -> None:
        self.file = file
        self.names = names

    def fail(self, pointer: str, problem: str, hint: str = "") -> GeneratorError:
        return GeneratorError(problem, file=self.file, pointer=pointer, hint=hint)

    def check(self, raw: Any, pointer: str, extra: frozenset[str] = frozenset(), *, is_root: bool = False) -> None:
        """Check one schema and every schema inside it; `extra` are keywords that its place allows."""
        if raw is True and not is_root:
            return
        if not is_object(raw):
            raise self.fail(pointer, "a schema must be an object", "`false` and plain values are not supported")
        schema = raw
        shape = shape_of(schema)
        if shape is None:
            if "type" not in schema:
                raise self.fail(pointer, "properties without the type object", 'add `"type": "object"`')
            raise self.fail(
                child(pointer, "type"),
                f"unknown type {schema['type']!r}",
                "see Shape in read.py; a list may combine one type with null",
            )
        allowed = KEYWORDS[shape] | ANYWHERE | extra
        for key in schema:
            if key not in allowed and (key in _PLACED or not is_annotation(key)):
                what = "property" if extra >= OF_PROPERTY else "definition" if extra >= OF_DEFINITION else "schema"
                raise self.fail(
                    pointer,
                    f"unknown keyword {key!r} in a {what} of the shape {shape.value!r}",
                    "add it to KEYWORDS in generator/read.py, and to the code that lowers it",
                )
            self.check_type(schema, key, pointer)
        self.check_values(schema, shape, pointer)
        self.check_below(schema, pointer)

    def check_type(self, schema: dict[str, Any], key: str, pointer: str) -> None:
        wanted = JSON_TYPES.get(key)
        value = schema[key]
        wrong_bool = isinstance(value, bool) and wanted in (int, (int, float))
        if wanted is not None and (wrong_bool or not isinstance(value, wanted)):
            raise self.fail(child(pointer, key), f"the keyword {key!r} has a value of the wrong type")

    def check_values(self, schema: dict[str, Any], shape: Shape, pointer: str) -> None:
        """Check the keywords that allow a few values only."""
        fmt = schema.get("format")
        if fmt is not None and fmt not in FORMATS.get(shape, frozenset()):
            raise self.fail(
                child(pointer, "format"), f"unknown format {fmt!r} of the type {shape}", "see FORMATS in read.py"
            )
        if schema.get("contentEncoding", "base64") != "base64":
            raise self.fail(child(pointer, "contentEncoding"), "unknown encoding", "only base64 is known")
        if schema.get("x-method", "x").strip() == "":
            raise self.fail(child(pointer, "x-method"), "an empty method", "name the method as on the wire")
        side = schema.get("x-side")
        if side is not None and side not in SIDES:
            raise self.fail(child(pointer, "x-side"), f"unknown side {side!r}", f"one of {', '.join(sorted(SIDES))}")
        if ("x-side" in schema) != ("x-method" in schema):
            raise self.fail(pointer, "x-side and x-method come together, but one is missing")
        reference = schema.get("$ref")
        if isinstance(reference, str):
            name = reference.removeprefix("#/$defs/")
            if name == reference or name not in self.names:
                raise self.fail(
                    child(pointer, "$ref"), f"dangling reference {reference!r}", "no definition has this name"
                )
        known = schema.get("properties", {})
        required = [k for k in schema.get("required", []) if not isinstance(k, str) or k not in known]
        if required:
            raise self.fail(child(pointer, "required"), f"requires {required[0]!r}, which is not a property")
        property_name = schema.get("discriminator", {}).get("propertyName")
        if "discriminator" in schema and (schema["discriminator"].keys() != {"propertyName"} or not property_name):
            raise self.fail(child(pointer, "discriminator"), "a discriminator may have `propertyName` only")
        const = schema.get("const")
        if const is not None and type(const) is not {Shape.STRING: str, Shape.INTEGER: int}.get(shape):
            raise self.fail(child(pointer, "const"), f"the constant {const!r} is not of the type {shape}")
        if any(not isinstance(v, str) for v in schema.get("enum", [])):
            raise self.fail(child(pointer, "enum"), "`enum` may list strings only")
        if "propertyNames" in schema and not _only_excludes(schema["propertyNames"]):
            raise self.fail(
                child(pointer, "propertyNames"),
                "`propertyNames` may only exclude keys",
                'a `not` with `const` or `enum`, as in {"not": {"const": "key"}}',
            )
        self.check_state(schema.get(STATE, {}), child(pointer, STATE))

    def check_state(self, state: dict[str, Any], pointer: str) -> None:
        """Check `x-state`: scopes, each with a list of what the object does to their state."""
        for scope, entries in state.items():
            if not is_array(entries):
                raise self.fail(child(pointer, scope), "is not a list")
            for index, entry in enumerate(entries):
                place = child(pointer, scope, index)
                if not is_object(entry) or not all(isinstance(v, str) for v in entry.values()):
                    raise self.fail(place, "is not an object with texts")
                unknown = sorted(entry.keys() - STATE_KEYS)
                if unknown:
                    raise self.fail(place, f"unknown key {unknown[0]!r} in {STATE}", "see STATE_KEYS in read.py")
                if entry.get("action") not in STATE_ACTIONS:
                    raise self.fail(place, f"unknown action {entry.get('action')!r}", "see STATE_ACTIONS in read.py")

    def check_below(self, schema: dict[str, Any], pointer: str) -> None:
        for key, value in schema.get("properties", {}).items():
            self.check(value, child(pointer, "properties", key), OF_PROPERTY)
        for keyword in ("anyOf", "oneOf", "allOf"):
            for index, value in enumerate(schema.get(keyword, [])):
                # Branches of the document's root describe whole messages, and may be hidden from upstream's docs.
                self.check(value, child(pointer, keyword, index), OF_BRANCH)
            if keyword in schema and not schema[keyword]:
                raise self.fail(child(pointer, keyword), "an empty list of alternatives")
        for index, value in enumerate(schema.get("allOf", [])):
            if value is not True and (not is_object(value) or "$ref" not in value):  # `true` constrains nothing
                place = child(pointer, "allOf", index)
                raise self.fail(place, "allOf may list references only", "give the part a definition")
        for keyword in ("items", "not", "additionalProperties"):
            if keyword in schema and schema[keyword] is not False:
                self.check(schema[keyword], child(pointer, keyword), frozenset({"x-docs-ignore"}))
        if is_object(schema.get("additionalProperties")) and ("properties" in schema or "allOf" in schema):
            raise self.fail(
                child(pointer, "additionalProperties"),
                "a schema of additional properties beside declared ones",
                "only `true` is supported there",
            )
        if schema.get("additionalProperties") is False:
            raise self.fail(
                child(pointer, "additionalProperties"),
                "closed objects are not supported",
                "readers ignore unknown keys",
            )
        if "anyOf" in schema and "oneOf" in schema:
            raise self.fail(pointer, "anyOf and oneOf in one schema", "use one of the two")
