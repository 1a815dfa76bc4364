"""Words for error messages about values of any kind."""

import inspect
from typing import Any, cast


def describe(value: Any) -> str:
    """Describe a value that was given in place of another: small plain values themselves, others by their kind."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if inspect.ismodule(value):
        return f"the module {value.__name__}"
    if inspect.isroutine(value):
        return f"the function {value.__name__}"
    if inspect.iscoroutine(value):
        return f"the coroutine {value.__name__}()"
    if type(value) in (bool, int, float, str, bytes, list, tuple, dict, type(None)):
        text = repr(cast("object", value))
        return text if len(text) <= 40 else f"{text[:40]}…"
    return f"an object of the class {type(value).__name__}"


def with_article(end: str) -> str:
    """Put "an" or "a" before a text that begins with "agent" or "client"."""
    return f"an {end}" if end.lower().startswith("agent") else f"a {end}"


def with_module(base: type) -> str:
    """Name a class together with its module."""
    return f"{base.__name__} of {base.__module__}"
