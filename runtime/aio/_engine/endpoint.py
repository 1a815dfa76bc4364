"""What one end of a connection knows of its schema: plain data, emitted for each end of each schema."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeGuard

from msgspec import Raw, Struct

from ..._rpc.methods import Method

Handler = Callable[[Any], Awaitable[Any] | None]
"""Handles one request or notification, given its params."""
Hook = Callable[[str, Raw], Any]
"""Handles any method outside the schema, given its name and its params."""


class Need(Struct, frozen=True):
    """A capability that the peer must advertise before a method, or some value in its params, is sent."""

    method: str
    capability: str
    """The keys that lead to it in the handling side's part of `initialize`, joined by dots."""
    name: str = ""
    """The coroutine that handles the method; empty if the capability can be advertised without it."""
    leaf: Any = None
    """The value that advertises the capability; None if it takes more than one fixed value."""
    group: bool = False
    """Whether the capability only groups others, so that an object without any of them advertises nothing."""
    field: str = ""
    """The field of the params that needs the capability unless it is empty; "" for the method itself."""
    value: str | None = None
    """The tag or value in that field that needs the capability; None for any."""

    def applies_to(self, params: Any) -> bool:
        """Return whether these params need the capability."""
        if not self.field:
            return True
        found = getattr(params, self.field, None)
        if self.value is None:
            return bool(found)
        return any(map(self._is_value, found)) if _is_list(found) else self._is_value(found)

    def _is_value(self, item: Any) -> bool:
        config = getattr(item, "__struct_config__", None)
        return bool(item == self.value if config is None else config.tag == self.value)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


class AgentTurn(Struct, frozen=True):
    """How prompt turns are cancelled at an agent: the names of its coroutines, and the answer to a cancelled prompt."""

    prompt: str
    cancel: str
    cancelled: Callable[[], Any]
    """Builds the answer."""
    close: str = ""
    """The coroutine that closes a session and thereby cancels its turn, if the schema has it."""
    base: type[Any] | None = None
    """The class `Agent`, whose own `close` only refuses."""


class ClientTurn(Struct, frozen=True):
    """How prompt turns are cancelled at a client: the methods it calls, its coroutines, and what these answer."""

    prompt: str
    cancel: str
    permission: str
    """The coroutine that answers permission requests."""
    cancelled: Callable[[], Any]
    """Builds the answer to a permission request of a cancelled turn."""
    update: str = ""
    """The coroutine that handles session updates."""
    idle: tuple[type[Any], ...] = ()
    """The classes of the updates that end a turn, if the answer to the prompt does not end it."""
    close: str = ""
    """The method that closes a session and thereby cancels its turn, if the schema has it."""


class Endpoint(Struct, frozen=True, kw_only=True):
    """One end of a connection in one schema: how it decodes the peer's messages, and which coroutine handles which."""

    decode: Callable[..., Any]
    """Decodes one message of the peer, given the text and, by place or name, `method_of`, `unknown` and `on_skip`."""
    decode_batch: Callable[..., list[Any]]
    """Decodes a batch: an array of messages."""
    requests: dict[type[Any], str]
    """The envelopes of the requests that the peer may send, each with the name of the coroutine that handles it."""
    notifications: dict[type[Any], str]
    """The same for notifications."""
    base: type[Any]
    """The class with a coroutine for each method, `Agent` or `Client`."""
    methods: Mapping[str, Method]
    """All methods of the schema, of both sides."""
    response: type[Any]
    error_response: type[Any]
    extension_request: type[Any]
    extension_notification: type[Any]
    cancel: type[Any] | None
    """The envelope of `$/cancel_request`, if the schema has it."""
    cancel_params: type[Any] | None
    notification_of: Callable[[Any], Any] | None
    """Builds the envelope of a notification from its params, if the schema has notifications."""
    peer: Literal["agent", "client"]
    needs: tuple[Need, ...] = ()
    """The capabilities that the peer's methods need."""
    turn: AgentTurn | ClientTurn | None = None
    """How this end cancels prompt turns, if the schema has turns that can be cancelled."""
    versions: tuple[int, ...] = ()
    """The protocol versions of the schema, if it has `initialize`."""
    initialize_of: Callable[[int], Any] | None = None
    """Builds the params of an `initialize` in another version, whose other params this schema cannot decode."""


class HandlerTable(Struct, frozen=True):
    """The methods of one handler object, by the envelopes that they handle."""

    requests: dict[type[Any], Handler]
    notifications: dict[type[Any], Handler]
    extension_request: Hook | None
    extension_notification: Hook | None
    unknown_request: Hook | None
    unknown_notification: Hook | None
