"""The `__init__` of the package and of each label, reduced to what a copy has.

The generator writes these files. They have a docstring, imports, `__all__`, the names of former releases and those that
are loaded when they are first used, and nothing else: so they can be read as data and written again.
"""

import ast
from collections.abc import Collection, Iterator
from typing import NamedTuple

from .imports import Import, parse, targets

_RENAMING, _LOADING = "_resolve_renamed", "_load_name"
"""The functions that find names of former releases, and names that are loaded when they are first used."""


class Exported(NamedTuple):
    """An import from one module; `names` are pairs of a name there and its name here."""

    level: int
    module: str
    names: list[tuple[str, str]]


class Exports(NamedTuple):
    """The contents of an `__init__`."""

    docstring: str
    imports: list[Exported]
    public: list[str]
    """What `__all__` lists."""
    renamed: dict[str, str]
    """Names of former releases, with their present names."""
    lazy: dict[str, str]
    """Names that are loaded when they are first used, with the module of each."""


def reduced(path: str, source: bytes, files: Collection[str], selected: set[str]) -> bytes | None:
    """Return an `__init__` with only those imports that are of selected files; None if it has no others."""
    exports = read_exports(path, source)
    kept = [i for i in exports.imports if not selected.isdisjoint(_targets(path, i, files))]
    lazy = {n: m for n, m in exports.lazy.items() if not selected.isdisjoint(targets(path, Import(1, m, (n,)), files))}
    if len(kept) == len(exports.imports) and lazy == exports.lazy:
        return None
    names = {here for i in kept for _, here in i.names}
    renamed = {old: new for old, new in exports.renamed.items() if new in names}
    used = {_RENAMING: bool(renamed), _LOADING: bool(lazy)}
    kept = [i for i in kept if any(used.get(here, True) for _, here in i.names)]
    public = [name for name in exports.public if name in names or name in lazy]
    return written(Exports(exports.docstring, kept, public, renamed, lazy))


def read_exports(path: str, source: bytes) -> Exports:
    """Read an `__init__`."""
    tree = parse(path, source)
    imports: list[Exported] = []
    tables: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            names = [(n.name, n.asname or n.name) for n in node.names]
            imports.append(Exported(node.level, node.module or "", names))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            tables[node.targets[0].id] = node.value
    public: list[str] = ast.literal_eval(tables["__all__"])
    renamed: dict[str, str] = ast.literal_eval(tables["_RENAMED"]) if "_RENAMED" in tables else {}
    lazy: dict[str, str] = ast.literal_eval(tables["_LAZY"]) if "_LAZY" in tables else {}
    return Exports(ast.get_docstring(tree, clean=False) or "", imports, public, renamed, lazy)


def written(exports: Exports) -> bytes:
    """Write an `__init__`."""
    return "".join(f"{line}\n" for line in _lines(exports)).encode()


def _targets(path: str, exported: Exported, files: Collection[str]) -> list[str]:
    names = tuple(there for there, _ in exported.names)
    return targets(path, Import(exported.level, exported.module, names), files)


def _lines(exports: Exports) -> Iterator[str]:
    yield f'"""{_escaped(exports.docstring)}"""'
    yield ""
    if exports.renamed or exports.lazy:
        yield from ("import typing as _typing", "")
    for imported in exports.imports:
        yield from _import_lines(imported)
    yield ""
    for table, names, meaning in (
        ("_LAZY", exports.lazy, "Names that are loaded when one of them is first used, and their modules."),
        ("_RENAMED", exports.renamed, "Names of former releases, and their present names."),
    ):
        yield from _table_lines(table, names, meaning)
    if exports.renamed or exports.lazy:
        yield from _looked_up(exports)
    yield "__all__ = ["
    yield from (f'    "{name}",' for name in exports.public)
    yield "]"


def _import_lines(imported: Exported) -> Iterator[str]:
    level, module, names = imported
    spelled = [there if there == here else f"{there} as {here}" for there, here in names]
    if len(names) == 1:
        yield f"from {'.' * level}{module} import {spelled[0]}"
    else:
        yield f"from {'.' * level}{module} import ("
        yield from (f"    {name}," for name in spelled)
        yield ")"


def _table_lines(name: str, entries: dict[str, str], meaning: str) -> Iterator[str]:
    if entries:
        yield f"{name} = {{"
        yield from (f'    "{key}": "{value}",' for key, value in entries.items())
        yield "}"
        yield f'"""{meaning}"""'
        yield ""


def _looked_up(exports: Exports) -> Iterator[str]:
    """Write what finds the names that are not there: those of former releases, and those that are loaded first."""
    renamed, lazy = exports.renamed, exports.lazy
    yield "if _typing.TYPE_CHECKING:"
    for module in sorted(set(lazy.values())):
        names = [(name, name) for name, home in lazy.items() if home == module]
        yield from (f"    {line}" for line in _import_lines(Exported(1, module, names)))
    yield from ("",) if renamed and lazy else ()
    yield from (f"    {old} = {new}" for old, new in renamed.items())
    yield from ("else:", "", "    def __getattr__(name: str) -> _typing.Any:")
    if renamed and lazy:
        yield "        if name in _RENAMED:"
        yield f"            return {_RENAMING}(__name__, _RENAMED, name)"
    elif renamed:
        yield f"        return {_RENAMING}(__name__, _RENAMED, name)"
    if lazy:
        yield f"        return {_LOADING}(__name__, _LAZY, name)"
        yield from ("", "    def __dir__() -> list[str]:", "        return sorted({*globals(), *_LAZY})")
    yield from ("", "") if lazy else ("",)


def _escaped(docstring: str) -> str:
    return docstring.replace("\\", r"\\").replace('"', r"\"")
