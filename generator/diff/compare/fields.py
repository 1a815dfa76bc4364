"""Differences between the fields of two classes."""

from generator.diff.compare.change import Place
from generator.diff.compare.expressions import TEXT, Difference
from generator.diff.compare.index import Index, field_text, names_in, type_text
from generator.diff.compare.pair import Pair
from generator.emit.text import quoted, value_text
from generator.model import Field, Identifier, Leniency, Named, Presence, Type
from generator.values import Value

ABSENT = {Presence.OPTION: "None", Presence.PATCH: "UNSET"}
FORGIVES = {
    Leniency.NONE: "nothing",
    Leniency.ON_NULL: "null",
    Leniency.ON_ERROR: "null and values that do not fit",
}
LENIENT = tuple(FORGIVES)
PROPERTIES = "/properties/"


def compare_fields(pair: Pair, owner: str, olds: tuple[Field, ...], news: tuple[Field, ...]) -> None:
    """Compare the fields of one class, by their keys; `owner` is its new name."""
    matched = _matched(pair, olds, news)
    for old, new in matched:
        _names(pair, owner, old, new)
        retyped = _type(pair, owner, old, new)
        _presence(pair, owner, old, new, retyped=retyped)
        if old.leniency is not new.leniency:
            wider = LENIENT.index(new.leniency) > LENIENT.index(old.leniency)
            rule = "lenient.added" if wider else "lenient.dropped"
            _log(pair, rule, owner, old, new, old=FORGIVES[old.leniency], new=FORGIVES[new.leniency])
    for old in olds:
        if all(old is not o for o, _ in matched):
            inline = pair.gone(*(n for n in names_in(old.kind) if n not in pair.old.own))
            place = Place(owner, old.pointer, None, old.name)
            pair.log.add("field.removed", place, field_text(old), "", also=inline)
    for new in news:
        if all(new is not n for _, n in matched):
            _added(pair, owner, new)
    _order(pair, owner, matched, news)


def _order(pair: Pair, owner: str, matched: list[tuple[Field, Field]], news: tuple[Field, ...]) -> None:
    """Compare the order of the fields that one place declares: that of a flattened payload is the payload's own."""
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
    pair: Pair, rule: str, owner: str, one: Field, other: Field, *, also: tuple[str, ...] = (), **words: str
) -> None:
    place = Place(owner, one.pointer, other.pointer, other.name)
    pair.log.add(rule, place, field_text(one), field_text(other), also=also, **words)


def _added(pair: Pair, owner: str, new: Field) -> None:
    place = Place(owner, None, new.pointer, new.name)
    inline = pair.come(*(n for n in names_in(new.kind) if n not in pair.new.own))
    if new.presence is not Presence.REQUIRED:
        pair.log.add("field.added_optional", place, "", field_text(new), also=inline)
    elif new.constant is None:
        pair.log.add("field.added_required", place, "", field_text(new), also=inline)
    else:
        pair.log.add("field.added_constant", place, "", field_text(new), new=quoted(new.constant))


def _matched(pair: Pair, olds: tuple[Field, ...], news: tuple[Field, ...]) -> list[tuple[Field, Field]]:
    """Pair the fields: by key, by Python name, and what is left by type and position."""
    by_wire = {n.wire: n for n in news}
    found = [(o, by_wire[o.wire]) for o in olds if o.wire in by_wire]
    left_old, left_new = _left(olds, news, found)
    found += [(o, n) for o in left_old for n in left_new if o.name == n.name]
    found += _same_place(pair, olds, news, found)
    return sorted(found, key=lambda both: olds.index(both[0]))


def _left(
    olds: tuple[Field, ...], news: tuple[Field, ...], found: list[tuple[Field, Field]]
) -> tuple[list[Field], list[Field]]:
    """List the fields that have no partner."""
    return (
        [o for o in olds if all(o is not f for f, _ in found)],
        [n for n in news if all(n is not f for _, f in found)],
    )


def _same_place(
    pair: Pair, olds: tuple[Field, ...], news: tuple[Field, ...], known: list[tuple[Field, Field]]
) -> list[tuple[Field, Field]]:
    """Pair the rest: fields of one type between the same neighbours, where there is but one of each."""
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
    """Give the keys of the nearest fields before and after that both sides have."""
    at = fields.index(entry)
    before = next((f.wire for f in reversed(fields[:at]) if f.wire in known), None)
    after = next((f.wire for f in fields[at + 1 :] if f.wire in known), None)
    return before, after


def _names(pair: Pair, owner: str, old: Field, new: Field) -> None:
    if old.name != new.name:
        words = {"old": old.name, "new": new.name}
        # A class that was made for this field is called after it.
        follow = tuple(f"{o} -> {n}" for o, n in _inline(pair, old.kind, new.kind))
        pair.log.mentioned.update(name for both in _inline(pair, old.kind, new.kind) for name in both)
        place = Place(owner, old.pointer, new.pointer, new.name)
        why = "same type between the same neighbours"
        pair.log.add("field.renamed", place, field_text(old), field_text(new), also=follow, evidence=why, **words)
        pair.names.update(_inline(pair, old.kind, new.kind))
    elif old.wire != new.wire:
        _log(pair, "field.wire_name", owner, old, new, old=quoted(old.wire), new=quoted(new.wire))


def _inline(pair: Pair, old: Type, new: Type) -> list[tuple[str, str]]:
    both = zip(names_in(old), names_in(new), strict=False)
    return [
        (o, n) for o, n in both if o != n and o not in pair.old.own and n not in pair.new.own and o not in pair.names
    ]


def _presence(pair: Pair, owner: str, old: Field, new: Field, *, retyped: bool) -> None:
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
        # A field of another type has another default as a matter of course.
        if not retyped:
            _log(pair, "default.changed", owner, old, new, old=_absent(old, old.default), new=has)
    elif before is not after:
        rule = "default.written" if after is Presence.DEFAULTED else "default.unwritten"
        _log(pair, rule, owner, old, new)


def _absent(entry: Field, default: Value | None) -> str:
    """Write what an absent field reads as."""
    return ABSENT.get(entry.presence, "None") if default is None else value_text(default)


def _type(pair: Pair, owner: str, old: Field, new: Field) -> bool:
    """Compare the types; say whether the field became something else altogether."""
    # What goes from required to optional takes null as well, and the other way round: that is one change.
    implied = ""
    if old.presence is Presence.REQUIRED and new.presence in ABSENT:
        implied = "null.allowed"
    elif new.presence is Presence.REQUIRED and old.presence in ABSENT:
        implied = "null.refused"
    found = _differences(pair, old, new)
    for difference in found:
        if difference.rule != implied or difference.where:
            words = {"old": difference.old, "new": difference.new, "where": difference.where}
            inline = (*pair.gone(*names_in(old.kind)), *pair.come(*names_in(new.kind)))
            derived = tuple(n for n in inline if n not in pair.old.own and n not in pair.new.own)
            _log(pair, difference.rule, owner, old, new, also=derived, **words)
    return any(d.rule == "type.changed" for d in found)


def _differences(pair: Pair, old: Field, new: Field) -> list[Difference]:
    """Compare the types of two fields, those that hold one text alone among them."""
    had, has = old.constant, new.constant
    if had is None and has is None:
        return pair.kinds.differences(old.kind, new.kind)
    if had == has:
        return []
    if had is not None and has is not None:
        return [Difference("constant.changed", quoted(had), quoted(has))]
    if has is None and _is_text(pair.new, new):
        return [Difference("type.widened", quoted(had or ""), "any other text")]
    if had is None and _is_text(pair.old, old):
        return [Difference("type.narrowed", f"any text but {quoted(has or '')}", quoted(has or ""))]
    return [Difference("type.changed", _shown(old), _shown(new))]


def _shown(entry: Field) -> str:
    return quoted(entry.constant) if entry.constant is not None else type_text(entry.kind)


def _is_text(index: Index, entry: Field) -> bool:
    """Say whether a field holds any text at all."""
    if isinstance(entry.kind, Named):
        return isinstance(index.by_name.get(entry.kind.name), Identifier)
    return entry.kind == TEXT
