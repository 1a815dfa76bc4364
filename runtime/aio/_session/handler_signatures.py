"""Whether a callable can be called in the way a connection calls a handler's method.

The checks return the reason why not, or an empty string.
"""

import inspect
import re
import sys
from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from .descriptions import describe

Function = Callable[..., Any]
_AWAITABLE = re.compile(r"\b(Awaitable|Coroutine|CoroutineType|Future|Task)\b")


def read_signature(function: Function) -> inspect.Signature:
    """Return the signature of a callable, even if its annotations name what only type checkers import."""
    if sys.version_info >= (3, 14):  # annotations are evaluated when they are read
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.FORWARDREF)
    return inspect.signature(function)


def signature_or_none(function: Any) -> inspect.Signature | None:
    """Return the signature of a callable, or None if it cannot be determined."""
    try:
        return read_signature(function)
    except (TypeError, ValueError):
        return (
            inspect.Signature() if isinstance(function, MethodType) else None
        )  # a method without `self` takes nothing


def format_parameters(signature: inspect.Signature) -> str:
    """Return the parameters of a signature as text."""
    return str(signature.replace(return_annotation=inspect.Signature.empty))


def accepts(signature: inspect.Signature, count: int) -> bool:
    """Return whether a callable can be called with `count` positional arguments."""
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True


def why_not_override(name: str, found: Any, base: Function, bound: int = 0) -> str:
    """Return why an object cannot override the method `base`; `bound` arguments are added when it is called."""
    if found is None:
        return ""  # not handled
    names = list(read_signature(base).parameters)
    is_async = inspect.iscoroutinefunction(base)
    expected = f"{'async ' * is_async}def {name}({', '.join([*names, '/'] if len(names) > 1 else names)})"
    if not callable(found):
        return f"is {describe(found)}; it must be a method: `{expected}`"
    if is_async:
        what = _why_not_awaitable(found)
        if what:
            hint = " (or annotate that it returns an `Awaitable`)" if what == "a plain function" else ""
            return f"is {what}; a handler is a coroutine function: `{expected}`{hint}"
    elif inspect.iscoroutinefunction(found):
        return f"is a coroutine function; it is called without `await`: `{expected}`"
    signature = signature_or_none(found)
    if signature is not None and not accepts(signature, bound + len(names) - 1):
        arguments = "no argument" if len(names) == 1 else " and ".join(f"`{n}`" for n in names[1:])
        return f"takes {format_parameters(signature)}; it is called with {arguments}: `{expected}`"
    return ""


def _why_not_awaitable(found: Any) -> str:
    """Return what a callable is if its result cannot be awaited; empty if it can, or if that is unknown."""
    while isinstance(found, partial | MethodType):
        found = found.func if isinstance(found, partial) else found.__func__
    if inspect.iscoroutinefunction(found) or getattr(found, "_is_coroutine", None) is not None:
        return ""
    if isinstance(found, type):
        return describe(found)
    if not isinstance(found, FunctionType):
        call = getattr(class_of(found), "__call__", None)  # noqa: B004
        is_plain = isinstance(call, FunctionType) and _why_not_awaitable(call)
        return "an object whose `__call__` is not async" if is_plain else ""
    if inspect.isasyncgenfunction(found):
        return "an asynchronous generator"
    if inspect.isgeneratorfunction(found):
        return "" if found.__code__.co_flags & inspect.CO_ITERABLE_COROUTINE else "a generator"
    wrapped = getattr(found, "__wrapped__", None)
    if _is_annotated_awaitable(found) or (wrapped is not None and not _why_not_awaitable(wrapped)):
        return ""
    return "a plain function"


def _is_annotated_awaitable(function: FunctionType) -> bool:
    try:
        annotation = function.__annotations__.get("return")
    except Exception:  # evaluating annotations may fail if they name what only type checkers import
        return True
    return _AWAITABLE.search(annotation if isinstance(annotation, str) else repr(annotation)) is not None


def class_of(value: object) -> type[object]:
    """Return the class of a value; unlike `type(value)`, a type checker does not narrow it to unknown types."""
    return type(value)
