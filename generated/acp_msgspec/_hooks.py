"""Types that msgspec cannot express, and the hook that lets it meet them.

A hooked type is a class to msgspec and something else to a type checker: `UInt64` is `int`, an untagged union is the
union itself. msgspec hands the plain JSON value to `dec_hook`, which asks the class to read it.
"""

from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from msgspec import UnsetType


class Hooked(type):
    """Metaclass of the stand-ins: `read` turns a plain value into the real one or raises `ValueError`."""

    def read(cls, value: Any) -> Any:
        """Read one plain JSON value; overridden by each kind of stand-in."""
        raise NotImplementedError(cls.__name__)

    def __instancecheck__(cls, instance: Any) -> bool:
        """Say yes: msgspec checks what `read` gave against the stand-in, which is never its class."""
        return True


def dec_hook(kind: type, value: Any) -> Any:
    """Read `value` as `kind` for msgspec."""
    if isinstance(kind, Hooked):
        return kind.read(value)
    raise TypeError(f"{kind!r} is no type of this package")


if TYPE_CHECKING:
    Absent: TypeAlias = UnsetType
else:

    class _Absent(Hooked):
        def read(cls, value: Any) -> NoReturn:
            raise ValueError("The key has no place here")

    class Absent(metaclass=_Absent):
        """The type of a key that must not be there."""
