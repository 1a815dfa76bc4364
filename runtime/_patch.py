"""Applies updates with three-state fields to the objects that they change."""

from functools import cache
from typing import Any, Literal, TypeVar, cast, get_origin

import msgspec
from msgspec import UNSET, Struct

from ._decode.hook import engine
from ._types.merging import is_merged_by_key

S = TypeVar("S", bound=Struct)


def apply_patch(current: S, patch: Struct, /) -> S:
    """Return a copy of `current` with the changes in `patch`; neither argument is changed.

    Fields are matched by name. For a three-state field of `patch`, UNSET keeps the present value, None clears it, and
    any other value replaces it as a whole, also lists and maps. For other optional fields of `patch`, the default keeps
    the present value, as it would not be on the wire. Fields that only one of the two classes has are ignored.

    A map in a field marked as `MergedByKey`, such as the `meta` of updates in version 2, is merged instead: each key
    replaces that key of the present map, or removes it if its value is None. Maps inside are replaced.

    A cleared field of `current` that cannot be None gets its default.

    Raises `ValueError` if a required field of `current` that cannot be None is cleared, and `TypeError` if the two
    classes have no field in common that could change.
    """
    if not _share_fields(type(current), type(patch)):
        raise TypeError(f"A {type(patch).__name__} has no field that a {type(current).__name__} has")
    changes: dict[str, Any] = {}
    for field, target in _shared(type(current), type(patch)):
        value = getattr(patch, field.name)
        if value is UNSET:
            continue
        three_states = field.default is UNSET
        if not three_states and not field.required and value == _default(field):
            continue
        if value is None and three_states:
            changes[field.name] = _cleared(target)
        elif isinstance(value, dict) and is_merged_by_key(field.type):
            changes[field.name] = _merged(getattr(current, field.name), cast("dict[str, Any]", value))
        else:
            changes[field.name] = value
    return msgspec.structs.replace(current, **changes)


@cache
def _share_fields(current: type[Struct], patch: type[Struct]) -> bool:
    """Return whether two classes share a field other than `meta` and tags."""
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


def _merged(present: Any, changes: dict[str, Any]) -> dict[str, Any]:
    """Return a new map with the changes. `present` may be a patch itself, with keys that are None."""
    both: dict[str, Any] = {**present, **changes} if isinstance(present, dict) else changes
    return {key: value for key, value in both.items() if value is not None}


def _cleared(target: msgspec.structs.FieldInfo) -> Any:
    """Return the value of a cleared field."""
    if engine().reader_of(target.type).viable(None):
        return None
    if target.required:
        raise ValueError(f"The field `{target.encode_name}` cannot be cleared")
    return _default(target)
