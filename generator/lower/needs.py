"""Capabilities: which methods, and which values in their params, need one; checked against the schema.

The entries are in `schema/overrides.toml`. What connections do with them is decided in `aio/_session/handshake.py`.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from generator.aliases import unwrap
from generator.lower.context import BrokenError, Context
from generator.model import (
    Definition,
    Enumeration,
    Field,
    ListOf,
    Method,
    Module,
    Named,
    Need,
    Plain,
    Presence,
    Struct,
    Union,
)
from generator.names import field_of
from generator.overrides import Overrides
from generator.values import Literal, MapValue, Value

INITIALIZE = "initialize"


@dataclass(frozen=True, slots=True)
class _Known:
    """The lowered definitions."""

    context: Context
    definitions: Mapping[str, Definition]

    def get(self, name: str) -> Definition | None:
        """Find a definition; raises `BrokenError` for one that lacks something because of a problem."""
        found = self.definitions.get(name)
        is_missing = found is None and name in self.context.schema.names
        if is_missing or (found is not None and not self.context.is_whole(found)):
            raise BrokenError(name)
        return found


def lower_needs(context: Context, definitions: Iterable[Definition], methods: Iterable[Method]) -> tuple[Need, ...]:
    """Look up the entries of the overrides.

    For a pinned schema, an entry that does not match is a problem; for any other schema it is ignored. So is one that
    may not match only because of another problem.
    """
    overrides = context.overrides
    known = _Known(context, {d.name: d for d in definitions})
    by_name = {m.name: m for m in methods}
    if INITIALIZE not in by_name:
        return ()
    made: list[Need] = []
    for key in overrides.capabilities:
        if key.partition("#")[0] not in by_name:
            continue  # reported as stale
        overrides.use_capability(key)
        with context.problems.collect(), suppress(BrokenError):
            needs, problem, pointer = _needs_of(key, overrides, known, by_name)
            made += needs
            if problem and overrides.strict:
                what = f"there is no {problem}, which the entry capabilities.{key} of {overrides.file} names"
                raise context.fail(pointer, what, "correct the entry, or remove it")
            if problem:
                overrides.unused(f"capabilities.{key}")
    return tuple(sorted(made, key=lambda n: (n.method, n.field or "", n.value or "")))


def without_capability(module: Module, overrides: Overrides) -> list[Method]:
    """List the methods of agents and clients that need no capability and are not known to be free."""
    if all(m.name != INITIALIZE for m in module.methods):
        return []
    known = {n.method for n in module.needs if n.field is None}
    handled = (m for m in module.methods if {"agent", "client"} & {*m.handled_by} and m.name not in known)
    return [m for m in handled if not overrides.is_free(m.name)]


def _needs_of(
    key: str, overrides: Overrides, known: _Known, methods: Mapping[str, Method]
) -> tuple[list[Need], str, str]:
    """Return the needs that an entry describes.

    If it does not match, return the name that was not found, and the pointer of the definition that lacks it.
    """
    name, _, place = key.partition("#")
    wire, _, value = place.partition("=")
    method = methods[name]
    params = known.get(method.request or method.notification or "")
    field = _field(params, wire, value, known) if place else ""
    if field is None:
        return [], place, params.pointer if params else ""
    advertised_in = {"agent": methods[INITIALIZE].response, "client": methods[INITIALIZE].request}
    found: list[Need] = []
    pointer = ""
    entry = overrides.capabilities[key]
    for side in method.handled_by:
        start = known.get(advertised_in[side] or "")
        pointer = start.pointer if start else ""
        kinds = list(_fields_on(start, entry.path, known))
        if len(kinds) == entry.path.count(".") + 1:
            is_by_name = entry.derived if field else not (entry.optional or entry.group)
            leaf = _leaf(kinds, known) if is_by_name else None
            found.append(Need(name, side, entry.path, leaf, field or None, value or None, entry.group))
    return found, "" if found else entry.path, pointer


def _member(owner: Definition | None, wire: str) -> Field | None:
    fields = owner.fields if isinstance(owner, Struct) else ()
    return next((f for f in fields if f.wire == wire), None)


def _fields_on(start: Definition | None, path: str, known: _Known) -> Iterable[Field]:
    """List the fields along a path of keys from a definition, up to the first key that does not exist."""
    place = start
    for key in path.split("."):
        entry = _member(place, key)
        if entry is None:
            return
        yield entry
        kind = unwrap(entry.kind, known.get, null=True)
        place = known.get(kind.name) if isinstance(kind, Named) else None


def _leaf(path: list[Field], known: _Known) -> Value | None:
    """Return the value that advertises the end of a path; None if a class on the path has other required fields."""
    for number, entry in enumerate(path):
        kind = unwrap(entry.kind, known.get, null=True)
        if isinstance(kind, Named):
            owner = known.get(kind.name)
            below = path[number + 1 : number + 2]
            if not isinstance(owner, Struct):
                return None
            if any(f.presence is Presence.REQUIRED and f not in below for f in owner.fields):
                return None
        elif kind != Plain("bool"):
            return None
    return Literal(True) if unwrap(path[-1].kind, known.get, null=True) == Plain("bool") else MapValue()


def _field(params: Definition | None, wire: str, value: str, known: _Known) -> str | None:
    """Return the name of the params' field that an entry means, or None if the field or its value does not exist."""
    if isinstance(params, Union):
        fits = wire == params.tag_field and value in _tags(params)
        return field_of(wire, known.definitions) if fits else None
    entry = _member(params, wire)
    if entry is None:
        return None
    kind = unwrap(entry.kind, known.get, null=True)
    kind = unwrap(kind.item, known.get, null=True) if isinstance(kind, ListOf) else kind
    target = known.get(kind.name) if isinstance(kind, Named) else None
    return entry.name if not value or value in _tags(target) else None


def _tags(definition: Definition | None) -> set[str]:
    match definition:
        case Union(variants=variants):
            return {tag.partition("/")[0] for tag, _ in variants}
        case Enumeration(members=members):
            return {str(m.value) for m in members}
        case _:
            return set()
