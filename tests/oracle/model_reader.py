"""A reader and writer made from the model as JSON alone, as an SDK in another language would be.

It shares no code with the generator or the package. A value is read and written again in one step: the result is the
JSON that a writer gives for what a reader understood.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeGuard

BOUNDS = {f"int{n}": (-(2 ** (n - 1)), 2 ** (n - 1) - 1) for n in (8, 16, 32, 64)} | {
    f"uint{n}": (0, 2**n - 1) for n in (8, 16, 32, 64)
}
PLAIN: dict[str, Callable[[Any], bool]] = {
    "string": lambda raw: isinstance(raw, str),
    "boolean": lambda raw: isinstance(raw, bool),
    "number": lambda raw: isinstance(raw, int | float) and not isinstance(raw, bool),
    "integer": lambda raw: isinstance(raw, int) and not isinstance(raw, bool),
    "null": lambda raw: raw is None,
    "any": lambda _: True,
}
LIMITS: dict[str, Callable[[Any, Any], bool]] = {
    "min_items": lambda value, limit: len(value) >= limit,
    "min_length": lambda value, limit: len(value) >= limit,
    "max_length": lambda value, limit: len(value) <= limit,
}
Json = dict[str, Any]
INT32: Json = {"kind": "integer", "format": "int32", "low": None, "high": None}
TEXT: Json = {"kind": "plain", "name": "string"}


class Invalid(Exception):
    """The value is not one of the type."""


def _require(condition: bool) -> None:
    if not condition:
        raise Invalid


def _is_object(raw: Any) -> TypeGuard[Json]:
    return isinstance(raw, dict)


class ModelReader:
    """Reads values of the types of one module."""

    def __init__(self, module: Json) -> None:
        self.definitions: dict[str, Json] = {d["name"]: d for d in module["definitions"]}

    def rewrite(self, name: str, raw: Any) -> Any:
        """Read a value of a definition, and write it again; raises `Invalid`."""
        found = self.definitions[name]
        match found["kind"]:
            case "struct" | "catch-all":
                return self._object(found, raw)
            case "union":
                return self._union(found, raw)
            case "enumeration":
                return self._enumeration(found, raw)
            case "alias":
                return self._type(found["type"], raw)
            case _:
                _require(isinstance(raw, str))
                return raw

    def _type(self, kind: Json, raw: Any) -> Any:
        match kind["kind"]:
            case "named":
                return self.rewrite(kind["name"], raw)
            case "plain":
                _require(PLAIN[kind["name"]](raw))
                return raw
            case "integer":
                _require(PLAIN["integer"](raw))
                low, high = BOUNDS[kind["format"]]
                low, high = (b if kind[k] is None else kind[k] for k, b in (("low", low), ("high", high)))
                _require(low <= raw <= high)
                return raw
            case "nullable":
                return None if raw is None else self._type(kind["inner"], raw)
            case "constrained":
                written = self._type(kind["inner"], raw)
                _require(all(LIMITS[name](written, limit) for name, limit in kind["enforced"].items()))
                return written
            case "list":
                _require(isinstance(raw, list))
                return list(self._items(kind, raw))
            case "map":
                _require(_is_object(raw))
                return {key: self._type(kind["item"], value) for key, value in raw.items()}
            case _:
                return self._first(partial(self._type, option, raw) for option in kind["options"])

    def _items(self, kind: Json, raw: list[Any]) -> Iterable[Any]:
        for item in raw:
            try:
                yield self._type(kind["item"], item)
            except Invalid:
                if not kind["skips"]:
                    raise

    def _first(self, ways: Iterable[Callable[[], Any]]) -> Any:
        """Try one way after the other."""
        for way in ways:
            try:
                return way()
            except Invalid:
                pass
        raise Invalid

    def _enumeration(self, found: Json, raw: Any) -> Any:
        self._type(INT32 if found["is_int"] else TEXT, raw)
        if raw in [m["value"] for m in found["members"]] or found["is_open"]:
            return raw
        _require(found["unknown"] is not None)
        return found["unknown"]

    def _fields(self, found: Json) -> list[Json]:
        base = found.get("base")
        return [*(self._fields(self.definitions[base]) if base else ()), *found["fields"]]

    def _guards(self, found: Json) -> list[Json]:
        """List the keys that an object must not have, those of its base included."""
        base = found.get("base")
        own = [found["guard"]] if found.get("guard") is not None else []
        return [*(self._guards(self.definitions[base]) if base else ()), *own]

    def _object(self, found: Json, raw: Any) -> Json:
        if raw is None and found.get("takes_null"):
            raw = {}
        if not _is_object(raw):
            raise Invalid
        for guard in self._guards(found):
            _require(guard["key"] not in raw or raw[guard["key"]] == guard["unless"] is not None)
        out: Json = {}
        if found["tag"] is not None:
            out[found["tag"]["field"]] = found["tag"]["value"]
        fields = self._fields(found)
        for entry in fields:
            self._field(entry, raw, out)
        if found["kind"] == "catch-all":
            other = found["other_of"]
            if other is not None:
                _require(isinstance(raw.get(other), str) and raw[other] not in found["known"])
            mine = {entry["wire"] for entry in fields} | out.keys() | set(found["reserved"])
            out |= {key: value for key, value in raw.items() if key not in mine}
        return out

    def _field(self, entry: Json, raw: Json, out: Json) -> None:
        """Read one field, and write it where it is to be written."""
        wire, presence = entry["wire"], entry["presence"]
        default = None if entry["default"] is None else entry["default"]["json"]
        if wire in raw:
            try:
                value = self._type(entry["type"], raw[wire])
                _require(entry["constant"] in (None, value))
            except Invalid:
                forgiven = entry["leniency"] == "default-on-error" or (
                    entry["leniency"] == "default-on-null" and raw[wire] is None
                )
                if not forgiven:
                    raise
                if presence == "required":
                    out[wire] = []
                elif presence == "defaulted":
                    out[wire] = default
                return
            if not ((presence == "option" and value is None) or (presence == "empty" and value == default)):
                out[wire] = value
        else:
            _require(presence != "required")
            if presence == "defaulted":
                out[wire] = default

    def _union(self, found: Json, raw: Any) -> Any:
        key = found["tag_field"]
        if key is not None and _is_object(raw) and isinstance(raw.get(key), str):
            tagged = [self.definitions[k["name"]] for k in found["tagged"]]
            own = [d for d in tagged if d["tag"]["value"] == raw[key]]
            others = [] if own else [self.definitions[k["name"]] for k in found["others"]]
            try:
                return self._first(partial(self._guarded, variant, raw) for variant in (*own, *others))
            except Invalid:
                if own and found["tag_decides"]:
                    raise
        return self._first(partial(self._fallback, kind, raw) for kind in found["fallbacks"])

    def _guarded(self, variant: Json, raw: Json) -> Any:
        _require(not any(key in raw for key in variant.get("forbids", ())))
        return self.rewrite(variant["name"], raw)

    def _fallback(self, kind: Json, raw: Any) -> Any:
        target = self.definitions.get(kind["name"]) if kind["kind"] == "named" else None
        if target is None or not _is_object(raw):
            return self._type(kind, raw)
        return self._guarded(target, raw)
