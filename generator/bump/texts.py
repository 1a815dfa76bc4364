"""Which docstrings move and go with a bump, and which places have none yet."""

from collections.abc import Mapping
from typing import Any

from generator.bump.emission import Emission
from generator.bump.entries import STALE, Family
from generator.bump.labels import Label
from generator.bump.plan import Edit, Place, Texts
from generator.docs import FOLDER, METHODS, entries_of

Path = tuple[str, ...]


def plan_texts(family: Family, emitted: Mapping[str, Emission], docs: Mapping[str, Any]) -> list[Edit]:
    """List the edits of the files of one family; `docs` are the texts by label."""
    if not all(label.is_whole and (label.new is None or emitted[label.name].is_whole) for label in family.labels):
        return []
    places = {x.name: emitted[x.name].places if x.name in emitted else frozenset[Path]() for x in family.labels}
    own = {x.name: _texts(docs, x.name) for x in family.labels}
    edits: list[Edit] = []
    taken: set[tuple[str, Path]] = set()
    for label in family.labels:
        for path, text in own[label.name].items():
            targets = [
                t for t in _targets(label, path, family, places, taken) if t == (label.name, path) or _is_free(t, own)
            ]
            taken.update(targets)
            if targets != [(label.name, path)]:
                edits.append(_edit(label, path, targets, text))
    return edits


def _texts(docs: Mapping[str, Any], label: str) -> dict[Path, str]:
    table: dict[str, Any] = docs.get(label, {})
    return {path: _at(table, path) for path in entries_of(table)}


def _at(table: Any, path: Path) -> str:
    for key in path:
        table = table[key]
    return str(table)


def _is_free(target: tuple[str, Path], own: Mapping[str, Mapping[Path, str]]) -> bool:
    """Return whether a place has no text yet; one that is there already is never replaced."""
    return target[1] not in own[target[0]]


def _targets(
    label: Label,
    path: Path,
    family: Family,
    places: Mapping[str, frozenset[Path]],
    taken: set[tuple[str, Path]],
) -> list[tuple[str, Path]]:
    """Say in which files a text stands after the bump."""
    stable, unstable = family.stable, family.unstable
    found: list[tuple[str, Path]] = []
    there = _after(path, stable)
    became_stable = label is not stable and not _was_in(path, stable) and (stable.name, there) not in taken
    if there in places[stable.name] and (label is stable or became_stable):
        found.append((stable.name, there))
    if unstable is not None:
        other = _after(path, unstable)
        is_covered = any(p == other for _, p in found) or (label is stable and (unstable.name, other) in taken)
        if other in places[unstable.name] and not is_covered:
            found.append((unstable.name, other))
    return found


def _after(path: Path, label: Label) -> Path:
    """Return a place under the new names of a label."""
    names = label.methods if path[0] == METHODS else {**label.names, **label.lost}
    index = 1 if path[0] == METHODS else 0
    return (*path[:index], names.get(path[index], path[index]), *path[index + 1 :])


def _was_in(path: Path, label: Label) -> bool:
    """Return whether a place was there in the last release of a label, by its public names."""
    match path:
        case (name, "doc"):
            return any(e.name == name for e in label.before)
        case (name, "fields", key):
            return any(e.stands_for == f"{name}: {key}" for e in label.before)
        case (name, "members", value):
            return any(e.stands_for == f"{name} = {value}" for e in label.before)
        case _:
            return any(e.stands_for.endswith(f" = {path[-1]}") for e in label.before)


def _edit(label: Label, path: Path, targets: list[tuple[str, Path]], text: str) -> Edit:
    why = STALE
    if any(new != path for _, new in targets):
        why = "what it describes was renamed"
    elif targets:
        why = "it became stable" if label.stable != label.name else "it left the stable schema"
    new = tuple(Place(file_of(name), place) for name, place in targets)
    return Edit(Place(file_of(label.name), path), new, text, why)


def file_of(label: str) -> str:
    """Return the file with the texts of a label."""
    return f"{FOLDER}/{label}.toml"


def missing_texts(families: list[Family], emitted: Mapping[str, Emission], edits: list[Edit]) -> list[Texts]:
    """List the places without a text in each file; what the stable file will have, the unstable one need not repeat."""
    filled = {(place.file, str(place)) for edit in edits for place in edit.new}
    found: list[Texts] = []
    for family in families:
        listed: set[str] = set()
        for label in family.labels:
            files = {file_of(label.name), file_of(label.stable)}
            missing = emitted[label.name].missing if label.name in emitted else ()
            places = [p for p in missing if p not in listed and not any((f, p) in filled for f in files)]
            listed.update(places)
            found.append(Texts(file_of(label.name), _by_class(places)))
    return [t for t in found if t.count]


def _by_class(places: list[str]) -> dict[str, tuple[str, ...]]:
    out: dict[str, tuple[str, ...]] = {}
    for place in places:
        name, _, rest = place.partition(".")
        out[name] = (*out.get(name, ()), rest)
    return dict(sorted(out.items()))
