"""Default values as data: small trees, which `emit/text.py` alone writes as Python.

Nothing here knows Python source text. Who needs the classes that a value refers to walks the tree with `names_in`; who
compares two modules with renamed classes maps it with `renamed`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast


@dataclass(frozen=True, slots=True)
class Literal:
    """A text, a number, a boolean or null.

    `newtype` names the `NewType` of a text that has a type of its own, such as a session id.
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
    """An object that is used as a map, as its pairs in order."""

    entries: tuple[tuple[str, "Value"], ...] = ()


@dataclass(frozen=True, slots=True)
class New:
    """An instance of an emitted class, made with keyword arguments."""

    cls: str
    arguments: tuple[tuple[str, "Value"], ...] = ()


Value = Literal | MemberOf | ListValue | MapValue | New


def is_mutable(value: Value) -> bool:
    """Say whether every object needs a value of its own, because one could be changed in place."""
    return isinstance(value, ListValue | MapValue | New)


def names_in(value: Value) -> Iterator[str]:
    """List the classes that a value refers to, each as often as it does."""
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
    """Put new names for old ones into a value."""

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
    """Give a JSON value as it is, for a place that takes any."""
    match raw:
        case list():
            return ListValue(tuple(of_json(item) for item in cast("list[object]", raw)))
        case dict():
            return MapValue(tuple((key, of_json(item)) for key, item in cast("dict[str, object]", raw).items()))
        case _:
            return Literal(cast("str | int | float | bool | None", raw))
