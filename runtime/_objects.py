"""Plans of objects: structs, catch-alls, and the unions of them."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from ._hooks import dec_hook
from ._marks import Leniency
from ._plans import Advised, Constant, Exact, FreeJson, Items, RawJson, Sifting, Values
from ._repair import Kept, Mismatch, Plan, Walk, candidates, kind_of, shown
from ._unions import UnionSpec
from ._variants import CatchAll, UnknownVariant

_MISSING: Any = object()
FEW = 8
"""An object with so many fields is read by field about as fast as msgspec says that it does not fit."""


class Entry(Struct, frozen=True):
    """One field of an object."""

    name: str
    wire: str
    plan: Plan
    required: bool
    leniency: Leniency | None
    fallback: Any
    """Makes the value of a forgiven field; None where there is none."""

    def read(self, value: Any, walk: Walk) -> Any:
        path = walk.path
        if self.leniency is None or self.fallback is None:
            path.append(self.wire)
            out = self.plan.read(value, walk)
        else:
            if walk.count >= walk.told and self.is_lenient(value) and self.plan.refuses(value, walk):
                walk.count += 1
                return self.fallback()
            path.append(self.wire)
            depth, repairs = len(path), walk.count
            try:
                out = self.plan.read(value, walk)
            except Mismatch as why:
                walk.forget(depth, repairs)
                if not self.is_lenient(value):
                    raise
                walk.skip(value, why, "default")
                out = self.fallback()
        path.pop()
        return out

    def is_lenient(self, value: Any) -> bool:
        """Whether the field falls back to its default where it cannot have this value."""
        return self.fallback is not None and (
            self.leniency is Leniency.ON_ERROR or (self.leniency is Leniency.ON_NULL and value is None)
        )

    def refuses(self, value: Any, walk: Walk) -> bool:
        """Say without raising that `read` would raise."""
        return not self.is_lenient(value) and self.plan.refuses(value, walk)

    @property
    def is_exacting(self) -> bool:
        """Whether some value makes `read` raise."""
        return self.leniency is not Leniency.ON_ERROR or self.fallback is None


class Fields(Sifting, Struct):
    """An object with declared fields: a Struct or a catch-all. Its own tag, if any, was looked at before."""

    kind: type[Any]
    list_entries: Callable[[type[Any]], list[Entry]]
    entries: tuple[Entry, ...] = ()
    steps: tuple[tuple[str, str, frozenset[type[Any]], Entry], ...] = ()
    """For each entry its names, the classes of values that are taken as they are, and itself."""
    required: frozenset[str] = frozenset()
    exacting: tuple[tuple[str, bool, frozenset[type[Any]], Callable[[Any, Walk], bool]], ...] = ()
    """For each entry that may fail its JSON key, whether that is required, the classes of values that are taken as they
    are, and what says of others that they are refused."""
    constants: tuple[Entry, ...] = ()
    """The fields that say which variant of an inner union this is."""
    compiled: bool = False

    def compile(self) -> None:
        """Find the fields; late, so that types may refer to themselves."""
        self.entries = tuple(self.list_entries(self.kind))
        self.steps = tuple((e.name, e.wire, _taken_as_is(e.plan), e) for e in self.entries)
        self.exacting = tuple(
            (e.wire, e.required, _taken_as_is(e.plan), e.plan.refuses if e.leniency is None else e.refuses)
            for e in self.entries
            if e.required or e.is_exacting
        )
        self.required = frozenset(e.wire for e in self.entries if e.required)
        self.constants = tuple(e for e in self.entries if isinstance(e.plan, Constant))
        self.compiled = True

    def read(self, value: Any, walk: Walk) -> Any:
        if not self.compiled:
            self.compile()
        return self.by_field(value, walk)

    def by_field(self, value: Any, walk: Walk) -> Any:
        """Read each field by its own plan."""
        if not isinstance(value, dict):
            walk.expected("object", value)
        given = cast("dict[str, Any]", value)
        found: dict[str, Any] = {}
        for name, wire, as_is, entry in self.steps:
            raw = given.get(wire, _MISSING)
            if raw is _MISSING:
                if entry.required:
                    walk.fail(f"Object missing required field `{wire}`")
            elif raw.__class__ in as_is:
                found[name] = raw
            else:
                found[name] = entry.read(raw, walk)
        return self.build(given, found, walk)

    def build(self, given: dict[str, Any], found: dict[str, Any], walk: Walk) -> Any:
        """Make the object of its fields."""
        return self.kind(**found)

    def viable(self, value: Any) -> bool:
        if not self.compiled:
            self.compile()
        if not isinstance(value, dict):
            return False
        given = cast("dict[str, Any]", value)
        if not self.required <= given.keys():
            return False
        for constant in self.constants:
            if constant.wire in given and not constant.plan.viable(given[constant.wire]):
                return False
        return True

    def refuses(self, value: Any, walk: Walk) -> bool:
        if not self.compiled:
            self.compile()
        if not isinstance(value, dict):
            return True
        given = cast("dict[str, Any]", value)
        for wire, required, as_is, refuses in self.exacting:
            raw = given.get(wire, _MISSING)
            if raw is _MISSING:
                if required:
                    return True
            elif raw.__class__ not in as_is and refuses(raw, walk):
                return True
        return False

    def sift(self, entries: list[Any], walk: Walk) -> list[Any]:
        if not self.compiled:
            self.compile()
        first = next(iter(self.required), None)
        return [e for e in entries if isinstance(e, dict) and (first is None or first in e)]


class Whole(Fields):
    """A Struct, which msgspec can read by itself where nothing in it is amiss."""

    def read(self, value: Any, walk: Walk) -> Any:
        if not self.compiled:
            self.compile()
        misfit = walk.misfit
        # Where many values were bad already, trying costs more than the few fields of a small object.
        if misfit and (walk.count < walk.told or len(self.steps) > FEW):
            depth = len(walk.path)
            # What the first misfit seems to be in is not tried. To msgspec alone a constant has a default.
            seems_fine = depth >= len(misfit) or (depth and str(walk.path[-1]) != misfit[depth])
            if seems_fine and (not self.constants or self.viable(value)):
                try:
                    return msgspec.convert(value, self.kind, dec_hook=dec_hook)
                except (ValueError, RecursionError):
                    pass
        return self.by_field(value, walk)


class Remainder(Fields):
    """A catch-all: declared fields, and every other key as it came."""

    def build(self, given: dict[str, Any], found: dict[str, Any], walk: Walk) -> Any:
        cls: type[CatchAll] = self.kind
        shape = cls.__shape__
        if shape.other_of is not None and given[shape.other_of] in shape.known:
            walk.fail(f"Invalid value {shown(given[shape.other_of])}", shape.other_of)
        own = {e.wire for e in self.entries} | shape.reserved | {shape.tag_field}
        return cls(**found, extra={k: v for k, v in given.items() if k not in own})

    def viable(self, value: Any) -> bool:
        shape = self.kind.__shape__
        if not Fields.viable(self, value):
            return False
        tag = None if shape.other_of is None else value[shape.other_of]
        return not isinstance(tag, str) or tag not in shape.known

    def refuses(self, value: Any, walk: Walk) -> bool:
        return not self.viable(value) or Fields.refuses(self, value, walk)


class Tagged(Sifting, Struct, frozen=True):
    """A union described by a `UnionSpec`."""

    spec: UnionSpec
    plan_of: Callable[[Any], Plan]
    plans: dict[tuple[Any, ...], tuple[Plan, ...]] = {}
    """The plans of candidates, which are few different ones."""
    by_tag: dict[str, tuple[Plan, ...]] = {}
    """The same for the tags of the schema."""

    def read(self, value: Any, walk: Walk) -> Any:
        first: Mismatch | None = None
        plans: Sequence[Plan] = self.plans_for(value)
        if len(plans) > 1:
            # Where nothing fits, the first tells what is wrong.
            plans = [p for p in plans if p.viable(value)] or plans[:1]
            # What the strict pass did not take may be a good value of another type than it tried.
            if len(walk.misfit) > len(walk.path) > 0:
                walk.misfit = walk.misfit[: len(walk.path)]
        for plan in plans:
            depth, repairs = len(walk.path), walk.count
            try:
                return plan.read(value, walk)
            except Mismatch as why:
                walk.forget(depth, repairs)
                first = why
        tag_field = self.spec.tag_field
        if tag_field is None:
            raise first or Mismatch("No variant of the union fits", tuple(walk.path))
        if not isinstance(value, dict):
            walk.expected("object", value)
        tag = cast("dict[str, Any]", value).get(tag_field, _MISSING)
        if isinstance(tag, str) and tag not in self.spec.tagged and self.may_keep(value, walk):
            return UnknownVariant(tag_field, tag, cast("dict[str, Any]", value))
        if first is not None:
            raise first
        if tag is _MISSING:
            walk.fail(f"Object missing required field `{tag_field}`")
        if not isinstance(tag, str):
            walk.fail(f"Expected `str`, got `{kind_of(tag)}`", tag_field)
        return walk.fail(f"Invalid value {shown(tag)}", tag_field)

    def plans_for(self, value: Any) -> tuple[Plan, ...]:
        """List the plans of the types that `value` may be read as."""
        spec = self.spec
        tag: Any = value.get(spec.tag_field) if value.__class__ is dict else None
        if tag.__class__ is str:
            found = self.by_tag.get(tag)
            if found is not None:
                return found
        kinds = candidates(spec, value)
        found = self.plans.get(kinds)
        if found is None:
            found = self.plans[kinds] = tuple(map(self.plan_of, kinds))
        if tag.__class__ is str and tag in spec.tagged:
            self.by_tag[tag] = found
        return found

    def may_keep(self, value: Any, walk: Walk) -> bool:
        """Whether a value with an unknown tag may stay as it is."""
        return self.spec.closed and (walk.keep_unknown or (walk.sending and isinstance(value, Kept)))

    def viable(self, value: Any) -> bool:
        return any(p.viable(value) for p in self.plans_for(value))

    def refuses(self, value: Any, walk: Walk) -> bool:
        for plan in self.plans_for(value):
            if not plan.refuses(value, walk):
                return False
        return not (self.spec.closed and self.may_keep(value, walk))

    def sift(self, entries: list[Any], walk: Walk) -> list[Any]:
        tag, tagged = self.spec.tag_field, self.spec.tagged
        others = self.plans_for(None)  # those of the fallbacks, which are the same for all values
        if tag is None or not all(isinstance(p, Fields) for p in others):
            return entries
        # A peer may have this done for every two or three bytes.
        objects: list[dict[str, Any]] = [e for e in entries if isinstance(e, dict)]
        if others:
            return objects
        if self.spec.catch_alls or walk.keep_unknown or walk.sending:
            return [e for e in objects if isinstance(e.get(tag), str)]
        return [e for e in objects if (name := e.get(tag)).__class__ is str and name in tagged]


class Choice(Sifting, Struct, frozen=True):
    """A union without tags: the options in order."""

    options: tuple[Plan, ...]
    names: str

    def read(self, value: Any, walk: Walk) -> Any:
        last: Plan | None = None
        for plan in self.options:
            if plan.viable(value):
                if last is not None:
                    try:
                        return walk.attempt(last.read, value)
                    except Mismatch:
                        pass
                last = plan
        if last is not None:
            return last.read(value, walk)
        # An object or array of the wrong make: its own plan tells what is wrong with it.
        made_for = (Fields, Tagged, Values) if isinstance(value, dict) else (Items,) if isinstance(value, list) else ()
        for plan in self.options:
            if isinstance(plan.inner if isinstance(plan, Advised) else plan, made_for):
                return plan.read(value, walk)
        return walk.expected(self.names, value)

    def viable(self, value: Any) -> bool:
        return any(p.viable(value) for p in self.options)

    def refuses(self, value: Any, walk: Walk) -> bool:
        return all(p.refuses(value, walk) for p in self.options)


def _taken_as_is(plan: Plan) -> frozenset[type[Any]]:
    """List the classes of values that a plan gives back unchanged and unchecked."""
    match plan:
        case Exact():
            return frozenset((plan.kind,))
        case RawJson():
            return frozenset()
        case FreeJson():
            return frozenset((str, bool, int, float, list, dict, type(None)))
        case Choice() if all(isinstance(p, (Exact, Fields, Items, Values)) for p in plan.options):
            return frozenset(c for p in plan.options for c in _taken_as_is(p))
        case _:
            return frozenset()
