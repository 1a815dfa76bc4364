"""Python classes of a type: a cheap check of the values that callers and handlers pass in."""

from collections.abc import Callable
from enum import Enum
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec import Raw, Struct, UnsetType

from .._types.hooks import Absent, UInt64
from .._types.unions import spec_of
from .._types.unwrap import union_members, unwrap
from .._types.variants import CatchAll, UnknownVariant, enc_hook
from .hook import engine

_ACCEPTED: dict[Any, frozenset[Any]] = {}
_CHECKS: dict[Any, Callable[[Any], bool]] = {}
_ANYTHING: frozenset[Any] = frozenset((object,))


def accepts(kind: Any) -> frozenset[type[Any]]:
    """List the classes whose instances a type accepts; `object` means any class.

    A closed union also accepts `UnknownVariant`, and a float also an `int`. An enumeration accepts its members only.
    """
    found = _ACCEPTED.get(kind)
    if found is None:
        found = _ACCEPTED[kind] = _accepted(kind)
    return found


def instance_check(kind: Any) -> Callable[[Any], bool]:
    """Return a function that checks whether a value has a class that a type accepts, or a subclass of one.

    Raw JSON passes for every type. The content of a value is not checked.
    """
    check = _CHECKS.get(kind)
    if check is None:
        check = _CHECKS[kind] = _checking(accepts(kind))
    return check


def why_invalid(kind: Any, value: Any) -> str | None:
    """Return why a type does not accept a value, None if it does.

    Of instances of this package's classes only the class is checked. Plain JSON values, and objects that msgspec
    encodes as such, must decode as the type. None counts as an empty object, as it does on the wire.
    """
    if instance_check(kind)(value):
        return None
    if isinstance(value, Struct | CatchAll | UnknownVariant):
        return expected(kind, value)
    try:
        plain: Any = {} if value is None else msgspec.to_builtins(value, enc_hook=enc_hook)
    except (TypeError, ValueError, RecursionError):
        return expected(kind, value)
    try:
        engine().repair(kind, plain, keep_unknown=True)
    except msgspec.ValidationError as why:
        return (
            f"{class_names(kind)} was expected: {why}" if plain and isinstance(plain, dict) else expected(kind, value)
        )
    return None


def expected(kind: Any, value: Any) -> str:
    """Name the classes that a type accepts, and the class of a value."""
    cls, wanted = value.__class__, class_names(kind)
    name = "None" if value is None else cls.__name__
    if name in wanted.split(" | "):
        name = f"{cls.__module__}.{cls.__qualname__}"
    return f"Expected {wanted}, got {name}"


def _checking(classes: frozenset[type[Any]]) -> Callable[[Any], bool]:
    if object in classes:
        return lambda value: True
    exact = classes | {Raw}
    # In Python a boolean is an integer, in JSON it is not.
    inherited = tuple(c for c in classes if c not in (int, float, type(None), UnsetType))
    return lambda value: value.__class__ in exact or isinstance(value, inherited)


def _accepted(kind: Any) -> frozenset[Any]:
    if kind is Any or isinstance(kind, TypeVar):
        return _ANYTHING
    spec = spec_of(kind)
    if spec is not None:
        kinds = [k for group in (*spec.tagged.values(), spec.catch_alls, spec.fallbacks) for k in group]
        return _joined(kinds) | ({UnknownVariant} if spec.closed else set())
    inner = unwrap(kind)
    if inner is not kind:
        return accepts(inner)
    if members := union_members(kind):
        return _joined(members)
    origin = get_origin(kind)
    if origin is Literal:
        return frozenset(map(type, get_args(kind)))
    return _accepted_class(origin or kind)


def _accepted_class(kind: Any) -> frozenset[Any]:
    special: dict[Any, tuple[Any, ...]] = {
        None: (type(None),),
        Raw: (Raw,),
        float: (float, int),
        UInt64: (int,),
        Absent: (UnsetType,),
        list: (list, tuple),
    }
    if kind in special:
        return frozenset(special[kind])
    plain: tuple[type[Any], ...] = (str, int, bool, dict, type(None), UnsetType, Struct, CatchAll, Enum)
    if isinstance(kind, type) and issubclass(kind, plain):
        found: set[Any] = {kind}
        return frozenset(found)
    raise TypeError(f"{kind!r} is not a type that this package decodes")


def _joined(kinds: Any) -> frozenset[Any]:
    return frozenset(c for k in kinds for c in accepts(k))


def class_names(kind: Any) -> str:
    """Name the classes that a type accepts."""
    classes = accepts(kind) - {UnknownVariant}
    return " | ".join(sorted("None" if c is type(None) else c.__name__ for c in classes))
