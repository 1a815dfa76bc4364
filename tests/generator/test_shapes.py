"""One case per schema shape: a small schema, the Python it becomes, and JSON read and written by that Python.

`ACP_REFRESH=1` stores what came out; the change is then reviewed like any other.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support import CASES, generate_case, golden, imported

WITH_MESSAGES = ("messages", "early_schema", "proxies", "directions")
SHAPES = sorted(p.name for p in (CASES / "shapes").iterdir())


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
def test_shape(shape: str, tmp_path: Path) -> None:
    folder = CASES / "shapes" / shape
    texts = generate_case(folder / "schema.json", "case", tmp_path)
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
