"""What a message has that its schema reads but does not know: variants that were kept, values of open enumerations."""

from collections.abc import Callable
from enum import Enum
from typing import Any, NewType, cast, get_args

import msgspec
from msgspec import Raw, Struct, UnsetType

from .._enums import OpenInt32Enum, OpenStrEnum
from .._variants import CatchAll, UnknownVariant, declared
from .._wire import wire_name

Steps = list[tuple[str, str]]
"""Paths and what stands there."""

_PLAIN = (str, int, float, bool, bytes, type(None), UnsetType, Raw)
_WALKED: dict[type, tuple[tuple[str, str], ...]] = {}
"""The fields of each class that may hold something unknown, with their JSON paths."""


def unknowns(message: Any) -> Steps:
    """List the unknown parts of a decoded message: JSON path, and what is unknown there."""
    found = _look(message)
    return [("$" + path, what) for path, what in found] if found else []


def _look(value: Any) -> Steps | None:
    kind = cast("type[object]", value.__class__)
    look = _LOOKS.get(kind)
    if look is None:
        look = _LOOKS[kind] = _look_for(kind)
    return look(value)


def _nothing(_: Any) -> None:
    return None


def _in_list(value: list[Any]) -> Steps | None:
    out: Steps = []
    for index, item in enumerate(value):
        found = _look(item)
        if found:
            out += [(f"[{index}]{path}", what) for path, what in found]
    return out


def _in_dict(value: dict[str, Any]) -> Steps | None:
    return [(f"[{key[:80]!r}]{path}", what) for key, item in value.items() for path, what in _look(item) or ()]


def _in_fields(value: Any) -> Steps | None:
    out: Steps | None = None
    for name, step in _WALKED[type(value)]:
        item = getattr(value, name)
        look = _LOOKS.get(item.__class__, _look)
        if look is _nothing:  # as for most: looking here is much quicker than a call
            continue
        found = look(item)
        if found:
            out = [*(out or ()), *((step + path, what) for path, what in found)]
    return out


def _in_catch_all(value: CatchAll) -> Steps:
    shape = type(value).__shape__
    tag = next((getattr(value, n) for n, e in declared(type(value)).items() if e.wire == shape.other_of), None)
    here = [(f".{shape.other_of}", f"unknown value {str(tag)[:80]!r}")] if shape.other_of is not None else []
    return [*here, *(_in_fields(value) or ())]


def _in_unknown(value: UnknownVariant) -> Steps:
    return [(f".{value.tag_field}", f"unknown value {value.tag[:80]!r}")]


def _in_enum(value: OpenStrEnum) -> Steps | None:
    return None if value.is_known else [("", f"unknown value {str(value)[:80]!r}")]


def _look_for(kind: type) -> Callable[[Any], Steps | None]:
    if issubclass(kind, UnknownVariant):
        return _in_unknown
    if issubclass(kind, OpenStrEnum):
        return _in_enum
    if issubclass(kind, Struct) and hasattr(kind, "__struct_config__"):
        fields = msgspec.structs.fields(kind)
        _WALKED[kind] = tuple((f.name, f".{f.encode_name}") for f in fields if _may_hold(f.type))
        return _in_fields if _WALKED[kind] else _nothing
    if issubclass(kind, CatchAll):
        _WALKED[kind] = tuple((name, f".{wire_name(name)}") for name in declared(kind) if name != "extra")
        return _in_catch_all
    return _nothing


_LOOKS: dict[type, Callable[[Any], Steps | None]] = {list: _in_list, dict: _in_dict}


def _may_hold(kind: Any) -> bool:
    """Say whether a field of this type may hold something unknown; free JSON holds nothing but values."""
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
