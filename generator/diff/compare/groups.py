"""The groups of rules that the head of a report counts: who is affected, and what to do about it.

The table itself is data, in `groups.toml` beside this file.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from generator.diff.compare.change import Change
from generator.diff.compare.methods import GROUP as METHODS


@dataclass(frozen=True, slots=True)
class Group:
    """Rules whose changes affect the same people in the same way."""

    name: str
    affects: str
    todo: str
    shows: str
    kinds: frozenset[str]


@dataclass(frozen=True, slots=True)
class GroupedChanges:
    """The changes of one group: the modules that have them, and what changed, each thing once."""

    group: Group
    labels: tuple[str, ...]
    names: tuple[str, ...]


def _load() -> tuple[Group, ...]:
    raw = tomllib.loads(Path(__file__).with_name("groups.toml").read_text(encoding="utf-8"))
    return tuple(
        Group(g["name"], g["affects"], g["todo"], g.get("shows", "{name}"), frozenset(g["kinds"])) for g in raw["group"]
    )


GROUPS = _load()
"""All groups, in the order of the head."""


def grouped(changes: Iterable[Change], labels: Iterable[str]) -> list[GroupedChanges]:
    """Group changes; `labels` has all modules in order.

    Methods are named first: they say best what a large change is about.
    """
    every = sorted(changes, key=lambda c: c.owner != METHODS)
    found: list[GroupedChanges] = []
    for group in GROUPS:
        own = [c for c in every if c.rule.kind in group.kinds]
        if own:
            where = {c.label for c in own}
            names = dict.fromkeys(group.shows.format(**{**dict(c.words), "name": c.name}) for c in own)
            found.append(GroupedChanges(group, tuple(n for n in labels if n in where), tuple(names)))
    return found
