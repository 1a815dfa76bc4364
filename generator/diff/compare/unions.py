"""Differences between two unions: variants by tag, catch-alls, and fallbacks with their order."""

from dataclasses import dataclass, replace

from generator.diff.compare.change import Place
from generator.diff.compare.index import Index, names_in, type_text, variant_key
from generator.diff.compare.pair import ModulePair
from generator.diff.compare.shapes import META, Shape, Shapes
from generator.emit.text import quoted
from generator.model import CatchAll, Named, Struct, Union

Names = list[str]


@dataclass(frozen=True, slots=True)
class UnionPair:
    """Two unions under comparison."""

    pair: ModulePair
    old: Union
    new: Union

    @property
    def place(self) -> Place:
        """The place of the union itself."""
        return Place(self.new.name, self.old.pointer, self.new.pointer)

    def log(self, rule: str, also: tuple[str, ...] = (), texts: tuple[str, str] | None = None, **words: str) -> None:
        """Log a change of the whole union, and the names that are added or removed along with it.

        `texts` is the code of both sides, where the union's own code does not show the change.
        """
        before, after = texts or (self.pair.old.declared(self.old.name), self.pair.new.declared(self.new.name))
        self.pair.log.add(rule, self.place, before, after, also=also, **words)


def compare_unions(pair: ModulePair, old: Union, new: Union) -> None:
    """Compare two unions."""
    unions = UnionPair(pair, old, new)
    if old.tag_field != new.tag_field:
        unions.log("union.tag_field", texts=_examples(unions), old=_discriminator(old), new=_discriminator(new))
    matched, left_old, left_new = _matched(unions)
    for before, after in matched:
        _class(unions, before, after, _tag_text(pair.new, after))
    retagged = _retagged(pair, left_old, left_new)
    for before, after in retagged:
        _other_tag(unions, before, after)
    for before in left_old:
        if all(before != o for o, _ in retagged):
            _removed(unions, before)
    for after in left_new:
        if all(after != n for _, n in retagged):
            _added(unions, after)
    _order(unions, matched)
    _others(unions)
    _fallbacks(unions)
    if old.tag_decides is not new.tag_decides and old.tagged and new.tagged:
        unions.log("fallback.excluded" if new.tag_decides else "fallback.tried")


def _order(unions: UnionPair, matched: list[tuple[str, str]]) -> None:
    """Compare the order of the variants; it matters only among variants of the same tag, which are tried in turn."""
    order = [k.name for k in unions.new.tagged]
    shared = [n for _, n in matched]
    if shared == sorted(shared, key=order.index):
        return
    unions.log("order.changed", new="variants")
    by_tag: dict[tuple[str, ...], list[str]] = {}
    for name in shared:
        by_tag.setdefault(variant_key(unions.pair.new, name), []).append(name)
    for names in by_tag.values():
        _log_trial_order(unions, names, sorted(names, key=order.index))


def _log_trial_order(unions: UnionPair, olds: Names, news: Names) -> None:
    """Log if the same classes are tried in another order."""
    if olds != news:
        unions.log("fallback.reordered", old=", then ".join(olds), new=", then ".join(news))


def _examples(unions: UnionPair) -> tuple[str, str]:
    """Return the code of the first variant on each side: it shows the key of the tag."""
    sides = ((unions.pair.old, unions.old), (unions.pair.new, unions.new))
    before, after = (index.declared(union.tagged[0].name if union.tagged else union.name) for index, union in sides)
    return before, after


def _discriminator(union: Union) -> str:
    return f"the key {quoted(union.tag_field)}" if union.tag_field is not None else "what its variants look like"


def _tag_text(index: Index, name: str) -> str:
    definition = index.by_name.get(name)
    tag = definition.tag if isinstance(definition, Struct | CatchAll) else None
    inner = variant_key(index, name)[1:]
    return ", ".join([f"{tag.field} = {quoted(tag.value)}" if tag else "no tag", *inner])


def _matched(unions: UnionPair) -> tuple[list[tuple[str, str]], Names, Names]:
    """Pair the variants of the same tag: those of the same name first, then one left on each side."""
    pair = unions.pair
    olds, news = [k.name for k in unions.old.tagged], [k.name for k in unions.new.tagged]
    found = [
        (o, pair.name(o))
        for o in olds
        if pair.name(o) in news and variant_key(pair.old, o) == variant_key(pair.new, pair.name(o))
    ]
    left_old = [o for o in olds if all(o != f for f, _ in found)]
    left_new = [n for n in news if all(n != f for _, f in found)]
    keys_old = [variant_key(pair.old, o) for o in left_old]
    keys_new = [variant_key(pair.new, n) for n in left_new]
    moved = [
        (o, left_new[keys_new.index(key)])
        for o, key in zip(left_old, keys_old, strict=True)
        if keys_old.count(key) == keys_new.count(key) == 1
    ]
    found = sorted([*found, *moved], key=lambda both: olds.index(both[0]))
    return (
        found,
        [o for o in left_old if all(o != f for f, _ in moved)],
        [n for n in left_new if all(n != f for _, f in moved)],
    )


def _retagged(pair: ModulePair, olds: Names, news: Names) -> list[tuple[str, str]]:
    """Pair variants whose tags differ: those of the same name, then those whose shape is unique on both sides."""
    found = [(o, pair.name(o)) for o in olds if pair.name(o) in news]
    left_old = [o for o in olds if all(o != f for f, _ in found) and _is_distinctive(pair.old, o)]
    left_new = [n for n in news if all(n != f for _, f in found) and _is_distinctive(pair.new, n)]
    bodies_old = [_body(pair.old, pair.shapes[0], o) for o in left_old]
    bodies_new = [_body(pair.new, pair.shapes[1], n) for n in left_new]
    alike = [
        (o, left_new[bodies_new.index(body)])
        for o, body in zip(left_old, bodies_old, strict=True)
        if bodies_old.count(body) == bodies_new.count(body) == 1
    ]
    return [*found, *alike]


def _is_distinctive(index: Index, name: str) -> bool:
    """Return whether the shape of a variant is evidence: it has a base, or its own fields."""
    definition = index.by_name.get(name)
    has_base = isinstance(definition, Struct) and definition.base is not None
    return has_base or any(f.wire != META and f.constant is None for f in index.fields(name))


def _body(index: Index, shapes: Shapes, name: str) -> Shape:
    """Return the shape of a variant without its tag."""
    definition = index.by_name.get(name)
    return shapes.of(replace(definition, tag=None)) if isinstance(definition, Struct | CatchAll) else (name,)


def _class(unions: UnionPair, before: str, after: str, tag: str) -> None:
    """Compare the old and the new class of one tag."""
    pair = unions.pair
    pair.pending.append((before, after))
    if pair.name(before) == after:
        return
    new = pair.new.by_name.get(after)
    is_base = isinstance(new, Struct) and new.base is not None and new.base == pair.name(before)
    rule = "former.kept" if pair.kept.get(before) == after else "variant.subclassed" if is_base else "variant.moved"
    _log(unions, rule, before, after, tag=tag, old=before, new=after)


def _log(unions: UnionPair, rule: str, before: str | None, after: str | None, **words: str) -> None:
    """Log a change of one variant, at its union."""
    pair = unions.pair
    also = (*(pair.removed(before) if before else ()), *(pair.added(after) if after else ()))
    place = Place(
        unions.new.name,
        pair.old.pointer(before) if before else None,
        pair.new.pointer(after) if after else None,
    )
    texts = (pair.old.declared(before) if before else "", pair.new.declared(after) if after else "")
    pair.log.mentioned.update(also)
    follow = tuple(n for n in also if n not in (before, after))
    pair.log.add(rule, place, *texts, also=follow, name=after or before or "", **words)


def _other_tag(unions: UnionPair, before: str, after: str) -> None:
    pair = unions.pair
    pair.pending.append((before, after))
    had, has = _tag_text(pair.old, before), _tag_text(pair.new, after)
    if pair.name(before) == after:
        # Constants of inner unions are fields and compared as fields.
        if variant_key(pair.old, before)[0] != variant_key(pair.new, after)[0]:
            _log(unions, "tag.changed", before, after, old=had, new=has)
    else:
        _log(unions, "variant.renamed", before, after, old=f"{before} ({had})", new=f"{after} ({has})")


def _removed(unions: UnionPair, before: str) -> None:
    _log(unions, "variant.removed", before, None, old=_tag_text(unions.pair.old, before))


def _added(unions: UnionPair, after: str) -> None:
    tag = variant_key(unions.pair.new, after)[0]
    was_kept = unions.old.others and tag not in _refused(unions.pair.old, unions.old)
    rule = "variant.named" if was_kept else "variant.added"
    _log(unions, rule, None, after, new=_tag_text(unions.pair.new, after))


def _others(unions: UnionPair) -> None:
    """Compare the catch-alls."""
    pair = unions.pair
    olds, news = [k.name for k in unions.old.others], [k.name for k in unions.new.others]
    if bool(olds) is not bool(news):
        rule = "union.opened" if news else "union.closed"
        unions.log(rule, (*pair.removed(*olds), *pair.added(*news)))
        return
    left_old = [o for o in olds if pair.name(o) not in news]
    left_new = [n for n in news if all(n != pair.name(o) for o in olds)]
    kept = [(o, pair.name(o)) for o in olds if pair.name(o) in news]
    pair.pending += kept
    _log_trial_order(unions, [n for _, n in kept], sorted((n for _, n in kept), key=news.index))
    if len(left_old) == len(left_new) == 1:
        _class(unions, left_old[0], left_new[0], "any other tag")
    else:
        for before in left_old:
            _log(unions, "variant.removed", before, None, old="any other tag")
        for after in left_new:
            _log(unions, "variant.added", None, after, new="any other tag")
    _known(unions)


def _known(unions: UnionPair) -> None:
    """Compare the tags that the catch-alls reject, except tags of variants that were added or removed."""
    pair = unions.pair
    had, has = _tags(pair.old, unions.old), _tags(pair.new, unions.new)
    before, after = _refused(pair.old, unions.old), _refused(pair.new, unions.new)
    found = {"tag.refused": after - before - (has - had), "tag.taken": before - after - (had - has)}
    for rule, tags in found.items():
        for tag in sorted(tags):
            texts = (pair.old.declared(unions.old.others[0].name), pair.new.declared(unions.new.others[0].name))
            unions.log(rule, texts=texts, tag=quoted(tag))


def _tags(index: Index, union: Union) -> set[str]:
    return {variant_key(index, k.name)[0] for k in union.tagged}


def _refused(index: Index, union: Union) -> set[str]:
    """List the tags that a union's catch-alls reject: those of its variants, and reserved ones."""
    others = [index.by_name.get(k.name) for k in union.others]
    return {tag for other in others if isinstance(other, CatchAll) for tag in other.known}


def _fallbacks(unions: UnionPair) -> None:
    """Compare the fallbacks, which are tried in order when no tag matches."""
    pair = unions.pair
    olds, news = list(unions.old.fallbacks), list(unions.new.fallbacks)
    kept = [(o, n) for o in olds for n in news if pair.types.same(o, n)]
    pair.pending += [(o.name, n.name) for o, n in kept if isinstance(o, Named) and isinstance(n, Named)]
    left_old = [o for o in olds if all(o != k for k, _ in kept)]
    left_new = [n for n in news if all(n != k for _, k in kept)]
    if len(left_old) == len(left_new) == 1 and not any(isinstance(k, Named) for k in (*left_old, *left_new)):
        for found in pair.types.differences(left_old[0], left_new[0]):
            unions.log(found.rule, old=found.old, new=found.new, where=found.where)
    else:
        for kind in left_old:
            unions.log("fallback.removed", pair.removed(*names_in(kind)), old=type_text(kind))
        for kind in left_new:
            unions.log("fallback.added", pair.added(*names_in(kind)), new=type_text(kind))
    order = [n for _, n in kept]
    _log_trial_order(unions, [*map(type_text, order)], [*map(type_text, sorted(order, key=news.index))])
