"""The recorded verdicts of the reference, by upstream commit, and where a package disagrees with them."""

import gzip
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from tests.support import same

FOLDER = Path(__file__).parent / "vectors"
LABELS = ("v1", "v1_unstable", "v2", "v2_unstable")


def verdicts(commit: str, label: str) -> list[dict[str, Any]]:
    """Read the verdicts for one schema."""
    with gzip.open(FOLDER / commit[:12] / f"{label}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def commits() -> list[str]:
    """List the commits with verdicts, by their first twelve digits."""
    return sorted(folder.name for folder in FOLDER.iterdir())


def disagreements(package: Any, module: Any, recorded: list[dict[str, Any]]) -> list[str]:
    """Hold a package against verdicts on the types of its `module`; describe each that it does not share."""
    wrong: list[str] = []
    for verdict in recorded:
        ok, out = _ours(package, module, verdict)
        if ok != verdict["ok"] or (ok and not same(out, json.loads(verdict["out"]))):
            wrong.append(f"{verdict['type']} {verdict['json']}: {verdict.get('out', 'invalid')}\n  here: {ok} {out}")
    return wrong


def _ours(package: Any, module: Any, verdict: dict[str, Any]) -> tuple[bool, Any]:
    try:
        value = package.decode(verdict["json"].encode(), type=getattr(module, verdict["type"]))
    except msgspec.DecodeError:
        return False, None
    out = json.loads(package.encode(value))
    tag_field = value.__struct_config__.tag_field if isinstance(value, msgspec.Struct) else None
    if tag_field is not None and tag_field not in json.loads(verdict.get("out", "{}")):
        out.pop(tag_field, None)  # the tag that a payload carries is written also when alone
    return True, out


def differences_of_paths(package: Any, module: Any, recorded: list[dict[str, Any]]) -> list[str]:
    """Read the same values as JSON text and as plain values; describe each with another outcome or other repairs."""
    wrong: list[str] = []
    for verdict in recorded:
        kind = getattr(module, verdict["type"], None)
        try:
            plain = msgspec.json.decode(verdict["json"])
        except msgspec.DecodeError:
            continue
        if kind is None:
            continue
        by_text = _outcome(package, partial(package.decode, verdict["json"], type=kind))
        by_value = _outcome(package, partial(package.convert, plain, type=kind))
        if by_text != by_value:
            wrong.append(f"{verdict['type']} {verdict['json']}: {by_text} or {by_value}")
    return wrong


def _outcome(package: Any, read: Callable[..., Any]) -> tuple[Any, ...]:
    repairs: list[Any] = []
    try:
        value = read(on_skip=repairs.append)
    except msgspec.ValidationError as why:
        return (str(why),)
    return value.__class__, package.encode(value), repairs
