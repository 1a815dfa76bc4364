"""What a message has that its schema does not know.

That are variants that were kept, values of open enumerations, and keys that the schema does not declare: a reader
ignores those, and they are lost. Keys within free JSON and `_meta`, which may hold anything, and those of variants and
objects that keep whatever they have (`extra`), are none of them.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, NewType, TypeVar, cast, get_args, get_type_hints

import msgspec
from msgspec import DecodeError, Raw, Struct, UnsetType

from ..._decode.context import Skipped
from ..._decode.paths import cut
from ..._rpc.frame import Frame
from ..._types.enums import OpenInt32Enum, OpenStrEnum
from ..._types.structs import GUARD
from ..._types.variants import CatchAll, UnknownVariant, declared


class Key(str):
    """An undeclared key, where else it is said what is unknown."""

    __slots__ = ()


Steps = list[tuple[str, str]]
"""Paths, and what stands there."""
_Dropped = frozenset[str]
"""Items that a reader has dropped from lists, as Python shows them."""
_Look = Callable[[Any, Any, _Dropped], Steps | None]

_NONE: _Dropped = frozenset()
_PLAIN = (str, int, float, bool, bytes, type(None), UnsetType, Raw)
_decode = msgspec.json.Decoder().decode
_parts = msgspec.json.Decoder(dict[str, Raw]).decode


def unknowns(message: Any, raw: bytes, repairs: Sequence[Skipped] = ()) -> Steps:
    """List the unknown parts of a decoded message: JSON path, and what is unknown there (a `Key` of undeclared ones).

    `raw` is the message as it came; of one that could not be decoded (None) the keys of its envelope are looked at.
    """
    if message is None:
        plain = _plain(raw, whole=False)
        found = _strange(plain, _FRAME) if plain.__class__ is dict and "jsonrpc" in plain else None
        return [("$" + path, what) for path, what in found] if found else []
    try:
        part = getattr(message, "params", None) or getattr(message, "result", None)
        plain = _plain(raw, whole=part.__class__ is not Raw)
        dropped = frozenset(repr(r.value) for r in repairs if r.action == "dropped") if repairs else _NONE
        found = _look(message, plain, dropped)
    except RecursionError:
        return []
    return [("$" + path, what) for path, what in found] if found else []


def _plain(raw: bytes, *, whole: bool) -> Any:
    try:
        return _decode(raw) if whole else _parts(raw)
    except (DecodeError, RecursionError):
        pass
    try:  # with a number that no float holds
        return json.loads(raw, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None


def _look(value: Any, plain: Any, dropped: _Dropped) -> Steps | None:
    kind = cast("type[object]", value.__class__)
    look = _LOOKS.get(kind)
    if look is None:
        look = _LOOKS[kind] = _look_for(kind)
    return look(value, plain, dropped)


def _nothing(_value: Any, _plain: Any, _dropped: _Dropped) -> None:
    return None


def _in_list(value: list[Any], plain: Any, dropped: _Dropped) -> Steps | None:
    out: Steps | None = None
    for index, item, given in _paired(value, plain, dropped):
        found = _look(item, given, dropped)
        if found:
            out = out or []
            out += [(f"[{index}]{path}", what) for path, what in found]
    return out


def _paired(value: list[Any], plain: Any, dropped: _Dropped) -> Iterable[tuple[int, Any, Any]]:
    """Give each item with its place and what stood there, past those that were dropped."""
    if plain.__class__ is list:
        if len(plain) == len(value):
            return zip(range(len(value)), value, plain, strict=True)
        kept = [(index, item) for index, item in enumerate(plain) if repr(item) not in dropped]
        if len(kept) == len(value):
            return ((index, item, given) for item, (index, given) in zip(value, kept, strict=True))
    return ((index, item, None) for index, item in enumerate(value))


def _in_dict(value: dict[str, Any], plain: Any, dropped: _Dropped) -> Steps | None:
    given = cast("dict[str, Any]", plain) if isinstance(plain, dict) else {}
    found = ((key, _look(item, given.get(key), dropped)) for key, item in value.items())
    return [(_step(key) + path, what) for key, steps in found for path, what in steps or ()]


def _in_unknown(value: UnknownVariant, _plain: Any, _dropped: _Dropped) -> Steps:
    return [(_step(value.tag_field), f"unknown value {cut(value.tag)!r}")]


def _in_enum(value: OpenStrEnum, _plain: Any, _dropped: _Dropped) -> Steps | None:
    return None if value.is_known else [("", f"unknown value {cut(str(value))!r}")]


def _strange(plain: Any, keys: frozenset[str]) -> Steps | None:
    if plain.__class__ is not dict or plain.keys() <= keys:
        return None
    return [(_step(key), Key(key)) for key in plain if key not in keys]


def _in_struct(kind: type[Struct]) -> _Look:
    """Make the look into a class: its declared keys, and its fields that may hold something unknown."""
    fields = [f for f in msgspec.structs.fields(kind) if f.name != GUARD]
    tag = kind.__struct_config__.tag_field
    keys = frozenset((*(f.encode_name for f in fields), *([tag] if tag is not None else ())))
    return _in_fields(keys, [(f.name, f.encode_name) for f in fields if _may_hold(f.type)])


def _in_fields(keys: frozenset[str] | None, fields: list[tuple[str, str]]) -> _Look:
    """Make the look into a class with these keys, None where it keeps all; `fields` are attributes and their keys."""
    steps = [(name, wire, _step(wire)) for name, wire in fields]
    looks = _LOOKS

    def look(value: Any, plain: Any, dropped: _Dropped) -> Steps | None:
        out: Steps | None = None
        is_object = plain.__class__ is dict
        if keys is not None and is_object and not plain.keys() <= keys:
            out = _strange(plain, keys)
        for name, wire, step in steps:
            item = getattr(value, name)
            inner = looks.get(item.__class__, _look)
            if inner is _nothing:  # as for most: looking here is much quicker than a call
                continue
            found = inner(item, plain.get(wire) if is_object else None, dropped)
            if found:
                out = [*(out or ()), *((step + path, what) for path, what in found)]
        return out

    return look


def _in_catch_all(kind: type[CatchAll]) -> _Look:
    """Make the look into a class that keeps every key."""
    entries, types = declared(kind), get_type_hints(kind, include_extras=True)
    fields = [(name, entry.wire) for name, entry in entries.items() if name != "extra" and _may_hold(types[name])]
    inside = _in_fields(None, fields)
    other_of = kind.__shape__.other_of
    tag = next((name for name, entry in entries.items() if entry.wire == other_of), None)

    def look(value: Any, plain: Any, dropped: _Dropped) -> Steps | None:
        found = inside(value, plain, dropped)
        if other_of is None:
            return found
        shown = cut(str(getattr(value, tag))) if tag is not None else ""
        return [(_step(other_of), f"unknown value {shown!r}"), *(found or ())]

    return look


def _look_for(kind: type) -> _Look:
    if issubclass(kind, UnknownVariant):
        return _in_unknown
    if issubclass(kind, OpenStrEnum):
        return _in_enum
    if issubclass(kind, Struct) and hasattr(kind, "__struct_config__"):
        return _in_struct(kind)
    return _in_catch_all(kind) if issubclass(kind, CatchAll) else _nothing


_LOOKS: dict[type, _Look] = {list: _in_list, dict: _in_dict}
_FRAME = frozenset(Frame.__struct_fields__)


def _step(key: str) -> str:
    return f".{key}" if key.isidentifier() and len(key) <= 80 else f"[{cut(key)!r}]"


def _may_hold(kind: Any) -> bool:
    """Say whether a field of this type may hold something unknown; free JSON holds nothing but values."""
    if isinstance(kind, TypeVar):  # a result
        return True
    if kind is Any or isinstance(kind, NewType):
        return False
    parts: tuple[Any, ...] = get_args(kind)
    if parts:
        return any(map(_may_hold, parts))
    if not isinstance(kind, type):
        return False
    if issubclass(kind, OpenInt32Enum) or (issubclass(kind, Enum) and not issubclass(kind, OpenStrEnum)):
        return False  # error codes are free
    return kind not in _PLAIN
