"""Checks of the arguments of a connection: the transport, the handler and the options."""

import inspect

from .._engine.endpoint import Endpoint
from .._engine.options import Options
from .descriptions import describe
from .handler_classes import HandlerBase
from .handler_objects import why_not_handler

TRANSPORT_METHODS = ("receive", "send", "close")


def check_arguments(connection: object, transport: object, handler: object) -> None:
    """Raise `TypeError` for an object that is not a transport, or that is neither a handler nor creates one."""
    endpoint: Endpoint | None = getattr(type(connection), "side", None)
    name = type(connection).__name__
    if endpoint is None:
        raise TypeError(f"{name} belongs to no schema: use an AgentConnection or a ClientConnection")
    why = _why_not_transport(name, transport, handler) or why_not_handler(name, endpoint, handler)
    if why:
        for argument in (transport, handler):
            if inspect.iscoroutine(argument):
                argument.close()  # so that Python does not warn that it was never awaited
        raise TypeError(why)


def check_options(options: Options) -> None:
    """Raise `TypeError` or `ValueError` for an invalid option."""
    for name in ("on_skip", "on_problem", "on_message"):
        hook = getattr(options, name)
        if hook is not None and (not callable(hook) or inspect.iscoroutinefunction(hook)):
            description = "a coroutine function" if callable(hook) else describe(hook)
            raise TypeError(f"{name} is {description}; it must be a function that is called without `await`")
    if options.unknown not in ("keep", "reject"):
        raise ValueError(f"unknown must be 'reject' or 'keep', not {options.unknown!r}")
    for name in ("max_requests", "max_notifications"):
        if getattr(options, name) < 1:
            raise ValueError(f"{name} must be at least 1, not {getattr(options, name)}")
    if not options.grace >= 0:
        raise ValueError(f"grace must be 0 seconds or more, not {options.grace}")


def _is_transport(value: object) -> bool:
    return not isinstance(value, type) and all(callable(getattr(value, name, None)) for name in TRANSPORT_METHODS)


def _why_not_transport(name: str, transport: object, handler: object) -> str:
    """Return why the first argument is not a transport, or an empty string."""
    if _is_transport(transport):
        return ""
    wants = f"{name} takes a transport, and then a handler"
    cls = transport if isinstance(transport, type) else type(transport)
    if _is_transport(handler) or (issubclass(cls, HandlerBase) and handler is not None):
        return f"{wants}: these are in the wrong order, with {describe(transport)} first"
    if inspect.isawaitable(transport):
        return f"{wants}: this is {describe(transport)}, which was not awaited; write `{name}(await stdio(), …)`"
    if isinstance(transport, tuple):
        return f"{wants}: this is a tuple; a pair has one transport for each end, as in `here, there = memory_pair()`"
    if hasattr(type(transport), "side") and hasattr(transport, "handler"):
        return f"{wants}: this is a connection already, {describe(transport)}"
    if inspect.iscoroutinefunction(transport):
        return f"{wants}: {describe(transport)} returns one when it is called and awaited"
    if isinstance(transport, type):
        return f"{wants}: this is {describe(transport)}, not an object of it"
    missing = [f"`{each}`" for each in TRANSPORT_METHODS if not callable(getattr(transport, each, None))]
    ways = "`await stdio()`, `await spawn(command)` and `await connect_websocket(url)` return one"
    return f"{wants}: this is {describe(transport)}, which has no {', '.join(missing)}; {ways}"
