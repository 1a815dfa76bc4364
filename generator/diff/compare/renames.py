"""Renames: a removed definition and an added one that differ in nothing but the name.

The evidence is the shape and the places of use. The shape alone is enough for a definition of three parts or more; a
smaller one also needs a common place of use. Where several definitions have the same shape, their places of use must
all differ. Otherwise nothing is reported as a rename: a wrong guess is worse than an addition and a removal.
"""

from collections import defaultdict
from collections.abc import Mapping

from generator.diff.compare.index import Index, declaring_key, names_in, variant_key
from generator.diff.compare.shapes import Shape, Shapes, weight
from generator.model import Alias, CatchAll, Definition, Named, Struct, Type, Union

MIN_PARTS = 3
"""The number of parts from which the shape alone is enough evidence."""

IN_OVERRIDES = "named in the overrides"
STANDS_FOR = "same shape, and the old name is an alias of it"

Uses = frozenset[tuple[str, str]]


def find_renames(old: Index, new: Index, kept: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Find the renamed definitions: the new name and the evidence for each old name.

    `kept` are names that stay as deprecated aliases. Classes that were made for a renamed definition are renamed along
    with it and have no evidence of their own.
    """
    names: dict[str, str] = {}
    evidence: dict[str, str] = {}
    known = {before: (after, IN_OVERRIDES) for before, after in kept.items()}
    known.update({before: (after, STANDS_FOR) for before, after in _aliased(old, new)})
    for before, (after, why) in sorted(known.items()):
        is_free = before not in new.by_name or why == STANDS_FOR
        if before in old.keyed and is_free and after in new.keyed and after not in old.by_name:
            names[before], evidence[before] = after, why
            names.update(_followers(old, new, before, after))
    while True:
        # Each round uses the renames of the previous one: they change the shapes of the definitions that refer to them.
        found = _round(old, new, names)
        if not found:
            return names, evidence
        for (before, after), why in sorted(found.items()):
            evidence[before] = why
            names[before] = after
            names.update(_followers(old, new, before, after))


def _aliased(old: Index, new: Index) -> list[tuple[str, str]]:
    """Find the definitions whose old name is an alias now, of a new definition with the same shape."""
    found: list[tuple[str, str]] = []
    for name in sorted(old.keyed.keys() & new.keyed.keys()):
        had, has = old.keyed[name], new.keyed[name]
        if isinstance(has, Alias) and isinstance(has.kind, Named) and not isinstance(had, Alias):
            target = new.keyed.get(has.kind.name)
            if target is not None and Shapes(old, {}).of(had) == Shapes(new, {}).of(target):
                found.append((name, target.name))
    return found


def _round(old: Index, new: Index, names: Mapping[str, str]) -> dict[tuple[str, str], str]:
    removed = [n for n in old.keyed if n not in new.by_name and n not in names]
    added = [n for n in new.keyed if n not in old.by_name and n not in names.values()]
    groups: dict[Shape, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for name in removed:
        groups[Shapes(old, names).of(old.keyed[name])][0].append(name)
    for name in added:
        groups[Shapes(new, {}).of(new.keyed[name])][1].append(name)
    used_old, used_new = uses(old, names), uses(new, {})
    found: dict[tuple[str, str], str] = {}
    for olds, news in groups.values():
        for before in olds:
            match = _match(before, olds, news, used_old, used_new, weight(old.keyed[before]))
            if match is not None:
                found[before, match[0]] = match[1]
    return found


def _match(
    before: str, olds: list[str], news: list[str], used_old: dict[str, Uses], used_new: dict[str, Uses], parts: int
) -> tuple[str, str] | None:
    """Find the new name of a definition among those of its shape, and the evidence."""
    places = used_old.get(before, frozenset())
    if len(olds) == len(news) == 1:
        if places & used_new.get(news[0], frozenset()):
            return news[0], "same shape, used where the old one was"
        return (news[0], f"same shape of {parts} parts") if parts >= MIN_PARTS else None
    twins = [n for n in news if places and used_new.get(n) == places]
    rivals = [n for n in olds if used_old.get(n) == places]
    if len(twins) == len(rivals) == 1:
        return twins[0], "same shape, and alone in being used where the old one was"
    return None


def uses(index: Index, names: Mapping[str, str]) -> dict[str, Uses]:
    """List the places that use each definition: the definition that contains the place, and the key or tag there."""
    out: dict[str, set[tuple[str, str]]] = defaultdict(set)

    def note(kind: Type, owner: str, slot: str) -> None:
        for name in names_in(kind):
            out[name].add((names.get(owner, owner), slot))

    def tag_of(name: str) -> str:
        return variant_key(index, name)[0]

    for definition in index.module.definitions:
        owner = declaring_key(definition.pointer)
        match definition:
            case Struct(fields=fields) | CatchAll(fields=fields):
                for entry in fields:
                    note(entry.kind, declaring_key(entry.pointer), entry.wire)
                if isinstance(definition, Struct) and definition.base is not None:
                    note(Named(definition.base), owner, tag_of(definition.name))
            case Alias(kind=kind):
                note(kind, owner, "")
            case Union(tagged=tagged, others=others, fallbacks=fallbacks):
                for named in tagged:
                    note(named, owner, tag_of(named.name))
                for kind in (*others, *fallbacks):
                    note(kind, owner, "")
            case _:
                pass
    for method in index.module.methods:
        for slot in ("request", "response", "notification"):
            part: str | None = getattr(method, slot)
            if part is not None:
                out[part].add((f"method {method.name}", slot))
    return {name: frozenset(places) for name, places in out.items()}


def _followers(old: Index, new: Index, before: str, after: str) -> dict[str, str]:
    """Pair the classes that were made for a renamed definition; equal shapes list them in the same order."""
    pairs: dict[str, str] = {}
    waiting: list[tuple[Definition, Definition]] = [(old.by_name[before], new.by_name[after])]
    while waiting:
        one, other = waiting.pop()
        for had, has in zip(_made_for(one, old), _made_for(other, new), strict=False):
            if had not in pairs and had != has:
                pairs[had] = has
                waiting.append((old.by_name[had], new.by_name[has]))
    return pairs


def _made_for(definition: Definition, index: Index) -> list[str]:
    """List the classes without a key in `$defs` that a definition refers to, in the order of its shape."""
    match definition:
        case Struct(fields=fields) | CatchAll(fields=fields):
            kinds: list[Type] = [f.kind for f in sorted(fields, key=lambda f: f.wire)]
        case Alias(kind=kind):
            kinds = [kind]
        case Union(tagged=tagged, others=others, fallbacks=fallbacks):
            names = sorted((k.name for k in tagged), key=lambda name: variant_key(index, name))
            kinds = [*map(Named, names), *others, *fallbacks]
        case _:
            kinds = []
    return [n for k in kinds for n in names_in(k) if n in index.by_name and n not in index.keyed]
