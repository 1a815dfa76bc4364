"""The handler object of a connection: created if a function was given, and checked.

The checks return the reason why not, or an empty string.
"""

import inspect
from collections.abc import Iterator
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from .._engine.endpoint import Endpoint
from .descriptions import describe, with_article, with_module
from .handler_classes import HandlerBase, check_class, end_bases, handler_functions, is_checked, peer_base
from .handler_names import guess_handler
from .handler_signatures import accepts, format_parameters, signature_or_none, why_not_override

HOOKS = (
    "extension_request",
    "extension_notification",
    "unknown_request",
    "unknown_notification",
    "connection_closed",
)
"""Methods that a connection calls on any handler, besides the handlers for the methods of its schema."""
_CHECKED_METHODS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""Functions that were checked, with the handler that they override."""
_CHECKED_NAMES: WeakKeyDictionary[type, Endpoint] = WeakKeyDictionary()
"""Classes of any kind whose method names were checked, with the endpoint."""


def resolve_handler(connection: Any, handler: Any) -> Any:
    """Return the handler object, calling `handler` if it creates one. Raises `TypeError` for an invalid handler."""
    if handler is None:
        return None
    endpoint: Endpoint = connection.side
    name = type(connection).__name__
    made = handler
    if is_factory(handler):
        made = handler(connection)
        why = _why_not_returned(name, handler, made)
        if why:
            raise TypeError(why)
    if isinstance(made, HandlerBase) and not is_checked(made.__class__):
        check_class(made.__class__)
    why = _why_handles_nothing(name, endpoint, made) or next(filter(None, _problems(endpoint, made)), "")
    if why:
        raise TypeError(why)
    return made


def is_factory(handler: object) -> bool:
    """Return whether this is called to create the handler."""
    return callable(handler) and not isinstance(handler, HandlerBase)


def why_not_handler(name: str, endpoint: Endpoint, handler: object) -> str:
    """Return why this is neither a handler nor creates one, as far as that is known before it is called."""
    wants = f"{name} takes an object that handles what the {endpoint.peer} sends"
    if inspect.isawaitable(handler) and not isinstance(handler, HandlerBase):
        return f"{wants}: this is {describe(handler)}, which was not awaited"
    if not is_factory(handler):
        return ""
    if inspect.iscoroutinefunction(handler):
        return f"{wants}: {describe(handler)} is a coroutine function; await it first, and pass its result"
    if isinstance(handler, type):
        why = _why_wrong_class(name, endpoint, handler)
        if why:
            return why
    signature = signature_or_none(handler)
    if signature is None or accepts(signature, 1):
        return ""
    call = "it is called with the connection as the only argument"
    takes = f"{call}, and {describe(handler)} takes {format_parameters(signature)}"
    if not isinstance(handler, type):
        return f"{wants}, or a function that returns one: {takes}"
    class_name = handler.__name__
    fix = f"`{class_name}()`" if not signature.parameters else f"an object, or `lambda connection: {class_name}(…)`"
    return f"{wants}, or a class: {takes}; give it {fix} instead"


def _why_not_returned(name: str, factory: object, made: object) -> str:
    """Return why the result of a factory cannot be a handler."""
    if inspect.isawaitable(made) and not isinstance(made, HandlerBase):
        if inspect.iscoroutine(made):
            made.close()
        return f"{name} called {describe(factory)}, which returned {describe(made)}; it must return the handler itself"
    if made is None or isinstance(made, type):
        return f"{name} called {describe(factory)}, which returned {describe(made)}; it must return a handler"
    return ""


def _why_wrong_class(name: str, endpoint: Endpoint, cls: type[Any]) -> str:
    """Return why a class is for the other end or for another schema, whose messages this connection never receives."""
    bases = end_bases(cls) if issubclass(cls, HandlerBase) else []
    if not bases or endpoint.base in bases:
        return ""
    base = bases[0]
    hooks = {n for n in HOOKS if getattr(cls, n) is not getattr(base, n)}
    own = {n for n in handler_functions(base) if getattr(cls, n) is not getattr(base, n)}
    if own and own <= hooks:
        return ""  # the hooks are the same for all connections
    what = f"{cls.__name__} derives from {with_module(base)}"
    if cls is base:
        what = f"this is {with_module(base)}"
    if own:
        what += f", with `{cls.__name__}.{min(own)}`"
    right = f"{base.__name__}Connection of {base.__module__}"
    return f"{name} takes {with_article(with_module(endpoint.base))}: {what}; {right} is for that"


def _handler_names(endpoint: Endpoint) -> Iterator[str]:
    """Yield the names of all methods that a connection may call."""
    yield from endpoint.requests.values()
    yield from endpoint.notifications.values()
    yield from HOOKS


def _why_handles_nothing(name: str, endpoint: Endpoint, made: object) -> str:
    """Return why an object is not a handler of this endpoint, if it has none of its methods."""
    if isinstance(made, HandlerBase):
        return _why_wrong_class(name, endpoint, made.__class__)
    if any(getattr(made, each, None) is not None for each in _handler_names(endpoint)):
        return ""
    hint = next(filter(None, _misnamed_methods(endpoint, made)), "")
    peer = peer_base(endpoint.base)
    theirs = [n for n in handler_functions(peer) if n not in HOOKS and hasattr(made, n)] if peer is not None else []
    if peer is not None and theirs:
        hint = f"it has `{theirs[0]}`, which is for {with_article(peer.__acp_end__)} to handle"
    wants = f"{name} takes an object with some of the methods of {with_module(endpoint.base)}"
    return f"{wants}: {describe(made)} has none{hint and f'; {hint}'}"


def _problems(endpoint: Endpoint, made: object) -> Iterator[str]:
    """Yield what is wrong with the methods of a handler object; empty strings mean nothing."""
    handlers = handler_functions(endpoint.base)
    cls: type[Any] = made.__class__
    hooks = ("supports", "capabilities") if isinstance(made, HandlerBase) else ()
    for name in (*_handler_names(endpoint), *(hook for hook in hooks if hook in handlers)):
        found = getattr(made, name, None)
        function = getattr(found, "__func__", None)
        is_function = isinstance(function, FunctionType)
        if function is handlers[name] or (is_function and _CHECKED_METHODS.get(function) is handlers[name]):
            continue
        why = why_not_override(name, found, handlers[name])
        if why:
            yield f"{cls.__name__}.{name} {why}"
        elif is_function:
            _CHECKED_METHODS[function] = handlers[name]
    if isinstance(made, HandlerBase):
        yield from _missing_attributes(endpoint, made)
    elif _CHECKED_NAMES.get(cls) is not endpoint:
        yield from _misnamed_methods(endpoint, made)
        _CHECKED_NAMES[cls] = endpoint


def _missing_attributes(endpoint: Endpoint, made: HandlerBase) -> Iterator[str]:
    """Yield the attributes of ready handlers, such as `ServesFiles.files`, that were not set."""
    for each in made.__class__.__mro__:
        if issubclass(each, HandlerBase) and each.__module__ == endpoint.base.__module__:
            for name in inspect.get_annotations(each):
                if not hasattr(made, name):
                    own = made.__class__.__name__
                    yield f"{own} has no `{name}`, which {each.__name__} needs: set it before creating the connection"


def _misnamed_methods(endpoint: Endpoint, made: object) -> Iterator[str]:
    """Yield which methods of an object of any class were probably meant to be handlers; empty strings mean none."""
    handlers = handler_functions(endpoint.base)
    named = {n: handlers[n] for n in _handler_names(endpoint)}
    missing = {n for n in named if getattr(made, n, None) is None}
    for name, found in inspect.getmembers_static(type(made)):
        if not name.startswith("_") and isinstance(found, FunctionType) and name not in handlers:
            meant = guess_handler(name, found, named, missing, trust_name=False)
            yield meant and f"{type(made).__name__}.{name} handles nothing; {meant} was probably meant"
