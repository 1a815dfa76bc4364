"""Enumerations: named values, closed or open to values that the schema does not name."""

from collections.abc import Iterator
from typing import Any, cast

from generator.engine import SchemaObject
from generator.errors import child
from generator.lower.context import Context
from generator.lower.nodes import branches_of, const_of, has_values, text_of, type_of
from generator.model import Enumeration, Member
from generator.names import member_of


def lower_enumeration(context: Context, name: str, node: SchemaObject, pointer: str) -> Enumeration:
    """Lower named values; a branch without a constant leaves the enumeration open."""
    members = tuple(Member(member_of(v, title), v, place) for v, title, place in _values(node, pointer))
    _check_members(context, members)
    is_int = isinstance(members[0].value, int)
    is_open = _is_open(context, node, pointer, is_int=is_int)
    unknown = context.overrides.unknown_of(name)
    if unknown is not None and (is_open or unknown not in [m.value for m in members]):
        if context.overrides.strict:
            raise context.fail(pointer, f"the override unknown_member = {unknown!r} does not fit here")
        context.overrides.unused(f"unknown_member.{name}")
        unknown = None
    return Enumeration(name, pointer, members, is_int, is_open, unknown)


def _values(node: SchemaObject, pointer: str) -> Iterator[tuple[Any, str | None, str]]:
    """List the values, each with its title and pointer."""
    keyword, branches = branches_of(node)
    if branches:
        for index, branch in enumerate(branches):
            value, place = const_of(branch), child(pointer, keyword, index)
            if value is not None:
                yield value, text_of(branch, "title"), place
            elif isinstance(branch, SchemaObject):
                yield from ((v, None, child(place, "enum", i)) for i, v in enumerate(branch.enum or ()))
    elif node.enum:
        for index, value in enumerate(node.enum):
            yield value, None, child(pointer, "enum", index)
    else:
        yield const_of(node), None, pointer


def _is_open(context: Context, node: SchemaObject, pointer: str, *, is_int: bool) -> bool:
    """Return whether one branch allows other values than the named ones."""
    branches = [cast("SchemaObject", b) for b in branches_of(node)[1]]
    rest = [b for b in branches if not has_values(b)]
    wanted = "integer" if is_int else "string"
    if len(rest) > 1 or any(type_of(b)[0] != wanted for b in rest):
        raise context.fail(pointer, "an enumeration open to values of another type")
    if rest and is_int and rest[0].format != "int32":
        raise context.fail(pointer, "an open enumeration of integers must have the format int32")
    return bool(rest)


def _check_members(context: Context, members: tuple[Member, ...]) -> None:
    """Refuse two members with one value or one name."""
    seen: dict[str, Member] = {}
    values: set[str | int] = set()
    for member in members:
        if member.value in values:
            raise context.fail(member.pointer, f"the value {member.value!r} appears twice in one enumeration")
        if member.name in seen:
            first = seen[member.name]
            raise context.fail(
                member.pointer, f"{first.value!r} and {member.value!r} both want the member name {member.name}"
            )
        seen[member.name] = member
        values.add(member.value)
