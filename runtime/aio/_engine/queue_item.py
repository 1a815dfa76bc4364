"""The items that wait in the inbox."""

from typing import Any, Protocol, final

from msgspec import Raw, Struct

from .call import Call
from .endpoint import Hook
from .pending_request import PendingRequest


class Notification(Protocol):
    """A notification of the schema: its envelope waits as it was decoded, as another object for each is measurable."""

    params: Any


@final
class HookNotification(Struct, frozen=True, eq=False):
    """A notification of a method outside the schema."""

    hook: Hook
    method: str
    params: Raw


@final
class RequestStart(Struct, frozen=True, eq=False):
    """A request of the peer whose task is to be started; it runs on beside the items that follow."""

    request: PendingRequest


@final
class Delivery(Struct, frozen=True, eq=False):
    """An answer that waits until the notifications before it are handled."""

    call: Call
    outcome: Any
    """The result, or an exception."""


QueueItem = Notification | HookNotification | RequestStart | Delivery
