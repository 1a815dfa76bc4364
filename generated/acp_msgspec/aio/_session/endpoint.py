"""What one end of a connection knows of its schema, as data that is emitted for each."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Raw, Struct, UnsetType

from ..._rpc.errors import MethodNotFound
from ..._rpc.methods import Method
from .._engine.inbox import Deed
from .handler_classes import HandlerBase
from .handshake import Need, is_overridden
from .turns import AgentTurn, ClientTurn


class Side(Struct, frozen=True, kw_only=True):
    """One side of one schema: how it reads its peer, and which of its methods handles what."""

    decode: Callable[..., Any]
    """Reads one message of the peer."""
    decode_batch: Callable[..., list[Any]]
    """Reads several in one array."""
    requests: dict[type[Any], str]
    """The envelopes of requests that the peer may send, and the names of the handler's methods for them."""
    notifications: dict[type[Any], str]
    """The same for notifications."""
    base: type[Any]
    """The class with all methods of a handler, `Agent` or `Client`."""
    methods: Mapping[str, Method]
    """What the schema knows of each method, of either side."""
    response: type[Any]
    error_response: type[Any]
    extension_request: type[Any]
    extension_notification: type[Any]
    cancel: type[Any] | None
    """The envelope of `$/cancel_request`, where the schema has it."""
    cancel_params: type[Any] | None
    notification_of: Callable[[Any], Any] | None
    """Makes the envelope of a notification of its params, where there are any notifications."""
    peer: Literal["agent", "client"]
    needs: tuple[Need, ...] = ()
    """What the peer's methods need it to advertise."""
    turn: AgentTurn | ClientTurn | None = None
    """How this side cancels turns, where the schema has turns that can be cancelled."""
    versions: tuple[int, ...] = ()
    """The protocol versions that the schema speaks, where it has `initialize`."""
    initialize_of: Callable[[int], Any] | None = None
    """Makes the params of an `initialize` in another version, whose other params this schema cannot read."""


class Handlers(Struct, frozen=True):
    """The methods of one handler object, by the class of the message that they are for."""

    requests: dict[type[Any], Deed]
    notifications: dict[type[Any], Deed]
    extension_request: Callable[[str, Raw], Any] | None
    extension_notification: Callable[[str, Raw], Any] | None
    unknown_request: Callable[[str, Raw], Any] | None
    unknown_notification: Callable[[str, Raw], Any] | None


class UnknownMethods(HandlerBase):
    """The hooks for methods that neither the schema knows nor the protocol's rule for extensions allows.

    Some agents use names such as `vendor/thing`. Where a hook is not overridden, their requests are answered with
    -32601, and both they and their notifications are reported as problems.
    """

    __acp_end__ = ""

    async def unknown_request(self, method: str, params: Raw, /) -> Any:
        """Answer a request of a method that the schema does not know; params are null where there are none.

        The result is any JSON.
        """
        raise MethodNotFound(data=method)

    async def unknown_notification(self, method: str, params: Raw, /) -> None:
        """Take a notification of a method that the schema does not know."""


def handlers_of(handler: object, side: Side) -> Handlers:
    """Look up which of a side's methods an object has; all of them are optional."""
    return Handlers(
        _bound(handler, side.requests),
        _bound(handler, side.notifications),
        getattr(handler, "extension_request", None),
        getattr(handler, "extension_notification", None),
        *(_overridden(handler, name) for name in ("unknown_request", "unknown_notification")),
    )


def _overridden(handler: object, name: str) -> Any:
    return getattr(handler, name) if is_overridden(handler, UnknownMethods, name) else None


def _bound(handler: object, names: dict[type[Any], str]) -> dict[type[Any], Deed]:
    found = {kind: getattr(handler, name, None) for kind, name in names.items()}
    return {kind: method for kind, method in found.items() if method is not None}


def given(params: Raw | UnsetType) -> Raw:
    """Give the params of an extension; null stands for none."""
    return params if isinstance(params, Raw) else Raw(b"null")
