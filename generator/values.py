"""Default values as data: small trees, independent of Python source text.

Only `emit/text.py` writes a value as Python. `names_in` lists the classes that a value refers to, for ordering and
imports; `renamed` maps them to new names, for comparing two modules.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast


@dataclass(frozen=True, slots=True)
class Literal:
    """A string, a number, a boolean or null.

    `newtype` is the `NewType` of a string that has one, such as a session id.
    """

    value: str | int | float | bool | None
    newtype: str | None = None


@dataclass(frozen=True, slots=True)
class MemberOf:
    """A member of an enumeration, by its Python name."""

    enumeration: str
    member: str


@dataclass(frozen=True, slots=True)
class ListValue:
    """A list."""

    items: tuple["Value", ...] = ()


@dataclass(frozen=True, slots=True)
class MapValue:
    """An object used as a map: its entries in order."""

    entries: tuple[tuple[str, "Value"], ...] = ()


@dataclass(frozen=True, slots=True)
class New:
    """An instance of an emitted class, made with keyword arguments."""

    cls: str
    arguments: tuple[tuple[str, "Value"], ...] = ()


Value = Literal | MemberOf | ListValue | MapValue | New


def is_mutable(value: Value) -> bool:
    """Return whether a value can be changed in place, so that each object needs its own."""
    return isinstance(value, ListValue | MapValue | New)


def names_in(value: Value) -> Iterator[str]:
    """List the classes that a value refers to, each as often as it occurs."""
    match value:
        case Literal(newtype=name):
            yield from [name] if name is not None else []
        case MemberOf(enumeration=name):
            yield name
        case ListValue(items=items):
            for item in items:
                yield from names_in(item)
        case MapValue(entries=entries):
            for _, item in entries:
                yield from names_in(item)
        case New(cls=name, arguments=arguments):
            yield name
            for _, item in arguments:
                yield from names_in(item)


def renamed(value: Value, names: Mapping[str, str]) -> Value:
    """Replace old class names by new ones; strings and keys stay as they are."""

    def pairs(found: tuple[tuple[str, Value], ...]) -> tuple[tuple[str, Value], ...]:
        return tuple((key, renamed(item, names)) for key, item in found)

    match value:
        case Literal(value=plain, newtype=name):
            return Literal(plain, None if name is None else names.get(name, name))
        case MemberOf(enumeration=name, member=member):
            return MemberOf(names.get(name, name), member)
        case ListValue(items=items):
            return ListValue(tuple(renamed(item, names) for item in items))
        case MapValue(entries=entries):
            return MapValue(pairs(entries))
        case New(cls=name, arguments=arguments):
            return New(names.get(name, name), pairs(arguments))


def of_json(raw: object) -> Value:
    """Convert a JSON value of any type."""
    match raw:
        case list():
            return ListValue(tuple(of_json(item) for item in cast("list[object]", raw)))
        case dict():
            return MapValue(tuple((key, of_json(item)) for key, item in cast("dict[str, object]", raw).items()))
        case _:
            return Literal(cast("str | int | float | bool | None", raw))


def to_json(value: Value) -> object:
    """Convert a value that `of_json` has made to JSON; a value with classes has no JSON of its own."""
    match value:
        case Literal(value=plain):
            return plain
        case ListValue(items=items):
            return [to_json(item) for item in items]
        case MapValue(entries=entries):
            return {key: to_json(item) for key, item in entries}
        case MemberOf() | New():
            raise TypeError(f"{value!r} refers to a class")
