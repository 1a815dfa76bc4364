"""Exceptions that can be pickled and copied, whatever arguments their constructors take."""

from typing import Any


class Portable:
    """Mixin for exceptions, before their base: they are rebuilt from `args` and attributes without their constructor.

    By default Python calls the constructor with `args`, which is the text. Constructors here take other arguments.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle and copy rebuild the exception from."""
        error: Any = self
        return _rebuilt, (error.__class__, error.args), error.__dict__ or None


def _rebuilt(cls: Any, args: tuple[Any, ...]) -> Any:
    error = cls.__new__(cls, *args)
    error.args = args  # an `OSError` gets them in its constructor
    return error
