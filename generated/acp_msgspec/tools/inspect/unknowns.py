"""The parts of a message that its schema does not know.

These are unknown variants, unknown values of open enumerations, and undeclared keys, which decoding drops. Keys in free
JSON, in `_meta` and in objects that keep all their keys (`extra`) do not count.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, TypeVar, cast, get_args, get_type_hints

import msgspec
from msgspec import DecodeError, Raw, Struct, UnsetType

from ..._decode.context import Skipped
from ..._decode.paths import cut
from ..._rpc.frame import Frame
from ..._types.enums import OpenInt32Enum, OpenStrEnum
from ..._types.structs import GUARD
from ..._types.unwrap import unwrap
from ..._types.variants import CatchAll, UnknownVariant, declared


class UndeclaredKey(str):
    """An undeclared key, in place of a text about something unknown."""

    __slots__ = ()


Findings = list[tuple[str, str]]
"""Paths, and what is unknown there."""
_Dropped = frozenset[str]
"""The `repr` of each list item that decoding has dropped."""
_Finder = Callable[[Any, Any, _Dropped], Findings | None]

_NONE: _Dropped = frozenset()
_PLAIN = (str, int, float, bool, bytes, type(None), UnsetType, Raw)
_decode = msgspec.json.Decoder().decode
_parts = msgspec.json.Decoder(dict[str, Raw]).decode


def unknowns(message: Any, raw: bytes, repairs: Sequence[Skipped] = ()) -> Findings:
    """List the unknown parts of a decoded message: the JSON path, and what is unknown (an `UndeclaredKey` or a text).

    `raw` is the message as it came. Of a message that could not be decoded (None), only the envelope is checked.
    """
    if message is None:
        plain = _plain(raw, whole=False)
        found = _undeclared(plain, _FRAME) if plain.__class__ is dict and "jsonrpc" in plain else None
        return [("$" + path, what) for path, what in found] if found else []
    try:
        part = getattr(message, "params", None) or getattr(message, "result", None)
        plain = _plain(raw, whole=part.__class__ is not Raw)
        dropped = frozenset(repr(r.value) for r in repairs if r.action == "dropped") if repairs else _NONE
        found = _find(message, plain, dropped)
    except RecursionError:
        return []
    return [("$" + path, what) for path, what in found] if found else []


def _plain(raw: bytes, *, whole: bool) -> Any:
    try:
        return _decode(raw) if whole else _parts(raw)
    except (DecodeError, RecursionError):
        pass
    try:  # with a number out of the range of a float
        return json.loads(raw, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None


def _find(value: Any, plain: Any, dropped: _Dropped) -> Findings | None:
    cls = cast("type[object]", value.__class__)
    find = _FINDERS.get(cls)
    if find is None:
        find = _FINDERS[cls] = _finder_of(cls)
    return find(value, plain, dropped)


def _find_nothing(_value: Any, _plain: Any, _dropped: _Dropped) -> None:
    return None


def _find_in_list(value: list[Any], plain: Any, dropped: _Dropped) -> Findings | None:
    out: Findings | None = None
    for index, item, given in _paired(value, plain, dropped):
        found = _find(item, given, dropped)
        if found:
            out = out or []
            out += [(f"[{index}]{path}", what) for path, what in found]
    return out


def _paired(value: list[Any], plain: Any, dropped: _Dropped) -> Iterable[tuple[int, Any, Any]]:
    """Yield the index, the item and its JSON value, without the values that were dropped."""
    if plain.__class__ is list:
        if len(plain) == len(value):
            return zip(range(len(value)), value, plain, strict=True)
        kept = [(index, item) for index, item in enumerate(plain) if repr(item) not in dropped]
        if len(kept) == len(value):
            return ((index, item, given) for item, (index, given) in zip(value, kept, strict=True))
    return ((index, item, None) for index, item in enumerate(value))


def _find_in_dict(value: dict[str, Any], plain: Any, dropped: _Dropped) -> Findings | None:
    given = cast("dict[str, Any]", plain) if isinstance(plain, dict) else {}
    found = ((key, _find(item, given.get(key), dropped)) for key, item in value.items())
    return [(_step(key) + path, what) for key, steps in found for path, what in steps or ()]


def _find_in_variant(value: UnknownVariant, _plain: Any, _dropped: _Dropped) -> Findings:
    return [(_step(value.tag_field), f"unknown value {cut(value.tag)!r}")]


def _find_in_enum(value: OpenStrEnum, _plain: Any, _dropped: _Dropped) -> Findings | None:
    return None if value.is_known else [("", f"unknown value {cut(str(value))!r}")]


def _undeclared(plain: Any, keys: frozenset[str]) -> Findings | None:
    if plain.__class__ is not dict or plain.keys() <= keys:
        return None
    return [(_step(key), UndeclaredKey(key)) for key in plain if key not in keys]


def _struct_finder(cls: type[Struct]) -> _Finder:
    """Return the finder of a class: its declared keys, and its fields that may contain something unknown."""
    fields = [f for f in msgspec.structs.fields(cls) if f.name != GUARD]
    tag = cls.__struct_config__.tag_field
    keys = frozenset((*(f.encode_name for f in fields), *([tag] if tag is not None else ())))
    return _field_finder(keys, [(f.name, f.encode_name) for f in fields if _may_hold(f.type)])


def _field_finder(keys: frozenset[str] | None, fields: list[tuple[str, str]]) -> _Finder:
    """Return the finder of a class with these keys, or None if it keeps all; `fields` are attributes and their keys."""
    steps = [(name, wire, _step(wire)) for name, wire in fields]
    finders = _FINDERS

    def find(value: Any, plain: Any, dropped: _Dropped) -> Findings | None:
        out: Findings | None = None
        is_object = plain.__class__ is dict
        if keys is not None and is_object and not plain.keys() <= keys:
            out = _undeclared(plain, keys)
        for name, wire, step in steps:
            item = getattr(value, name)
            inner = finders.get(item.__class__, _find)
            if inner is _find_nothing:  # as for most values: this test is much faster than a call
                continue
            found = inner(item, plain.get(wire) if is_object else None, dropped)
            if found:
                out = [*(out or ()), *((step + path, what) for path, what in found)]
        return out

    return find


def _catch_all_finder(cls: type[CatchAll]) -> _Finder:
    """Return the finder of a class that keeps all keys."""
    attributes, types = declared(cls), get_type_hints(cls, include_extras=True)
    fields = [(name, field.wire) for name, field in attributes.items() if name != "extra" and _may_hold(types[name])]
    inside = _field_finder(None, fields)
    other_of = cls.__shape__.other_of
    tag = next((name for name, field in attributes.items() if field.wire == other_of), None)

    def find(value: Any, plain: Any, dropped: _Dropped) -> Findings | None:
        found = inside(value, plain, dropped)
        if other_of is None:
            return found
        shown = cut(str(getattr(value, tag))) if tag is not None else ""
        return [(_step(other_of), f"unknown value {shown!r}"), *(found or ())]

    return find


def _finder_of(cls: type) -> _Finder:
    if issubclass(cls, UnknownVariant):
        return _find_in_variant
    if issubclass(cls, OpenStrEnum):
        return _find_in_enum
    if issubclass(cls, Struct) and hasattr(cls, "__struct_config__"):
        return _struct_finder(cls)
    return _catch_all_finder(cls) if issubclass(cls, CatchAll) else _find_nothing


_FINDERS: dict[type, _Finder] = {list: _find_in_list, dict: _find_in_dict}
_FRAME = frozenset(Frame.__struct_fields__)


def _step(key: str) -> str:
    return f".{key}" if key.isidentifier() and len(key) <= 80 else f"[{cut(key)!r}]"


def _may_hold(annotation: Any) -> bool:
    """Return whether a field of this type may contain something unknown. Free JSON cannot: it has no schema."""
    if isinstance(annotation, TypeVar):  # a result
        return True
    annotation = unwrap(annotation)
    if annotation is Any:
        return False
    parts: tuple[Any, ...] = get_args(annotation)
    if parts:
        return any(map(_may_hold, parts))
    if not isinstance(annotation, type):
        return False
    if issubclass(annotation, OpenInt32Enum) or (
        issubclass(annotation, Enum) and not issubclass(annotation, OpenStrEnum)
    ):
        return False  # error codes are free
    return annotation not in _PLAIN
