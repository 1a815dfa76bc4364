"""The reference implementation's recorded verdicts: what it accepts, and what it writes again."""

import importlib
import json
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest

from tests.support import ROOT, same

FILES = sorted((ROOT / "tests" / "vectors").glob("*.jsonl"))


def verdict(label: Any, vector: dict[str, Any]) -> tuple[bool, Any]:
    kind = getattr(label, vector["type"])
    try:
        value = acp.decode(vector["json"].encode(), type=kind)
    except msgspec.DecodeError:
        return False, None
    out = json.loads(acp.encode(value))
    if isinstance(value, msgspec.Struct) and value.__struct_config__.tag_field not in json.loads(
        vector.get("out", "{}")
    ):
        out.pop(value.__struct_config__.tag_field, None)  # the tag that a payload carries is written also when alone
    return True, out


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_vectors(file: Any) -> None:
    label = importlib.import_module(f"acp_msgspec.{file.stem}")
    lines = file.read_text(encoding="utf-8").splitlines()
    wrong: list[str] = []
    gone: set[str] = set()
    for line in lines:
        vector = json.loads(line)
        if not hasattr(label, vector["type"]):
            gone.add(vector["type"])
            continue
        ok, out = verdict(label, vector)
        if ok != vector["ok"] or (ok and not same(out, json.loads(vector["out"]))):
            wrong.append(f"{line}\n  here: {ok} {out}")
    assert not gone, f"{', '.join(sorted(gone))}: no longer upstream; take their lines out, or record all anew"
    assert not wrong, f"{len(wrong)} of {len(lines)} disagree, the first ones:\n" + "\n".join(wrong[:10])


def test_every_file_is_there() -> None:
    assert [f.stem for f in FILES] == ["v1", "v1_unstable", "v2", "v2_unstable"]
    assert sum(f.read_text(encoding="utf-8").count("\n") for f in FILES) == 6660
