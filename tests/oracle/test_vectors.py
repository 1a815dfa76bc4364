"""The reference implementation's recorded verdicts: what it accepts, and what it writes again."""

import importlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v2

from tests.support import same

OnSkip = Callable[[acp.Skipped], object]
FILES = sorted((Path(__file__).parent / "vectors").glob("*.jsonl"))


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


def _told(read: Callable[[OnSkip], Any]) -> tuple[Any, ...]:
    repairs: list[acp.Skipped] = []
    try:
        value = read(repairs.append)
    except msgspec.ValidationError as why:
        return (str(why),)
    return value.__class__, acp.encode(value), repairs


def _read(read: Any, value: Any, kind: Any, on_skip: OnSkip) -> Any:
    return read(value, type=kind, on_skip=on_skip)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_the_walk_finds_the_same_with_and_without_the_help_of_msgspec(file: Any) -> None:
    # Of plain values, which may be anything, the walk reads every field itself; of JSON text only what does not fit.
    label = importlib.import_module(f"acp_msgspec.{file.stem}")
    wrong: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        vector = json.loads(line)
        kind = getattr(label, vector["type"], None)
        try:
            plain = msgspec.json.decode(vector["json"])
        except msgspec.DecodeError:
            continue
        if kind is None:
            continue
        by_text = _told(partial(_read, acp.decode, vector["json"], kind))
        by_value = _told(partial(_read, acp.convert, plain, kind))
        if by_text != by_value:
            wrong.append(f"{vector['type']} {vector['json']}: {by_text} or {by_value}")
    assert not wrong, "\n".join(wrong[:20])


def test_a_constant_that_is_missing_is_missed_in_the_second_look_too() -> None:
    update = b'{"sessionId":"s","update":{"sessionUpdate":"state_update"}}'
    for read in (acp.decode, acp.decode_strict):
        with pytest.raises(msgspec.ValidationError, match=r"missing required field `state` - at `\$\.update`"):
            read(update, type=v2.UpdateSessionNotification)
