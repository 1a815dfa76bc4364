"""Two modules under comparison, and what every step of it needs."""

from dataclasses import dataclass, field
from functools import cached_property

from generator.diff.compare.change import Log
from generator.diff.compare.expressions import Kinds
from generator.diff.compare.index import Index
from generator.diff.compare.shapes import Shapes
from generator.values import Value, renamed


@dataclass
class Pair:
    """Both sides.

    `names` are the new names of classes that were renamed, `kept` those of them that live on under the old name, too,
    and `has_meta` says whether both sides list their methods.
    """

    old: Index
    new: Index
    names: dict[str, str]
    kept: dict[str, str] = field(default_factory=dict[str, str])
    has_meta: bool = True
    log: Log = field(default_factory=Log)
    pending: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Classes that belong together under two names, which only their union shows."""

    @cached_property
    def kinds(self) -> Kinds:
        """The comparison of types."""
        return Kinds(self.old, self.new, self.names)

    @cached_property
    def shapes(self) -> tuple[Shapes, Shapes]:
        """The shapes of both sides, in the new names."""
        return Shapes(self.old, self.names), Shapes(self.new, {})

    def name(self, old: str) -> str:
        """Give the new name of an old class."""
        return self.names.get(old, old)

    def default(self, old: Value | None) -> Value | None:
        """Give an old default in the new names."""
        return None if old is None else renamed(old, self.names)

    def come(self, *names: str) -> tuple[str, ...]:
        """Pick the names that the old module lacks, with the classes made for them."""
        every = (*names, *self.new.derived(*names))
        taken = set(self.names.values())
        return tuple(sorted({n for n in every if n not in self.old.by_name and n not in taken}))

    def gone(self, *names: str) -> tuple[str, ...]:
        """Pick the names that the new module lacks, with the classes made for them."""
        every = (*names, *self.old.derived(*names))
        return tuple(sorted({n for n in every if n not in self.new.by_name and n not in self.names}))
