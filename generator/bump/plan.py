"""The decisions of a bump as data: what can be edited without judgement, and what a person must decide."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from generator.diff.compare.comparison import Comparison
from generator.source import Lock


class Group(StrEnum):
    """What a decision is about."""

    READING = "what cannot be read"
    SENDERS = "senders"
    STATES = "three states or two"
    CAPABILITIES = "capabilities of methods"
    ROLES = "roles"
    NAMES = "public names"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person must decide: `place` is a file, with a JSON pointer if there is one; `hint` says where it goes.

    `also` are the other places for which the same edit decides.
    """

    group: Group
    label: str
    place: str
    what: str
    hint: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a TOML file: the keys that lead to it, the last of which may be an item of a list."""

    file: str
    keys: tuple[str, ...]
    is_item: bool = False

    def __str__(self) -> str:
        """Write the place as in the checklist."""
        return ".".join(self.keys)


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a TOML file that needs no judgement: an entry is removed, moved, copied or added.

    `old` is None for an added entry; without `new` it is removed.
    """

    old: Place | None
    new: tuple[Place, ...]
    value: Any
    why: str


@dataclass(frozen=True, slots=True)
class Texts:
    """The places without a docstring in one file, by class."""

    file: str
    missing: Mapping[str, tuple[str, ...]]

    @property
    def count(self) -> int:
        """The number of places."""
        return sum(map(len, self.missing.values()))


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a bump changes and asks for."""

    shown: str
    base: str
    """What the source was compared with."""
    present: Lock
    lock: Lock
    files: Mapping[str, bytes]
    """The files that are written, the pinned schemas included."""
    removed: tuple[str, ...]
    """The pinned files that are removed."""
    edits: tuple[Edit, ...]
    decisions: tuple[Decision, ...]
    texts: tuple[Texts, ...]
    comparison: Comparison

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.files or self.removed or self.edits or self.decisions or any(t.count for t in self.texts))
