"""From definitions to the classes and aliases of the emitted module."""

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, cast

from generator.engine import SchemaObject
from generator.errors import child
from generator.lower.alternatives import expand
from generator.lower.context import (
    Context,
    Node,
    branches_of,
    const_of,
    is_free,
    reference_of,
    text_of,
    type_of,
)
from generator.lower.fields import lower_fields
from generator.lower.kinds import ANY, choice_of, is_scalar, kind_of
from generator.lower.unions import count_refs, fallback_guards, fold_tags, lower_union
from generator.model import (
    Alias,
    CatchAll,
    Definition,
    Enumeration,
    Identifier,
    Member,
    Named,
    Plain,
    Struct,
    Tag,
    Union,
)
from generator.names import member_of


class Category(Enum):
    """What a definition becomes."""

    REFERENCE = auto()
    FREE = auto()
    IDENTIFIER = auto()
    ENUMERATION = auto()
    VALUE = auto()
    CHOICE = auto()
    UNION = auto()
    STRUCT = auto()
    CATCH_ALL = auto()


@dataclass(slots=True)
class Lowering:
    """Lowers definitions, each once."""

    context: Context
    routing: frozenset[str]
    folded: dict[str, Tag] = field(default_factory=dict[str, Tag])
    expanding: list[str] = field(default_factory=list[str])
    """The definitions whose alternatives are being listed, to notice one that takes in itself."""
    _done: dict[str, Definition] = field(default_factory=dict[str, Definition])

    def run(self) -> None:
        """Lower every definition that is not a routing one."""
        names = [n for n in self.context.schema.names if n not in self.routing]
        for name in names:
            self.context.names.claim(name, self.context.pointer(name))
        self.folded = fold_tags(self, count_refs(self))
        for name in names:
            self.lowered_definition(name)
        guards = fallback_guards(self.context.made)
        self.context.made[:] = [
            replace(d, untagged_by=guards[d.name]) if isinstance(d, Struct) and d.name in guards else d
            for d in self.context.made
        ]

    def lowered_definition(self, name: str) -> Definition:
        """Lower a definition at the first call."""
        if name not in self._done:
            node = self.context.definition(name)
            made = self.define(name, node, self.context.pointer(name))
            self._done[name] = made
            self.context.made.append(made)
        return self._done[name]

    def lowered(self, name: str) -> Definition | None:
        """Lower a definition that is no object; objects may be under way, so they are not looked into."""
        known = self._done.get(name)
        if known is not None or name not in self.context.schema.definitions or name in self.routing:
            return known
        if self.category(self.context.definition(name)) in (Category.STRUCT, Category.CATCH_ALL, Category.UNION):
            return None
        return self.lowered_definition(name)

    def define_inline(self, name: str, node: SchemaObject, pointer: str) -> str:
        """Make a class of a schema that stands inline."""
        self.context.names.claim(name, pointer)
        made = self.define(name, node, pointer)
        self._done[name] = made
        self.context.made.append(made)
        return name

    def is_struct(self, name: str) -> bool:
        """Say whether a definition is a plain object."""
        return self.category(self.context.definition(name)) is Category.STRUCT

    def category(self, node: SchemaObject) -> Category:
        """Tell what a definition becomes."""
        if reference_of(node) is not None:
            return Category.REFERENCE
        if is_free(node):
            return Category.FREE
        branches = branches_of(node)[1]
        json_type, nullable = type_of(node)
        if json_type == "object" and not nullable:
            if branches:
                return Category.UNION
            if not node.properties and not node.allOf and node.additionalProperties is not None:
                return Category.VALUE
            return Category.CATCH_ALL if node.additionalProperties is True else Category.STRUCT
        if branches:
            if all(_is_member(b) for b in branches):
                consts = [b for b in branches if const_of(b) is not None]
                return Category.ENUMERATION if consts else Category.CHOICE
            return Category.CHOICE if all(is_scalar(b) for b in branches) else Category.UNION
        if node.enum or const_of(node) is not None:
            return Category.ENUMERATION
        if json_type == "string" and kind_of(self, node, "", "", "") == Plain("str"):
            return Category.IDENTIFIER
        return Category.VALUE

    def define(self, name: str, node: SchemaObject, pointer: str) -> Definition:
        """Lower one schema under the name that was claimed for it."""
        method, side = text_of(node, "x-method"), text_of(node, "x-side")
        match self.category(node):
            case Category.REFERENCE:
                return Alias(name, pointer, Named(reference_of(node) or ""), method, side)
            case Category.FREE:
                return Alias(name, pointer, ANY, method, side)
            case Category.IDENTIFIER:
                return Identifier(name, pointer)
            case Category.ENUMERATION:
                return self.enumeration(name, node, pointer)
            case Category.VALUE:
                return Alias(name, pointer, kind_of(self, node, pointer, name, "value"), method, side)
            case Category.CHOICE:
                return Alias(name, pointer, choice_of(self, node, pointer), method, side)
            case Category.UNION:
                return lower_union(self, name, node, pointer)
            case Category.STRUCT | Category.CATCH_ALL as category:
                return self.object(name, node, pointer, keeps_extra=category is Category.CATCH_ALL)

    def object(self, name: str, node: SchemaObject, pointer: str, *, keeps_extra: bool) -> Definition:
        """Lower an object with one shape."""
        found = expand(self, node, pointer, name)
        if len(found) != 1:
            raise self.context.fail(pointer, "an object that takes in a union through allOf", "give it a branch")
        only = found[0]
        fields = lower_fields(self, list(only.properties), name, pointer)
        if keeps_extra or only.keeps_extra:
            return CatchAll(name, pointer, fields)
        method, side = text_of(node, "x-method"), text_of(node, "x-side")
        return Struct(name, pointer, fields, self.folded.get(name), None, method, side)

    def enumeration(self, name: str, node: SchemaObject, pointer: str) -> Enumeration:
        """Lower named values; a branch without a constant leaves the enumeration open."""
        keyword, branches = branches_of(node)
        values: list[tuple[Any, str | None, str]] = []
        rest: list[SchemaObject] = []
        if branches:
            for index, branch in enumerate(branches):
                value = const_of(branch)
                if value is None:
                    rest.append(cast("SchemaObject", branch))
                else:
                    values.append((value, text_of(branch, "title"), child(pointer, keyword, index)))
        elif node.enum:
            values = [(v, None, child(pointer, "enum", i)) for i, v in enumerate(node.enum)]
        else:
            values = [(const_of(node), None, pointer)]
        members = tuple(Member(member_of(v, title), v, place) for v, title, place in values)
        self._check_members(members)
        is_int = isinstance(values[0][0], int)
        wanted = "integer" if is_int else "string"
        if any(type_of(b)[0] != wanted for b in rest) or len(rest) > 1:
            raise self.context.fail(pointer, "an enumeration open to values of another type")
        if rest and is_int and rest[0].format != "int32":
            raise self.context.fail(pointer, "an open enumeration of integers must be of the format int32")
        unknown = self.context.overrides.unknown_of(name)
        if unknown is not None and (rest or unknown not in [m.value for m in members]):
            if self.context.overrides.strict:
                raise self.context.fail(pointer, f"the override unknown_member = {unknown!r} does not fit here")
            unknown = None
        return Enumeration(name, pointer, members, is_int, bool(rest), unknown)

    def _check_members(self, members: tuple[Member, ...]) -> None:
        seen: dict[str, Member] = {}
        values: set[str | int] = set()
        for member in members:
            if member.value in values:
                raise self.context.fail(member.pointer, f"the value {member.value!r} stands twice in one enumeration")
            if member.name in seen:
                first = seen[member.name]
                raise self.context.fail(
                    member.pointer, f"{first.value!r} and {member.value!r} both want the member name {member.name}"
                )
            seen[member.name] = member
            values.add(member.value)


def _is_member(node: Node) -> bool:
    """Say whether a branch is a constant, or the open end of an enumeration."""
    if not isinstance(node, SchemaObject) or node.properties or node.allOf or node.ref:
        return False
    return const_of(node) is not None or type_of(node)[0] in ("string", "integer")


__all__ = ["Category", "Definition", "Lowering", "Union"]
