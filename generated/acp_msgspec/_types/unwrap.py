"""Looking through what names or annotates a type: `NewType`, `Annotated`, and the members of a union."""

from types import UnionType
from typing import Annotated, Any, NewType, Union, get_args, get_origin


def unwrap(annotation: Any) -> Any:
    """Return the type behind its names and annotations; the type itself if it has none."""
    while True:
        if isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        elif get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        else:
            return annotation


def union_members(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union, `None` of an optional type included; nothing for any other type."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else ()
