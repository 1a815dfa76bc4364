"""Finished view objects: everything a template writes is decided and spelt out here."""

import textwrap
from dataclasses import dataclass

from generator.docs import Docs
from generator.emit.text import Writer, quoted
from generator.model import Alias, CatchAll, Definition, Enumeration, Field, Identifier, Struct, Union
from generator.names import field_of

WIDTH = 116


@dataclass(frozen=True, slots=True)
class FieldView:
    """One field: `line` is its declaration, `doc` the lines of its docstring."""

    line: str
    doc: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClassView:
    """One class."""

    kind: str
    name: str
    head: str
    doc: tuple[str, ...]
    fields: tuple[FieldView, ...]
    unknown: str | None = None


@dataclass(frozen=True, slots=True)
class AliasView:
    """One assignment: an alias, a union or an id."""

    kind: str
    name: str
    line: str
    doc: tuple[str, ...]


View = ClassView | AliasView


def doc_lines(text: str | None, pointer: str, indent: int) -> tuple[str, ...]:
    """Lay out a docstring: one line where it fits, else a summary, a blank line and the rest."""
    cite = f"[#{pointer}]" if pointer else ""
    if not text:
        return (cite,) if cite else ()
    text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    whole = f"{text} {cite}".strip()
    room = WIDTH - indent
    if len(whole) + 6 <= room and not whole.endswith('"'):
        return (whole,)
    first, _, rest = text.partition(". ")
    summary = textwrap.wrap(f"{first}." if rest else first, room - 3)
    body = textwrap.wrap(f"{rest} {cite}".strip(), room) if rest or cite else []
    return (*summary, "", *body, "") if body else (*summary, "")


def plain_doc(text: str | None, indent: int) -> tuple[str, ...]:
    """Lay out the docstring of a field or member, which cites no place of its own."""
    return doc_lines(text, "", indent) if text else ()


class Viewer:
    """Makes the views of one emitted module."""

    def __init__(self, docs: Docs) -> None:
        """Start with no names used."""
        self.docs = docs
        self.writer = Writer()

    def view(self, definition: Definition) -> View:
        """Make the view of a definition."""
        match definition:
            case Struct():
                return self._struct(definition)
            case CatchAll():
                return self._catch_all(definition)
            case Enumeration():
                return self._enumeration(definition)
            case Identifier():
                self.writer.use("NewType")
                return self._alias(definition, f'{definition.name} = NewType("{definition.name}", str)', "id")
            case Alias(kind=kind):
                self.writer.use("TypeAlias")
                return self._alias(definition, f"{definition.name}: TypeAlias = {self.writer.kind(kind)}", "alias")
            case Union():
                return self._union(definition)

    def _doc(self, definition: Definition, indent: int) -> tuple[str, ...]:
        text = self.docs.of_class(definition.name, definition.pointer)
        return doc_lines(text, definition.pointer, indent)

    def _alias(self, definition: Definition, line: str, kind: str) -> AliasView:
        return AliasView(kind, definition.name, line, self._doc(definition, 0))

    def _union(self, union: Union) -> AliasView:
        write = self.writer
        write.use("TypeAlias")
        known = " | ".join(write.kind(k) for k in union.tagged)
        others = " | ".join(write.kind(k) for k in union.others)
        fallbacks = " | ".join(write.kind(k) for k in union.fallbacks)
        parts = [p for p in (known, others, fallbacks) if p]
        match bool(known), bool(others), bool(fallbacks):
            case True, False, False:
                form = "Closed"
            case True, True, False:
                form = "Open"
            case True, False, True:
                form = "Fallback"
            case True, True, True:
                form = "OpenFallback"
            case False, False, True:
                form = "Untagged"
            case _:
                raise AssertionError(f"{union.name} has a shape that no form writes")
        line = f"{union.name}: TypeAlias = {write.use(form)}[{', '.join(parts)}]"
        return self._alias(union, line, "union")

    def _fields(self, owner: str, fields: tuple[Field, ...]) -> tuple[FieldView, ...]:
        self.writer.shadowed = frozenset(f.name for f in fields)
        views = tuple(
            FieldView(
                f"{f.name}: {self.writer.annotation(f)}{self.writer.default(f)}",
                plain_doc(self.docs.of_field(owner, f.wire, f.pointer), 4),
            )
            for f in fields
        )
        self.writer.shadowed = frozenset()
        return views

    def _struct(self, struct: Struct) -> ClassView:
        base = self.writer.use(struct.base or "AcpStruct")
        head = base
        tags: tuple[FieldView, ...] = ()
        if struct.tag is not None:
            head += f", tag_field={quoted(struct.tag.field)}, tag={quoted(struct.tag.value)}"
            tags = (self._tag(struct.tag.field, struct.tag.value),)
        if struct.untagged_by is not None:
            head += f", untagged_by={quoted(struct.untagged_by)}"
        fields = (*tags, *self._fields(struct.name, struct.fields))
        return ClassView("struct", struct.name, head, self._doc(struct, 4), fields)

    def _tag(self, key: str, value: str) -> FieldView:
        self.writer.use("ClassVar")
        self.writer.use("Literal")
        return FieldView(f"{field_of(key)}: ClassVar[Literal[{quoted(value)}]] = {quoted(value)}", ())

    def _catch_all(self, made: CatchAll) -> ClassView:
        arguments = [self.writer.use("CatchAll")]
        tags: tuple[FieldView, ...] = ()
        if made.tag is not None:
            arguments += [f"tag_field={quoted(made.tag.field)}", f"tag={quoted(made.tag.value)}"]
            tags = (self._tag(made.tag.field, made.tag.value),)
        if made.other_of is not None:
            arguments += [f"other_of={quoted(made.other_of)}", f"known={_texts(made.known)}"]
        if made.reserved:
            arguments.append(f"reserved={_texts(made.reserved)}")
        fields = (*tags, *self._fields(made.name, made.fields))
        return ClassView("catch-all", made.name, ", ".join(arguments), self._doc(made, 4), fields)

    def _enumeration(self, made: Enumeration) -> ClassView:
        if made.is_open:
            base = "OpenInt32Enum" if made.is_int else "OpenStrEnum"
        else:
            base = "IntEnum" if made.is_int else "StrEnum"
        fields = tuple(
            FieldView(
                f"{m.name} = {quoted(m.value) if isinstance(m.value, str) else m.value}",
                plain_doc(self.docs.of_member(made.name, m.value, m.pointer), 4),
            )
            for m in made.members
        )
        unknown: str | None = None
        if made.unknown is not None:
            unknown = next(m.name for m in made.members if m.value == made.unknown)
        return ClassView("enum", made.name, self.writer.use(base), self._doc(made, 4), fields, unknown)


def _texts(values: tuple[str, ...]) -> str:
    return f"({', '.join(quoted(v) for v in values)},)"
