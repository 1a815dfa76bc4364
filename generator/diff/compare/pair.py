"""Two modules under comparison, and the state that all steps share."""

from dataclasses import dataclass, field
from functools import cached_property

from generator.diff.compare.change import Log
from generator.diff.compare.expressions import TypeComparison
from generator.diff.compare.index import Index
from generator.diff.compare.shapes import Shapes
from generator.values import Value, renamed


@dataclass
class ModulePair:
    """The old and the new module.

    `names` maps renamed classes to their new names, `kept` those whose old name stays as a deprecated alias, and
    `has_meta` says whether both sides list their methods.
    """

    old: Index
    new: Index
    names: dict[str, str]
    kept: dict[str, str] = field(default_factory=dict[str, str])
    has_meta: bool = True
    log: Log = field(default_factory=Log)
    pending: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Old and new names of variants that a union pairs up; they are still to be compared."""

    @cached_property
    def types(self) -> TypeComparison:
        """The comparison of types."""
        return TypeComparison(self.old, self.new, self.names)

    @cached_property
    def shapes(self) -> tuple[Shapes, Shapes]:
        """The shapes of both sides, under the new names."""
        return Shapes(self.old, self.names), Shapes(self.new, {})

    def name(self, old: str) -> str:
        """Return the new name of an old class."""
        return self.names.get(old, old)

    def default(self, old: Value | None) -> Value | None:
        """Return an old default under the new names."""
        return None if old is None else renamed(old, self.names)

    def added(self, *names: str) -> tuple[str, ...]:
        """Return those of the names that the old module lacks, with the classes made for them."""
        every = (*names, *self.new.derived(*names))
        taken = set(self.names.values())
        return tuple(sorted({n for n in every if n not in self.old.by_name and n not in taken}))

    def removed(self, *names: str) -> tuple[str, ...]:
        """Return those of the names that the new module lacks, with the classes made for them."""
        every = (*names, *self.old.derived(*names))
        return tuple(sorted({n for n in every if n not in self.new.by_name and n not in self.names}))
