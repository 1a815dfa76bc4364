"""The description of a method."""

from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr


class Method(Struct, frozen=True, kw_only=True):
    """A method: its name, who handles it, and its types.

    `handled_by` is a set of "agent" and "client". `request` and `response` are the types of the params and the result
    of a request, `notification` the type of the params of a notification; None if the method has no such part.

    A method may be a request in one direction and a notification in the other: `requests_handled_by` and
    `notifications_handled_by` are who handles each of the two; both default to `handled_by` where the method has that
    part, and are empty where it has not.
    """

    name: str
    handled_by: frozenset[str]
    request: Any = None
    response: Any = None
    notification: Any = None
    requests_handled_by: frozenset[str] = frozenset()
    notifications_handled_by: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Fill in who handles each part."""
        for part, sides in (("request", "requests_handled_by"), ("notification", "notifications_handled_by")):
            if getattr(self, part) is not None and not getattr(self, sides):
                force_setattr(self, sides, self.handled_by)
