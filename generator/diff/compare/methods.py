"""Differences between the methods of two modules, and between their routing unions."""

from collections.abc import Mapping

from generator.diff.compare.change import Place
from generator.diff.compare.index import Index
from generator.diff.compare.pair import ModulePair
from generator.emit.text import quoted
from generator.engine import member_name
from generator.errors import child
from generator.model import Method, Module

PARTS = ("request", "response", "notification")
GROUP = "methods"
"""The owner under which methods are reported: no definition declares them."""


def compare_methods(pair: ModulePair) -> None:
    """Compare the methods by name; a removed and an added method with the same types are a rename."""
    olds = {m.name: m for m in pair.old.module.methods}
    news = {m.name: m for m in pair.new.module.methods}
    for name in sorted(olds.keys() & news.keys()):
        _compare(pair, olds[name], news[name])
    renamed = renamed_methods(pair.old.module, pair.new.module, pair.names)
    for before, after in renamed.items():
        words = {"old": quoted(before), "new": quoted(after)}
        evidence = "same types, handled by the same side"
        _log(pair, "method.renamed", olds[before], news[after], evidence=evidence, **words)
    for name in sorted(olds.keys() - news.keys() - renamed.keys()):
        _log(pair, "method.removed", olds[name], None, old=quoted(name))
    for name in sorted(news.keys() - olds.keys() - {*renamed.values()}):
        _log(pair, "method.added", None, news[name], new=quoted(name))
    _routings(pair)


def renamed_methods(old: Module, new: Module, names: Mapping[str, str]) -> dict[str, str]:
    """Find the renamed methods: of those that were removed and added, the only ones with the same types."""
    known_old, known_new = {m.name for m in old.methods}, {m.name for m in new.methods}
    removed = sorted((m for m in old.methods if m.name not in known_new), key=lambda m: m.name)
    added = sorted((m for m in new.methods if m.name not in known_old), key=lambda m: m.name)
    keys_old = [_key(m, names) for m in removed]
    keys_new = [_key(m, {}) for m in added]
    return {
        m.name: added[keys_new.index(key)].name
        for m, key in zip(removed, keys_old, strict=True)
        if keys_old.count(key) == keys_new.count(key) == 1
    }


def _key(method: Method, names: Mapping[str, str]) -> tuple[object, ...]:
    """Return what a renamed method keeps: its handlers and its types."""
    types = [getattr(method, part) for part in PARTS]
    return (method.requests_handled_by, method.notifications_handled_by, *(names.get(t, t) for t in types))


def _compare(pair: ModulePair, old: Method, new: Method) -> None:
    _compare_handlers(pair, old, new)
    # Without a meta file, member names derive from method names and may differ from those in the package.
    if pair.has_meta and member_name(old.key) != member_name(new.key):
        members = (member_name(old.key), member_name(new.key))
        name = f"METHODS[{quoted(new.name)}]"
        place = Place(GROUP, _pointer(pair.old, old), _pointer(pair.new, new))
        texts = (f"{member} = {quoted(new.name)}" for member in members)
        pair.log.add("method.member", place, *texts, name=name, old=members[0], new=members[1])
    for part in PARTS:
        before: str | None = getattr(old, part)
        after: str | None = getattr(new, part)
        if before is not None and after is not None and after not in (before, pair.name(before)):
            _log(pair, "part.changed", old, new, what=part, old=before, new=after)
        elif before is None and after is not None:
            _log(pair, "part.added", old, new, what=part, new=after)
        elif before is not None and after is None:
            _log(pair, "part.removed", old, new, what=part, old=before)


def _compare_handlers(pair: ModulePair, old: Method, new: Method) -> None:
    """Compare who handles a method: once for the whole method, or for requests and notifications where they differ."""
    kinds = [
        ("", old.handled_by, new.handled_by),
        ("requests", old.requests_handled_by, new.requests_handled_by),
        ("notifications", old.notifications_handled_by, new.notifications_handled_by),
    ]
    parts = [(what, had, has) for what, had, has in kinds[1:] if had and has]
    is_one = len({had for _, had, _ in parts}) == len({has for _, _, has in parts}) == 1
    for what, had, has in kinds[:1] if is_one or not parts else parts:
        if set(had) != set(has):
            gone, new_ones = set(had) - set(has), set(has) - set(had)
            rule = "handler.moved" if gone and new_ones else "handler.removed" if gone else "handler.added"
            name = f"METHODS[{quoted(new.name)}]{' as ' + what if what else ''}"
            _log(pair, rule, old, new, name=name, old=_and(had), new=_and(has))


def _log(
    pair: ModulePair, rule: str, before: Method | None, after: Method | None, *, evidence: str = "", **words: str
) -> None:
    removed, added = _envelopes(pair.old, before), _envelopes(pair.new, after)
    also = (
        *(n for n in removed if n not in pair.new.module.exports),
        *(n for n in added if n not in pair.old.module.exports),
    )
    method = after or before
    place = Place(GROUP, _pointer(pair.old, before), _pointer(pair.new, after))
    name = f"METHODS[{quoted(method.name)}]" if method is not None else ""
    pair.log.add(rule, place, _text(before), _text(after), also=also, evidence=evidence, **{"name": name, **words})


def _envelopes(index: Index, method: Method | None) -> list[str]:
    params = (method.request, method.notification) if method is not None else ()
    return [index.envelopes[p] for p in params if p is not None and p in index.envelopes]


def _pointer(index: Index, method: Method | None) -> str | None:
    if method is None:
        return None
    part = next((p for p in (method.request, method.notification, method.response) if p is not None), "")
    return child(index.by_name[part].pointer, "x-method") if part in index.by_name else ""


def _text(method: Method | None) -> str:
    """Write a method as `METHODS` does."""
    if method is None:
        return ""
    arguments = [f"name={quoted(method.name)}", f"handled_by={_set(method.handled_by)}"]
    if len({sides for sides in (method.requests_handled_by, method.notifications_handled_by) if sides}) > 1:
        arguments.append(f"requests_handled_by={_set(method.requests_handled_by)}")
        arguments.append(f"notifications_handled_by={_set(method.notifications_handled_by)}")
    arguments += [f"{part}={getattr(method, part)}" for part in PARTS if getattr(method, part) is not None]
    return f"Method({', '.join(arguments)})"


def _set(sides: tuple[str, ...]) -> str:
    return f"{{{', '.join(quoted(side) for side in sides)}}}"


def _and(sides: tuple[str, ...]) -> str:
    return " and ".join(sides) or "nobody"


def _routings(pair: ModulePair) -> None:
    """Compare which routing unions exist; their members follow from the methods."""
    olds = {r.name: r for r in pair.old.module.routings}
    news = {r.name: r for r in pair.new.module.routings}
    for name in sorted(olds.keys() - news.keys()):
        pair.log.add("routing.removed", Place(name, olds[name].pointer, None), name, "")
    for name in sorted(news.keys() - olds.keys()):
        pair.log.add("routing.added", Place(name, None, news[name].pointer), "", name)
