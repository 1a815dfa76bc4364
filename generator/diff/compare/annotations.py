"""Differences between annotations, keywords that only describe. Titles do not count: where they matter, they name."""

from collections import Counter
from collections.abc import Iterator

from generator.diff.compare.change import Place
from generator.diff.compare.index import Index, declaring_key
from generator.diff.compare.pair import ModulePair
from generator.errors import child
from generator.model import CatchAll, Definition, Enumeration, Field, Member, Struct

Visited = tuple[set[str], set[str]]
"""The pointers on both sides whose annotations have been compared."""


def compare_annotations(pair: ModulePair, both: list[tuple[Definition, Definition]]) -> None:
    """Compare the annotations of definitions that go together, of their fields and members, and of all parts of them.

    Those of a part that only one side has belong to it, and are not reported.
    """
    visited: Visited = (set(), set())
    for old, new in both:
        _compare(pair, Place(new.name, old.pointer, new.pointer), visited)
        before, after = _members(old), _members(new)
        for key in (k for k in after if k in before):
            one, other = before[key], after[key]
            _compare(pair, Place(new.name, one.pointer, other.pointer, other.name), visited)
    _compare_rest(pair, visited)


def _members(definition: Definition) -> dict[str | int, Field | Member]:
    match definition:
        case Struct(fields=fields) | CatchAll(fields=fields):
            return {f.wire: f for f in fields}
        case Enumeration(members=members):
            return {m.value: m for m in members}
        case _:
            return {}


def _compare(pair: ModulePair, place: Place, visited: Visited) -> None:
    """Compare the annotations of one place."""
    visited[0].add(place.old or "")
    visited[1].add(place.new or "")
    had = pair.old.annotations.get(place.old or "", {})
    has = pair.new.annotations.get(place.new or "", {})
    for keyword in sorted(had.keys() | has.keys()):
        before = f"{keyword} = {had[keyword]}" if keyword in had else ""
        after = f"{keyword} = {has[keyword]}" if keyword in has else ""
        if before != after:
            rule = "annotation.added" if not before else "annotation.removed" if not after else "annotation.changed"
            pair.log.add(rule, place, before, after, what=keyword)


def _compare_rest(pair: ModulePair, visited: Visited) -> None:
    """Compare what stands in other parts, such as items and branches: the order of branches does not count."""
    known = (_owners(pair.old), _owners(pair.new))
    before = Counter(
        (pair.name(owner), keyword, text)
        for owner, keyword, text in _rest(pair.old, visited[0])
        if owner in known[0] and pair.name(owner) in known[1]
    )
    theirs = {pair.name(owner) for owner in known[0]}
    after = Counter((o, k, t) for o, k, t in _rest(pair.new, visited[1]) if o in known[1] and o in theirs)
    old_names = {pair.name(owner): owner for owner in known[0]}
    for rule, found in (("annotation.removed", before - after), ("annotation.added", after - before)):
        for owner, keyword, text in sorted(found):
            place = Place(owner or pair.new.module.label, _pointer(old_names.get(owner, owner)), _pointer(owner), "")
            line = f"{keyword} = {text}"
            sides = (line, "") if rule == "annotation.removed" else ("", line)
            pair.log.add(rule, place, *sides, what=keyword, where="a part of ")


def _pointer(owner: str) -> str:
    return child("", "$defs", owner) if owner else ""


def _owners(index: Index) -> set[str]:
    """List the keys of `$defs`, and the empty one of the document."""
    return {*index.keyed, *(r.name for r in index.module.routings), ""}


def _rest(index: Index, visited: set[str]) -> Iterator[tuple[str, str, str]]:
    """List the annotations of a side that have not been compared: the key of the definition, keyword and value."""
    alone = {
        pointer
        for d in index.module.definitions
        for pointer in (d.pointer, *(m.pointer for m in _members(d).values()))
        if pointer not in visited
    }
    for pointer, found in index.annotations.items():
        steps = pointer.split("/")
        is_alone = any("/".join(steps[:end]) in alone for end in range(1, len(steps) + 1))
        if pointer not in visited and not is_alone:
            yield from ((declaring_key(pointer), keyword, text) for keyword, text in found.items())
