"""One-line summaries of objects that have no rule of their own: their short fields."""

from typing import Any

from msgspec import UNSET, Struct

from ..._types.variants import CatchAll, UnknownVariant
from .formatting import count_of, join_present, shorten

MAX_LENGTH = 100  # characters


def generic(value: Any) -> str:
    """Summarize an object of any class by its short fields."""
    if isinstance(value, UnknownVariant):
        return f"unknown {shorten(value.tag)}"
    if isinstance(value, Struct | CatchAll):
        names = value.__struct_fields__ if isinstance(value, Struct) else [*value.__dict__]
        fields = [(name, getattr(value, name)) for name in names if name != "meta"]
        return shorten(join_present(*(_field(name, item) for name, item in fields)), MAX_LENGTH)
    return "" if value is UNSET or value is None else shorten(value, MAX_LENGTH)


def _field(name: str, value: Any) -> str:
    if value is None or value is UNSET or value is False or value == [] or value == {}:
        return ""
    label = name.replace("_", " ")
    match value:
        case True:
            return label
        case str() | int() | float():
            return f"{label} {shorten(value, 40)}"
        case list():
            return count_of(len(value), label.removesuffix("s"))  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return label
