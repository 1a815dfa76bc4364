"""Checks of what is emitted: names do not collide, and a module compiles and defines nothing twice."""

import ast
from collections.abc import Collection, Iterable

from generator.errors import GeneratorError
from generator.model import Module
from generator.names import taken

MODULES = ("aio", "build", "conversation", "enums", "messages", "types")
"""The modules of a schema, which are attributes of its package."""


def parsed(path: str, text: str, file: str) -> ast.Module:
    """Parse an emitted module; refuse one that Python cannot read, as the schema `file` led to it."""
    try:
        return ast.parse(text, path)
    except (SyntaxError, ValueError, RecursionError) as why:
        raise _broken(path, why, file) from None


def check_module(path: str, text: str, file: str) -> None:
    """Refuse a module that Python cannot compile, or where one name hides another; `file` is the schema's."""
    tree = parsed(path, text, file)
    try:
        compile(tree, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as why:
        raise _broken(path, why, file) from None
    for owner, body in [("", tree.body), *((n.name, n.body) for n in tree.body if isinstance(n, ast.ClassDef))]:
        twice = _first_twice(body)
        if twice is not None:
            place = f"{owner}.{twice}" if owner else twice
            raise GeneratorError(
                f"{path} would define {place} twice", file=file, hint="two keys of the schema give the same Python name"
            )


def check_names(module: Module, exports: Collection[str], file: str) -> None:
    """Refuse definitions whose names are public in every module, and keys that msgspec cannot read."""
    for definition in module.definitions:
        if definition.name in {*exports, *MODULES}:
            raise taken(definition.name, file, definition.pointer)
        keys = [(f.wire, f.pointer) for f in getattr(definition, "fields", ())]
        tag = getattr(definition, "tag", None)
        for key, pointer in [*keys, *([(tag.field, definition.pointer)] if tag is not None else [])]:
            if any(c in '"\\' or c < " " for c in key):
                raise GeneratorError(
                    f"the key {key!r} has a quotation mark, a backslash or a control character",
                    file=file,
                    pointer=pointer,
                    hint="msgspec reads no such keys",
                )


def _broken(path: str, why: Exception, file: str) -> GeneratorError:
    return GeneratorError(f"{path} would not compile: {why}", file=file, hint="this is a fault of the generator")


def _first_twice(body: list[ast.stmt]) -> str | None:
    seen: set[str] = set()
    for statement in body:
        for name in _bound(statement):
            if name in seen:
                return name
            seen.add(name)
    return None


def _bound(statement: ast.stmt) -> Iterable[str]:
    """List the names that a statement binds; the overloads of a function do not count."""
    match statement:
        case ast.FunctionDef(decorator_list=[ast.Name(id="overload")]):
            return []
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.ImportFrom(names=names) | ast.Import(names=names):
            return [alias.asname or alias.name for alias in names]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign(targets=targets):
            return [t.id for t in targets if isinstance(t, ast.Name)]
        case _:
            return []
