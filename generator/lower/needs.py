"""Capabilities: which method, and what in its params, needs which of them, checked against the schema."""

from collections.abc import Iterable, Mapping

from generator.errors import GeneratorError
from generator.model import (
    Advised,
    Alias,
    Definition,
    Enumeration,
    Field,
    ListOf,
    Method,
    Named,
    Need,
    Nullable,
    Plain,
    Presence,
    Struct,
    Type,
    Union,
)
from generator.names import field_of
from generator.overrides import Overrides
from generator.values import Literal, MapValue, Value

INITIALIZE = "initialize"


def lower_needs(
    definitions: Iterable[Definition], methods: Iterable[Method], overrides: Overrides, file: str
) -> tuple[Need, ...]:
    """Look up the entries; those of a pinned schema must all fit, for another one the others are left aside."""
    known = {d.name: d for d in definitions}
    by_name = {m.name: m for m in methods}
    if INITIALIZE not in by_name:
        return ()
    made: list[Need] = []
    for key in overrides.capabilities:
        needs, problem, pointer = _needs(key, overrides, known, by_name)
        if not problem:
            overrides.use_capability(key)
            made += needs
        elif overrides.strict and key.partition("#")[0] in by_name:  # an unknown method is reported as stale
            what = f"there is no {problem}, which the entry capabilities.{key} of {overrides.file} names"
            raise GeneratorError(what, file=file, pointer=pointer, hint="correct the entry, or remove it")
    return tuple(sorted(made, key=lambda n: (n.method, n.field or "", n.value or "")))


def _needs(
    key: str, overrides: Overrides, known: Mapping[str, Definition], methods: Mapping[str, Method]
) -> tuple[list[Need], str, str]:
    """Give what an entry means, or what it names in vain, and the pointer of the definition that lacks it."""
    name, _, place = key.partition("#")
    wire, _, value = place.partition("=")
    method = methods.get(name)
    if method is None:
        return [], name, ""
    params = known.get(method.request or method.notification or "")
    field = _field(params, wire, value, known) if place else ""
    if field is None:
        return [], place, params.pointer if params else ""
    told = {"agent": methods[INITIALIZE].response, "client": methods[INITIALIZE].request}
    found: list[Need] = []
    pointer = ""
    entry = overrides.capabilities[key]
    for side in method.handled_by:
        start = known.get(told[side] or "")
        pointer = start.pointer if start else ""
        kinds = list(_walk(start, entry.path, known))
        if len(kinds) == entry.path.count(".") + 1:
            is_by_name = entry.derived if field else not (entry.optional or entry.group)
            leaf = _leaf(kinds, known) if is_by_name else None
            found.append(Need(name, side, entry.path, leaf, field or None, value or None, entry.group))
    return found, "" if found else entry.path, pointer


def _bare(kind: Type, known: Mapping[str, Definition]) -> Type:
    """Take off what hides the class of a value: null, advice, other names."""
    while True:
        match kind:
            case Nullable(inner=inner) | Advised(inner=inner):
                kind = inner
            case Named(name=name) if isinstance(alias := known.get(name), Alias):
                kind = alias.kind
            case _:
                return kind


def _member(owner: Definition | None, wire: str) -> Field | None:
    fields = owner.fields if isinstance(owner, Struct) else ()
    return next((f for f in fields if f.wire == wire), None)


def _walk(start: Definition | None, path: str, known: Mapping[str, Definition]) -> Iterable[Field]:
    """Follow keys from a definition, as far as they lead."""
    place = start
    for key in path.split("."):
        entry = _member(place, key)
        if entry is None:
            return
        yield entry
        kind = _bare(entry.kind, known)
        place = known.get(kind.name) if isinstance(kind, Named) else None


def _leaf(path: list[Field], known: Mapping[str, Definition]) -> Value | None:
    """Give the value that advertises the end of a path; None where a class on the way has other required fields."""
    for number, entry in enumerate(path):
        kind = _bare(entry.kind, known)
        if isinstance(kind, Named):
            owner = known.get(kind.name)
            below = path[number + 1 : number + 2]
            if not isinstance(owner, Struct):
                return None
            if any(f.presence is Presence.REQUIRED and f not in below for f in owner.fields):
                return None
        elif kind != Plain("bool"):
            return None
    return Literal(True) if _bare(path[-1].kind, known) == Plain("bool") else MapValue()


def _field(params: Definition | None, wire: str, value: str, known: Mapping[str, Definition]) -> str | None:
    """Name the field of the params that an entry means, if its value can be there."""
    if isinstance(params, Union):
        fits = wire == params.tag_field and value in _tags(params)
        return field_of(wire, known) if fits else None
    entry = _member(params, wire)
    if entry is None:
        return None
    kind = _bare(entry.kind, known)
    kind = _bare(kind.item, known) if isinstance(kind, ListOf) else kind
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
