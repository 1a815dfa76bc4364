"""The plans of a session. Every update replaces a plan as a whole."""

from collections.abc import Iterator
from typing import Any

from .._types.variants import UnknownVariant
from ._changes import Change, PlanRemoved, PlanReplaced
from ._views import PlanItem, PlanView


class Plans:
    """The plans of a session, by id. An agent whose plan has no id has one plan, under None."""

    __slots__ = ("_plans",)

    def __init__(self) -> None:
        """Start with no plans."""
        self._plans: dict[str | None, PlanView] = {}

    def views(self) -> tuple[PlanView, ...]:
        """Return all plans, in the order in which they first came."""
        return tuple(self._plans.values())

    def replace(self, plan_id: str | None, content: Any) -> Iterator[Change]:
        """Add a plan, or replace the one with its id."""
        self._plans[plan_id] = _view(plan_id, content)
        yield PlanReplaced(plan_id=plan_id)

    def remove(self, plan_id: str) -> Iterator[Change]:
        """Remove a plan."""
        yield PlanRemoved(plan_id=plan_id, existed=self._plans.pop(plan_id, None) is not None)


def plan_id_of(content: Any) -> str | None:
    """Return the id of a plan, also of one whose type is unknown."""
    found = content.data.get("planId") if isinstance(content, UnknownVariant) else getattr(content, "plan_id", None)
    return found if isinstance(found, str) else None


def _view(plan_id: str | None, content: Any) -> PlanView:
    # The fields are checked before the type: a plan of version 1 has steps and no type.
    if steps := getattr(content, "entries", None):
        return PlanView(plan_id=plan_id, items=tuple(map(_item, steps)))
    match getattr(content, "type", None):
        case "file" if hasattr(content, "uri"):
            return PlanView(plan_id=plan_id, uri=content.uri)
        case "markdown" if hasattr(content, "content"):
            return PlanView(plan_id=plan_id, markdown=content.content)
        case None | "items" if not isinstance(content, UnknownVariant):
            return PlanView(plan_id=plan_id)
        case _:
            return PlanView(plan_id=plan_id, other=content)


def _item(step: Any) -> PlanItem:
    return PlanItem(content=step.content, priority=step.priority, status=step.status, meta=step.meta)
