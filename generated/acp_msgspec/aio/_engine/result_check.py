"""Checks what a handler returns against the result type of its method, before it is sent."""

from collections.abc import Callable
from typing import Any

from msgspec import Raw, ValidationError

from ..._codec import decode_strict
from ..._decode.classes import expected, instance_check, why_invalid
from ..._validate import validate


class ResultMismatch(TypeError):
    """A handler returned something that is not a result of its method."""


def result_check(kind: Any, *, validates: bool) -> Callable[[Any], str | None]:
    """Return a function that returns why a value does not match a type; None for one that does.

    The function checks the class of the value, and its content if `validates` is set.
    """
    fits = instance_check(kind)

    def mismatch(value: Any) -> str | None:
        problem = None
        if value.__class__ is not kind and not fits(value):
            problem = expected(kind, value) if value is None else why_invalid(kind, value)
        return _why_invalid_content(kind, value) if validates and problem is None else problem

    return mismatch


def accept_anything(_: Any) -> None:
    """Accept any result, for a method whose results the schema does not describe."""


def _why_invalid_content(kind: Any, value: Any) -> str | None:
    try:
        validate(decode_strict(bytes(value), type=kind) if isinstance(value, Raw) else value, type=kind)
    except (ValidationError, ValueError) as error:
        return str(error)
    return None
