"""The result of a comparison: its changes, the version that they require, and the figures that all formats show."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from generator.diff.compare.change import Change, Place
from generator.diff.compare.folding import FoldedChange, fold
from generator.diff.compare.modules import compare_modules
from generator.diff.compare.rules import EFFECTS, RULES, VERSIONS, Effect, Version
from generator.diff.inputs import Input
from generator.errors import GeneratorError
from generator.model import Module
from generator.source import LABELS

STATUS = {Version.NONE: 0, Version.PATCH: 3, Version.MINOR: 3, Version.MAJOR: 4}
"""The exit status for each required version; 1 and 2 are those of failures and of wrong use."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared, label by label in a fixed order, and all changes."""

    old: str
    new: str
    labels: tuple[str, ...]
    changes: tuple[Change, ...]
    problems: tuple[GeneratorError, ...] = ()
    """What could not be read on either side; the changes leave it out."""

    @property
    def version(self) -> Version:
        """The greatest release that any change requires."""
        return min((c.rule.version for c in self.changes), key=VERSIONS.index, default=Version.NONE)

    @property
    def status(self) -> int:
        """The exit status."""
        return STATUS[self.version]

    @property
    def why(self) -> str:
        """The reason for the version, in one sentence."""
        version = self.version
        found = [c for c in self.changes if c.rule.version is version]
        shares = Counter(c.label for c in found)
        where = ", ".join(f"{label}: {shares[label]}" for label in self.labels if shares[label])
        match version:
            case Version.NONE:
                return "no visible change"
            case Version.MAJOR:
                return f"{_breaking(found)} ({where})"
            case Version.MINOR:
                return f"{count_of(len(found), 'visible change')}, none breaking ({where})"
            case Version.PATCH:
                return f"{count_of(len(found), 'change')}, none visible to users ({where})"

    def of(self, label: str) -> list[Change]:
        """List the changes of one label."""
        return [c for c in self.changes if c.label == label]

    @property
    def folded(self) -> list[FoldedChange]:
        """The changes without the repeats in unstable modules."""
        return fold(self.changes)

    def count(self, side: str, effect: Effect) -> int:
        """Count the changes with an effect on `reader` or `writer`."""
        return sum((c.rule.reader if side == "reader" else c.rule.writer) is effect for c in self.changes)


def count_of(number: int, noun: str) -> str:
    """Write a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _breaking(found: list[Change]) -> str:
    """Say how many changes break something, and how many only make readers stricter."""
    broken = sum(c.rule.severity is Effect.BREAKING for c in found)
    stricter = len(found) - broken
    said = f"{count_of(broken, 'change')} {'breaks' if broken == 1 else 'break'} readers or writers" if broken else ""
    verb = "makes" if stricter == 1 else "make"
    if not broken:
        return f"{count_of(stricter, 'change')} {verb} readers stricter"
    return f"{said}, {stricter} {verb} readers stricter" if stricter else said


def figures(changes: Iterable[Change]) -> str:
    """Count changes by severity, the most severe first, in words."""
    counts = Counter(c.rule.severity for c in changes)
    return ", ".join(f"{counts[effect]} {effect}" for effect in EFFECTS if counts[effect]) or "no change"


def compare(old: Input, new: Input) -> Comparison:
    """Compare two inputs: two files with each other, folders label by label, a file with the same label of a folder."""
    changes: list[Change] = []
    labels: list[str] = []
    for label, before, after in _pairs(old, new):
        labels.append(label)
        if before is not None and after is not None:
            has_meta = before.label in old.has_meta and after.label in new.has_meta
            former = (old.renamed[before.label], new.renamed[after.label])
            changes += compare_modules(before, after, label, former, has_meta=has_meta)
        elif before is not None:
            changes.append(_module("module.removed", label, before))
        elif after is not None:
            changes.append(_module("module.added", label, after))
    problems = tuple({str(p): p for p in (*old.problems, *new.problems)}.values())
    return Comparison(old.shown, new.shown, tuple(labels), tuple(changes), problems)


def _pairs(old: Input, new: Input) -> list[tuple[str, Module | None, Module | None]]:
    if old.is_single and new.is_single:
        (before,), (after,) = old.modules.values(), new.modules.values()
        label = before.label if before.label == after.label else f"{before.label} -> {after.label}"
        return [(label, before, after)]
    if old.is_single or new.is_single:
        single, several = (old, new) if old.is_single else (new, old)
        (label,) = single.modules
        if label not in several.modules:
            raise GeneratorError(
                f"cannot tell which of {', '.join(several.modules)} in {several.shown} to compare with",
                file=single.shown,
                hint="name a schema file on both sides",
            )
        return [(label, old.modules[label], new.modules[label])]
    return [(n, old.modules.get(n), new.modules.get(n)) for n in LABELS if n in old.modules or n in new.modules]


def _module(kind: str, label: str, module: Module) -> Change:
    text = f"{count_of(len(module.definitions), 'type')}, {count_of(len(module.methods), 'method')}"
    is_new = kind == "module.added"
    place = Place(label, None if is_new else "", "" if is_new else None)
    rule = RULES[kind]
    return Change(
        rule=rule,
        label=label,
        owner=label,
        name=label,
        old_pointer=place.old,
        new_pointer=place.new,
        before="" if is_new else text,
        after=text if is_new else "",
        sentence=rule.sentence.format(name=label),
    )
