"""Looks up the methods of a handler object."""

from typing import Any

from msgspec import Raw

from ..._rpc.errors import MethodNotFound
from .._engine.endpoint import Endpoint, Handler, HandlerTable
from .handler_classes import HandlerBase


class UnknownMethods(HandlerBase):
    """The hooks for methods that the schema does not know and that are not extensions, as they lack the leading `_`.

    Some agents use names such as `vendor/thing`. Unless a hook is overridden, such requests are answered with -32601,
    and both requests and notifications are reported as problems.
    """

    __acp_end__ = ""

    async def unknown_request(self, method: str, params: Raw, /) -> Any:
        """Answer a request of a method that the schema does not know; absent params are given as null.

        The result is any JSON.
        """
        raise MethodNotFound(data=method)

    async def unknown_notification(self, method: str, params: Raw, /) -> None:
        """Handle a notification of a method that the schema does not know."""


def handler_table(handler: object, endpoint: Endpoint) -> HandlerTable:
    """Look up which of an endpoint's methods a handler has; all of them are optional."""
    return HandlerTable(
        _methods(handler, endpoint.requests),
        _methods(handler, endpoint.notifications),
        getattr(handler, "extension_request", None),
        getattr(handler, "extension_notification", None),
        *(_overridden(handler, name) for name in ("unknown_request", "unknown_notification")),
    )


def is_overridden(handler: object, base: type | None, name: str) -> bool:
    """Return whether a handler overrides a method of `base`, which only refuses."""
    found = getattr(handler, name, None)
    return found is not None and getattr(found, "__func__", found) is not getattr(base, name, None)


def _overridden(handler: object, name: str) -> Any:
    return getattr(handler, name) if is_overridden(handler, UnknownMethods, name) else None


def _methods(handler: object, names: dict[type[Any], str]) -> dict[type[Any], Handler]:
    found = {envelope: getattr(handler, name, None) for envelope, name in names.items()}
    return {envelope: method for envelope, method in found.items() if method is not None}
