"""What waits in the inbox."""

from typing import Any, final

from msgspec import Struct

from .call import Call
from .endpoint import Handler
from .pending_request import PendingRequest


@final
class Notification(Struct, frozen=True, eq=False, gc=False):
    """A notification of the peer that is to be handled."""

    handler: Handler
    params: Any


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


QueueItem = Notification | RequestStart | Delivery
