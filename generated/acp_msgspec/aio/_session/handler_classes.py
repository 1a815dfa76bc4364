"""The base of `Agent` and `Client`, which checks the methods of a subclass when the class is created."""

import inspect
import sys
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial
from types import FunctionType
from typing import Any, ClassVar, cast
from weakref import WeakSet

from .descriptions import with_article
from .handler_names import SignatureMatch, guess_handler, match_signature
from .handler_signatures import Function, class_of, why_not_override

_CHECKED: WeakSet[type] = WeakSet()
_BASES: dict[tuple[str, str], type["HandlerBase"]] = {}
"""The classes `Agent` and `Client` by their module and end."""


class HandlerBase:
    """The base of `Agent` and `Client` of every schema. Subclasses are checked when they are created.

    `helpers` names methods that are not handlers although their names look like it, as in
    `class Mine(Agent, helpers=["prompt"])`.
    """

    __acp_end__: ClassVar[str] = ""
    __acp_helpers__: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, *, helpers: Iterable[str] = (), **config: Any) -> None:
        """Raise `TypeError` for a method that would never be called, or that cannot be called as a handler."""
        super().__init_subclass__(**config)
        cls.__acp_helpers__ = cls.__acp_helpers__ | frozenset(helpers)
        if "__acp_end__" in vars(cls):
            _BASES[cls.__module__, cls.__acp_end__] = cls
        else:
            check_class(cls)


def handler_functions(base: type) -> dict[str, Function]:
    """Return the handlers that `Agent` or `Client` declares, and the hooks of the connection, by name."""
    classes = (c for c in reversed(base.__mro__) if issubclass(c, HandlerBase))
    found = {n: f for c in classes for n, f in vars(c).items()}
    return {n: f for n, f in found.items() if not n.startswith("_") and isinstance(f, FunctionType)}


def peer_base(base: type[HandlerBase]) -> type[HandlerBase] | None:
    """Return `Client` for `Agent` and `Agent` for `Client`, of the same schema."""
    peer = "client" if base.__acp_end__ == "agent" else "agent"
    return _BASES.get((base.__module__, peer))


def end_bases(cls: type[HandlerBase]) -> list[type[HandlerBase]]:
    """Return the classes `Agent` and `Client` that a class derives from."""
    found = (c for c in cls.__mro__ if issubclass(c, HandlerBase) and c is not HandlerBase)
    return [c for c in found if vars(c).get("__acp_end__")]


def is_checked(cls: type) -> bool:
    """Return whether a class was checked when it was created; another base may define its own `__init_subclass__`."""
    return cls in _CHECKED or "__acp_end__" in vars(cls)


def check_class(cls: type[HandlerBase]) -> None:
    """Raise `TypeError` for the first method of a class that cannot be called as a handler, or handles nothing."""
    bases = end_bases(cls)
    handlers = {n: f for base in reversed(bases) for n, f in handler_functions(base).items()}
    modules = {b.__module__ for b in bases}
    values = {n for c in cls.__mro__ if c.__module__ in modules for n in inspect.get_annotations(c)}
    own = dict(_unchecked_attributes(cls))
    missing = handlers.keys() - own.keys()
    for name, found in own.items():
        if name in handlers:
            why = _why_not_override_in_class(name, found, handlers[name])
        elif name in values and isinstance(found, FunctionType):
            why = "is a method; it must be a value"
        elif name in cls.__acp_helpers__ or not isinstance(found, FunctionType):
            why = ""
        else:
            why = _why_never_called(cls, bases, name, found, handlers, missing)
        if why:
            raise TypeError(f"{cls.__name__}.{name} {why}")
    _CHECKED.add(cls)


def _unchecked_attributes(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public attributes of a class and of those bases that were not checked with an earlier class."""
    checked = [c for c in cls.__mro__[1:] if issubclass(c, HandlerBase)]
    overridden: set[str] = set()
    for c in cls.__mro__:
        if c is cls or not any(issubclass(base, c) for base in checked):
            yield from ((n, found) for n, found in vars(c).items() if not n.startswith("_") and n not in overridden)
        overridden |= vars(c).keys()


def _why_never_called(
    cls: type[HandlerBase],
    bases: Iterable[type[HandlerBase]],
    name: str,
    found: Function,
    handlers: Mapping[str, Function],
    missing: Container[str],
) -> str:
    """Return why a method would never be called, if it was probably meant to be."""
    if any(hasattr(c, name) for c in cls.__mro__[1:] if issubclass(c, HandlerBase)):
        return ""  # it was accepted there
    way_out = (
        f"For a helper, choose another name, begin it with `_`, or write `class {cls.__name__}(…, helpers=[{name!r}])`"
    )
    meant = guess_handler(name, found, handlers, missing, trust_name=inspect.iscoroutinefunction(found))
    if meant:
        return f"handles nothing; {meant} was probably meant. {way_out}"
    for base in bases:
        peer = peer_base(base)
        handler = handler_functions(peer).get(name) if peer is not None and peer not in bases else None
        if peer is not None and handler is not None and match_signature(found, handler) is SignatureMatch.MATCH:
            wanted, actual = with_article(peer.__acp_end__), with_article(base.__acp_end__)
            return f"handles nothing: it is for {wanted} to handle, and this class is {actual}. {way_out}"
    return ""


def _why_not_override_in_class(name: str, found: Any, base: Function) -> str:
    """Return why an attribute of a class cannot override a handler."""
    if isinstance(found, staticmethod | classmethod):
        inner: Any = getattr(cast("object", found), "__func__", None)
        return why_not_override(name, inner, base, bound=int(isinstance(found, classmethod)))
    if isinstance(found, FunctionType):
        return why_not_override(name, found, base, bound=1)
    if isinstance(found, partial):  # a method since Python 3.14
        return why_not_override(name, cast("object", found), base, bound=int(sys.version_info >= (3, 14)))
    # The value of a property or another descriptor is only known once there is an object.
    is_descriptor = hasattr(class_of(found), "__get__")
    return "" if is_descriptor else why_not_override(name, found, base)
