"""Differences between two definitions that have the same name, or of which one was renamed to the other."""

from generator.diff.compare.change import Place
from generator.diff.compare.fields import compare_fields
from generator.diff.compare.index import declaring_key, described
from generator.diff.compare.pair import ModulePair
from generator.diff.compare.unions import compare_unions
from generator.emit.text import quoted
from generator.model import Alias, CatchAll, Definition, Enumeration, Identifier, Member, Named, Struct, Union


def compare_definitions(pair: ModulePair, old: Definition, new: Definition) -> None:
    """Compare two definitions; the definitions that they refer to are compared on their own."""
    match old, new:
        case Struct() | CatchAll(), Struct() | CatchAll():
            _objects(pair, old, new)
        case Enumeration(), Enumeration():
            _enumerations(pair, old, new)
        case Union(), Union():
            compare_unions(pair, old, new)
        case Alias(), Alias():
            for found in pair.types.differences(old.kind, new.kind):
                _log(pair, found.rule, old, new, old=found.old, new=found.new, where=found.where)
        case Identifier(), Identifier():
            pass
        case Identifier() | Alias(), Identifier() | Alias():
            _newtype(pair, old, new)
        case _:
            _log(pair, "definition.kind", old, new, old=described(old), new=described(new))


def _log(pair: ModulePair, rule: str, one: Definition, other: Definition, **words: str) -> None:
    also = (*pair.removed(*pair.old.derived(one.name)), *pair.added(*pair.new.derived(other.name)))
    place = Place(other.name, one.pointer, other.pointer)
    pair.log.add(rule, place, pair.old.declared(one.name), pair.new.declared(other.name), also=also, **words)


def _newtype(pair: ModulePair, old: Identifier | Alias, new: Identifier | Alias) -> None:
    kinds = [Named(d.name) if isinstance(d, Identifier) else d.kind for d in (old, new)]
    found = pair.types.differences(kinds[0], kinds[1])
    if any(d.rule == "type.changed" for d in found):
        _log(pair, "definition.kind", old, new, old=described(old), new=described(new))
        return
    for difference in found:
        words = {"old": difference.old, "new": difference.new}
        if difference.rule.startswith("newtype."):
            words = {"old": described(old), "new": described(new)}
        _log(pair, difference.rule, old, new, **words)


def _objects(pair: ModulePair, old: Struct | CatchAll, new: Struct | CatchAll) -> None:
    if isinstance(old, CatchAll) is not isinstance(new, CatchAll):
        _log(pair, "object.opened" if isinstance(new, CatchAll) else "object.closed", old, new)
    # Where a variant is another class now, its union reports the new class with its bases.
    if pair.name(old.name) == new.name:
        _base(pair, old, new)
    _reading(pair, old, new)
    _guard(pair, old, new)
    compare_fields(pair, new.name, pair.old.fields(old.name), pair.new.fields(new.name))


def _reading(pair: ModulePair, old: Struct | CatchAll, new: Struct | CatchAll) -> None:
    """Compare what decides whether an object is read at all: the keys that exclude it, and null.

    A payload that was flattened into the class reports its keys itself.
    """
    before, after = set(old.forbids), set(new.forbids)
    of_payloads = [(after_one - one, one - after_one) for one, after_one in _exclusions_of_payloads(pair, new)]
    for key in sorted(before ^ after):
        if key in after and not any(key in added for added, _ in of_payloads):
            _log(pair, "exclusion.added", old, new, new=quoted(key))
        elif key in before and not any(key in removed for _, removed in of_payloads):
            _log(pair, "exclusion.removed", old, new, old=quoted(key))
    took, takes = (isinstance(d, Struct) and d.takes_null for d in (old, new))
    if took is not takes:
        _log(pair, "empty.taken" if takes else "empty.refused", old, new)


def _exclusions_of_payloads(pair: ModulePair, made: Struct | CatchAll) -> list[tuple[set[str], set[str]]]:
    """List the keys, then and now, that exclude the payloads which a class was flattened from."""
    names = {declaring_key(f.pointer) for f in pair.new.fields(made.name)} - {made.name}
    both = ((pair.old.by_name.get(name), pair.new.by_name.get(name)) for name in sorted(names))
    return [
        (set(one.forbids), set(other.forbids))
        for one, other in both
        if isinstance(one, Struct | CatchAll) and isinstance(other, Struct | CatchAll)
    ]


def _base(pair: ModulePair, old: Struct | CatchAll, new: Struct | CatchAll) -> None:
    had = old.base if isinstance(old, Struct) else None
    has = new.base if isinstance(new, Struct) else None
    if had is not None and pair.name(had) != has:
        _log(pair, "base.dropped", old, new, old=had)
    if has is not None and (had is None or pair.name(had) != has):
        _log(pair, "base.added", old, new, new=has)


def _guard(pair: ModulePair, old: Struct | CatchAll, new: Struct | CatchAll) -> None:
    """Compare the keys that an object must not have."""
    had, has = (d.guard if isinstance(d, Struct) else None for d in (old, new))
    if had is not None and (has is None or has.key != had.key):
        _log(pair, "guard.dropped", old, new, key=quoted(had.key))
    if has is not None and (had is None or has.key != had.key):
        _log(pair, "guard.added", old, new, key=quoted(has.key))
    elif has is not None and had is not None and has.unless != had.unless:
        if had.unless is not None:
            _log(pair, "guard.changed", old, new, key=quoted(has.key), old=quoted(had.unless))
        if has.unless is not None:
            _log(pair, "guard.allowed", old, new, key=quoted(has.key), new=quoted(has.unless))


def _enumerations(pair: ModulePair, old: Enumeration, new: Enumeration) -> None:
    if old.is_int is not new.is_int:
        words = {True: "numbers", False: "texts"}
        _log(pair, "enum.type", old, new, old=words[old.is_int], new=words[new.is_int])
        return
    if old.is_open is not new.is_open:
        _log(pair, "enum.opened" if new.is_open else "enum.closed", old, new)
    _unknown(pair, old, new)
    _members(pair, old, new)


def _unknown(pair: ModulePair, old: Enumeration, new: Enumeration) -> None:
    # An open enumeration keeps unknown values, so `enum.opened` and `enum.closed` already cover the change.
    if old.unknown == new.unknown or old.is_open or new.is_open:
        return
    rule = "unknown.added" if old.unknown is None else "unknown.dropped" if new.unknown is None else "unknown.changed"
    _log(pair, rule, old, new, old=quoted(old.unknown or ""), new=quoted(new.unknown or ""))


def _members(pair: ModulePair, old: Enumeration, new: Enumeration) -> None:
    by_value = {m.value: m for m in new.members}
    matched = [(o, by_value[o.value]) for o in old.members if o.value in by_value]
    for before, after in matched:
        if before.name != after.name:
            _value(pair, "member.renamed", new, before, after, old=f"{new.name}.{before.name}", new=after.name)
    left = {m.name: m for m in new.members if all(m is not after for _, after in matched)}
    for before in old.members:
        if before.value in by_value:
            continue
        twin = left.pop(before.name, None)
        if twin is not None:
            _value(pair, "value.respelt", new, before, twin, old=_text(before), new=_text(twin))
        else:
            tolerant = new.is_open or new.unknown is not None
            _value(pair, "value.unnamed" if tolerant else "value.removed", new, before, None, old=_text(before))
    for after in left.values():
        tolerant = old.is_open or old.unknown is not None
        _value(pair, "value.named" if tolerant else "value.added", new, None, after, new=_text(after))
    order = [after for _, after in matched]
    if order != sorted(order, key=new.members.index):
        place = Place(new.name, old.pointer, new.pointer)
        had, has = (", ".join(m.name for m in e.members) for e in (old, new))
        pair.log.add("order.changed", place, had, has, new="values")


def _value(
    pair: ModulePair, rule: str, new: Enumeration, before: Member | None, after: Member | None, /, **words: str
) -> None:
    shown = after or before
    place = Place(
        new.name, before.pointer if before else None, after.pointer if after else None, shown.name if shown else ""
    )
    pair.log.add(rule, place, _declared(before), _declared(after), also=(), **words)


def _declared(member: Member | None) -> str:
    return f"{member.name} = {_text(member)}" if member is not None else ""


def _text(member: Member) -> str:
    return quoted(member.value) if isinstance(member.value, str) else str(member.value)
