"""Stand-ins: classes in place of types that msgspec cannot express.

A stand-in is a class to msgspec and something else to a type checker: `UInt64` is `int`, an untagged union is the union
itself. msgspec passes the plain JSON value and the stand-in to its hook (`_decode.hook`), which returns the real value.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import UnsetType


class StandIn(type):
    """Metaclass of the stand-ins."""

    def __instancecheck__(cls, instance: object) -> bool:
        """Return True: msgspec checks what the hook returned against the stand-in, which is never its class."""
        return True


UINT64_MAX = 2**64 - 1

if TYPE_CHECKING:
    Absent: TypeAlias = UnsetType
    UInt64: TypeAlias = int
else:

    class Absent(metaclass=StandIn):
        """The type of a key that must not be present."""

    class UInt64(metaclass=StandIn):
        """An integer from 0 to 2**64 - 1: a stand-in, as msgspec takes no bound above 2**63 - 1."""


def uint64(value: Any) -> int:
    """Check that a plain value is a uint64; raise `ValueError` if it is not."""
    if type(value) is not int:
        raise ValueError(f"Expected `int`, got `{type(value).__name__}`")
    if not 0 <= value <= UINT64_MAX:
        raise ValueError(f"Expected `int` >= 0 and <= {UINT64_MAX}")
    return value
