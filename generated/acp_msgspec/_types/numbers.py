"""Integers with the ranges of their wire formats. To a type checker each is `int`."""

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from msgspec import Meta

from .hooks import StandIn

Int8 = Annotated[int, Meta(ge=-(2**7), le=2**7 - 1)]
Int16 = Annotated[int, Meta(ge=-(2**15), le=2**15 - 1)]
Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
UInt8 = Annotated[int, Meta(ge=0, le=2**8 - 1)]
UInt16 = Annotated[int, Meta(ge=0, le=2**16 - 1)]
UInt32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]

UINT64_MAX = 2**64 - 1

if TYPE_CHECKING:
    UInt64: TypeAlias = int
else:

    class UInt64(metaclass=StandIn):
        """An integer from 0 to 2**64 - 1: a stand-in, as msgspec takes no bound above 2**63 - 1."""


def uint64(value: Any) -> int:
    """Check that a plain value is a uint64; raise `ValueError` if it is not."""
    if type(value) is not int:
        raise ValueError(f"Expected `int`, got `{type(value).__name__}`")
    if not 0 <= value <= UINT64_MAX:
        raise ValueError(f"Expected `int` >= 0 and <= {UINT64_MAX}")
    return value
