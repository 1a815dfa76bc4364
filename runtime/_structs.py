"""The base of every payload, and defaults that are written even when nothing else was said."""

from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

from msgspec import Struct, StructMeta, field

T = TypeVar("T")


def wire_name(name: str) -> str:
    """Give the JSON key of a Python field: camelCase, `meta` for `_meta`, no trailing underscore."""
    if name == "meta":
        return "_meta"
    head, *tail = name.rstrip("_").split("_")
    return head + "".join(word.capitalize() for word in tail)


class KeywordOnly(StructMeta):
    """Makes each class keyword-only: msgspec takes that setting from the class itself, never from its base."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> Any:
        """Create the class with `kw_only` on."""
        return super().__new__(cls, name, bases, namespace, kw_only=True, **config)


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class AcpStruct(Struct, metaclass=KeywordOnly, omit_defaults=True, repr_omit_defaults=True, rename=wire_name):
    """Base of every payload: keyword arguments only, snake_case in Python and camelCase on the wire.

    A field that equals its default is left out of the JSON, except where its default is given by `always` or
    `always_new`.
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
