"""Exceptions that survive pickle and copy: with the same text, whatever their constructors take."""

from typing import Any


class Portable:
    """Put in front of an exception's base: it is rebuilt from its arguments and attributes, without its constructor.

    By default Python calls the constructor with `args`, which is the text; constructors here take other things.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Give what pickle and copy rebuild the exception of."""
        error: Any = self
        return _rebuilt, (error.__class__, error.args), error.__dict__ or None


def _rebuilt(cls: Any, args: tuple[Any, ...]) -> Any:
    error = cls.__new__(cls, *args)
    error.args = args  # errors of the system take them in their constructor
    return error
