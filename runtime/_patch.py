"""Three-state fields put to use: applying what a peer says has changed."""

from functools import cache
from typing import Any, Literal, TypeVar, get_origin

import msgspec
from msgspec import UNSET, Struct

from ._decode.hook import engine

S = TypeVar("S", bound=Struct)


def apply_patch(current: S, patch: Struct, /) -> S:
    """Give a copy of `current` with the changes that `patch` carries; neither argument is changed.

    Fields meet by name. For a field of `patch` with three states, UNSET leaves the present value, None clears it, and a
    value replaces it whole, lists and maps too. For any other optional field of `patch` a value that equals its
    default says nothing, as it would not be on the wire, and leaves the present value. Fields that only one of the two
    has are left aside.

    Where a field of `current` cannot be None, clearing gives its default.

    Raises `ValueError` when a required field of `current` that cannot be None is cleared, and `TypeError` for a patch
    whose class has nothing to change in that of `current`.
    """
    if not _meet(type(current), type(patch)):
        raise TypeError(f"A {type(patch).__name__} has no field that a {type(current).__name__} has")
    changes: dict[str, Any] = {}
    for field, target in _shared(type(current), type(patch)):
        value = getattr(patch, field.name)
        if value is UNSET:
            continue
        three_states = field.default is UNSET
        if not three_states and not field.required and value == _default(field):
            continue
        changes[field.name] = _cleared(target) if value is None and three_states else value
    return msgspec.structs.replace(current, **changes)


@cache
def _meet(current: type[Struct], patch: type[Struct]) -> bool:
    """Say whether two classes share a field that says something of its own: all have `meta`, and a tag only names."""
    own = [{f.name for f in _fields(kind) if get_origin(f.type) is not Literal} - {"meta"} for kind in (current, patch)]
    return current is patch or not own[0].isdisjoint(own[1])


@cache
def _fields(kind: type[Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


@cache
def _shared(
    current: type[Struct], patch: type[Struct]
) -> list[tuple[msgspec.structs.FieldInfo, msgspec.structs.FieldInfo]]:
    """Pair the fields of a patch with those of the same name in the class that it changes."""
    targets = {field.name: field for field in _fields(current)}
    return [(field, targets[field.name]) for field in _fields(patch) if field.name in targets]


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default_factory() if callable(field.default_factory) else field.default


def _cleared(target: msgspec.structs.FieldInfo) -> Any:
    """Find what a cleared field becomes."""
    if engine().reader_of(target.type).viable(None):
        return None
    if target.required:
        raise ValueError(f"The field `{target.encode_name}` cannot be cleared")
    return _default(target)
