"""The folders of `aio` import one way: transports, engine, session rules, connection; services beside the session."""

import ast
from pathlib import Path

import pytest

from tests.support import ROOT

AIO = ROOT / "runtime" / "aio"
MAY_IMPORT = {
    "_request_task.py": set[str](),
    "_transports": set[str](),
    "_engine": {"_transports", "_request_task"},
    "_session": {"_transports", "_engine"},
    "_services": {"_transports", "_request_task"},
    "_connection.py": {"_transports", "_engine", "_session"},
    "_conversation": {"_transports", "_engine", "_session", "_connection"},
}
"""The parts of `aio`, each with the other parts that it may import."""


def _part(path: Path) -> str:
    return path.relative_to(AIO).parts[0]


@pytest.mark.parametrize("path", sorted(AIO.rglob("*.py")), ids=lambda p: str(p.relative_to(AIO)))
def test_the_parts_import_one_way(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            place = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            if AIO in place.parents:
                assert _part(place) in MAY_IMPORT[_part(path)] | {_part(path)}, f"imports {place.relative_to(AIO)}"
                assert node in tree.body, "imports within a function or a condition hide circles"
