"""Changes: what was found, and the log that collects it so that no change is reported twice."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from generator.diff.compare.index import declaring
from generator.diff.compare.rules import RULES, Rule


@dataclass(frozen=True, slots=True)
class Change:
    """One change between two modules.

    `owner` is the Python name of the definition that declares what changed, `name` that of the very thing. A pointer is
    None on the side that lacks the place; `before` and `after` are the code that users see, empty on that side.
    `used_in` lists places that refer to the owner or repeat the change, `methods` the methods that carry it, `also` the
    names that come, go or change along with it. `evidence` says what a rename was recognised by.
    """

    rule: Rule
    label: str
    owner: str
    name: str
    old_pointer: str | None
    new_pointer: str | None
    before: str
    after: str
    sentence: str
    used_in: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something changed: the class, the attribute in it if it is one, and the JSON pointers of both sides."""

    owner: str
    old: str | None
    new: str | None
    member: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A change as it was logged, before those that repeat each other are put together."""

    rule: str
    place: Place
    before: str
    after: str
    words: Mapping[str, str]
    also: tuple[str, ...]
    evidence: str

    @property
    def key(self) -> tuple[str, ...]:
        """What two entries have in common that report one change of one place."""
        pointers = (self.place.old or "", self.place.new or "")
        return (self.rule, *pointers, self.place.member, self.before, self.after, *self.words.values())


@dataclass(slots=True)
class Log:
    """Collects entries; `mentioned` are the names whose coming or going is part of one."""

    entries: dict[tuple[str, ...], list[Entry]] = field(default_factory=dict[tuple[str, ...], list[Entry]])
    mentioned: set[str] = field(default_factory=set[str])

    def add(
        self,
        rule: str,
        place: Place,
        before: str,
        after: str,
        *,
        also: tuple[str, ...] = (),
        evidence: str = "",
        **words: str,
    ) -> None:
        """Log a change; `words` fill the rule's sentence."""
        entry = Entry(rule, place, before, after, words, also, evidence)
        self.entries.setdefault(entry.key, []).append(entry)
        self.mentioned.update(also)

    def changes(self, label: str) -> list[Change]:
        """Give what was logged, each change once, at the definition that declares it."""
        return [_merged(label, group) for group in self.entries.values()]


def _merged(label: str, group: list[Entry]) -> Change:
    first = group[0]
    place = first.place
    owners = list(dict.fromkeys(e.place.owner for e in group))
    owner = place.owner
    if len(owners) > 1:
        # A payload that was flattened into several classes: its own definition tells the change, the others are uses.
        owner = declaring(place.new or place.old or "") or owner
    name = first.words.get("name") or (f"{owner}.{place.member}" if place.member else owner)
    # A difference deep in a type says where: "each item of " and then the name.
    words = {"owner": owner, **first.words, "name": first.words.get("where", "") + name}
    return Change(
        rule=RULES[first.rule],
        label=label,
        owner=owner,
        name=name,
        old_pointer=place.old,
        new_pointer=place.new,
        before=first.before,
        after=first.after,
        sentence=RULES[first.rule].sentence.format(**words),
        used_in=tuple(o for o in owners if o != owner),
        also=tuple(sorted({n for e in group for n in e.also} - {name})),
        evidence=first.evidence,
    )
