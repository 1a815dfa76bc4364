"""The base of all payloads, and defaults that are always written."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

from msgspec import UNSET, Struct, StructMeta, field

from .hooks import Absent
from .naming import wire_name

T = TypeVar("T")


GUARD = "untagged_"
"""Name of the field for a key that must be absent; always unset."""


class KeywordOnly(StructMeta):
    """Makes each class keyword-only: msgspec does not inherit that setting from the base."""

    def __new__(
        cls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        untagged_by: str | None = None,
        forbids: tuple[str, ...] = (),
        takes_null: bool = False,
        without: str | None = None,
        unless: str | None = None,
        **config: Any,
    ) -> Any:
        """Create the class with `kw_only` on.

        `untagged_by` is the JSON key of the tag in a union that falls back to this class if the tag is absent. msgspec
        then reads the class only if the key is absent, and the slow path decides about the rest. `forbids` are JSON
        keys that exclude the class where a union has it as a variant. With `takes_null`, the slow path reads null as an
        object without keys. `without` is a key with which no object is of this class, except with the value `unless`,
        which is not kept.
        """
        if forbids:
            namespace["__forbids__"] = frozenset(forbids)
        if takes_null:
            namespace["__takes_null__"] = True
        key = without if without is not None else untagged_by
        if key is not None:
            namespace["__annotations__"] = {**_annotations(namespace), GUARD: Absent}
            namespace[GUARD] = field(default=UNSET, name=key)
            namespace["__untagged_by__"] = key
        if without is not None:
            namespace["__without__"] = (without, unless)
        return super().__new__(cls, name, bases, namespace, kw_only=True, **config)


def _annotations(namespace: dict[str, Any]) -> dict[str, Any]:
    """Return the annotations of a class under construction; since Python 3.14 its namespace has a function for them."""
    found: dict[str, Any] | None = namespace.get("__annotations__")
    if found is None and sys.version_info >= (3, 14):
        import annotationlib

        annotate = annotationlib.get_annotate_from_class_namespace(namespace)
        if annotate is not None:
            return annotationlib.call_annotate_function(annotate, annotationlib.Format.FORWARDREF)
    return found or {}


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class AcpStruct(Struct, metaclass=KeywordOnly, omit_defaults=True, repr_omit_defaults=True, rename=wire_name, gc=False):
    """Base of every payload: keyword arguments only, snake_case in Python and camelCase on the wire.

    A field that equals its default is left out of the JSON, unless its default was declared with `always` or
    `always_new`. The garbage collector does not track instances, since messages are trees: an object that is made to
    contain itself is never freed.
    """


def always(value: T, *, name: str | None = None) -> T:
    """Declare a field with the default `value` that is written even if it is unchanged.

    `name` is the JSON key, if it differs from what `wire_name` returns.
    """
    return field(default_factory=lambda: value, name=name)


def always_new(factory: Callable[[], T], *, name: str | None = None) -> T:
    """Declare a field with a new default from `factory` that is written even if it is unchanged."""
    # msgspec leaves out an empty list, dict or set only if the factory is that type itself: hence the wrapper.
    return field(default_factory=lambda: factory(), name=name)  # noqa: PLW0108
