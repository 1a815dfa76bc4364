"""What updates add and change by id beside the timeline: subagents, and cursors into the session."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from .._patch import apply_patch
from ._changes import Change, CursorChanged, SubagentChanged
from ._views import CursorView, SubagentView


class _SubagentFields(Struct):
    """The fields of `subagent_update`; the names are those of the schemas."""

    session_id: str
    title: str | None = None
    description: str | None = None
    state: Any = None
    cwd: str | None = None
    additional_directories: Any = None
    capabilities: Any = None
    meta: dict[str, Any] | None = None


class _CursorFields(Struct):
    """The fields of `cursor_update`; the names are those of the schemas."""

    cursor_id: str
    anchor: Any = None
    capabilities: Any = None
    meta: dict[str, Any] | None = None


class Subagents:
    """The sessions that this one created and owns, by id."""

    __slots__ = ("_by_id",)

    def __init__(self) -> None:
        """Start with no subagents."""
        self._by_id: dict[str, _SubagentFields] = {}

    def views(self) -> tuple[SubagentView, ...]:
        """Return all subagents, in the order in which they were announced."""
        return tuple(map(_subagent, self._by_id.values()))

    def apply(self, update: Any) -> Iterator[Change]:
        """Announce a subagent or change what is known of it."""
        known = self._by_id.get(update.session_id)
        self._by_id[update.session_id] = apply_patch(known or _SubagentFields(session_id=update.session_id), update)
        yield SubagentChanged(session_id=update.session_id, started=known is None)


class Cursors:
    """The positions in the session that methods take, by id."""

    __slots__ = ("_by_id",)

    def __init__(self) -> None:
        """Start with no cursors."""
        self._by_id: dict[str, _CursorFields] = {}

    def views(self) -> tuple[CursorView, ...]:
        """Return all cursors, in the order in which they came."""
        return tuple(
            CursorView(cursor_id=each.cursor_id, anchor=each.anchor, capabilities=each.capabilities, meta=each.meta)
            for each in self._by_id.values()
        )

    def apply(self, update: Any) -> Iterator[Change]:
        """Add a cursor or change what it may be used for."""
        known = self._by_id.get(update.cursor_id)
        self._by_id[update.cursor_id] = apply_patch(known or _CursorFields(cursor_id=update.cursor_id), update)
        yield CursorChanged(cursor_id=update.cursor_id, started=known is None)


def _subagent(fields: _SubagentFields) -> SubagentView:
    folders = fields.additional_directories
    return SubagentView(
        session_id=fields.session_id,
        title=fields.title,
        description=fields.description,
        state=fields.state,
        cwd=fields.cwd,
        additional_directories=None if folders is None else tuple(folders),
        capabilities=fields.capabilities,
        meta=fields.meta,
    )
