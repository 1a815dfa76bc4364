"""Differences between the fields of two classes."""

from generator.diff.compare.change import Place
from generator.diff.compare.expressions import TEXT, TypeDifference
from generator.diff.compare.index import Index, field_text, names_in, type_text
from generator.diff.compare.pair import ModulePair
from generator.emit.text import quoted, value_text
from generator.model import Field, Identifier, Leniency, Named, Presence, Type
from generator.values import Value

ABSENT = {Presence.OPTION: "None", Presence.PATCH: "UNSET", Presence.ABSENT: "UNSET"}
NULLABLE = (Presence.OPTION, Presence.PATCH)
REPLACED = {
    Leniency.NONE: "nothing",
    Leniency.ON_NULL: "null",
    Leniency.ON_ERROR: "null and invalid values",
}
BY_LENIENCY = tuple(REPLACED)
PROPERTIES = "/properties/"


def compare_fields(pair: ModulePair, owner: str, olds: tuple[Field, ...], news: tuple[Field, ...]) -> None:
    """Compare the fields of one class; `owner` is the new name of the class."""
    matched = _matched(pair, olds, news)
    for old, new in matched:
        _names(pair, owner, old, new)
        retyped = _type(pair, owner, old, new)
        _presence(pair, owner, old, new, retyped=retyped)
        if old.leniency is not new.leniency:
            wider = BY_LENIENCY.index(new.leniency) > BY_LENIENCY.index(old.leniency)
            rule = "lenient.added" if wider else "lenient.dropped"
            _log(pair, rule, owner, old, new, old=REPLACED[old.leniency], new=REPLACED[new.leniency])
        if old.merged is not new.merged and old.presence is new.presence:
            _log(pair, "merging.added" if new.merged else "merging.dropped", owner, old, new)
    for old in olds:
        if all(old is not o for o, _ in matched):
            inline = pair.removed(*(n for n in names_in(old.kind) if n not in pair.old.keyed))
            place = Place(owner, old.pointer, None, old.name)
            pair.log.add("field.removed", place, field_text(old), "", also=inline)
    for new in news:
        if all(new is not n for _, n in matched):
            _added(pair, owner, new)
    _order(pair, owner, matched, news)


def _order(pair: ModulePair, owner: str, matched: list[tuple[Field, Field]], news: tuple[Field, ...]) -> None:
    """Compare the order of fields that one definition declares; a flattened payload keeps its own order."""
    by_place: dict[tuple[str, str], list[tuple[Field, Field]]] = {}
    for old, new in matched:
        if PROPERTIES in old.pointer and PROPERTIES in new.pointer:
            place = (old.pointer.rpartition(PROPERTIES)[0], new.pointer.rpartition(PROPERTIES)[0])
            by_place.setdefault(place, []).append((old, new))
    for place, both in by_place.items():
        before = [o.name for o, _ in both]
        after = [o.name for o, _ in sorted(both, key=lambda pair: news.index(pair[1]))]
        if before != after:
            pair.log.add("order.changed", Place(owner, *place), ", ".join(before), ", ".join(after), new="fields")


def _log(
    pair: ModulePair, rule: str, owner: str, one: Field, other: Field, *, also: tuple[str, ...] = (), **words: str
) -> None:
    place = Place(owner, one.pointer, other.pointer, other.name)
    pair.log.add(rule, place, field_text(one), field_text(other), also=also, **words)


def _added(pair: ModulePair, owner: str, new: Field) -> None:
    place = Place(owner, None, new.pointer, new.name)
    inline = pair.added(*(n for n in names_in(new.kind) if n not in pair.new.keyed))
    if new.presence is not Presence.REQUIRED:
        pair.log.add("field.added_optional", place, "", field_text(new), also=inline)
    elif new.constant is None:
        pair.log.add("field.added_required", place, "", field_text(new), also=inline)
    else:
        pair.log.add("field.added_constant", place, "", field_text(new), new=quoted(new.constant))


def _matched(pair: ModulePair, olds: tuple[Field, ...], news: tuple[Field, ...]) -> list[tuple[Field, Field]]:
    """Pair the fields: by key, then by Python name, then by type and position."""
    by_wire = {n.wire: n for n in news}
    found = [(o, by_wire[o.wire]) for o in olds if o.wire in by_wire]
    left_old, left_new = _left(olds, news, found)
    found += [(o, n) for o in left_old for n in left_new if o.name == n.name]
    found += _same_place(pair, olds, news, found)
    return sorted(found, key=lambda both: olds.index(both[0]))


def _left(
    olds: tuple[Field, ...], news: tuple[Field, ...], found: list[tuple[Field, Field]]
) -> tuple[list[Field], list[Field]]:
    """List the fields that are not paired yet."""
    return (
        [o for o in olds if all(o is not f for f, _ in found)],
        [n for n in news if all(n is not f for _, f in found)],
    )


def _same_place(
    pair: ModulePair, olds: tuple[Field, ...], news: tuple[Field, ...], known: list[tuple[Field, Field]]
) -> list[tuple[Field, Field]]:
    """Pair the remaining fields that have the same type and neighbours, where only one pair does."""
    shapes_old, shapes_new = pair.shapes
    partner: dict[str | None, str] = {o.wire: n.wire for o, n in known}
    left_old, left_new = _left(olds, news, known)
    seats_old: list[tuple[object, ...]] = []
    for old in left_old:
        before, after = _neighbours(old, olds, {o.wire for o, _ in known})
        seats_old.append((shapes_old.field(old), partner.get(before), partner.get(after)))
    seats_new: list[tuple[object, ...]] = [
        (shapes_new.field(n), *_neighbours(n, news, {f.wire for _, f in known})) for n in left_new
    ]
    return [
        (old, left_new[seats_new.index(seat)])
        for old, seat in zip(left_old, seats_old, strict=True)
        if seats_old.count(seat) == seats_new.count(seat) == 1
    ]


def _neighbours(entry: Field, fields: tuple[Field, ...], known: set[str]) -> tuple[str | None, str | None]:
    """Return the keys of the nearest fields before and after that both sides have."""
    at = fields.index(entry)
    before = next((f.wire for f in reversed(fields[:at]) if f.wire in known), None)
    after = next((f.wire for f in fields[at + 1 :] if f.wire in known), None)
    return before, after


def _names(pair: ModulePair, owner: str, old: Field, new: Field) -> None:
    if old.name != new.name:
        words = {"old": old.name, "new": new.name}
        # A class made for an inline schema is named after its field, so it is renamed along with it.
        follow = tuple(f"{o} -> {n}" for o, n in _inline(pair, old.kind, new.kind))
        pair.log.mentioned.update(name for both in _inline(pair, old.kind, new.kind) for name in both)
        place = Place(owner, old.pointer, new.pointer, new.name)
        why = "same type between the same neighbours"
        pair.log.add("field.renamed", place, field_text(old), field_text(new), also=follow, evidence=why, **words)
        pair.names.update(_inline(pair, old.kind, new.kind))
    elif old.wire != new.wire:
        _log(pair, "field.wire_name", owner, old, new, old=quoted(old.wire), new=quoted(new.wire))


def _inline(pair: ModulePair, old: Type, new: Type) -> list[tuple[str, str]]:
    both = zip(names_in(old), names_in(new), strict=False)
    return [
        (o, n)
        for o, n in both
        if o != n and o not in pair.old.keyed and n not in pair.new.keyed and o not in pair.names
    ]


def _presence(pair: ModulePair, owner: str, old: Field, new: Field, *, retyped: bool) -> None:
    before, after = old.presence, new.presence
    if before is Presence.REQUIRED or after is Presence.REQUIRED:
        if after is not before:
            rule = "presence.optional" if before is Presence.REQUIRED else "presence.required"
            _log(pair, rule, owner, old, new)
        return
    if {before, after} == {Presence.OPTION, Presence.PATCH}:
        _log(pair, "presence.patch" if after is Presence.PATCH else "presence.option", owner, old, new)
        return
    had, has = _absent(old, pair.default(old.default)), _absent(new, new.default)
    if had != has:
        # A field of a new type needs a new default, so `type.changed` covers it.
        if not retyped:
            _log(pair, "default.changed", owner, old, new, old=_absent(old, old.default), new=has)
    elif before is not after and {before, after} != {Presence.PATCH, Presence.ABSENT}:  # null is part of the type
        rule = "default.written" if after is Presence.DEFAULTED else "default.unwritten"
        _log(pair, rule, owner, old, new)


def _absent(entry: Field, default: Value | None) -> str:
    """Write the value that an absent field decodes to."""
    return ABSENT.get(entry.presence, "None") if default is None else value_text(default)


def _type(pair: ModulePair, owner: str, old: Field, new: Field) -> bool:
    """Compare the types; return whether the field got an unrelated type."""
    # A field that becomes optional accepts null, too, and the reverse: that is one change.
    implied = ""
    if old.presence is Presence.REQUIRED and new.presence in NULLABLE:
        implied = "null.allowed"
    elif new.presence is Presence.REQUIRED and old.presence in NULLABLE:
        implied = "null.refused"
    found = _differences(pair, old, new)
    for difference in found:
        if difference.rule != implied or difference.where:
            words = {"old": difference.old, "new": difference.new, "where": difference.where}
            inline = (*pair.removed(*names_in(old.kind)), *pair.added(*names_in(new.kind)))
            derived = tuple(n for n in inline if n not in pair.old.keyed and n not in pair.new.keyed)
            _log(pair, difference.rule, owner, old, new, also=derived, **words)
    return any(d.rule == "type.changed" for d in found)


def _differences(pair: ModulePair, old: Field, new: Field) -> list[TypeDifference]:
    """Compare the types of two fields; a field with a constant has a type of one value."""
    had, has = old.constant, new.constant
    if had is None and has is None:
        return pair.types.differences(old.kind, new.kind)
    if had == has:
        return []
    if had is not None and has is not None:
        return [TypeDifference("constant.changed", quoted(had), quoted(has))]
    if has is None and _is_text(pair.new, new):
        return [TypeDifference("type.widened", quoted(had or ""), "any other text")]
    if had is None and _is_text(pair.old, old):
        return [TypeDifference("type.narrowed", f"any text but {quoted(has or '')}", quoted(has or ""))]
    return [TypeDifference("type.changed", _shown(old), _shown(new))]


def _shown(entry: Field) -> str:
    return quoted(entry.constant) if entry.constant is not None else type_text(entry.kind)


def _is_text(index: Index, entry: Field) -> bool:
    """Return whether a field accepts any text."""
    if isinstance(entry.kind, Named):
        return isinstance(index.by_name.get(entry.kind.name), Identifier)
    return entry.kind == TEXT
