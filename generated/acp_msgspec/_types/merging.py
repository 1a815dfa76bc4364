"""Annotations: which fields of an update are merged into what is there, instead of replacing it.

msgspec and type checkers ignore them; `apply_patch` reads them.
"""

from enum import Enum
from typing import Annotated, Any, TypeVar, get_origin

T = TypeVar("T")


class Merging(Enum):
    """What the value of a field does to the present one."""

    BY_KEY = "by-key"
    """Each key replaces that key of the present object; a key with null removes it, and the others stay."""


MergedByKey = Annotated[T, Merging.BY_KEY]
"""A field whose object changes the present one key by key; a key with null is removed. Nested objects are replaced."""


def is_merged_by_key(annotation: Any) -> bool:
    """Return whether a field with this annotation is merged key by key."""
    return get_origin(annotation) is Annotated and Merging.BY_KEY in annotation.__metadata__
