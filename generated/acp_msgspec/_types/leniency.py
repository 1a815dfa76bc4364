"""Annotations: which invalid values readers replace, and which constraints senders should keep.

msgspec and type checkers ignore these annotations: `OrDefault[list[str]]` is `list[str]` to both. Only the slow path
reads them, after the strict decode has failed, and `validate`.
"""

from enum import Enum
from typing import Annotated, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Leniency(Enum):
    """What a field or a list does with an invalid value."""

    ON_ERROR = "default-on-error"
    """Any invalid value is replaced by the field's default (schema flag `x-deserialize-default-on-error`)."""
    ON_NULL = "default-on-null"
    """Null is replaced by the field's default; other invalid values are errors (`x-deserialize-default-on-null`)."""
    SKIP_ITEMS = "skip-invalid-items"
    """Invalid items are dropped (`x-deserialize-skip-invalid-items`)."""


OrDefault = Annotated[T, Leniency.ON_ERROR]
"""A field that gets its default if its value is invalid."""
NullOrDefault = Annotated[T, Leniency.ON_NULL]
"""A field that gets its default if its value is null."""
SkipInvalid = Annotated[T, Leniency.SKIP_ITEMS]
"""A list that drops invalid items."""


class SenderConstraint(Struct, frozen=True, kw_only=True):
    """Constraints for senders, which readers do not enforce.

    The reference implementation accepts values outside these limits, so decoding does too; `validate` checks them.
    """

    minimum: float | None = None
    maximum: float | None = None
    min_items: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: str | None = None
    content_encoding: str | None = None


Uri = Annotated[str, SenderConstraint(format="uri")]
"""A URI (RFC 3986) as text."""
DateTime = Annotated[str, SenderConstraint(format="date-time")]
"""A date and time (RFC 3339) as text."""
Regex = Annotated[str, SenderConstraint(format="regex")]
"""A regular expression as text."""
Base64 = Annotated[str, SenderConstraint(content_encoding="base64")]
"""Bytes as Base64 text."""
