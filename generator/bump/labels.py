"""One label on both sides of a bump: its modules, and which names became which."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from generator import api
from generator.bump.tables import after, entries, table
from generator.diff.compare.index import Index
from generator.diff.compare.methods import renamed_methods
from generator.diff.compare.renames import find_renames
from generator.errors import GeneratorError
from generator.model import CatchAll, Field, Module, Presence, Struct
from generator.overrides import STABLE_OF, Overrides, overrides_of
from generator.source import Source
from generator.tolerant import Tolerated, lower_what_can_be_read


@dataclass(frozen=True, slots=True)
class Label:
    """A label with its old and its new module, either of which may be missing.

    `names` are the renamed definitions and the classes made for them, `methods` the renamed methods. `before` are the
    public names of the last release, `lost` those whose part of the schema has another name now.
    """

    name: str
    old: Tolerated | None
    new: Tolerated | None
    names: Mapping[str, str]
    methods: Mapping[str, str]
    before: tuple[api.PublicName, ...]
    lost: Mapping[str, str]
    broken: tuple[GeneratorError, ...] = ()
    """Why the new schema could not be lowered at all."""

    @property
    def stable(self) -> str:
        """The stable label of this one, which may be itself."""
        return STABLE_OF.get(self.name, self.name)

    @property
    def is_whole(self) -> bool:
        """Whether what matches nothing in the new schema has left it for certain."""
        return not self.broken and (self.new is None or self.new.is_whole)

    @property
    def exports(self) -> frozenset[str]:
        """The public classes of the new module."""
        return frozenset(self.new.module.exports) if self.new is not None else frozenset()

    @property
    def classes(self) -> dict[str, str]:
        """The classes of the last release that have another name now."""
        there = {e.name for e in self.before if api.is_class(e)}
        found = {**self.names, **self.lost}
        return {o: n for o, n in found.items() if o in there and o not in self.exports and n in self.exports}


def read_label(
    name: str, old: Source | None, new: Source | None, raw: Mapping[str, Any], before: list[api.PublicName]
) -> Label:
    """Lower both sides of a label, and find what was renamed.

    The new side is lowered with all entries that the bump may leave it: those of its unstable label count too, and
    those for what was renamed count for the new name.
    """
    was = _lowered(old, raw)
    merged = _with_unstable(raw, name)
    is_now = _lowered(new, merged)
    known = was if isinstance(was, Tolerated) else None
    names, methods = _renamed(known, is_now)
    if names or methods:
        is_now = _lowered(new, _with_renamed(merged, names, methods))
        names, methods = _renamed(known, is_now)
    now = is_now if isinstance(is_now, Tolerated) else None
    broken = is_now.problems if isinstance(is_now, GeneratorError) else ()
    found = api.lost_names(api.entries_of(now.module, now.overrides), before) if now is not None else []
    lost = {e.name: n for e, n in found if api.is_class(e) and api.is_class(api.PublicName(n, ""))}
    return Label(name, known, now, names, methods, tuple(before), lost, broken)


def _renamed(old: Tolerated | None, new: Tolerated | GeneratorError | None) -> tuple[dict[str, str], dict[str, str]]:
    """Find the renamed definitions and methods."""
    if old is None or not isinstance(new, Tolerated):
        return {}, {}
    names, _ = find_renames(Index(_without_facts(old.module)), Index(_without_facts(new.module)), new.overrides.renamed)
    return names, renamed_methods(old.module, new.module, names)


def _without_facts(module: Module) -> Module:
    """Return a module without patch facts: they are known by names, so a renamed definition seems to have lost them."""

    def plain(fields: tuple[Field, ...]) -> tuple[Field, ...]:
        return tuple(replace(f, presence=Presence.OPTION) if f.presence is Presence.PATCH else f for f in fields)

    found = (replace(d, fields=plain(d.fields)) if isinstance(d, Struct | CatchAll) else d for d in module.definitions)
    return replace(module, definitions=tuple(found))


def _with_unstable(raw: Mapping[str, Any], label: str) -> dict[str, Any]:
    """Add the entries of the unstable label to those of its stable one: some of them may have become stable."""
    out = dict(raw)
    for unstable in (u for u, stable in STABLE_OF.items() if stable == label):
        own: dict[str, Any] = out.get(label, {})
        out[label] = {**own, **table({**entries(out.get(unstable, {})), **entries(own)})}
    return out


def _with_renamed(raw: Mapping[str, Any], names: Mapping[str, str], methods: Mapping[str, str]) -> dict[str, Any]:
    """Add the entries for renamed definitions and methods under their new names."""
    out: dict[str, Any] = {}
    for label, owned in raw.items():
        found = entries(owned)
        out[label] = {**owned, **table({**found, **dict(after(e, v, names, methods) for e, v in found.items())})}
    return out


def _lowered(source: Source | None, raw: Mapping[str, Any]) -> Tolerated | GeneratorError | None:
    if source is None:
        return None
    try:
        return lower_what_can_be_read(source, lambda s: overrides_of(s, dict(raw)))
    except GeneratorError as why:
        return why


def used_by(found: Tolerated | None, table: Mapping[str, Any]) -> frozenset[str]:
    """Return which entries of a table match a schema, if it has them all."""
    if found is None:
        return frozenset()
    label = found.source.label
    tried = lower_what_can_be_read(found.source, lambda s: _alone(s, label, table))
    return tried.overrides.used


def _alone(source: Source, label: str, table: Mapping[str, Any]) -> Overrides:
    return overrides_of(source, {label: dict(table)})


def module_of(found: Tolerated | None) -> Module | None:
    """Return the module of a side."""
    return None if found is None else found.module
