"""Open enumerations: they keep values that later releases of the protocol add."""

from enum import IntEnum, StrEnum
from typing import Self


class OpenStrEnum(StrEnum):
    """A string enumeration that keeps an unknown string and writes it back unchanged."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = member._value_ = value
        return member

    @property
    def is_known(self) -> bool:
        """Whether this release of the schema defines the value."""
        return self._value_ in type(self)._value2member_map_


class OpenInt32Enum(IntEnum):
    """An int32 enumeration that keeps an unknown number and writes it back unchanged."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if type(value) is not int or not -(2**31) <= value < 2**31:
            return None
        member = int.__new__(cls, value)
        member._name_ = str(value)
        member._value_ = value
        return member

    @property
    def is_known(self) -> bool:
        """Whether this release of the schema defines the value."""
        return self._value_ in type(self)._value2member_map_
