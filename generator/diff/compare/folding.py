"""Folding: a change that an unstable module repeats is shown once, in the module that has it first.

The changes of a stable module are always shown there. Those of an unstable one are folded into the equal change of its
own stable module or, without one, of any module before it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from generator.diff.compare.change import Change
from generator.overrides import STABLE_OF


@dataclass(frozen=True, slots=True)
class FoldedChange:
    """A change as it is shown: `repeats` are the equal changes of unstable modules."""

    change: Change
    repeats: tuple[Change, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The modules that have the change."""
        return (self.change.label, *dict.fromkeys(r.label for r in self.repeats))

    @property
    def uses_elsewhere(self) -> tuple[str, ...]:
        """The uses in the modules of the repeats that the shown change does not have."""
        return tuple(sorted({use for r in self.repeats for use in r.used_in} - {*self.change.used_in}))

    @property
    def methods_elsewhere(self) -> tuple[str, ...]:
        """The methods in the modules of the repeats that the shown change does not have."""
        return tuple(sorted({method for r in self.repeats for method in r.methods} - {*self.change.methods}))


def fold(changes: Iterable[Change]) -> list[FoldedChange]:
    """Fold the changes of all modules, which come in the order of the modules; nothing else is reordered."""
    shown: list[Change] = []
    repeats: dict[int, list[Change]] = {}
    places: dict[tuple[object, ...], list[int]] = {}
    for change in changes:
        known = places.setdefault(_key(change), [])
        stable = STABLE_OF.get(change.label)
        homes = [i for i in known if shown[i].label != change.label] if stable is not None else []
        home = next((i for i in homes if shown[i].label == stable), homes[0] if homes else None)
        if home is None:
            known.append(len(shown))
            shown.append(change)
        else:
            repeats.setdefault(home, []).append(change)
    return [FoldedChange(change, tuple(repeats.get(i, ()))) for i, change in enumerate(shown)]


def _key(change: Change) -> tuple[object, ...]:
    """Return all that a repeat has in common with the change; its uses may differ."""
    return (
        *(change.rule.kind, change.owner, change.name, change.sentence, change.old_pointer, change.new_pointer),
        *(change.before, change.after, change.also, change.evidence),
    )
