"""The comparison of two modules, step by step: renames, definitions, methods, and every name not reported yet."""

from collections.abc import Iterable
from dataclasses import replace

from generator.diff.compare.annotations import compare_annotations
from generator.diff.compare.change import Change, Place
from generator.diff.compare.definitions import compare_definitions
from generator.diff.compare.index import Index
from generator.diff.compare.methods import GROUP, compare_methods
from generator.diff.compare.pair import ModulePair
from generator.diff.compare.renames import find_renames
from generator.diff.compare.rules import EFFECTS
from generator.diff.compare.uses import Uses
from generator.model import Definition, Module

Former = tuple[dict[str, str], dict[str, str]]
"""The deprecated names of the old and of the new module, each with the current name."""


def compare_modules(old: Module, new: Module, label: str, former: Former, *, has_meta: bool) -> list[Change]:
    """List the changes between two modules, the most severe first."""
    before, after = Index(old), Index(new)
    kept = former[1]
    names, evidence = find_renames(before, after, kept)
    pair = ModulePair(before, after, names, kept, has_meta)
    for one, why in evidence.items():
        _log_renamed(pair, one, names[one], why)
    compare_annotations(pair, _compare_all(pair))
    compare_methods(pair)
    _compare_former_names(pair, former)
    _log_remaining(pair)
    uses_before, uses_after = Uses(before), Uses(after)
    return in_order(
        _with_uses(c, uses_after if c.owner in after.by_name else uses_before) for c in pair.log.changes(label)
    )


def in_order(changes: Iterable[Change]) -> list[Change]:
    """Sort changes of one module: the most severe first, then by name; methods come after types."""

    def key(change: Change) -> tuple[object, ...]:
        place = (change.old_pointer or "", change.new_pointer or "")
        severity = EFFECTS.index(change.rule.severity)
        return (severity, change.owner == GROUP, change.owner, change.name, change.rule.kind, *place, change.sentence)

    return sorted(changes, key=key)


def _with_uses(change: Change, uses: Uses) -> Change:
    own = {change.owner, change.name}
    places = {*change.used_in, *(p for p in uses.places(change.owner) if p.partition(".")[0] not in own)}
    return replace(change, used_in=tuple(sorted(places)), methods=tuple(sorted(uses.methods(change.owner))))


def _log_renamed(pair: ModulePair, before: str, after: str, evidence: str) -> None:
    """Log a renamed definition together with the classes whose names derive from its name."""
    old, new = pair.old.keyed[before], pair.new.keyed[after]
    follow = [(o, pair.names[o]) for o in pair.old.derived(before) if o in pair.names]
    envelopes = (pair.old.envelopes.get(before), pair.new.envelopes.get(after))
    if envelopes[0] is not None and envelopes[1] is not None:
        follow.append((envelopes[0], envelopes[1]))
    pair.log.mentioned.update((before, after), *follow)
    rule = "definition.renamed"
    if before in pair.new.by_name and not follow:
        rule = "definition.aliased"
    elif all(pair.kept.get(o) == n for o, n in [(before, after), *follow]):
        rule = "former.kept"
    pair.log.add(
        rule,
        Place(after, old.pointer, new.pointer),
        pair.old.declared(before),
        pair.new.declared(after),
        also=tuple(f"{o} -> {n}" for o, n in follow),
        evidence=evidence,
        old=before,
        new=after,
    )


def _compare_all(pair: ModulePair) -> list[tuple[Definition, Definition]]:
    """Compare definitions of the same name, renamed definitions, and the variants that unions pair up; list them."""
    names = [d.name for d in pair.old.module.definitions]
    pair.pending += [(n, pair.name(n)) for n in sorted(names) if pair.name(n) in pair.new.by_name]
    seen: set[tuple[str, str]] = set()
    found: list[tuple[Definition, Definition]] = []
    while pair.pending:
        both = pair.pending.pop(0)
        old, new = pair.old.by_name.get(both[0]), pair.new.by_name.get(both[1])
        if both not in seen and old is not None and new is not None:
            seen.add(both)
            found.append((old, new))
            compare_definitions(pair, old, new)
    return found


def _compare_former_names(pair: ModulePair, former: Former) -> None:
    """Compare the deprecated names; a name that is deprecated since this version is reported with its rename."""
    had, has = former
    for name in sorted(had.keys() - has.keys() - pair.new.by_name.keys()):
        place = Place(had[name], pair.old.pointer(had[name]), None)
        pair.log.add("former.removed", place, f"{name} = {had[name]}", "", name=name, old=name, new=had[name])
    for name in sorted(has.keys() - had.keys() - pair.log.mentioned):
        place = Place(has[name], None, pair.new.pointer(has[name]))
        pair.log.add("former.added", place, "", f"{name} = {has[name]}", name=name, old=name, new=has[name])


def _log_remaining(pair: ModulePair) -> None:
    """Log every added or removed name that no other change mentions; definitions with a key in `$defs` first."""
    for name in sorted(pair.old.by_name, key=lambda n: (n not in pair.old.keyed, n)):
        if name in pair.removed(name) and name not in pair.log.mentioned:
            place = Place(name, pair.old.by_name[name].pointer, None)
            also = tuple(n for n in pair.removed(name) if n != name)
            pair.log.add("definition.removed", place, pair.old.declared(name), "", also=also)
    for name in sorted(pair.new.by_name, key=lambda n: (n not in pair.new.keyed, n)):
        if name in pair.added(name) and name not in pair.log.mentioned:
            place = Place(name, None, pair.new.by_name[name].pointer)
            also = tuple(n for n in pair.added(name) if n != name)
            pair.log.add("definition.added", place, "", pair.new.declared(name), also=also)
    envelopes_old = {e.name: e.pointer for e in pair.old.module.envelopes}
    envelopes_new = {e.name: e.pointer for e in pair.new.module.envelopes}
    for name in sorted(envelopes_old.keys() - envelopes_new.keys() - pair.log.mentioned):
        pair.log.add("definition.removed", Place(name, envelopes_old[name], None), f"class {name}", "")
    for name in sorted(envelopes_new.keys() - envelopes_old.keys() - pair.log.mentioned):
        pair.log.add("definition.added", Place(name, None, envelopes_new[name]), "", f"class {name}")
