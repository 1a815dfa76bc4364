"""What is known of a method of the protocol."""

from typing import Any

from msgspec import Struct


class Method(Struct, frozen=True, kw_only=True):
    """One method: its name, the sides that handle it, and the types it carries.

    `handled_by` is a set of "agent" and "client". `request` and `response` are the types of params and result,
    `notification` that of a notification's params; None where the method has no such part.
    """

    name: str
    handled_by: frozenset[str]
    request: Any = None
    response: Any = None
    notification: Any = None
