"""The `__init__` of the package and of each label, reduced to what a copy has.

The generator writes these files. They have a docstring, imports, `__all__` and the names of former releases, and
nothing else: so they can be read as data and written again.
"""

import ast
from collections.abc import Collection, Iterator
from typing import NamedTuple

from .imports import Import, parse, targets


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


def reduced(path: str, source: bytes, files: Collection[str], selected: set[str]) -> bytes | None:
    """Return an `__init__` with only those imports that are of selected files; None if it has no others."""
    exports = read_exports(path, source)
    kept = [i for i in exports.imports if not selected.isdisjoint(_targets(path, i, files))]
    if len(kept) == len(exports.imports):
        return None
    names = {here for i in kept for _, here in i.names}
    renamed = {old: new for old, new in exports.renamed.items() if new in names}
    if not renamed:  # private imports serve the former names alone
        kept = [i for i in kept if not all(here.startswith("_") for _, here in i.names)]
    public = [name for name in exports.public if name in names]
    return written(Exports(exports.docstring, kept, public, renamed))


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
    return Exports(ast.get_docstring(tree, clean=False) or "", imports, public, renamed)


def written(exports: Exports) -> bytes:
    """Write an `__init__`."""
    return "".join(f"{line}\n" for line in _lines(exports)).encode()


def _targets(path: str, exported: Exported, files: Collection[str]) -> list[str]:
    names = tuple(there for there, _ in exported.names)
    return targets(path, Import(exported.level, exported.module, names), files)


def _lines(exports: Exports) -> Iterator[str]:
    yield f'"""{_escaped(exports.docstring)}"""'
    yield ""
    if exports.renamed:
        yield from ("import typing as _typing", "")
    for level, module, names in exports.imports:
        spelled = [there if there == here else f"{there} as {here}" for there, here in names]
        if len(names) == 1:
            yield f"from {'.' * level}{module} import {spelled[0]}"
        else:
            yield f"from {'.' * level}{module} import ("
            yield from (f"    {name}," for name in spelled)
            yield ")"
    yield ""
    if exports.renamed:
        yield from _former_names(exports.renamed)
    yield "__all__ = ["
    yield from (f'    "{name}",' for name in exports.public)
    yield "]"


def _former_names(renamed: dict[str, str]) -> Iterator[str]:
    yield "_RENAMED = {"
    yield from (f'    "{old}": "{new}",' for old, new in renamed.items())
    yield "}"
    yield '"""Names of former releases, and their present names."""'
    yield ""
    yield "if _typing.TYPE_CHECKING:"
    yield from (f"    {old} = {new}" for old, new in renamed.items())
    yield "else:"
    yield ""
    yield "    def __getattr__(name: str) -> _typing.Any:"
    yield "        return _resolve_renamed(__name__, _RENAMED, name)"
    yield ""


def _escaped(docstring: str) -> str:
    return docstring.replace("\\", r"\\").replace('"', r"\"")
