"""A lowered module, indexed by name: what each name is, which classes were derived from it, and its code."""

import json
from collections.abc import Iterator, Mapping

from generator.aliases import unwrap
from generator.docs import Docs
from generator.emit.text import Writer, quoted
from generator.emit.views import ClassView, Viewer
from generator.errors import child
from generator.model import (
    Alias,
    CatchAll,
    Choice,
    Constrained,
    Definition,
    Field,
    Integer,
    ListOf,
    MapOf,
    Module,
    Named,
    Nullable,
    Plain,
    Struct,
    Type,
    Union,
    parts,
)
from generator.source import Source
from generator.values import to_json

NULL = Plain("None")
TITLE = "title"
_NO_DOCS = Docs(Source("", "", "", {}, None, "", commit=None, pinned=False), {})


class Index:
    """The definitions of one module by name; `keyed` are those with a key in `$defs`.

    `annotations` are the values of keywords that only describe, as JSON, by pointer and keyword.
    """

    def __init__(self, module: Module) -> None:
        """Index the definitions."""
        self.module = module
        self.by_name: dict[str, Definition] = {d.name: d for d in module.definitions}
        self.keyed: dict[str, Definition] = {d.name: d for d in module.definitions if has_own_key(d)}
        self.annotations: dict[str, dict[str, str]] = {}
        for found in (a for a in module.annotations if a.keyword != TITLE):
            text = json.dumps(to_json(found.value), sort_keys=True)
            self.annotations.setdefault(found.pointer, {})[found.keyword] = text
        self.envelopes: dict[str, str] = {e.params: e.name for e in module.envelopes if e.params is not None}

    def pointer(self, name: str) -> str:
        """Return the JSON pointer of a class; a routing union has one, although it is not among the definitions."""
        definition = self.by_name.get(name)
        return child("", "$defs", name) if definition is None else definition.pointer

    def fields(self, name: str) -> tuple[Field, ...]:
        """List the fields of a class, including those of its base."""
        match self.by_name.get(name):
            case Struct(fields=fields, base=base):
                return (*(self.fields(base) if base is not None else ()), *fields)
            case CatchAll(fields=fields):
                return fields
            case _:
                return ()

    def resolved(self, kind: Type) -> Type:
        """Resolve aliases."""
        return unwrap(kind, self.by_name.get, constraints=False)

    def derived(self, *roots: str) -> tuple[str, ...]:
        """List the classes without a key in `$defs` that were made for `roots`; the roots are not listed."""
        found: dict[str, None] = {}
        waiting = list(roots)
        while waiting:
            definition = self.by_name.get(waiting.pop(0))
            for name in () if definition is None else references(definition):
                if name in self.by_name and name not in self.keyed and name not in found and name not in roots:
                    found[name] = None
                    waiting.append(name)
        return tuple(sorted(found))

    def declared(self, name: str) -> str:
        """Write a definition as the emitted module does, without docstrings."""
        definition = self.by_name.get(name)
        if definition is None:
            return name
        view = Viewer(_NO_DOCS).view(definition)
        if isinstance(view, ClassView):
            lines = [f"class {view.name}({view.head}):", *(f"    {f.line}" for f in view.fields)]
            if view.unknown is not None:
                lines.append(f"    # a value that it does not know reads as {view.unknown}")
            return "\n".join(lines)
        return view.line


def has_own_key(definition: Definition) -> bool:
    """Return whether a definition has a key in `$defs`; classes of variants and inline schemas have none."""
    return definition.pointer == child("", "$defs", definition.name)


def declaring_key(pointer: str) -> str:
    """Return the key of the definition that contains a pointer."""
    tokens = pointer.split("/")
    return tokens[2].replace("~1", "/").replace("~0", "~") if len(tokens) > 2 else ""


def references(definition: Definition) -> Iterator[str]:
    """List the names that a definition refers to, each as often as it does."""
    match definition:
        case Struct(fields=fields, base=base):
            yield from [base] if base is not None else []
            yield from (n for f in fields for n in names_in(f.kind))
        case CatchAll(fields=fields):
            yield from (n for f in fields for n in names_in(f.kind))
        case Alias(kind=kind):
            yield from names_in(kind)
        case Union(tagged=tagged, others=others, fallbacks=fallbacks):
            yield from (n for kind in (*tagged, *others, *fallbacks) for n in names_in(kind))
        case _:
            pass


def variant_key(index: Index, name: str) -> tuple[str, ...]:
    """Return what distinguishes a variant in its union: its tag, then the constants of the unions inside it."""
    definition = index.by_name.get(name)
    if not isinstance(definition, Struct | CatchAll):
        return ("",)
    inner = (f"{f.wire} = {quoted(f.constant)}" for f in definition.fields if f.constant is not None)
    return (definition.tag.value if definition.tag else "", *inner)


def names_in(kind: Type) -> Iterator[str]:
    """List the names in a type expression."""
    return (p.name for p in parts(kind) if isinstance(p, Named))


def type_text(kind: Type) -> str:
    """Write a type expression as the emitted module does."""
    return Writer().kind(kind)


def field_text(entry: Field) -> str:
    """Write a field as the emitted module does."""
    writer = Writer()
    return f"{entry.name}: {writer.annotation(entry)}{writer.default(entry)}"


def renamed_type(kind: Type, names: Mapping[str, str]) -> Type:
    """Replace old names by new ones in a type expression."""
    match kind:
        case Named(name=name):
            return Named(names.get(name, name))
        case Plain() | Integer():
            return kind
        case Constrained(inner=inner, constraints=constraints, enforced=enforced):
            return Constrained(renamed_type(inner, names), constraints, enforced)
        case ListOf(item=item, skips=skips):
            return ListOf(renamed_type(item, names), skips)
        case MapOf(item=item):
            return MapOf(renamed_type(item, names))
        case Nullable(inner=inner):
            return Nullable(renamed_type(inner, names))
        case Choice(options=options):
            return Choice(tuple(renamed_type(o, names) for o in options))


def described(definition: Definition) -> str:
    """Return the kind of a definition in two or three words."""
    match definition:
        case Struct():
            return "an object"
        case CatchAll():
            return "an object with undeclared keys"
        case Union():
            return "a union"
        case Alias():
            return f"an alias of {type_text(definition.kind)}"
        case _:
            return "an enumeration" if hasattr(definition, "members") else "text of a named type"
