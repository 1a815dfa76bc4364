"""The last look at an emitted module: it compiles, and nothing in it is defined twice."""

import ast
from collections.abc import Iterable

from generator.errors import GeneratorError


def check_module(path: str, text: str, file: str) -> None:
    """Refuse a module that Python could not read, or where one name hides another; `file` is the schema's."""
    try:
        tree = ast.parse(text, path)
        compile(tree, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as why:
        raise GeneratorError(f"{path} would not compile: {why}", file=file, hint="the generator is to blame") from None
    for owner, body in [("", tree.body), *((n.name, n.body) for n in tree.body if isinstance(n, ast.ClassDef))]:
        twice = _first_twice(body)
        if twice is not None:
            place = f"{owner}.{twice}" if owner else twice
            raise GeneratorError(
                f"{path} would define {place} twice", file=file, hint="two names of the schema meet in Python"
            )


def _first_twice(body: list[ast.stmt]) -> str | None:
    seen: set[str] = set()
    for statement in body:
        for name in _bound(statement):
            if name in seen:
                return name
            seen.add(name)
    return None


def _bound(statement: ast.stmt) -> Iterable[str]:
    """List the names that a statement binds; the overloads of a function count as one with it."""
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
