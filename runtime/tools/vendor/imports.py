"""What the files of the package import from each other, read from their source.

Paths are relative to the package's folder: `v1/types.py`.
"""

import ast
from collections.abc import Collection, Mapping
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from .errors import VendorError


class Import(NamedTuple):
    """A relative import: `from ..a.b import c` has level 2, module "a.b" and names ("c",)."""

    level: int
    module: str
    names: tuple[str, ...]


def parse(path: str, source: bytes) -> ast.Module:
    """Parse a file of the package; raise `VendorError` if it is damaged."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        raise VendorError(f"{path}: this file of the package is not valid Python (hint: install it again)") from None


@cache
def imports_of(path: str, source: bytes) -> tuple[Import, ...]:
    """List the relative imports of a file, wherever they are in it."""
    nodes = [node for node in ast.walk(parse(path, source)) if isinstance(node, ast.ImportFrom) and node.level]
    return tuple(Import(n.level, n.module or "", tuple(alias.name for alias in n.names)) for n in nodes)


def closure(files: Mapping[str, bytes], roots: Collection[str], not_followed: Collection[str]) -> set[str]:
    """Return the roots and every file that they load, directly or not.

    An import of what is not in `files` is skipped: it is for type checkers, and of a label that was not chosen.
    """
    found: set[str] = set()
    waiting = list(roots)
    while waiting and len(found) < len(files):
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _around(path, files)
            if path.endswith(".py") and path not in not_followed:
                waiting += [target for i in imports_of(path, files[path]) for target in targets(path, i, files)]
    return found


def targets(path: str, imported: Import, files: Collection[str]) -> list[str]:
    """List the files that an import in the file `path` loads, the `__init__` of outer folders aside."""
    base = [*path.split("/")[: -imported.level], *filter(None, imported.module.split("."))]
    modules = ["/".join(base), *("/".join([*base, name]) for name in imported.names)]
    return [file for module in modules for file in (f"{module}.py", f"{module}/__init__.py") if file in files]


def _around(path: str, files: Collection[str]) -> list[str]:
    """List what comes with a file: the `__init__` of each outer folder, and the style sheets and scripts beside it."""
    *folders, _ = path.split("/")
    inits = ["__init__.py", *(f"{folder}/__init__.py" for folder in accumulate(folders, "{}/{}".format))]
    beside = [p for p in files if folders and p.rpartition("/")[0] == "/".join(folders) and not p.endswith(".py")]
    return [*(init for init in inits if init in files), *beside]
