"""Changes, and the log that collects them and reports each one once."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from generator.diff.compare.index import declaring_key
from generator.diff.compare.rules import RULES, Rule


@dataclass(frozen=True, slots=True)
class Change:
    """One change between two modules.

    `owner` is the Python name of the definition that declares the changed thing, `name` the Python name of the thing
    itself. A pointer is None on the side where the thing does not exist; `before` and `after` are the code that users
    see, empty on that side. `used_in` lists places that refer to the owner or repeat the change, `methods` the methods
    whose messages carry it, `also` the names that are added, removed or renamed along with it. `evidence` says how a
    rename was recognised, `words` fill the placeholders of the rule's sentence.
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
    words: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where something changed: the class, its attribute if only that changed, and the JSON pointers of both sides."""

    owner: str
    old: str | None
    new: str | None
    member: str = ""


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """A change as it was logged; several with one `key` become one `Change`."""

    rule: str
    place: Place
    before: str
    after: str
    words: Mapping[str, str]
    also: tuple[str, ...]
    evidence: str

    @property
    def key(self) -> tuple[str, ...]:
        """What is equal in two logged changes that report the same change."""
        pointers = (self.place.old or "", self.place.new or "")
        return (self.rule, *pointers, self.place.member, self.before, self.after, *self.words.values())


@dataclass(slots=True)
class Log:
    """Collects changes; `mentioned` are the names whose addition or removal is part of a logged change."""

    entries: dict[tuple[str, ...], list[LoggedChange]] = field(
        default_factory=dict[tuple[str, ...], list[LoggedChange]]
    )
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
        """Log a change; `words` fill the placeholders of the rule's sentence."""
        entry = LoggedChange(rule, place, before, after, words, also, evidence)
        self.entries.setdefault(entry.key, []).append(entry)
        self.mentioned.update(also)

    def changes(self, label: str) -> list[Change]:
        """Return each logged change once, at the definition that declares it."""
        return [_merged(label, group) for group in self.entries.values()]


def _merged(label: str, group: list[LoggedChange]) -> Change:
    first = group[0]
    place = first.place
    owners = list(dict.fromkeys(e.place.owner for e in group))
    owner = place.owner
    if len(owners) > 1:
        # A payload that was flattened into several classes: its own definition reports the change, they are its uses.
        owner = declaring_key(place.new or place.old or "") or owner
    name = first.words.get("name") or (f"{owner}.{place.member}" if place.member else owner)
    # For a difference inside a type expression, the name is preceded by its position: "each item of ".
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
        words=tuple(words.items()),
    )
