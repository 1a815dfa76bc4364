"""Differences between two type expressions, by which values a reader accepts and a writer may send."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from generator.diff.compare.index import NULL, Index, renamed_type, type_text
from generator.lower.kinds import RANGES
from generator.model import (
    Alias,
    Choice,
    Constrained,
    Identifier,
    Integer,
    ListOf,
    MapOf,
    Named,
    Nullable,
    Plain,
    Type,
    parts,
)

ANY = Plain("Any")
TEXT = Plain("str")
LOWER_IS_LAXER = frozenset({"minimum", "min_items", "min_length"})
HIGHER_IS_LAXER = frozenset({"maximum", "max_length"})
NO_LIMIT = "none"

Constraints = tuple[tuple[str, str | int | float], ...]


@dataclass(frozen=True, slots=True)
class TypeDifference:
    """One difference: its rule, both sides in words, and its position inside the type ("each item of ")."""

    rule: str
    old: str
    new: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class TypeComparison:
    """Compares types of two modules; `names` maps renamed classes to their new names."""

    old: Index
    new: Index
    names: Mapping[str, str]

    def same(self, old: Type, new: Type) -> bool:
        """Return whether two types are the same after renames; a renamed class may still appear under its old name."""
        return new in (old, renamed_type(old, self.names))

    def differences(self, old: Type, new: Type) -> list[TypeDifference]:
        """List the differences, outermost first; unrelated types are one difference."""
        if self.same(old, new):
            return []
        olds, news = self._cancelled(_options(old), _options(new))
        if olds or news:
            # Aliases are resolved only now: an alias on both sides is compared as a definition.
            olds, news = self._cancelled(
                [o for k in olds for o in _expanded(k, self.old)], [o for k in news for o in _expanded(k, self.new)]
            )
        found: list[TypeDifference] = []
        if NULL in olds and _expanded(old, self.old) != [NULL]:
            found.append(TypeDifference("null.refused", type_text(old), type_text(new)))
            olds.remove(NULL)
        if NULL in news and _expanded(new, self.new) != [NULL]:
            found.append(TypeDifference("null.allowed", type_text(old), type_text(new)))
            news.remove(NULL)
        match olds, news:
            case [], []:
                pass
            case [one], [other]:
                found += self._pair(one, other)
            case [], _:
                found.append(TypeDifference("type.widened", type_text(old), " | ".join(map(type_text, news))))
            case _, []:
                found.append(TypeDifference("type.narrowed", " | ".join(map(type_text, olds)), type_text(new)))
            case _:
                found.append(TypeDifference("type.changed", type_text(old), type_text(new)))
        found = [d for d in found if d.rule != "type.respelt"]
        if not found:
            return [TypeDifference("type.respelt", type_text(old), type_text(new))]
        if any(d.rule == "type.changed" for d in found):
            return [TypeDifference("type.changed", type_text(old), type_text(new))]
        return found

    def _cancelled(self, olds: list[Type], news: list[Type]) -> tuple[list[Type], list[Type]]:
        """Remove the options that both sides have."""
        rest = list(news)
        left: list[Type] = []
        for old in olds:
            twin = next((n for n in rest if self.same(old, n)), None)
            if twin is None:
                left.append(old)
            else:
                rest.remove(twin)
        return left, rest

    def _pair(self, old: Type, new: Type) -> list[TypeDifference]:
        """Compare the one option left on each side; neither is an alias, null or a union."""
        match old, new:
            case (Constrained(), _) | (_, Constrained()):
                inner_old, had, had_enforced = _split_constraints(old)
                inner_new, has, has_enforced = _split_constraints(new)
                limits = constraint_differences(had_enforced, has_enforced, "limit")
                # What readers enforce on one side only is a matter of the limit alone.
                moved = {key for key, _ in (*had_enforced, *has_enforced)}
                advised = [tuple(pair for pair in given if pair[0] not in moved) for given in (had, has)]
                constraints = constraint_differences(*advised)
                return [*constraints, *limits, *self.differences(inner_old, inner_new)]
            case Integer(), Integer():
                return _range_differences(old, new)
            case ListOf(item=had, skips=skipped), ListOf(item=has, skips=skips):
                found = [replace(d, where=f"each item of {d.where}") for d in self.differences(had, has)]
                if skipped != skips:
                    rule = "items.skipped" if skips else "items.kept"
                    found.append(TypeDifference(rule, type_text(old), type_text(new)))
                return found
            case MapOf(item=had), MapOf(item=has):
                return [replace(d, where=f"each value of {d.where}") for d in self.differences(had, has)]
            case Named(name=name), Plain(name="str") if isinstance(self.old.by_name.get(name), Identifier):
                return [TypeDifference("newtype.dropped", type_text(old), type_text(new))]
            case Plain(name="str"), Named(name=name) if isinstance(self.new.by_name.get(name), Identifier):
                return [TypeDifference("newtype.added", type_text(old), type_text(new))]
            case _, Plain(name="Any") if is_plain(old, self.old):
                return [TypeDifference("type.widened", type_text(old), "any JSON value")]
            case Plain(name="Any"), _ if is_plain(new, self.new):
                return [TypeDifference("type.narrowed", f"anything but {type_text(new)}", type_text(new))]
            case _:
                return [TypeDifference("type.changed", type_text(old), type_text(new))]


def is_plain(kind: Type, index: Index) -> bool:
    """Return whether a type decodes to plain JSON values, the same ones as `Any`."""
    named = [index.by_name.get(p.name) for p in parts(kind) if isinstance(p, Named)]
    return all(isinstance(d, Identifier) or (isinstance(d, Alias) and is_plain(d.kind, index)) for d in named)


def bounds_of(kind: Integer) -> tuple[int, int]:
    """Return the least and the greatest value of an integer type."""
    low, high = RANGES[kind.format]
    return (low if kind.low is None else kind.low, high if kind.high is None else kind.high)


def constraint_differences(had: Constraints, has: Constraints, group: str = "constraint") -> list[TypeDifference]:
    """Compare two sets of sender constraints, or of limits, one by one; `group` is that of the rules."""
    before, after = dict(had), dict(has)
    found: list[TypeDifference] = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old != new:
            found.append(
                TypeDifference(f"{group}.{_constraint_rule(key, old, new)}", _limit(key, old), _limit(key, new))
            )
    return found


def _constraint_rule(key: str, old: str | float | None, new: str | float | None) -> str:
    if old is None:
        return "stricter"
    if new is None:
        return "laxer"
    if isinstance(old, str) or isinstance(new, str):
        return "changed"
    if key in LOWER_IS_LAXER:
        return "laxer" if new < old else "stricter"
    if key in HIGHER_IS_LAXER:
        return "laxer" if new > old else "stricter"
    return "changed"


def _limit(key: str, value: str | float | None) -> str:
    return NO_LIMIT if value is None else f"{key.replace('_', ' ')} {value}"


def _range_differences(old: Integer, new: Integer) -> list[TypeDifference]:
    (low_old, high_old), (low_new, high_new) = bounds_of(old), bounds_of(new)
    if (low_old, high_old) == (low_new, high_new):
        return []
    rule = "range.widened" if low_new <= low_old and high_new >= high_old else "range.narrowed"
    return [TypeDifference(rule, f"{low_old} to {high_old}", f"{low_new} to {high_new}")]


def _split_constraints(kind: Type) -> tuple[Type, Constraints, Constraints]:
    return (kind.inner, kind.constraints, kind.enforced) if isinstance(kind, Constrained) else (kind, (), ())


def _options(kind: Type) -> list[Type]:
    """List the options of a type; null is one of them."""
    match kind:
        case Nullable(inner=inner):
            return [*_options(inner), NULL]
        case Choice(options=options):
            return [o for option in options for o in _options(option)]
        case _:
            return [kind]


def _expanded(kind: Type, index: Index) -> list[Type]:
    """List the options of a type, with aliases replaced by their own options."""
    target = index.resolved(kind)
    options = _options(target)
    return options if options == [target] else [o for option in options for o in _expanded(option, index)]
