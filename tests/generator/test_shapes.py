"""One case per schema shape: a small schema, the Python it becomes, and JSON read and written by that Python.

`ACP_REFRESH=1` stores what came out; the change is then reviewed like any other. A bump changes none of them: the cases
read their own overrides and docstrings, and nothing of `schema/`.
"""

import importlib
import json
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from generator.pipeline import generate_single
from tests.support import CASES, PROJECT, ROOT, generate_case, golden, imported

WITH_MESSAGES = ("messages", "early_schema", "proxies", "directions")
SHAPES = sorted(p.name for p in (CASES / "shapes").iterdir())


@pytest.fixture(scope="module")
def every_opened() -> list[Path]:
    """Note each file that this process opens from now on."""
    found: list[Path] = []

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | os.PathLike):
            found.append(Path(os.fspath(arguments[0])))

    sys.addaudithook(note)
    return found


@pytest.fixture
def opened(every_opened: list[Path]) -> Generator[list[Path]]:
    """Note each file that a test opens."""
    every_opened.clear()
    yield every_opened
    every_opened.clear()


def _of_the_project(opened: list[Path]) -> list[Path]:
    return [p for p in opened if p.is_relative_to(ROOT / "schema")]


def _verdict(package: Any, module: Any, entry: dict[str, Any]) -> dict[str, Any]:
    kind = getattr(module, entry["type"])
    skipped: list[Any] = []
    out: dict[str, Any] = {"type": entry["type"], "in": entry["in"]}
    try:
        value = package.decode(entry["in"], type=kind, on_skip=skipped.append)
    except msgspec.DecodeError as why:
        return {**out, "error": str(why)}
    written = package.encode(value)
    out |= {"python": repr(value), "out": written.decode()}
    if skipped:
        out["skipped"] = [[s.path, s.action, s.error] for s in skipped]
    # What was read once is read again as the same, whichever way it goes in and out.
    assert package.decode(written, type=kind) == value
    assert package.convert(json.loads(entry["in"]), type=kind) == value
    assert package.to_builtins(value) == json.loads(written)
    strictly = _strictly(package, entry["in"], kind)
    assert (strictly == value) if strictly is not None or not skipped else True
    assert (strictly is None and bool(skipped)) or strictly == value
    return out


def _strictly(package: Any, text: str, kind: Any) -> Any:
    try:
        return package.decode_strict(text, type=kind)
    except msgspec.ValidationError:
        return None


@pytest.mark.parametrize("shape", SHAPES)
def test_shape(shape: str, tmp_path: Path, opened: list[Path]) -> None:
    folder = CASES / "shapes" / shape
    texts = generate_case(folder / "schema.json", "case", tmp_path)
    assert folder / "schema.json" in opened
    assert _of_the_project(opened) == [], "a bump would change what becomes of the case"
    with_messages = shape in WITH_MESSAGES
    named = ("enums.py", "types.py", *(("messages.py", "aio.py") if with_messages else ()))
    assert ("aio.py" in texts) is with_messages  # a schema without methods has nothing to call
    golden(folder / "expected.py.txt", "".join(f"# ---- {n}\n{texts[n]}" for n in named))
    lines = (folder / "wire.jsonl").read_text(encoding="utf-8").splitlines()
    with imported(tmp_path, "case", f"shape_{shape}") as (package, module):
        verdicts = [_verdict(package, module, json.loads(line)) for line in lines]
        if with_messages:
            importlib.import_module(f"{package.__name__}.case.aio")
        for name in module.__all__:
            kind = getattr(module, name)
            if name not in ("AgentMethod", "ClientMethod", "METHODS", "Method") and name[0].isupper():
                package.Decoder(kind)
    golden(folder / "wire.jsonl", "".join(json.dumps(v, ensure_ascii=False) + "\n" for v in verdicts))


def test_what_is_opened_is_noticed(tmp_path: Path, opened: list[Path]) -> None:
    schema = CASES / "shapes" / "presence" / "schema.json"
    texts = generate_case(schema, "case", tmp_path / "own")
    assert {p for p in opened if p.is_relative_to(PROJECT)} == {
        PROJECT / "schema" / "overrides.toml",
        PROJECT / "schema" / "docs" / "shared.toml",
    }
    # Without a project of its own, a case reads this one, and would change with it.
    generate_single(schema, "case", None, lambda _: None, tmp_path / "others")
    assert ROOT / "schema" / "overrides.toml" in _of_the_project(opened)
    assert texts["types.py"]
