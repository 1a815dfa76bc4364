"""The base of every payload, and defaults that are written even when nothing else was said."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

from msgspec import UNSET, Struct, StructMeta, field

from .hooks import Absent
from .naming import wire_name

T = TypeVar("T")


GUARD = "untagged_"
"""The field that stands for a tag which must not be there; always unset."""


class KeywordOnly(StructMeta):
    """Makes each class keyword-only: msgspec takes that setting from the class itself, never from its base."""

    def __new__(
        cls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        untagged_by: str | None = None,
        **config: Any,
    ) -> Any:
        """Create the class with `kw_only` on.

        `untagged_by` is the JSON key of the tag in a union that falls back to this class where there is none: msgspec
        then reads the class only where the key is absent, and leaves what has it to the second look.
        """
        if untagged_by is not None:
            namespace["__annotations__"] = {**_annotations(namespace), GUARD: Absent}
            namespace[GUARD] = field(default=UNSET, name=untagged_by)
            namespace["__untagged_by__"] = untagged_by
        return super().__new__(cls, name, bases, namespace, kw_only=True, **config)


def _annotations(namespace: dict[str, Any]) -> dict[str, Any]:
    """Find the annotations of a class that is being made; since Python 3.14 its body has a function that gives them."""
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

    A field that equals its default is left out of the JSON, except where its default is given by `always` or
    `always_new`. Messages are trees, so the garbage collector does not look into them: an object that is made to
    contain itself is never freed.
    """


def always(value: T, *, name: str | None = None) -> T:
    """Give a field the default `value`, written to the wire even when it was not changed.

    `name` is the JSON key, where `wire_name` does not give it.
    """
    return field(default_factory=lambda: value, name=name)


def always_new(factory: Callable[[], T], *, name: str | None = None) -> T:
    """Give a field a fresh default made by `factory`, written to the wire even when it was not changed."""
    # msgspec leaves out an empty list, dict or set only when its factory is that very type, hence the wrapper.
    return field(default_factory=lambda: factory(), name=name)  # noqa: PLW0108
