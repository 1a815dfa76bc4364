"""One tool call: its fields, and how an update changes them. The session state and the inspector share this rule."""

from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct

from .._patch import apply_patch

F = TypeVar("F", bound="ToolCallFields")


class ToolCallFields(Struct):
    """The fields of a tool call that an update can change, without its content. The names are those of the schemas."""

    tool_call_id: str
    title: str | None = None
    name: str | None = None
    kind: str = "other"
    status: str = "pending"


def tool_call_of(params: Any) -> Any:
    """Return the tool call, or the update of one, that params carry; None if they carry none.

    Session updates and permission requests carry them. In version 2, a permission request has a subject, which may be
    a tool call.
    """
    update = getattr(params, "update", None)
    if update is not None:
        return update if getattr(update, "tool_call_id", None) is not None else None
    call = getattr(params, "tool_call", None)
    return call if call is not None else getattr(getattr(params, "subject", None), "tool_call", None)


def is_announcement(update: Any) -> bool:
    """Return whether an update announces a tool call as a whole, and so replaces an earlier one with its id."""
    return getattr(update, "session_update", None) == "tool_call"


def merge(known: F, update: Any) -> F:
    """Return a copy of a tool call with the changes of an update. An announcement replaces all fields."""
    base = type(known)(tool_call_id=update.tool_call_id) if is_announcement(update) else known
    return apply_patch(base, update)


def may_begin(update: Any) -> bool:
    """Return whether an update may begin a tool call, as in the schemas whose updates have fields with three states."""
    return any(f.name == "title" and f.default is UNSET for f in msgspec.structs.fields(update))
