"""Why the package and the reference disagree about a value: the rule, the place of the schema, and what would cure it.

Each disagreement gives its candidates. Where one has several, `compare` prefers what others have shown alone.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import permutations
from typing import Any

from tests.oracle.locate import MISSING, Locator, Place, Steps, steps_of, tags_fit, value_at
from tests.oracle.reference import Verdict
from tests.oracle.schema_parts import core
from tests.oracle.schema_walk import Schema
from tests.oracle.spelling import is_array, is_object

ABSENT_FIELD = re.compile(r"missing required field `([^`]*)`")


class Rule(StrEnum):
    """What the reference does and the package does not, or the other way round."""

    PATCH = "a field has three states: null is kept apart from an absent key"
    NOT_PATCH = "a field has no third state: null means that the key is absent"
    LIMIT = "a limit is enforced"
    NO_LIMIT = "a limit is not enforced"
    NULL_PAYLOAD = "null stands for an empty payload"
    NO_NULL_PAYLOAD = "null does not stand for an empty payload"
    NULL = "null is accepted"
    NO_NULL = "null is refused"
    OPTIONAL = "a key may be absent"
    REQUIRED = "a key must be there"
    LENIENT = "an invalid value is forgiven"
    STRICT = "an invalid value is refused"
    UNKNOWN_MEMBER = "an unknown member is read as a known one"
    DEFAULT = "another default is written"
    TAG_DECIDES = "a known tag decides: no other variant is tried for its payload"
    FALLBACK = "another variant is tried for the payload of a known tag"
    FORBIDS = "a key excludes a variant of a union"
    VERBATIM = "a union is kept as it is given, unknown keys and nulls included"
    EXTRA_KEYS = "unknown keys are kept"
    NO_EXTRA_KEYS = "unknown keys are dropped"
    ITEMS = "other items of a list are kept"
    VALUE = "another value is written"
    NO_TYPE = "a type is not in the package"
    CRASH = "the package fails with another exception than msgspec's"
    UNEXPLAINED = "no rule explains it"
    ON_PURPOSE = "an array is read as an object, a number as a tag, or an object as a member"


@dataclass(frozen=True, slots=True, order=True)
class Fact:
    """An entry of `schema/overrides.toml`: in the table of a label, the value of a name or a part of its list.

    `remove` says that the entry must go instead.
    """

    table: str
    name: str
    value: str
    remove: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule that would explain a disagreement, where it holds, and the fact that says so, if a fact can."""

    rule: Rule
    subject: str
    fact: Fact | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Ours:
    """What the package made of a text: the written value, or the error; and the paths that it repaired."""

    ok: bool
    out: Any = MISSING
    error: str = ""
    path: str = "$"
    repairs: tuple[tuple[str, Any], ...] = ()
    crash: bool = False


class Judge:
    """Finds the candidates of one schema's disagreements."""

    def __init__(self, schema: Schema, present: Iterable[Fact] = ()) -> None:
        self.schema = schema
        self.present = frozenset(present)
        """The facts of this label that the package was made with."""
        self.locator = Locator(schema)

    def candidates(self, verdict: Verdict, given: Any, theirs: Any, ours: Ours) -> list[Candidate]:
        """List the rules that would explain that the reference says `verdict` and the package `ours`."""
        if ours.crash:
            return [Candidate(Rule.CRASH, f"{verdict.type}: {ours.error}")]
        if verdict.ok and (place := self.locator.oddity(verdict.type, given)):
            return [Candidate(Rule.ON_PURPOSE, place)]
        if verdict.ok and ours.ok:
            found = [c for at in differences(theirs, ours.out) for c in self._written(verdict.type, given, *at)]
        elif verdict.ok:
            found = list(self._only_we_refuse(verdict.type, given, theirs, ours))
        else:
            found = list(self._only_they_refuse(verdict.type, given, ours))
        return list(dict.fromkeys(found)) or [Candidate(Rule.UNEXPLAINED, verdict.type)]

    def _written(self, key: str, given: Any, steps: Steps, theirs: Any, ours: Any) -> Iterator[Candidate]:
        """Explain a difference between what both write at a path."""
        asked = value_at(given, steps)
        if ours is MISSING and (union := self._free_union(key, given, steps)):
            yield Candidate(Rule.VERBATIM, union, Fact("", "verbatim", union))
            return
        places = self.locator.at(key, given, steps)
        if not places or places[0].node is None:
            yield Candidate(Rule.EXTRA_KEYS if ours is MISSING else Rule.NO_EXTRA_KEYS, _outer(places, key))
            return
        place = places[0]
        if asked is None and ours is MISSING and theirs is None:
            yield self._patch(place)
        elif asked is None and theirs is MISSING and ours is None:
            yield self._not_patch(place)
        elif is_array(theirs) and is_array(ours):
            yield Candidate(Rule.ITEMS, place.name)
        elif isinstance(asked, str) and isinstance(theirs, str) and theirs != asked and (enum := self._enum(place)):
            yield Candidate(Rule.UNKNOWN_MEMBER, enum, Fact("unknown_member", enum, theirs))
        elif asked is MISSING or asked not in (theirs, ours):
            yield self._default(place, theirs)
        else:
            yield Candidate(Rule.VALUE, place.name)

    def _free_union(self, key: str, given: Any, steps: Steps) -> str | None:
        """Name the innermost union around a value that takes anything in one of its variants."""
        for length in range(len(steps) - 1, -1, -1):
            for place in self.locator.at(key, given, steps[:length]):
                for target in self._targets(place):
                    choices = self.schema.choices(self.schema.defs[target])
                    if any(not choice.keys() - {"title", "description"} for choice in choices):
                        return target
        return None

    def _patch(self, place: Place) -> Candidate:
        return Candidate(Rule.PATCH, place.name, self._fact("patch", "not_patch", place))

    def _not_patch(self, place: Place) -> Candidate:
        return Candidate(Rule.NOT_PATCH, place.name, self._fact("not_patch", "patch", place))

    def _fact(self, table: str, opposite: str, place: Place) -> Fact:
        """Make the fact that a place belongs to a table; where the opposite is said of it, that must go."""
        said = Fact(opposite, place.definition, place.wire)
        return replace(said, remove=True) if said in self.present else Fact(table, place.definition, place.wire)

    def _default(self, place: Place, theirs: Any) -> Candidate:
        enum = self._enum(place)
        if enum and isinstance(theirs, str):
            return Candidate(Rule.DEFAULT, enum, Fact("default", enum, theirs))
        return Candidate(Rule.DEFAULT, place.name)

    def _enum(self, place: Place) -> str:
        """Name the enumeration that a place has as its type, if it has one."""
        for option in core(place.node)[0] if place.node else ():
            key = self.schema.target(option)
            if key is not None and self.schema.kind(key) == "enum":
                return key
        return place.target if place.target and self.schema.kind(place.target) == "enum" else ""

    def _only_we_refuse(self, key: str, given: Any, theirs: Any, ours: Ours) -> Iterator[Candidate]:
        steps = steps_of(ours.path, given)
        absent = ABSENT_FIELD.search(ours.error)
        if absent is not None:
            places = self.locator.at(key, given, (*steps, absent.group(1)))
            yield Candidate(Rule.OPTIONAL, places[0].name if places else f"{key}.{absent.group(1)}")
            return
        asked = value_at(given, steps)
        for visit in self.locator.visit(key, given):
            broken = self.locator.broken(visit) if visit.steps == steps else []
            for place, word in broken:
                said = Fact("enforced", place.name, word)
                # What no fact says, the generator enforces by rule: the bounds of integers.
                cure = replace(said, remove=True) if said in self.present else None
                yield Candidate(Rule.NO_LIMIT, f"{place.name} {word}", cure)
            if broken:
                return
        places = self.locator.at(key, given, steps)
        if asked is None:
            yield from self._null(places, key, Rule.NULL_PAYLOAD, Rule.NULL)
        else:
            yield self._forgiven(places, key, asked, value_at(theirs, steps))

    def _forgiven(self, places: tuple[Place, ...], key: str, asked: Any, theirs: Any) -> Candidate:
        """Explain why the reference takes a value that the package refuses."""
        for place in places:
            if isinstance(asked, str) and (enum := self._enum(place)):
                if isinstance(theirs, str) and theirs != asked:
                    return Candidate(Rule.UNKNOWN_MEMBER, enum, Fact("unknown_member", enum, theirs))
                return Candidate(Rule.LENIENT, enum)
        union = next((p.target for p in places if p.target and self.schema.kind(p.target) == "union"), "")
        return Candidate(Rule.FALLBACK, union) if union else Candidate(Rule.LENIENT, _named(places, key))

    def _null(self, places: tuple[Place, ...], key: str, payload: Rule, other: Rule) -> Iterator[Candidate]:
        """Explain a null: of a payload that travels under a method, or of a field."""
        for place in places:
            for target in self._targets(place):
                node = self.schema.defs[target]
                if "x-method" in node and not node.get("required"):
                    yield Candidate(payload, target, Fact("", "null_as_empty", "true", payload is Rule.NO_NULL_PAYLOAD))
                    return
        yield Candidate(other, _named(places, key))

    def _targets(self, place: Place) -> list[str]:
        if place.target:
            return [place.target]
        return [key for option in core(place.node or {})[0] if (key := self.schema.target(option)) is not None]

    def _only_they_refuse(self, key: str, given: Any, ours: Ours) -> Iterator[Candidate]:
        """Explain why the reference refuses what the package takes."""
        for path, _ in ours.repairs:
            steps = steps_of(path, given)
            yield Candidate(Rule.STRICT, _named(self.locator.at(key, given, steps), key))
        for visit in self.locator.visit(key, given):
            for place, word in self.locator.broken(visit):
                yield Candidate(Rule.LIMIT, f"{place.name} {word}", Fact("enforced", place.name, word))
            if visit.value is None and visit.places and not self._takes_null(visit.places):
                yield from self._null(visit.places, key, Rule.NO_NULL_PAYLOAD, Rule.NO_NULL)
            yield from self._tags(visit.places, visit.value)
            yield from self._excluded(visit.places, visit.value)

    def _takes_null(self, places: tuple[Place, ...]) -> bool:
        return any(place.node is None or self.schema.takes_null(place.node) for place in places)

    def _tags(self, places: tuple[Place, ...], value: Any) -> Iterator[Candidate]:
        """Find a known tag in a union that has variants without one, too."""
        for target in (t for place in places for t in self._targets(place)):
            if not is_object(value) or self.schema.kind(target) != "union":
                continue
            branches = self.schema.flatten(target)
            tags = [(b.tag.wire, b.tag.node["const"]) for b in branches if b.tag is not None]
            plain = any(b.tag is None and b.other_of is None for b in branches)
            if plain and any(value.get(wire) == tag for wire, tag in tags):
                yield Candidate(Rule.TAG_DECIDES, target, Fact("", "tag_decides", target))

    def _excluded(self, places: tuple[Place, ...], value: Any) -> Iterator[Candidate]:
        """Find the keys of two variants in one object, where only their keys tell them apart."""
        for leaf in self.locator.leaves(places) if is_object(value) else ():
            branches = [b for b in self.locator.branches(leaf) or () if tags_fit(b, value)]
            owners = [{entry.owner for entry in branch.properties} for branch in branches]
            needs: dict[str, set[str]] = {}
            for entry in (entry for branch in branches for entry in branch.properties if entry.required):
                needs.setdefault(entry.owner, set()).add(entry.wire)
            for one, other in permutations(needs, 2):
                apart = not any({one, other} <= together for together in owners)
                if apart and needs[one] | needs[other] <= value.keys():
                    for key in sorted(needs[other] - needs[one]):
                        yield Candidate(Rule.FORBIDS, f"{one}.{key}", Fact("forbids", one, key))


def _named(places: tuple[Place, ...], key: str) -> str:
    return places[0].name if places else key


def _outer(places: tuple[Place, ...], key: str) -> str:
    return places[0].definition if places else key


def differences(theirs: Any, ours: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any, Any]]:
    """Find where two JSON values differ; 1 and 1.0 are one number, lists of different lengths differ as a whole."""
    if is_object(theirs) and is_object(ours):
        for key in dict.fromkeys((*theirs, *ours)):
            yield from differences(theirs.get(key, MISSING), ours.get(key, MISSING), (*steps, key))
    elif is_array(theirs) and is_array(ours) and len(theirs) == len(ours):
        for index, pair in enumerate(zip(theirs, ours, strict=True)):
            yield from differences(*pair, (*steps, index))
    elif not _equal(theirs, ours):
        yield steps, theirs, ours


def _equal(a: Any, b: Any) -> bool:
    numbers = isinstance(a, int | float) and isinstance(b, int | float)
    if numbers and not isinstance(a, bool) and not isinstance(b, bool):
        return a == b or float(a) == float(b)
    return type(a) is type(b) and bool(a == b)
