"""The shape of a definition: everything that affects its messages, without Python names.

Two definitions with the same shape read and write the same messages.
"""

from collections.abc import Mapping
from typing import Any

from generator.diff.compare.index import Index, has_own_key, variant_key
from generator.emit.text import value_text
from generator.model import (
    Alias,
    CatchAll,
    Choice,
    Constrained,
    Definition,
    Enumeration,
    Field,
    Identifier,
    Integer,
    ListOf,
    MapOf,
    Named,
    Nullable,
    Plain,
    Struct,
    Type,
    Union,
)
from generator.values import renamed

Shape = tuple[Any, ...]
META = "_meta"


class Shapes:
    """Builds the shapes of one module; `names` maps renamed classes to their new names."""

    def __init__(self, index: Index, names: Mapping[str, str]) -> None:
        """Take the module and the renames found so far."""
        self.index = index
        self.names = names

    def of(self, definition: Definition, within: tuple[str, ...] = ()) -> Shape:
        """Return the shape of a definition; `within` are the definitions around it, to which it may refer back."""
        within = (*within, definition.name)
        match definition:
            case Struct(tag=tag, base=base):
                # The tag of a payload with a key in `$defs` belongs to the shape of its union.
                shown = None if has_own_key(definition) or tag is None else (tag.field, tag.value)
                parent = None if base is None else self.kind(Named(base), within)
                guard = definition.guard
                excluded = () if guard is None else (guard.key, guard.unless)
                return ("object", shown, parent, excluded, self._fields(definition.fields, within))
            case CatchAll(fields=fields, known=known, tag=tag):
                shown = None if tag is None else (tag.field, tag.value)
                return (
                    "object with extra",
                    definition.other_of,
                    tuple(sorted(known)),
                    shown,
                    self._fields(fields, within),
                )
            case Enumeration(members=members, is_int=is_int, is_open=is_open, unknown=unknown):
                return ("enumeration", is_int, is_open, unknown, tuple(sorted((m.name, str(m.value)) for m in members)))
            case Identifier():
                return ("identifier",)
            case Alias(kind=kind):
                return ("alias", self.kind(kind, within))
            case Union():
                keyed = ((variant_key(self.index, k.name), self.kind(k, within)) for k in definition.tagged)
                tagged = tuple(sorted(keyed, key=repr))
                rest = tuple(self.kind(k, within) for k in (*definition.others, *definition.fallbacks))
                return ("union", definition.tag_field, tagged, len(definition.others), rest)

    def field(self, entry: Field, within: tuple[str, ...] = ()) -> Shape:
        """Return the shape of a field, without its names."""
        names = {**self.names, **{name: f"self {i}" for i, name in enumerate(within)}}
        # As text, because `False`, `0` and `0.0` are equal in Python.
        default = None if entry.default is None else value_text(renamed(entry.default, names))
        return (
            self.kind(entry.kind, within),
            entry.presence.name,
            entry.leniency.value,
            default,
            entry.constant,
        )

    def _fields(self, fields: tuple[Field, ...], within: tuple[str, ...]) -> Shape:
        return tuple(sorted(((f.wire, *self.field(f, within)) for f in fields), key=repr))

    def kind(self, kind: Type, within: tuple[str, ...] = ()) -> Shape:
        """Return the shape of a type; a class without a key in `$defs` is replaced by its shape."""
        match kind:
            case Named(name=name) if name in within:
                return ("self", within.index(name))
            case Named(name=name):
                target = self.index.by_name.get(name)
                if target is None or has_own_key(target):
                    return ("named", self.names.get(name, name))
                return self.of(target, within)
            case Plain(name=name):
                return ("plain", name)
            case Integer(format=fmt, low=low, high=high):
                return ("integer", fmt, low, high)
            case Constrained(inner=inner, constraints=constraints, enforced=enforced):
                return ("constrained", self.kind(inner, within), constraints, enforced)
            case ListOf(item=item, skips=skips):
                return ("list", self.kind(item, within), skips)
            case MapOf(item=item):
                return ("map", self.kind(item, within))
            case Nullable(inner=inner):
                return ("nullable", self.kind(inner, within))
            case Choice(options=options):
                return ("choice", *(self.kind(o, within) for o in options))


def weight(definition: Definition) -> int:
    """Count the parts of a definition that count as evidence; `_meta` does not, since most objects have it."""
    match definition:
        case Struct(fields=fields) | CatchAll(fields=fields):
            return sum(f.wire != META for f in fields)
        case Enumeration(members=members):
            return len(members)
        case Union():
            return len(definition.tagged) + len(definition.others) + len(definition.fallbacks)
        case Identifier() | Alias():
            return 0
