"""Handlers are checked where they are made known: at the class, or at the connection that is given an object.

Each check gives a reason, which is empty where nothing is wrong.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import FunctionType, MethodType
from typing import Any, ClassVar, cast
from weakref import WeakSet

from .handler_names import Look, look_of, probably_meant, read_signature

Function = Callable[..., Any]
_AWAITABLE = re.compile(r"\b(Awaitable|Coroutine|CoroutineType|Future|Task)\b")
_CHECKED: WeakSet[type] = WeakSet()
_BASES: dict[tuple[str, str], type["HandlerBase"]] = {}
"""The classes `Agent` and `Client`, by module and end."""


class HandlerBase:
    """What `Agent` and `Client` of every schema have in common: their subclasses are checked as they are made.

    `helpers` are methods that only look like misspelt handlers: `class Mine(Agent, helpers=["prompt"])`.
    """

    __acp_end__: ClassVar[str] = ""
    __acp_helpers__: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, *, helpers: Iterable[str] = (), **config: Any) -> None:
        """Refuse methods that would never be called, or not as they are."""
        super().__init_subclass__(**config)
        cls.__acp_helpers__ = cls.__acp_helpers__ | frozenset(helpers)
        if "__acp_end__" in vars(cls):
            _BASES[cls.__module__, cls.__acp_end__] = cls
        else:
            check_class(cls)


def handlers_in(base: type) -> dict[str, Function]:
    """List what a class handles, and the hooks of the connection, by name."""
    classes = (c for c in reversed(base.__mro__) if issubclass(c, HandlerBase))
    found = {n: f for c in classes for n, f in vars(c).items()}
    return {n: f for n, f in found.items() if not n.startswith("_") and isinstance(f, FunctionType)}


def peer_of(base: type[HandlerBase]) -> type[HandlerBase] | None:
    """Give `Client` for `Agent`, and the other way round."""
    other = "client" if base.__acp_end__ == "agent" else "agent"
    return _BASES.get((base.__module__, other))


def bases_of(cls: type[HandlerBase]) -> list[type[HandlerBase]]:
    """List the classes `Agent` and `Client` that a class derives from."""
    found = (c for c in cls.__mro__ if issubclass(c, HandlerBase) and c is not HandlerBase)
    return [c for c in found if vars(c).get("__acp_end__")]


def is_checked(cls: type) -> bool:
    """Say whether a class was checked as it was made; a class beside it may have kept it from that."""
    return cls in _CHECKED or "__acp_end__" in vars(cls)


def check_class(cls: type[HandlerBase]) -> None:
    """Raise `TypeError` for the first method of a class that is not what it should be, or handles nothing."""
    bases = bases_of(cls)
    known = {n: f for base in reversed(bases) for n, f in handlers_in(base).items()}
    values = {
        n for c in cls.__mro__ if c.__module__ in {b.__module__ for b in bases} for n in inspect.get_annotations(c)
    }
    own = dict(_own(cls))
    lacking = {n: f for n, f in known.items() if n not in own}
    for name, found in own.items():
        if name in known:
            why = _why_not_of_class(name, found, known[name])
        elif name in values and isinstance(found, FunctionType):
            why = "is a method; it has to be a value"
        elif name in cls.__acp_helpers__ or not isinstance(found, FunctionType):
            why = ""
        else:
            why = _why_without_listener(cls, bases, name, found, lacking)
        if why:
            raise TypeError(f"{cls.__name__}.{name} {why}")
    _CHECKED.add(cls)


def _own(cls: type) -> Iterator[tuple[str, Any]]:
    """List the public attributes of a class, and of those beside it that no base of the package was checked with."""
    checked = [c for c in cls.__mro__[1:] if issubclass(c, HandlerBase)]
    seen: set[str] = set()
    for c in cls.__mro__:
        if c is cls or not any(issubclass(base, c) for base in checked):
            yield from ((n, found) for n, found in vars(c).items() if not n.startswith("_") and n not in seen)
        seen |= vars(c).keys()


def _why_without_listener(
    cls: type[HandlerBase],
    bases: Iterable[type[HandlerBase]],
    name: str,
    found: Function,
    lacking: Mapping[str, Function],
) -> str:
    """Say why a method is never called, if it was probably meant to be."""
    if any(hasattr(c, name) for c in cls.__mro__[1:] if issubclass(c, HandlerBase)):
        return ""  # it was accepted there
    way_out = (
        f"A helper has another name, begins with `_`, or is named in `class {cls.__name__}(…, helpers=[{name!r}])`"
    )
    meant = probably_meant(name, found, lacking, is_sure=inspect.iscoroutinefunction(found))
    if meant:
        return f"handles nothing; `{meant}` was probably meant. {way_out}"
    for base in bases:
        other = peer_of(base)
        theirs = handlers_in(other).get(name) if other is not None and other not in bases else None
        if other is not None and theirs is not None and look_of(found, theirs) is Look.HANDLER:
            what = f"it is for {a_(other.__acp_end__)} to handle, and this class is {a_(base.__acp_end__)}"
            return f"handles nothing: {what}. {way_out}"
    return ""


def _why_not_of_class(name: str, found: Any, base: Function) -> str:
    if isinstance(found, staticmethod | classmethod):
        inner: Any = getattr(cast("object", found), "__func__", None)
        return why_not(name, inner, base, bound=int(isinstance(found, classmethod)))
    if isinstance(found, FunctionType):
        return why_not(name, found, base, bound=1)
    if isinstance(found, partial):  # a method since Python 3.14
        return why_not(name, cast("object", found), base, bound=int(sys.version_info >= (3, 14)))
    # What a property and its like give is known once there is an object.
    is_descriptor = hasattr(_class_of(found), "__get__")
    return "" if is_descriptor else why_not(name, found, base)


def why_not(name: str, found: Any, base: Function, bound: int = 0) -> str:
    """Say why an object cannot override `base`; `bound` of its arguments are given by being a method."""
    if found is None:
        return ""  # not handled
    names = list(read_signature(base).parameters)
    is_async = inspect.iscoroutinefunction(base)
    right = f"{'async ' * is_async}def {name}({', '.join([*names, '/'] if len(names) > 1 else names)})"
    if not callable(found):
        return f"is {shown(found)}; it has to be a method: `{right}`"
    if is_async:
        what = _why_not_awaitable(found)
        if what:
            hint = " (or a return type that says `Awaitable`)" if what == "a plain function" else ""
            return f"is {what}; a handler is a coroutine function: `{right}`{hint}"
    elif inspect.iscoroutinefunction(found):
        return f"is a coroutine function; it is called without `await`: `{right}`"
    signature = signature_of(found)
    if signature is not None and not takes(signature, bound + len(names) - 1):
        count = "no argument" if len(names) == 1 else " and ".join(f"`{n}`" for n in names[1:])
        return f"takes {arguments_of(signature)}; it is called with {count}: `{right}`"
    return ""


def signature_of(function: Any) -> inspect.Signature | None:
    """Give the signature of a callable, if it has one that can be looked at."""
    try:
        return read_signature(function)
    except (TypeError, ValueError):
        return inspect.Signature() if isinstance(function, MethodType) else None  # one without `self` takes nothing


def arguments_of(signature: inspect.Signature) -> str:
    """Write the arguments of a signature."""
    return str(signature.replace(return_annotation=inspect.Signature.empty))


def takes(signature: inspect.Signature, count: int) -> bool:
    """Say whether something can be called with so many arguments."""
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True


def _why_not_awaitable(found: Any) -> str:
    """Say what a callable is that gives nothing to wait for; empty for one that does or may."""
    while isinstance(found, partial | MethodType):
        found = found.func if isinstance(found, partial) else found.__func__
    if inspect.iscoroutinefunction(found) or getattr(found, "_is_coroutine", None) is not None:
        return ""
    if isinstance(found, type):
        return shown(found)
    if not isinstance(found, FunctionType):
        call = getattr(_class_of(found), "__call__", None)  # noqa: B004
        return "" if not isinstance(call, FunctionType) or not _why_not_awaitable(call) else "called without `async`"
    if inspect.isasyncgenfunction(found):
        return "an asynchronous generator"
    if inspect.isgeneratorfunction(found):
        return "" if found.__code__.co_flags & inspect.CO_ITERABLE_COROUTINE else "a generator"
    wrapped = getattr(found, "__wrapped__", None)
    if _says_awaitable(found) or (wrapped is not None and not _why_not_awaitable(wrapped)):
        return ""
    return "a plain function"


def _says_awaitable(function: FunctionType) -> bool:
    try:
        said = function.__annotations__.get("return")
    except Exception:  # annotations may be evaluated here, and name what is not there
        return True
    return _AWAITABLE.search(said if isinstance(said, str) else repr(said)) is not None


def _class_of(found: object) -> type[object]:
    return type(found)


def shown(found: Any) -> str:
    """Name what was found in place of something else."""
    if isinstance(found, type):
        return f"the class {found.__name__}"
    if inspect.ismodule(found):
        return f"the module {found.__name__}"
    if inspect.isroutine(found):
        return f"the function {found.__name__}"
    if inspect.iscoroutine(found):
        return f"the coroutine {found.__name__}()"
    if type(found) in (bool, int, float, str, bytes, list, tuple, dict, type(None)):
        text = repr(cast("object", found))
        return text if len(text) <= 40 else f"{text[:40]}…"
    return f"an object of the class {type(found).__name__}"


def a_(end: str) -> str:
    """Put the article before what begins with an end's name."""
    return f"an {end}" if end.lower().startswith("agent") else f"a {end}"
