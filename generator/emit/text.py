"""The Python text of types, values and fields, and the names that it needs; nothing else writes any of them."""

import json
from dataclasses import dataclass

from generator.model import (
    Choice,
    Constrained,
    Field,
    Integer,
    Leniency,
    ListOf,
    MapOf,
    Named,
    Nullable,
    Plain,
    Presence,
    Type,
)
from generator.names import helper, wire_name
from generator.values import ListValue, Literal, MapValue, MemberOf, New, Value, is_mutable

INTEGERS = {f"{sign}int{bits}": f"{'UI' if sign else 'I'}nt{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
CONSTRAINT_ALIASES: dict[tuple[tuple[str, str | int | float], ...], str] = {
    (("format", "uri"),): "Uri",
    (("format", "date-time"),): "DateTime",
    (("format", "regex"),): "Regex",
    (("content_encoding", "base64"),): "Base64",
}
ENFORCED = {"min_items": "min_length"}
"""What `msgspec.Meta` calls a limit, where the name differs."""
WRAPPERS = {Leniency.ON_ERROR: "OrDefault", Leniency.ON_NULL: "NullOrDefault"}


def quoted(text: str) -> str:
    """Write text as a Python literal in double quotes."""
    return json.dumps(text, ensure_ascii=False) if text.isprintable() else repr(text)


def value_text(value: Value) -> str:
    """Write a default value as a Python expression."""
    match value:
        case Literal(value=plain, newtype=None):
            return repr(plain)
        case Literal(value=plain, newtype=name):
            return f"{name}({plain!r})"
        case MemberOf(enumeration=name, member=member):
            return f"{name}.{member}"
        case ListValue(items=items):
            return f"[{', '.join(map(value_text, items))}]"
        case MapValue(entries=entries):
            return "{" + ", ".join(f"{key!r}: {value_text(item)}" for key, item in entries) + "}"
        case New(cls=name, arguments=arguments):
            return f"{name}({', '.join(f'{key}={value_text(item)}' for key, item in arguments)})"


def _limits(limits: tuple[tuple[str, str | int | float], ...]) -> str:
    return ", ".join(f"{name}={quoted(value) if isinstance(value, str) else repr(value)}" for name, value in limits)


def bare_type(kind: Type) -> Type:
    """Take sender constraints and `SkipInvalid` off the outside of a type."""
    match kind:
        case Constrained(inner=inner):
            return bare_type(inner)
        case ListOf(item=item):
            return ListOf(item)
        case _:
            return kind


@dataclass(slots=True)
class Writer:
    """Writes types and defaults.

    `hidden` are the names of the schema: a helper of the same name is imported with a leading underscore. `shadowed`
    are the names of the current class's fields, which hide built-in types from its annotations.
    """

    shadowed: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()

    def helper(self, name: str) -> str:
        """Return the name under which a helper is imported."""
        return helper(name, self.hidden)

    def builtin(self, name: str) -> str:
        """Write a built-in type; through the module `builtins` where a field has the same name."""
        if name in self.shadowed:
            return f"{self.helper('builtins')}.{name}"
        return name

    def kind(self, kind: Type) -> str:
        """Write a type expression."""
        match kind:
            case Named(name=name):
                return name
            case Plain(name="Any"):
                return self.helper("Any")
            case Plain(name="None"):
                return "None"
            case Plain(name=name):
                return self.builtin(name)
            case Integer(format=fmt, low=None):
                return self.helper(INTEGERS[fmt])
            case Integer(low=low, high=high):
                bounds = f"{self.helper('Meta')}(ge={low}, le={high})"
                return f"{self.helper('Annotated')}[{self.builtin('int')}, {bounds}]"
            case Constrained(Plain(name="str"), constraints, ()) if constraints in CONSTRAINT_ALIASES:
                return self.helper(CONSTRAINT_ALIASES[constraints])
            case Constrained(inner=inner, constraints=constraints, enforced=enforced):
                given = tuple((ENFORCED.get(name, name), value) for name, value in enforced)
                metadata = [f"{self.helper('Meta')}({_limits(given)})"] if given else []
                metadata += [f"{self.helper('SenderConstraint')}({_limits(constraints)})"] if constraints else []
                return f"{self.helper('Annotated')}[{', '.join((self.kind(inner), *metadata))}]"
            case ListOf(item=item, skips=skips):
                text = f"{self.builtin('list')}[{self.kind(item)}]"
                return f"{self.helper('SkipInvalid')}[{text}]" if skips else text
            case MapOf(item=item):
                return f"{self.builtin('dict')}[{self.builtin('str')}, {self.kind(item)}]"
            case Nullable(inner=inner):
                return f"{self.kind(inner)} | None"
            case Choice(options=options):
                return " | ".join(self.kind(o) for o in options)

    def annotation(self, entry: Field) -> str:
        """Write a field's annotation."""
        if entry.constant is not None:
            text = f"{self.helper('Literal')}[{quoted(entry.constant)}]"
            return text if entry.presence is Presence.REQUIRED else f"{text} | None"
        text = self.kind(entry.kind)
        if entry.presence in (Presence.PATCH, Presence.ABSENT):
            text = f"{text} | {self.helper('UnsetType')}"
        wrapper = WRAPPERS.get(entry.leniency)
        text = f"{self.helper(wrapper)}[{text}]" if wrapper else text
        return f"{self.helper('MergedByKey')}[{text}]" if entry.merged else text

    def default(self, entry: Field) -> str:
        """Write a field's default with its equals sign, or nothing."""
        named = "" if wire_name(entry.name) == entry.wire else f"name={quoted(entry.wire)}"
        if entry.constant is not None and entry.presence is Presence.REQUIRED:
            return f" = {self._call('always', quoted(entry.constant), named)}"
        text = ""
        match entry.presence:
            case Presence.REQUIRED:
                pass
            case Presence.OPTION:
                text = "None"
            case Presence.PATCH | Presence.ABSENT:
                text = self.helper("UNSET")
            case Presence.DEFAULTED if entry.default is not None:
                return f" = {self._always(entry.kind, entry.default, named)}"
            case Presence.EMPTY if entry.default is not None:
                if named and isinstance(entry.default, ListValue | MapValue):
                    factory = self.builtin("list" if isinstance(entry.default, ListValue) else "dict")
                    return f" = {self._call('field', f'default_factory={factory}', named)}"
                text = value_text(entry.default)
            case _:
                raise AssertionError(f"{entry.wire} has no default to write")
        if named:
            text = self._call("field", f"default={text}" if text else "", named)
        return f" = {text}" if text else ""

    def _always(self, kind: Type, value: Value, named: str) -> str:
        """Write a default that is encoded even when nothing else was set."""
        if is_mutable(value):
            return self._call("always_new", self._factory(kind, value), named)
        return self._call("always", value_text(value), named)

    def _factory(self, kind: Type, value: Value) -> str:
        """Write what makes a new value for each object."""
        match value, bare_type(kind):
            case New(cls=name, arguments=()), _:
                return name
            case (ListValue(items=()), ListOf() as made) | (MapValue(entries=()), MapOf() as made):
                # With its items' type: strict type checkers do not know what a bare `list` makes.
                return self.kind(made)
            case _:
                return f"lambda: {value_text(value)}"

    def _call(self, function: str, *arguments: str) -> str:
        return f"{self.helper(function)}({', '.join(a for a in arguments if a)})"
