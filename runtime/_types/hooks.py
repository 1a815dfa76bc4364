"""Stand-ins: classes in place of types that msgspec cannot express.

A stand-in is a class to msgspec and something else to a type checker: `UInt64` is `int`, an untagged union is the union
itself. msgspec passes the plain JSON value and the stand-in to its hook (`_decode.hook`), which returns the real value.
"""

from typing import TYPE_CHECKING, TypeAlias

from msgspec import UnsetType


class StandIn(type):
    """Metaclass of the stand-ins."""

    def __instancecheck__(cls, instance: object) -> bool:
        """Return True: msgspec checks what the hook returned against the stand-in, which is never its class."""
        return True


if TYPE_CHECKING:
    Absent: TypeAlias = UnsetType
else:

    class Absent(metaclass=StandIn):
        """The type of a key that must not be present."""
