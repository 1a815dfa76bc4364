"""Views of definitions: everything that a template writes is spelled out here."""

from dataclasses import dataclass

from generator.docs import Docs
from generator.emit.docstrings import doc_lines, plain_doc
from generator.emit.text import Writer, quoted
from generator.model import Alias, CatchAll, Definition, Enumeration, Identifier, Struct, Union
from generator.names import field_of


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
    """The member that an open enumeration reads unknown values as."""

    @property
    def is_class(self) -> bool:
        """Whether the definition becomes a class."""
        return True


@dataclass(frozen=True, slots=True)
class AliasView:
    """One assignment: an alias, a union or an id."""

    kind: str
    name: str
    line: str
    doc: tuple[str, ...]

    @property
    def is_class(self) -> bool:
        """Whether the definition becomes a class."""
        return False


View = ClassView | AliasView


def _fields_of(definition: Definition) -> set[str]:
    match definition:
        case Struct(fields=fields, tag=tag) | CatchAll(fields=fields, tag=tag):
            return {f.name for f in fields} | ({field_of(tag.field)} if tag is not None else set[str]())
        case _:
            return set()


class Viewer:
    """Builds the views of the definitions in one emitted module."""

    def __init__(self, docs: Docs, definitions: tuple[Definition, ...] = ()) -> None:
        """Start with the `definitions` whose names emitted helpers must not collide with."""
        self.docs = docs
        self.definitions = frozenset(d.name for d in definitions)
        self.writer = Writer(hidden=self.definitions | {name for d in definitions for name in _fields_of(d)})

    def view(self, definition: Definition) -> View:
        """Build the view of a definition."""
        match definition:
            case Struct():
                return self._struct(definition)
            case CatchAll():
                return self._catch_all(definition)
            case Enumeration():
                return self._enumeration(definition)
            case Identifier():
                made = f'{self.writer.helper("NewType")}("{definition.name}", str)'
                return self._alias(definition, f"{definition.name} = {made}", "id")
            case Alias(kind=kind):
                head = f"{definition.name}: {self.writer.helper('TypeAlias')}"
                return self._alias(definition, f"{head} = {self.writer.kind(kind)}", "alias")
            case Union():
                return self._union(definition)

    def _doc(self, definition: Definition, indent: int) -> tuple[str, ...]:
        text = self.docs.of_class(definition.name, definition.pointer)
        return doc_lines(text, definition.pointer, indent)

    def _alias(self, definition: Definition, line: str, kind: str) -> AliasView:
        return AliasView(kind, definition.name, line, self._doc(definition, 0))

    def _union(self, union: Union) -> AliasView:
        write = self.writer
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
                form = "FallbackByTag" if union.tag_decides else "Fallback"
            case True, True, True:
                form = "OpenFallback"
            case False, False, True:
                form = "Untagged"
            case _:
                raise AssertionError(f"{union.name} has a shape that no form writes")
        line = f"{union.name}: {write.helper('TypeAlias')} = {write.helper(form)}[{', '.join(parts)}]"
        return self._alias(union, line, "union")

    def _fields(self, owner: Struct | CatchAll) -> tuple[FieldView, ...]:
        self.writer.shadowed = frozenset(_fields_of(owner))
        views = tuple(
            FieldView(
                f"{f.name}: {self.writer.annotation(f)}{self.writer.default(f)}",
                plain_doc(self.docs.of_field(owner.name, f.wire, f.pointer), 4),
            )
            for f in owner.fields
        )
        self.writer.shadowed = frozenset()
        return views

    def _struct(self, struct: Struct) -> ClassView:
        base = struct.base or self.writer.helper("AcpStruct")
        head = base
        tags: tuple[FieldView, ...] = ()
        if struct.tag is not None:
            head += f", tag_field={quoted(struct.tag.field)}, tag={quoted(struct.tag.value)}"
            tags = (self._tag(struct.tag.field, struct.tag.value),)
        if struct.untagged_by is not None:
            head += f", untagged_by={quoted(struct.untagged_by)}"
        if struct.forbids:
            head += f", forbids={_texts(struct.forbids)}"
        if struct.takes_null:
            head += ", takes_null=True"
        if struct.guard is not None:
            head += f", without={quoted(struct.guard.key)}"
            head += f", unless={quoted(struct.guard.unless)}" if struct.guard.unless is not None else ""
        fields = (*tags, *self._fields(struct))
        return ClassView("struct", struct.name, head, self._doc(struct, 4), fields)

    def _tag(self, key: str, value: str) -> FieldView:
        kind = f"{self.writer.helper('ClassVar')}[{self.writer.helper('Literal')}[{quoted(value)}]]"
        return FieldView(f"{field_of(key, self.definitions)}: {kind} = {quoted(value)}", ())

    def _catch_all(self, made: CatchAll) -> ClassView:
        arguments = [self.writer.helper("CatchAll")]
        tags: tuple[FieldView, ...] = ()
        if made.tag is not None:
            arguments += [f"tag_field={quoted(made.tag.field)}", f"tag={quoted(made.tag.value)}"]
            tags = (self._tag(made.tag.field, made.tag.value),)
        if made.other_of is not None:
            arguments += [f"other_of={quoted(made.other_of)}", f"known={_texts(made.known)}"]
        if made.reserved:
            arguments.append(f"reserved={_texts(made.reserved)}")
        if made.forbids:
            arguments.append(f"forbids={_texts(made.forbids)}")
        fields = (*tags, *self._fields(made))
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
        return ClassView("enum", made.name, self.writer.helper(base), self._doc(made, 4), fields, unknown)


def _texts(values: tuple[str, ...]) -> str:
    return f"({', '.join(quoted(v) for v in values)},)"
