"""The stored schemas and their overrides, as the tests read them: by code of their own."""

import json
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.oracle.spelling import Node, spelt_out

REPO = Path(__file__).parents[2]
LABELS = ("v1", "v1_unstable", "v2", "v2_unstable")


@dataclass(slots=True)
class Overrides:
    """What `schema/overrides.toml` says of one label."""

    patch: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    not_patch: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    default: dict[str, str] = field(default_factory=dict[str, str])
    unknown_member: dict[str, str] = field(default_factory=dict[str, str])
    enforced: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    forbids: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    tag_decides: list[str] = field(default_factory=list[str])
    verbatim: list[str] = field(default_factory=list[str])
    merged: list[str] = field(default_factory=list[str])
    null_as_empty: bool = False


def read_overrides(label: str) -> Overrides:
    """Read the overrides of a label, to which an unstable one adds those of its stable one."""
    tables = tomllib.loads((REPO / "schema" / "overrides.toml").read_text(encoding="utf-8"))
    found = Overrides()
    for name in dict.fromkeys((label.removesuffix("_unstable"), label)):
        table = tables.get(name, {})
        lists = {"patch": found.patch, "not_patch": found.not_patch, "enforced": found.enforced}
        for kind, told in {**lists, "forbids": found.forbids}.items():
            for key, entries in table.get(kind, {}).items():
                told.setdefault(key, []).extend(entries)
        found.tag_decides.extend(table.get("tag_decides", ()))
        found.verbatim.extend(table.get("verbatim", ()))
        found.merged.extend(table.get("merged", ()))
        found.null_as_empty |= table.get("null_as_empty", False)
        found.default.update(table.get("default", {}))
        found.unknown_member.update(table.get("unknown_member", {}))
    return found


@cache
def read_json(label: str) -> Node:
    """Read `schema/v1/schema.unstable.json` and its like; the result is shared and must not be changed."""
    document: Node = spelt_out(json.loads(_stored(label, "schema").read_text(encoding="utf-8")))
    return document


@cache
def read_meta(label: str) -> Node | None:
    """Read the list of methods beside a schema; not every source of a pin has one."""
    path = _stored(label, "meta")
    document: Node | None = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    return document


def _stored(label: str, stem: str) -> Path:
    version, _, channel = label.partition("_")
    return REPO / "schema" / version / (f"{stem}.{channel}.json" if channel else f"{stem}.json")
