"""Plans, which always come whole."""

from collections.abc import Iterator
from typing import Any

from .._types.variants import UnknownVariant
from ._changes import Change, PlanRemoved, PlanReplaced
from ._views import PlanItem, PlanView


class Plans:
    """The plans of a session, by id; None is the id of the one plan of agents that do not name theirs."""

    __slots__ = ("_plans",)

    def __init__(self) -> None:
        """Start with none."""
        self._plans: dict[str | None, PlanView] = {}

    def views(self) -> tuple[PlanView, ...]:
        """Show all plans, in the order in which they first came."""
        return tuple(self._plans.values())

    def replace(self, plan_id: str | None, content: Any) -> Iterator[Change]:
        """Put a plan in the place of the one before."""
        self._plans[plan_id] = _view(plan_id, content)
        yield PlanReplaced(plan_id=plan_id)

    def remove(self, plan_id: str) -> Iterator[Change]:
        """Take a plan away."""
        yield PlanRemoved(plan_id=plan_id, existed=self._plans.pop(plan_id, None) is not None)


def plan_id_of(content: Any) -> str | None:
    """Find the id of a plan, also of a kind that is not known."""
    found = content.data.get("planId") if isinstance(content, UnknownVariant) else getattr(content, "plan_id", None)
    return found if isinstance(found, str) else None


def _view(plan_id: str | None, content: Any) -> PlanView:
    # The kinds are told apart by what they hold: the same for a plan that has no type.
    if entries := getattr(content, "entries", None):
        return PlanView(plan_id=plan_id, items=tuple(map(_item, entries)))
    match getattr(content, "type", None):
        case "file" if hasattr(content, "uri"):
            return PlanView(plan_id=plan_id, uri=content.uri)
        case "markdown" if hasattr(content, "content"):
            return PlanView(plan_id=plan_id, markdown=content.content)
        case None | "items" if not isinstance(content, UnknownVariant):
            return PlanView(plan_id=plan_id)
        case _:
            return PlanView(plan_id=plan_id, other=content)


def _item(entry: Any) -> PlanItem:
    return PlanItem(content=entry.content, priority=entry.priority, status=entry.status, meta=entry.meta)
