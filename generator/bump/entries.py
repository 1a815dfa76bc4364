"""Which overrides move, go, and come with a bump.

For each entry it is tried in which schema of its family it matches, the stable one or the unstable one. Its table
follows from that: an unstable schema takes the entries of its stable one, so what both need stands in the stable table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from generator.bump.labels import Label, module_of, used_by
from generator.bump.plan import Edit, Place
from generator.bump.propose import settled
from generator.bump.tables import ITEM, RENAMED, Entries, Entry, after, entries, is_list, key_of, table, target_of
from generator.lower.needs import without_capability
from generator.overrides import FILE, GONE, MARKER

STALE = "it matches nothing now"


@dataclass(frozen=True, slots=True)
class Family:
    """A stable label and its unstable one; a label that has no partner is a family of its own."""

    stable: Label
    unstable: Label | None

    @property
    def labels(self) -> tuple[Label, ...]:
        """Both labels, the stable one first."""
        return (self.stable,) if self.unstable is None else (self.stable, self.unstable)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An entry as it stands, and as it would stand in each label's table after the renames."""

    label: Label
    entry: Entry
    value: Any
    renamed: Mapping[str, tuple[Entry, Any]]


def plan_entries(family: Family, raw: Mapping[str, Any]) -> list[Edit]:
    """List the edits of one family's tables."""
    candidates = [
        _Candidate(label, entry, value, {x.name: after(entry, value, x.names, x.methods) for x in family.labels})
        for label in family.labels
        for entry, value in entries(raw.get(label.name, {})).items()
    ]
    now = {x.name: _matching(x, candidates) for x in family.labels}
    was = used_by(family.stable.old, table({c.entry: c.value for c in candidates}))
    edits: list[Edit] = []
    taken: dict[Entry, Any] = {}
    for candidate in candidates:
        targets = _targets(candidate, family, now, was, taken)
        here = (candidate.label.name, candidate.entry, candidate.value)
        if targets != [here]:
            edits.append(_edit(candidate, targets))
        taken |= {entry: value for name, entry, value in targets if name == family.stable.name}
    return [*edits, *_aliases(family, raw, taken), *_needs(family), *_markers(family, raw), *_done(family, raw)]


def _matching(label: Label, candidates: list[_Candidate]) -> frozenset[str]:
    """Return the keys of the entries that match the new schema of a label; its own table comes last, and so counts."""
    found: dict[Entry, Any] = {}
    for candidate in sorted(candidates, key=lambda c: c.label is label):
        entry, value = candidate.renamed[label.name]
        found[entry] = value
    used = used_by(label.new, table(found))
    exports = label.exports
    aliases = {k for k, v in found.items() if k[0] == RENAMED and k[1] not in exports and target_of(v) in exports}
    return used | {key_of(k) for k in aliases}


def _targets(
    candidate: _Candidate,
    family: Family,
    now: Mapping[str, frozenset[str]],
    was: frozenset[str],
    taken: Entries,
) -> list[tuple[str, Entry, Any]]:
    """Say in which tables an entry stands after the bump, and how."""
    own = candidate.label
    if not all(label.is_whole for label in family.labels):
        return [(own.name, candidate.entry, candidate.value)]
    stable, unstable = family.stable, family.unstable
    found: list[tuple[str, Entry, Any]] = []
    entry, value = candidate.renamed[stable.name]
    fits_stable = key_of(entry) in now[stable.name]
    became_stable = own is not stable and key_of(candidate.entry) not in was and entry not in taken
    if fits_stable and (own is stable or became_stable):
        found.append((stable.name, entry, value))
    if unstable is not None:
        other, its_value = candidate.renamed[unstable.name]
        is_covered = any(e == other for _, e, _ in found) or (other in taken and taken[other] == its_value)
        is_only_stable = entry[0] == RENAMED and isinstance(value, dict) and own is stable
        if key_of(other) in now[unstable.name] and not is_covered and not is_only_stable:
            found.append((unstable.name, other, its_value))
    return found


def _edit(candidate: _Candidate, targets: list[tuple[str, Entry, Any]]) -> Edit:
    own = candidate.label.name
    value = targets[0][2] if targets else candidate.value
    new = tuple(_place(name, entry) for name, entry, _ in targets)
    if not targets:
        why = STALE
    elif any(entry != candidate.entry or v != candidate.value for _, entry, v in targets):
        why = "what it names was renamed"
    elif all(name != own for name, _, _ in targets):
        why = "it became stable" if candidate.label.stable != own else "it left the stable schema"
    else:
        why = "the unstable schema has another one"
    return Edit(_place(own, candidate.entry), new, None if value is ITEM else value, why)


def _place(label: str, entry: Entry) -> Place:
    return Place(FILE, (label, *entry), is_list(entry))


def _aliases(family: Family, raw: Mapping[str, Any], taken: Entries) -> list[Edit]:
    """Keep the old names of renamed classes alive."""
    edits: list[Edit] = []
    kept: dict[str, str] = {}
    known = {name: entries(raw.get(name, {})) for name in (label.name for label in family.labels)}
    for label in family.labels:
        for old, new in sorted(label.classes.items()):
            if kept.get(old) == new or (RENAMED, old) in known[label.name] or (RENAMED, old) in taken:
                continue
            value: Any = new
            if label is family.stable:
                kept[old] = new
                other = family.unstable
                if other is not None and old not in other.classes and new in other.exports:
                    value = {"name": new, "unstable": False}
            edits.append(Edit(None, (_place(label.name, (RENAMED, old)),), value, "upstream renamed it"))
    return edits


def _needs(family: Family) -> list[Edit]:
    """Add the capabilities that names settle; what the stable schema has, the unstable one takes."""
    edits: list[Edit] = []
    done: dict[str, str] = {}
    for label in family.labels:
        old = module_of(label.old)
        if old is None or label.new is None:
            continue
        overrides, module = label.new.overrides, label.new.module
        for key, path in settled(module, old, without_capability(module, overrides)).items():
            if key not in overrides.capabilities and done.get(key) != path:
                done[key] = path
                place = _place(label.name, ("capabilities", key))
                edits.append(Edit(None, (place,), path, "both are new, and named alike"))
    return edits


def _markers(family: Family, raw: Mapping[str, Any]) -> list[Edit]:
    """Follow the definition by which a version is known."""
    edits: list[Edit] = []
    for label in family.labels:
        marker = raw.get(label.name, {}).get(MARKER)
        if isinstance(marker, str) and marker in label.names:
            place = Place(FILE, (label.name, MARKER))
            edits.append(Edit(place, (place,), label.names[marker], "what it names was renamed"))
    return edits


def _done(family: Family, raw: Mapping[str, Any]) -> list[Edit]:
    """Remove the names that were let go in an earlier bump: the list of public names has them no more."""
    return [
        Edit(Place(FILE, (label.name, GONE, name), is_item=True), (), None, "it went with the last release")
        for label in family.labels
        for name in raw.get(label.name, {}).get(GONE, [])
        if all(name != e.name for x in family.labels for e in x.before)
    ]
