"""Reading: no run goes past a keyword that the generator does not support in its place.

Each schema node has one of a few shapes, and `KEYWORDS` lists the keywords that a shape may have. A keyword belongs in
the table only if lowering uses it, so that no part of the input is dropped silently. All problems of a schema are
found at once, and lowering looks for more of them in what could be read.
"""

from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from generator.engine import SchemaObject, typed
from generator.errors import GeneratorError, Problems, child
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
            "$ref",
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


IN_NOT: dict[Shape, frozenset[str]] = {Shape.FREE: frozenset({"required", "not"})}
"""What else a schema inside a `not` may have."""

INTEGER_FORMATS = frozenset({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})
DESCRIBING_FORMATS = frozenset(
    {
        "email",
        "hostname",
        "idn-email",
        "idn-hostname",
        "iri",
        "iri-reference",
        "json-pointer",
        "password",
        "relative-json-pointer",
        "uri-reference",
        "uri-template",
    }
)
"""Formats that only describe a text. On others, such as `uuid` or `date`, a reader may insist, so they stop the run."""
FORMATS: dict[Shape, frozenset[str]] = {
    Shape.INTEGER: INTEGER_FORMATS,
    Shape.NUMBER: frozenset({"double", "float"}),
    Shape.STRING: frozenset({"uri", "date-time", "regex", "byte"}) | DESCRIBING_FORMATS,
}
SIDES = frozenset({"agent", "all", "both", "client", "protocol", "proxy"})

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
    """A checked schema: its source, and its definitions in typed form.

    `broken` are the definitions that could not be read; of them only the extension keywords are kept. Keywords that are
    unknown are left out of the others. `problems_at` are the pointers of all problems.
    """

    source: Source
    names: tuple[str, ...]
    definitions: dict[str, SchemaObject]
    broken: frozenset[str] = frozenset()
    problems_at: tuple[str, ...] = ()

    def fail(self, pointer: str, problem: str, hint: str = "") -> GeneratorError:
        """Return the error for a problem at `pointer`."""
        return GeneratorError(problem, file=self.source.file, pointer=pointer, hint=hint)


def read_schema(source: Source) -> Schema:
    """Check every keyword and reference of a schema, and return its definitions in typed form.

    Raises `GeneratorError` with all problems.
    """
    problems = Problems()
    schema = read_collecting(source, problems)
    problems.stop()
    return schema


def read_collecting(source: Source, problems: Problems) -> Schema:
    """Read a schema, and add its problems to `problems`.

    Raises `GeneratorError` only where there are no definitions.
    """
    raw = definitions_of(source.raw, source.file)
    reader = _Reader(source.file, frozenset(raw))
    reader.check(source.raw, "", OF_ROOT | OF_DEFINITION, is_root=True)
    found = {name: reader.definition(name, raw[name]) for name in sorted(raw)}
    for problem in reader.problems:
        problems.add(problem)
    places = tuple(p.pointer for p in reader.problems)
    return Schema(source, tuple(sorted(raw)), found, frozenset(reader.broken), places)


def shape_of(raw: dict[str, Any]) -> Shape | None:
    """Return the shape of a raw schema; None if its type is unknown or missing."""
    kind = raw.get("type", implied_type(raw))
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


def implied_type(raw: dict[str, Any]) -> str | None:
    """Return the type that the listed values of a schema without a type have."""
    if raw.keys() & {"type", "properties", "$ref", "allOf", "anyOf", "oneOf"}:
        return None
    values = [raw["const"]] if "const" in raw else raw.get("enum")
    kinds: set[type[Any]] = {type(v) for v in values} if is_array(values) else set()
    return {str: "string", int: "integer"}.get(kinds.pop()) if len(kinds) == 1 else None


def unknown_keywords(schema: dict[str, Any], shape: Shape, extra: frozenset[str]) -> list[str]:
    """List the keywords that a schema may not have, and that do more than describe; `extra` has those of its place."""
    allowed = KEYWORDS[shape] | ANYWHERE | extra
    return [key for key in schema if key not in allowed and (key in _PLACED or not is_annotation(key))]


def _homes(key: str) -> str:
    """Say where a keyword belongs; empty if it is not known at all."""
    places = {"the root": OF_ROOT, "a definition": OF_DEFINITION, "a branch of a union": OF_BRANCH}
    found = [place for place, known in {**places, "a property": OF_PROPERTY}.items() if key in known]
    shapes = [repr(shape.value) for shape, known in KEYWORDS.items() if key in known]
    if shapes:
        found.append(f"a schema of the {'shape' if len(shapes) == 1 else 'shapes'} {', '.join(shapes)}")
    return " or ".join(found)


_TYPED_SHAPES = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})


def _only_excludes(names: dict[str, Any]) -> bool:
    """Return whether a schema of property names is a `not` with the keys that it excludes."""
    excluded = names.get("not")
    if names.keys() != {"not"} or not is_object(excluded) or len(excluded) != 1:
        return False
    if is_array(keys := excluded.get("enum")):
        return bool(keys) and all(isinstance(k, str) for k in keys)
    return isinstance(excluded.get("const"), str)


def _spell_out(node: dict[str, Any]) -> None:
    """Write what a checked schema says in the one way that lowering knows: with a type, and with `allOf` for parts."""
    implied = implied_type(node)
    if implied is not None:
        node["type"] = implied
    if node.get("type") == "object" and "$ref" in node:
        node["allOf"] = [{"$ref": node.pop("$ref")}, *node.get("allOf", [])]


def _has_its_type(schema: dict[str, Any], key: str) -> bool:
    wanted = JSON_TYPES.get(key)
    value = schema[key]
    wrong_bool = isinstance(value, bool) and wanted in (int, (int, float))
    return wanted is None or (not wrong_bool and isinstance(value, wanted))


class _Reader:
    """Checks one schema document, and collects its problems."""

    def __init__(self, file: str, names: frozenset[str]) -> None:
        self.file = file
        self.names = names
        self.problems: list[GeneratorError] = []
        self.broken: set[str] = set()
        self._unknown: list[tuple[dict[str, Any], str]] = []
        self._nodes: list[dict[str, Any]] = []

    def note(self, pointer: str, problem: str, hint: str = "") -> None:
        self.problems.append(GeneratorError(problem, file=self.file, pointer=pointer, hint=hint))

    def definition(self, name: str, raw: Any) -> SchemaObject:
        """Check a definition and return its typed form; of one that cannot be read, what messages need."""
        own = deepcopy(raw)
        before = len(self.problems)
        self._unknown.clear()
        self._nodes.clear()
        self.check(own, child("", "$defs", name), OF_DEFINITION)
        readable = len(self.problems) - before == len(self._unknown)
        for node, key in self._unknown:
            del node[key]
        for node in self._nodes:
            _spell_out(node)
        if readable:
            try:
                return typed({} if own is True else own)
            except ValueError as why:  # a value that none of the checks covers
                reason = " ".join(str(why).split("\n")[1:3])
                self.note(child("", "$defs", name), f"is not a schema: {reason}")
        self.broken.add(name)
        kept = own if is_object(own) else {}
        return typed({k: v for k, v in kept.items() if k in OF_DEFINITION and isinstance(v, JSON_TYPES[k])})

    def check(
        self,
        raw: Any,
        pointer: str,
        extra: frozenset[str] = frozenset(),
        *,
        is_root: bool = False,
        in_not: bool = False,
    ) -> None:
        """Check one schema and every schema inside it; `extra` are keywords that its place allows."""
        if raw is True and not is_root:
            return
        if not is_object(raw):
            self.note(pointer, "a schema must be an object", "`false` and plain values are not supported")
            return
        self._nodes.append(raw)
        shape = shape_of(raw)
        more = IN_NOT.get(shape, frozenset[str]()) if in_not and shape is not None else frozenset[str]()
        known = self.known_keywords(raw, shape, pointer, extra | more)
        sound = {key: raw[key] for key in known if _has_its_type(raw, key)}
        for key in known:
            if key not in sound:
                self.note(child(pointer, key), f"the keyword {key!r} has a value of the wrong type")
        if shape is not None and len(sound) == len(known):
            self.check_values(sound, shape, pointer)
            self.check_names(sound, pointer, in_not=in_not)
        self.check_below(sound, pointer, in_not=in_not)

    def known_keywords(
        self, schema: dict[str, Any], shape: Shape | None, pointer: str, extra: frozenset[str]
    ) -> list[str]:
        """List the keywords that the shape of a schema may have; all where it has none, which is a problem, too."""
        if shape is None:
            if "type" not in schema:
                self.note(pointer, "properties without the type object", 'add `"type": "object"`')
            else:
                self.note(
                    child(pointer, "type"),
                    f"unknown type {schema['type']!r}",
                    "see Shape in read.py; a list may combine one type with null",
                )
            return list(schema)
        what = "property" if extra >= OF_PROPERTY else "definition" if extra >= OF_DEFINITION else "schema"
        where = f"in a {what} of the shape {shape.value!r}"
        for key in unknown_keywords(schema, shape, extra):
            homes = _homes(key)
            if homes:
                problem, hint = f"the keyword {key!r} does not belong {where}", f"it belongs in {homes}"
            else:
                problem = f"unknown keyword {key!r} {where}"
                hint = "add it to KEYWORDS in generator/read.py, and to the code that lowers it"
            self.note(pointer, problem, hint)
            self._unknown.append((schema, key))
        allowed = KEYWORDS[shape] | ANYWHERE | extra
        return [key for key in schema if key in allowed]

    def check_values(self, schema: dict[str, Any], shape: Shape, pointer: str) -> None:
        """Check the keywords that allow a few values only."""
        fmt = schema.get("format")
        if fmt is not None and fmt not in FORMATS.get(shape, frozenset()):
            self.note(child(pointer, "format"), f"unknown format {fmt!r} of the type {shape}", "see FORMATS in read.py")
        if schema.get("contentEncoding", "base64") != "base64":
            self.note(child(pointer, "contentEncoding"), "unknown encoding", "only base64 is known")
        if schema.get("x-method", "x").strip() == "":
            self.note(child(pointer, "x-method"), "an empty method", "name the method as on the wire")
        side = schema.get("x-side")
        if side is not None and side not in SIDES:
            self.note(child(pointer, "x-side"), f"unknown side {side!r}", f"one of {', '.join(sorted(SIDES))}")
        if ("x-side" in schema) != ("x-method" in schema):
            self.note(pointer, "x-side and x-method come together, but one is missing")
        property_name = schema.get("discriminator", {}).get("propertyName")
        if "discriminator" in schema and (schema["discriminator"].keys() != {"propertyName"} or not property_name):
            self.note(child(pointer, "discriminator"), "a discriminator may have `propertyName` only")
        const = schema.get("const")
        if "const" in schema and type(const) is not {Shape.STRING: str, Shape.INTEGER: int}.get(shape):
            self.note(child(pointer, "const"), f"the constant {const!r} is not of the type {shape}")
        if any(not isinstance(v, str) for v in schema.get("enum", [])):
            self.note(child(pointer, "enum"), "`enum` may list strings only")
        if "propertyNames" in schema and not _only_excludes(schema["propertyNames"]):
            self.note(
                child(pointer, "propertyNames"),
                "`propertyNames` may only exclude keys",
                'a `not` with `const` or `enum`, as in {"not": {"const": "key"}}',
            )
        self.check_state(schema.get(STATE, {}), child(pointer, STATE))

    def check_names(self, schema: dict[str, Any], pointer: str, *, in_not: bool) -> None:
        """Check that what a schema refers to is there; a `not` may require what it does not describe."""
        reference = schema.get("$ref")
        if isinstance(reference, str):
            name = reference.removeprefix("#/$defs/")
            if name == reference or name not in self.names:
                self.note(child(pointer, "$ref"), f"dangling reference {reference!r}", "no definition has this name")
        known = schema.get("properties", {})
        for key in schema.get("required", []):
            if not isinstance(key, str) or not (in_not or key in known):
                self.note(child(pointer, "required"), f"requires {key!r}, which is not a property")

    def check_state(self, state: dict[str, Any], pointer: str) -> None:
        """Check `x-state`: scopes, each with a list of what the object does to their state."""
        for scope, entries in state.items():
            if not is_array(entries):
                self.note(child(pointer, scope), "is not a list")
                continue
            for index, entry in enumerate(entries):
                self.check_entry(entry, child(pointer, scope, index))

    def check_entry(self, entry: Any, place: str) -> None:
        """Check one entry of `x-state`."""
        if not is_object(entry) or not all(isinstance(v, str) for v in entry.values()):
            self.note(place, "is not an object with texts")
            return
        for key in sorted(entry.keys() - STATE_KEYS):
            self.note(place, f"unknown key {key!r} in {STATE}", "see STATE_KEYS in read.py")
        if entry.get("action") not in STATE_ACTIONS:
            self.note(place, f"unknown action {entry.get('action')!r}", "see STATE_ACTIONS in read.py")

    def check_below(self, schema: dict[str, Any], pointer: str, *, in_not: bool) -> None:
        for key, value in schema.get("properties", {}).items():
            self.check(value, child(pointer, "properties", key), OF_PROPERTY, in_not=in_not)
        for keyword in ("anyOf", "oneOf", "allOf"):
            for index, value in enumerate(schema.get(keyword, [])):
                # Branches of the document's root describe whole messages, and may be hidden from upstream's docs.
                self.check(value, child(pointer, keyword, index), OF_BRANCH, in_not=in_not)
            if keyword in schema and not schema[keyword]:
                self.note(child(pointer, keyword), "an empty list of alternatives")
        for index, value in enumerate(schema.get("allOf", [])):
            if is_object(value) and "$ref" not in value:  # `true` constrains nothing
                place = child(pointer, "allOf", index)
                self.note(place, "allOf may list references only", "give the part a definition")
        for keyword in ("items", "not", "additionalProperties"):
            if keyword in schema and schema[keyword] is not False:
                inside = in_not or keyword == "not"
                self.check(schema[keyword], child(pointer, keyword), frozenset({"x-docs-ignore"}), in_not=inside)
        if is_object(schema.get("additionalProperties")) and ("properties" in schema or "allOf" in schema):
            self.note(
                child(pointer, "additionalProperties"),
                "a schema of additional properties beside declared ones",
                "only `true` is supported there",
            )
        if schema.get("additionalProperties") is False:
            self.note(
                child(pointer, "additionalProperties"),
                "closed objects are not supported",
                "readers ignore unknown keys",
            )
        if "anyOf" in schema and "oneOf" in schema and schema.get("type") != "object":
            self.note(pointer, "anyOf and oneOf in one schema", "use one of the two; only an object may have both")
