"""What a connection is given: a transport, and an object that handles what the peer sends, or what makes one."""

import inspect
from collections.abc import Iterator
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from .._engine.endpoint import Endpoint as Side
from .._engine.options import Options
from .handlers import (
    HandlerBase,
    a_,
    arguments_of,
    bases_of,
    check_class,
    handlers_in,
    is_checked,
    peer_of,
    shown,
    signature_of,
    takes,
    why_not,
)
from .misnamed import probably_meant

TRANSPORT = ("receive", "send", "close")
"""What a transport has."""
_SOUND: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""Functions that were checked, and what they override."""
_NEAR: WeakKeyDictionary[type, Side] = WeakKeyDictionary()
"""Classes of any kind whose names were checked, and for which side."""
HOOKS = (
    "extension_request",
    "extension_notification",
    "unknown_request",
    "unknown_notification",
    "connection_closed",
)
"""What a connection calls on any handler beside what handles the methods of its schema."""


def check_given(connection: object, transport: object, handler: object) -> None:
    """Raise `TypeError` for what cannot be a transport, or neither a handler nor what makes one."""
    side: Side | None = getattr(type(connection), "side", None)
    name = type(connection).__name__
    if side is None:
        raise TypeError(f"{name} belongs to no schema: use an AgentConnection or a ClientConnection")
    why = _why_no_transport(name, side, transport, handler) or _why_no_handler(name, side, handler)
    if why:
        for given in (transport, handler):
            if inspect.iscoroutine(given):
                given.close()  # nobody will await it
        raise TypeError(why)


def check_options(options: Options) -> None:
    """Raise `TypeError` or `ValueError` for an option with which nothing would be read, handled or told."""
    for name in ("on_skip", "on_problem", "on_message"):
        hook = getattr(options, name)
        if hook is not None and (not callable(hook) or inspect.iscoroutinefunction(hook)):
            kind = "a coroutine function" if callable(hook) else shown(hook)
            raise TypeError(f"{name} is {kind}; it has to be a function that is called without `await`")
    if options.unknown not in ("keep", "reject"):
        raise ValueError(f"unknown must be 'reject' or 'keep', not {options.unknown!r}")
    for name in ("max_requests", "max_notifications"):
        if getattr(options, name) < 1:
            raise ValueError(f"{name} must be at least 1, not {getattr(options, name)}")
    if not options.grace >= 0:
        raise ValueError(f"grace must be 0 seconds or more, not {options.grace}")


def made_handler(connection: Any, handler: Any) -> Any:
    """Give the object that handles what the peer sends, made if need be; raise `TypeError` for what cannot do that."""
    if handler is None:
        return None
    side: Side = connection.side
    name = type(connection).__name__
    made = handler
    if _is_factory(handler):
        made = handler(connection)
        why = _why_not_made(name, side, handler, made)
        if why:
            raise TypeError(why)
    if isinstance(made, HandlerBase) and not is_checked(made.__class__):
        check_class(made.__class__)
    why = _why_no_handlers(name, side, made) or next(filter(None, _whys(side, made)), "")
    if why:
        raise TypeError(why)
    return made


def _is_factory(handler: object) -> bool:
    return callable(handler) and not isinstance(handler, HandlerBase)


def _is_transport(given: object) -> bool:
    return not isinstance(given, type) and all(callable(getattr(given, name, None)) for name in TRANSPORT)


def _why_no_transport(name: str, side: Side, transport: object, handler: object) -> str:
    if _is_transport(transport):
        return ""
    wants = f"{name} takes a transport, and then a handler"
    kind = transport if isinstance(transport, type) else type(transport)
    if _is_transport(handler) or (issubclass(kind, HandlerBase) and handler is not None):
        return f"{wants}: these are in the wrong order, with {shown(transport)} first"
    if inspect.isawaitable(transport):
        return f"{wants}: this is {shown(transport)} that nobody awaited, as in `{name}(await stdio(), …)`"
    if isinstance(transport, tuple):
        return f"{wants}: this is a tuple; a pair has one transport for each end, as in `here, there = memory_pair()`"
    if hasattr(type(transport), "side") and hasattr(transport, "handler"):
        return f"{wants}: this is a connection already, {shown(transport)}"
    if inspect.iscoroutinefunction(transport):
        return f"{wants}: {shown(transport)} gives one when it is called and awaited"
    if isinstance(transport, type):
        return f"{wants}: this is {shown(transport)}, and not an object of it"
    missing = [f"`{each}`" for each in TRANSPORT if not callable(getattr(transport, each, None))]
    ways = "`await stdio()`, `await spawn(command)` or `await connect_websocket(url)` give one"
    return f"{wants}: this is {shown(transport)}, which has no {', '.join(missing)}; {ways}"


def _why_no_handler(name: str, side: Side, handler: object) -> str:
    """Say why this is neither a handler nor what makes one, as far as that shows before it is asked for one."""
    wants = f"{name} takes an object that handles what the {side.peer} sends"
    if inspect.isawaitable(handler) and not isinstance(handler, HandlerBase):
        return f"{wants}: this is {shown(handler)} that nobody awaited"
    if not _is_factory(handler):
        return ""
    if inspect.iscoroutinefunction(handler):
        return f"{wants}: {shown(handler)} is a coroutine function; await it first, and give what it returns"
    if isinstance(handler, type):
        why = _why_wrong_class(name, side, handler)
        if why:
            return why
    signature = signature_of(handler)
    if signature is not None and not takes(signature, 1):
        what = "it makes one with the connection as the only argument"
        if not isinstance(handler, type):
            return (
                f"{wants}, or a function that makes one: {what}, and {shown(handler)} takes {arguments_of(signature)}"
            )
        kind = handler.__name__
        fix = f"`{kind}()`" if not signature.parameters else f"an object, or `lambda connection: {kind}(…)`"
        return (
            f"{wants}, or a class: {what}, and {shown(handler)} takes {arguments_of(signature)}; give it {fix} instead"
        )
    return ""


def _why_not_made(name: str, side: Side, factory: object, made: object) -> str:
    """Say why what a factory returned cannot be a handler."""
    if inspect.isawaitable(made) and not isinstance(made, HandlerBase):
        if inspect.iscoroutine(made):
            made.close()
        return f"{name} called {shown(factory)}, which returned {shown(made)}; it has to return the handler itself"
    if made is None or isinstance(made, type):
        return f"{name} called {shown(factory)}, which returned {shown(made)}; it has to return a handler"
    return ""


def _why_wrong_class(name: str, side: Side, kind: type[Any]) -> str:
    """Say why a class is for another end, or for another schema: it handles nothing that this one is sent."""
    bases = bases_of(kind) if issubclass(kind, HandlerBase) else []
    if not bases or side.base in bases:
        return ""
    base = bases[0]
    hooks = {n for n in HOOKS if getattr(kind, n) is not getattr(base, n)}
    own = {n for n in handlers_in(base) if getattr(kind, n) is not getattr(base, n)}
    if own and own <= hooks:
        return ""  # these are the same everywhere
    what = f"{kind.__name__} is made of {_named(base)}"
    if kind is base:
        what = f"this is {_named(base)}"
    if own:
        what += f", with `{kind.__name__}.{min(own)}`"
    fitting = f"{base.__name__}Connection of {base.__module__}"
    return f"{name} takes {a_(_named(side.base))}: {what}; {fitting} is for that"


def _named(base: type) -> str:
    return f"{base.__name__} of {base.__module__}"


def _names(side: Side) -> Iterator[str]:
    yield from side.requests.values()
    yield from side.notifications.values()
    yield from HOOKS


def _why_no_handlers(name: str, side: Side, made: object) -> str:
    """Say why an object handles nothing at all."""
    if isinstance(made, HandlerBase):
        return _why_wrong_class(name, side, made.__class__)
    if any(getattr(made, each, None) is not None for each in _names(side)):
        return ""
    hint = next(filter(None, _near(side, made)), "")
    other = peer_of(side.base)
    theirs = [n for n in handlers_in(other) if n not in HOOKS and hasattr(made, n)] if other is not None else []
    if other is not None and theirs:
        hint = f"it has `{theirs[0]}`, which is for {a_(other.__acp_end__)} to handle"
    wants = f"{name} takes an object with some of the methods of {_named(side.base)}"
    return f"{wants}: {shown(made)} has none{hint and f'; {hint}'}"


def _whys(side: Side, made: object) -> Iterator[str]:
    """Say what is wrong with the methods of a handler, as an object has them."""
    known = handlers_in(side.base)
    kind: type[Any] = made.__class__
    hooks = ("supports", "capabilities") if isinstance(made, HandlerBase) else ()
    for name in (*_names(side), *(hook for hook in hooks if hook in known)):
        found = getattr(made, name, None)
        function = getattr(found, "__func__", None)
        is_function = isinstance(function, FunctionType)
        if function is known[name] or (is_function and _SOUND.get(function) is known[name]):
            continue
        why = why_not(name, found, known[name])
        if why:
            yield f"{kind.__name__}.{name} {why}"
        elif is_function:
            _SOUND[function] = known[name]
    if isinstance(made, HandlerBase):
        yield from _lacking(side, made)
    elif _NEAR.get(kind) is not side:
        yield from _near(side, made)
        _NEAR[kind] = side


def _lacking(side: Side, made: HandlerBase) -> Iterator[str]:
    """Say which attributes of ready handlers were not set."""
    for each in made.__class__.__mro__:
        if issubclass(each, HandlerBase) and each.__module__ == side.base.__module__:
            for name in inspect.get_annotations(each):
                if not hasattr(made, name):
                    kind = made.__class__.__name__
                    yield f"{kind} has no `{name}`, which {each.__name__} needs: set it before the connection is made"


def _near(side: Side, made: object) -> Iterator[str]:
    """Say which methods of an object of any class were probably meant to handle something."""
    known = handlers_in(side.base)
    lacking = {n: known[n] for n in _names(side) if getattr(made, n, None) is None}
    for name, found in inspect.getmembers_static(type(made)):
        if not name.startswith("_") and isinstance(found, FunctionType) and name not in known:
            meant = probably_meant(name, found, lacking, is_sure=False)
            yield meant and f"{type(made).__name__}.{name} handles nothing; `{meant}` was probably meant"
