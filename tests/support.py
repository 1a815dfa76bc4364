"""What several test modules share: generating into a folder, importing what came out, golden files."""

import fcntl
import importlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pytest

from generator.jsonutil import is_array, is_object
from generator.manifest import update
from generator.pipeline import generate_single
from tests.oracle.schema_files import LABELS

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests" / "cases"
PROJECT = CASES / "project"
"""The overrides and docstrings of the cases, laid out as in this project."""
REFRESH = "ACP_REFRESH"
EACH_LABEL = [
    label if label.endswith("_unstable") else pytest.param(label, marks=pytest.mark.endurance) for label in LABELS
]
"""Labels for a test that takes seconds for each; the unstable schemas have nearly all that the stable ones have."""
T = TypeVar("T")


def generate_case(schema: Path, label: str, out: Path) -> dict[str, str]:
    """Generate one schema into `out`, and give the texts of its module.

    A case has the overrides beside it, or those of all cases, and the docstrings of the cases: what a bump edits in
    `schema/` cannot change what becomes of it.
    """
    own = schema.parent / "overrides.toml"
    overrides = own if own.exists() else None
    made = generate_single(schema, label, None, lambda _: None, out, root=PROJECT, overrides=overrides)
    update(out, made.output, check=False)
    prefix = f"acp_msgspec/{label}/"
    return {p.removeprefix(prefix): t for p, t in made.files.items() if p.startswith(prefix)}


@contextmanager
def imported(out: Path, label: str, name: str) -> Generator[tuple[ModuleType, ModuleType]]:
    """Import the package in `out` under another name, as a project that vendors it does."""
    shutil.move(out / "acp_msgspec", out / name)
    sys.path.insert(0, str(out))
    importlib.invalidate_caches()
    try:
        yield importlib.import_module(name), importlib.import_module(f"{name}.{label}")
    finally:
        sys.path.remove(str(out))
        for module in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
            del sys.modules[module]


def tree(folder: Path) -> dict[str, bytes]:
    """Read all files below a folder, bytecode aside."""
    files = (p for p in sorted(folder.rglob("*")) if p.is_file() and "__pycache__" not in p.parts)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


def golden(path: Path, text: str) -> None:
    """Compare `text` with a stored file, or store it where the environment variable says so."""
    if os.environ.get(REFRESH):
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{path} is missing: run the test with {REFRESH}=1 and review what it wrote"
    assert text == path.read_text(encoding="utf-8"), f"{path} differs: run with {REFRESH}=1 and review the change"


def same(a: Any, b: Any) -> bool:
    """Compare JSON values; 1 and 1.0 are one number, true is none."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return a == b or float(a) == float(b)
    if is_object(a) and is_object(b):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if is_array(a) and is_array(b):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and bool(a == b)


def shown_on(terminal: int) -> bytes:
    """Read what is written to a terminal, by its other side, until that is closed; then close this side, too."""
    shown = b""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the other side is gone
            break
        shown += data
    os.close(terminal)
    return shown


def check_each(cases: Iterable[T], check: Callable[[T], None]) -> None:
    """Check many small cases in one test, which is far quicker than a test for each; report every one that fails."""
    failed: list[Exception] = []
    for case in cases:
        try:
            check(case)
        except Exception as why:
            why.add_note(f"in the case {case}")
            failed.append(why)
    if failed:
        raise ExceptionGroup(f"{len(failed)} cases fail", failed)


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Make a folder once for all workers of a test run; the first one that asks makes it, and the others wait."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, done = shared / name, shared / f"{name}.done"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder


def raw_schema(label: str) -> dict[str, Any]:
    """Read a pinned schema as plain JSON."""
    version, _, unstable = label.partition("_")
    name = "schema.unstable.json" if unstable else "schema.json"
    found: dict[str, Any] = json.loads((ROOT / "schema" / version / name).read_text(encoding="utf-8"))
    return found


def meta_of(raw: dict[str, Any]) -> dict[str, Any]:
    """Make the meta file that goes with a schema: the methods of each side, under names of their own."""
    tables: dict[str, dict[str, str]] = {f"{side}Methods": {} for side in ("agent", "client", "protocol", "proxy")}
    for node in raw["$defs"].values():
        for side in ("agent", "client") if node.get("x-side") == "both" else filter(None, [node.get("x-side")]):
            tables[f"{side}Methods"][node["x-method"].removeprefix("$/").replace("/", "_")] = node["x-method"]
    return {"version": 1, **tables}
