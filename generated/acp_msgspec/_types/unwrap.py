"""Looking through what names or annotates a type: `NewType`, `Annotated`, and the members of a union."""

from types import UnionType
from typing import Annotated, Any, NewType, Union, get_args, get_origin


def unwrap(kind: Any) -> Any:
    """Return the type behind its names and annotations; the type itself if it has none."""
    while True:
        if isinstance(kind, NewType):
            kind = kind.__supertype__
        elif get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        else:
            return kind


def union_members(kind: Any) -> tuple[Any, ...]:
    """Return the members of a union, `None` of an optional type included; nothing for any other type."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else ()
