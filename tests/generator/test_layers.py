"""Imports go one way, and each outside dependency has one door."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

from tests.support import ROOT, check_each

LAYERS = (
    "errors",
    "jsonutil",
    "engine",
    "values",
    "model",
    "aliases",
    "source",
    "read",
    "overrides",
    "docs",
    "names",
    "templates",
    "lower",
    "builders",
    "emit",
    "roles",
    "api",
    "explain",
    "write",
    "manifest",
    "fetch",
    "git",
    "npm",
    "cargo",
    "pin",
    "prove",
    "pipeline",
    "model_json",
    "tolerant",
    "diff",
    "bump",
    "cli",
    "__main__",
)
DOORS = {
    "datamodel_code_generator": {"engine"},
    "jinja2": {"templates"},
    "typer": {"cli"},
    "rich": {"cli"},
    "subprocess": {"git", "npm", "cargo", "prove"},
    "tomlkit": {"bump"},
}
"""Which layers may import what; of the rest of the world, the standard library alone."""
NETWORK_DOOR = "fetch"
NETWORK = {"http", "urllib", "socket", "ssl", "requests", "httpx", "asyncio"}

WITHOUT_CIRCLES = ("generator", "runtime")
"""The folders whose modules may not import each other in a circle."""
LAZY_DOORS = {"runtime": {"_decode/hook.py"}}
"""Files that may import what lies above them, inside a function, when it is first needed."""

GENERATOR = sorted((ROOT / "generator").rglob("*.py"))
RUNTIME = sorted((ROOT / "runtime").rglob("*.py"))
NEWER = {"annotationlib"}
"""Modules of the standard library that not every Python has which we support; imported only where they are."""
RUNTIME_DOORS = {
    "websockets": {"aio/_transports/websocket.py"},
    "typing_extensions": {"_codec.py", "_rpc/envelopes.py"},
}
"""Optional dependencies of the package, by the files that may import them; type checkers bring the second along."""
RUNTIME_LAYERS = ("_types", "_build", "_decode", "_rpc", "verbs", "state", "aio", "tools", "__main__")
"""From the bottom up; the modules beside these folders are the verbs. Generated modules are above the verbs."""


def _layer(path: Path) -> str:
    first = path.relative_to(ROOT / "generator").parts[0]
    return first.removesuffix(".py")


@cache
def _imports(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append("." * node.level + (node.module or ""))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "import_module":
            found += _named(node.args[0])
    return found


def _named(argument: ast.expr) -> list[str]:
    """Give the module that a call loads by name, as far as the name stands there."""
    first = argument.values[0] if isinstance(argument, ast.JoinedStr) else argument
    name = first.value if isinstance(first, ast.Constant) else None
    return [name.rstrip(".")] if isinstance(name, str) and not name.startswith(".") else []


def test_generator_imports_only_what_lies_below() -> None:
    check_each(GENERATOR, _generator_imports_only_what_lies_below)


def _generator_imports_only_what_lies_below(path: Path) -> None:
    own = _layer(path)
    if own == "__init__":
        assert all(name in sys.stdlib_module_names for name in _imports(path))
        return
    for name in _imports(path):
        assert not name.startswith("."), "the generator names its modules in full"
        top, _, rest = name.partition(".")
        if top == "generator" and rest:
            other = rest.partition(".")[0]
            assert other in LAYERS, f"{other} has no place in the order of layers"
            assert LAYERS.index(other) <= LAYERS.index(own), f"{own} imports {other}, which lies above it"
            assert other != own or own in ("lower", "emit", "diff", "pin", "bump"), f"{own} imports itself"
        else:
            assert own in DOORS.get(top, {own}), f"{top} is imported by {' and '.join(DOORS[top])} alone"
            assert top not in NETWORK or own == NETWORK_DOOR, "fetch.py alone may touch the network"
            assert top in sys.stdlib_module_names or top in DOORS or name == "generator", f"{top} is a new dependency"


def test_package_needs_msgspec_alone() -> None:
    check_each(RUNTIME, _package_needs_msgspec_alone)


def _package_needs_msgspec_alone(path: Path) -> None:
    own = path.relative_to(ROOT / "runtime")
    for name in _imports(path):
        dots = len(name) - len(name.lstrip("."))
        if dots:
            place = own.parents[dots - 1] / name[dots:].replace(".", "/")
            is_here = any((ROOT / "runtime" / p).exists() for p in (place, f"{place}.py"))
            assert is_here or place == Path("_about"), f"{name} is not here"
            assert dots <= len(own.parts), "the package imports itself, not what surrounds it"
        else:
            top = name.partition(".")[0]
            is_standard = top in sys.stdlib_module_names or top in NEWER
            allowed = top == "msgspec" or is_standard or own.as_posix() in RUNTIME_DOORS.get(top, ())
            assert allowed, f"{top} is a new dependency of the package"


def test_package_imports_only_what_lies_below() -> None:
    check_each(RUNTIME, _package_imports_only_what_lies_below)


def _package_imports_only_what_lies_below(path: Path) -> None:
    own = path.relative_to(ROOT / "runtime")
    for name in _imports(path):
        dots = len(name) - len(name.lstrip("."))
        if dots:
            imported = own.parents[dots - 1].joinpath(*name[dots:].split("."))
            ours, other = _runtime_layer(own), _runtime_layer(imported)
            assert RUNTIME_LAYERS.index(other) <= RUNTIME_LAYERS.index(ours), f"{ours} imports {other}: {name}"


def _runtime_layer(path: Path) -> str:
    first = path.parts[0].removesuffix(".py")
    return first if first in RUNTIME_LAYERS else "verbs"


def _module(folder: Path, path: Path) -> str:
    parts = (folder.name, *path.relative_to(folder).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _statements(tree: ast.AST, *, top_only: bool) -> Iterator[ast.AST]:
    """List the nodes of a module, those inside functions included unless only the others count."""
    for node in ast.iter_child_nodes(tree):
        if not (top_only and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            yield node
            yield from _statements(node, top_only=top_only)


def _modules_imported(path: Path, package: str, known: set[str], *, top_only: bool) -> set[str]:
    """List the modules that a file imports anywhere, `if TYPE_CHECKING` and functions included.

    `from a import b` imports the module `a.b` if there is one, else `a`.
    """
    found: set[str] = set()
    for node in _statements(ast.parse(path.read_text(encoding="utf-8")), top_only=top_only):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names = {f"{base}.{alias.name}" for alias in node.names}
            found |= names & known
            found |= {base} if names - known else set()
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            name = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            found |= {resolve_name(name, package)} if isinstance(name, str) else set()
    return found & known


@pytest.mark.parametrize("name", WITHOUT_CIRCLES)
def test_no_modules_import_each_other(name: str) -> None:
    folder = ROOT / name
    paths = {_module(folder, p): p for p in folder.rglob("*.py")}
    graph = {
        module: _modules_imported(
            path,
            module if path.name == "__init__.py" else module.rpartition(".")[0],
            set(paths),
            top_only=path.relative_to(folder).as_posix() in LAZY_DOORS.get(name, ()),
        )
        for module, path in paths.items()
    }
    circle: list[str] = []
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as why:
        circle = why.args[1]
    assert not circle, f"these modules import each other: {' <- '.join(circle)}"
    assert sum(map(len, graph.values())) > len(graph), "the imports have been found"


def test_files_stay_small() -> None:
    check_each(GENERATOR + RUNTIME, _files_stay_small)


def _files_stay_small(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")

    assert lines <= 500, f"{lines} lines"
