"""The description of a method."""

from typing import Any

from msgspec import Struct


class Method(Struct, frozen=True, kw_only=True):
    """A method: its name, who handles it, and its types.

    `handled_by` is a set of "agent" and "client". `request` and `response` are the types of the params and the result
    of a request, `notification` the type of the params of a notification; None if the method has no such part.
    """

    name: str
    handled_by: frozenset[str]
    request: Any = None
    response: Any = None
    notification: Any = None
