"""The table of rules: every kind of change, and its effect on readers and on writers of messages.

The table itself is data, in `rules.toml` beside this file.
"""

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Effect(StrEnum):
    """The effect of a change on readers or on writers; the most severe first."""

    BREAKING = "breaking"
    TIGHTENED = "tightened"
    LOOSENED = "loosened"
    COMPATIBLE = "compatible"


class Version(StrEnum):
    """The release that a change requires; the greatest first."""

    MAJOR = "major"
    MINOR = "minor"
    PATCH = "patch"
    NONE = "none"


EFFECTS = tuple(Effect)
VERSIONS = tuple(Version)


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of change: its effects, the sentence that reports it, and the reason for the effects.

    `noticed` is False if users cannot notice the change.
    """

    kind: str
    reader: Effect
    writer: Effect
    sentence: str
    reason: str
    noticed: bool

    @property
    def severity(self) -> Effect:
        """The more severe of the two effects."""
        return min(self.reader, self.writer, key=EFFECTS.index)

    @property
    def version(self) -> Version:
        """The release that such a change requires.

        A reader that has become stricter breaks its users, too: messages fail, or lose values, that were read before.
        """
        if self.severity is Effect.BREAKING or self.reader is Effect.TIGHTENED:
            return Version.MAJOR
        return Version.MINOR if self.noticed else Version.PATCH


def _load() -> dict[str, Rule]:
    raw = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
    unnoticed = frozenset(raw.pop("unnoticed"))
    rules: dict[str, Rule] = {}
    for subject, rows in raw.items():
        for what, (reader, writer, sentence, reason) in rows.items():
            kind = f"{subject}.{what}"
            rules[kind] = Rule(kind, Effect(reader), Effect(writer), sentence, reason, kind not in unnoticed)
    return rules


RULES = _load()
"""Every rule by its kind, such as `field.removed`."""
