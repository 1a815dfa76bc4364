"""Other spellings of definitions, for modules whose own names they would meet.

`types` and `enums` define a class under its key. `messages` and `aio` have names of their own, which their templates
use: there, a definition of such a name is imported as `_Name`.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from generator.model import (
    Advised,
    Alias,
    Choice,
    Definition,
    ListOf,
    MapOf,
    Module,
    Named,
    Nullable,
    Struct,
    Type,
    Union,
)
from generator.names import helper


def spellings(module: Module, own: Collection[str]) -> dict[str, str]:
    """Say how each definition is spelt in a module that has the names `own`."""
    return {d.name: helper(d.name, own) for d in module.definitions}


def respelt(module: Module, spelling: Mapping[str, str]) -> Module:
    """Give the same module with its definitions under other names."""
    if all(a == b for a, b in spelling.items()):
        return module

    def name(old: str | None) -> str | None:
        return None if old is None else spelling.get(old, old)

    def kind(old: Type) -> Type:
        match old:
            case Named(name=known):
                return Named(spelling.get(known, known))
            case Advised(inner=inner) | Nullable(inner=inner):
                return replace(old, inner=kind(inner))
            case ListOf(item=item) | MapOf(item=item):
                return replace(old, item=kind(item))
            case Choice(options=options):
                return Choice(tuple(map(kind, options)))
            case _:
                return old

    def definition(old: Definition) -> Definition:
        made = replace(old, name=spelling[old.name])
        match made:
            case Struct(fields=fields, base=base):
                return replace(made, fields=tuple(replace(f, kind=kind(f.kind)) for f in fields), base=name(base))
            case Alias(kind=target):
                return replace(made, kind=kind(target))
            case Union(variants=variants):
                return replace(made, variants=tuple((way, spelling.get(n, n)) for way, n in variants))
            case _:
                return made

    return replace(
        module,
        definitions=tuple(map(definition, module.definitions)),
        envelopes=tuple(replace(e, params=name(e.params)) for e in module.envelopes),
        methods=tuple(
            replace(m, request=name(m.request), response=name(m.response), notification=name(m.notification))
            for m in module.methods
        ),
    )
