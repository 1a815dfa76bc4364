"""What tests take from the pinned schemas instead of naming it: with a bump, drafts leave and types get fields."""

import importlib
import tomllib
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

import acp_msgspec as acp
import msgspec
import pytest

from tests.oracle.instances import Maker, Style
from tests.oracle.schema_files import REPO
from tests.oracle.schema_walk import Schema

T = TypeVar("T")


@cache
def _maker(label: str) -> Maker:
    return Maker(Schema(label), Style.MINIMAL)


def least(kind: type[T], **more: Any) -> T:
    """Make an object with what its schema requires, whatever that is now, and what is given by wire name."""
    label = kind.__module__.split(".")[1]
    return acp.convert({**_maker(label).pairs(kind.__name__)[0].given, **more}, type=kind)


def least_json(kind: type[Any], **more: Any) -> str:
    """Write such an object."""
    return acp.encode(least(kind, **more)).decode()


@cache
def tags(label: str) -> dict[str, Any]:
    """Give an update of each kind that a schema knows, by tag, with no more than it requires."""
    found = [pair.given for pair in _maker(label).pairs("SessionUpdate")]
    schema = Schema(label)
    branches = schema.choices(schema.defs["SessionUpdate"])
    known = {branch["properties"]["sessionUpdate"].get("const") for branch in branches} - {None}
    return {given["sessionUpdate"]: given for given in reversed(found) if given["sessionUpdate"] in known}


def by_tag(tag: str, **fields: Any) -> Any:
    """Make an update, with the fields by wire name, of the first schema that takes it: unstable ones know most."""
    for label in ("v1_unstable", "v2_unstable", "v1", "v2"):
        if tag in tags(label):
            with suppress(msgspec.ValidationError):  # a variant inside it may be a draft
                return update_of(label, {**tags(label)[tag], **fields})
    pytest.skip(f"no pinned schema has such updates {tag}")


def update_of(label: str, value: Any) -> Any:
    """Read an update as one of a schema."""
    kind: Any = importlib.import_module(f"acp_msgspec.{label}").SessionUpdate
    return acp.convert(value, type=kind, unknown="keep")


def idle(label: str, reason: str | None = None) -> Any:
    """Make the update that says that the agent is idle: a class, or one for each reason, as the schema has it."""
    why = {} if reason is None else {"stopReason": reason}
    return update_of(label, {"sessionUpdate": "state_update", "state": "idle", **why})


@cache
def capabilities(label: str) -> dict[str, str]:
    """Read which capability a method, or a value in its params, cannot do without: a path for each."""
    tables = tomllib.loads((REPO / "schema" / "overrides.toml").read_text(encoding="utf-8"))
    entries: dict[str, Any] = {}
    for name in (label.removesuffix("_unstable"), label):
        entries |= tables.get(name, {}).get("capabilities", {})
    paths = {key: {"path": entry} if isinstance(entry, str) else entry for key, entry in entries.items()}
    return {key: entry["path"] for key, entry in paths.items() if not entry.get("optional")}
