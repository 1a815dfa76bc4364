"""Marks on annotations: what a reader forgives, and what a sender should keep to.

msgspec and type checkers see through every mark here: `OrDefault[list[str]]` is `list[str]` to both. The marks
matter only to the repair walk (`_repair`), which runs when a first, strict decode has failed.
"""

from enum import Enum
from typing import Annotated, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Leniency(Enum):
    """How a field or a list treats a value that does not fit."""

    ON_ERROR = "default-on-error"
    """Any unfit value gives the field's default (schema flag `x-deserialize-default-on-error`)."""
    ON_NULL = "default-on-null"
    """Null gives the field's default; other unfit values stay errors (`x-deserialize-default-on-null`)."""
    SKIP_ITEMS = "skip-invalid-items"
    """An unfit item is dropped and the others stay (`x-deserialize-skip-invalid-items`)."""


OrDefault = Annotated[T, Leniency.ON_ERROR]
"""A field that falls back to its default when its value does not fit."""
NullOrDefault = Annotated[T, Leniency.ON_NULL]
"""A field that reads null as its default."""
SkipInvalid = Annotated[T, Leniency.SKIP_ITEMS]
"""A list that drops the items that do not fit."""


class Advice(Struct, frozen=True, kw_only=True):
    """What the schema asks of a sender and no reader enforces.

    The reference implementation accepts values outside these limits, so decoding does too.
    """

    minimum: float | None = None
    maximum: float | None = None
    min_items: int | None = None
    min_length: int | None = None
    pattern: str | None = None
    format: str | None = None
    content_encoding: str | None = None


Uri = Annotated[str, Advice(format="uri")]
"""A URI (RFC 3986) as text."""
DateTime = Annotated[str, Advice(format="date-time")]
"""A date and time (RFC 3339) as text."""
Regex = Annotated[str, Advice(format="regex")]
"""A regular expression as text."""
Base64 = Annotated[str, Advice(content_encoding="base64")]
"""Bytes as Base64 text."""
