"""The text of type expressions and fields, and the names that it needs."""

import ast
import json
from dataclasses import dataclass, field

from generator.model import (
    Advised,
    Choice,
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

INTEGERS = {f"{sign}int{bits}": f"{'UI' if sign else 'I'}nt{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
ADVICE_ALIASES: dict[tuple[tuple[str, str | int | float], ...], str] = {
    (("format", "uri"),): "Uri",
    (("format", "date-time"),): "DateTime",
    (("format", "regex"),): "Regex",
    (("content_encoding", "base64"),): "Base64",
}
WRAPPERS = {Leniency.ON_ERROR: "OrDefault", Leniency.ON_NULL: "NullOrDefault"}


def quoted(text: str) -> str:
    """Write text as a Python literal in double quotes."""
    return json.dumps(text, ensure_ascii=False) if text.isprintable() else repr(text)


def names_in(expression: str) -> set[str]:
    """List the names that a Python expression uses."""
    return {node.id for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Name)}


def without_marks(kind: Type) -> Type:
    """Take advice and leniency off the outside of a type."""
    match kind:
        case Advised(inner=inner):
            return without_marks(inner)
        case ListOf(item=item):
            return ListOf(item)
        case _:
            return kind


@dataclass(slots=True)
class Writer:
    """Writes types; `uses` collects the names that an emitted module must import or define before.

    `hidden` are names of the schema, which what is imported from elsewhere must not meet; `shadowed` those that a
    class's own fields hide from its annotations.
    """

    uses: set[str] = field(default_factory=set[str])
    shadowed: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()

    def use(self, name: str) -> str:
        """Note that a name is used."""
        self.uses.add(name)
        return name

    def helper(self, name: str) -> str:
        """Note that a name from elsewhere is used, and spell it."""
        return self.use(helper(name, self.hidden))

    def builtin(self, name: str) -> str:
        """Write a built-in type, by way of its module where a field has the same name."""
        if name in self.shadowed:
            return f"{self.helper('builtins')}.{name}"
        return name

    def kind(self, kind: Type) -> str:
        """Write a type expression."""
        match kind:
            case Named(name=name):
                return self.use(name)
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
            case Advised(inner=Plain(name="str"), advice=advice) if advice in ADVICE_ALIASES:
                return self.helper(ADVICE_ALIASES[advice])
            case Advised(inner=inner, advice=advice):
                limits = ", ".join(f"{k}={quoted(v) if isinstance(v, str) else repr(v)}" for k, v in advice)
                return f"{self.helper('Annotated')}[{self.kind(inner)}, {self.helper('Advice')}({limits})]"
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
        if entry.presence is Presence.PATCH:
            text = f"{text} | {self.helper('UnsetType')}"
        wrapper = WRAPPERS.get(entry.leniency)
        return f"{self.helper(wrapper)}[{text}]" if wrapper else text

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
            case Presence.PATCH:
                text = self.helper("UNSET")
            case Presence.DEFAULTED | Presence.EMPTY if entry.default is not None:
                text = entry.default.expression
                if entry.presence is Presence.DEFAULTED:
                    fresh = entry.default.fresh
                    if fresh and text in ("list", "dict"):
                        # With its items' type, so that a type checker in strict mode knows what it makes.
                        text = self.kind(without_marks(entry.kind))
                    return f" = {self._call('always_new' if fresh else 'always', text, named)}"
            case _:
                raise AssertionError(f"{entry.wire} has no default to write")
        if not named:
            return f" = {text}" if text else ""
        if text in ("[]", "{}"):
            factory = self.builtin("list" if text == "[]" else "dict")
            return f" = {self._call('field', f'default_factory={factory}', named)}"
        return f" = {self._call('field', f'default={text}' if text else '', named)}"

    def _call(self, function: str, *arguments: str) -> str:
        return f"{self.helper(function)}({', '.join(a for a in arguments if a)})"
