"""Plans of objects: structs, catch-alls, and the unions of them."""

from collections.abc import Callable
from typing import Any, cast

from msgspec import Struct

from ._marks import Leniency
from ._plans import Advised, Constant, Items, Values
from ._repair import KEPT, Mismatch, Plan, Walk, candidates, kind_of, shown
from ._unions import UnionSpec
from ._variants import CatchAll, UnknownVariant

_MISSING: Any = object()


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
        walk.path.append(self.wire)
        if self.leniency is None or self.fallback is None:
            out = self.plan.read(value, walk)
        else:
            try:
                out = walk.attempt(self.plan.read, value)
            except Mismatch as why:
                if self.leniency is Leniency.ON_NULL and value is not None:
                    raise
                walk.skip(value, why, "default")
                out = self.fallback()
        walk.path.pop()
        return out


class Fields(Struct):
    """An object with declared fields: a Struct or a catch-all. Its own tag, if any, was looked at before."""

    kind: type[Any]
    list_entries: Callable[[type[Any]], list[Entry]]
    entries: tuple[Entry, ...] = ()
    required: tuple[str, ...] = ()
    constants: tuple[Entry, ...] = ()
    """The fields that say which variant of an inner union this is."""
    compiled: bool = False

    def compile(self) -> None:
        """Find the fields; late, so that types may refer to themselves."""
        self.entries = tuple(self.list_entries(self.kind))
        self.required = tuple(e.wire for e in self.entries if e.required)
        self.constants = tuple(e for e in self.entries if isinstance(e.plan, Constant))
        self.compiled = True

    def read(self, value: Any, walk: Walk) -> Any:
        if not self.compiled:
            self.compile()
        if not isinstance(value, dict):
            walk.expected("object", value)
        given = cast("dict[str, Any]", value)
        found: dict[str, Any] = {}
        for entry in self.entries:
            raw = given.get(entry.wire, _MISSING)
            if raw is not _MISSING:
                found[entry.name] = entry.read(raw, walk)
            elif entry.required:
                walk.fail(f"Object missing required field `{entry.wire}`")
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
        return all(k in given for k in self.required) and all(
            c.plan.viable(given[c.wire]) for c in self.constants if c.wire in given
        )


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


class Tagged(Struct, frozen=True):
    """A union described by a `UnionSpec`."""

    spec: UnionSpec
    plan_of: Callable[[Any], Plan]

    def read(self, value: Any, walk: Walk) -> Any:
        first: Mismatch | None = None
        for kind in candidates(self.spec, value):
            plan = self.plan_of(kind)
            try:
                return walk.attempt(plan.read, value)
            except Mismatch as why:
                first = first if first is not None and not plan.viable(value) else why
        tag_field = self.spec.tag_field
        if tag_field is None:
            raise first or Mismatch("No variant of the union fits", tuple(walk.path))
        if not isinstance(value, dict):
            walk.expected("object", value)
        tag = cast("dict[str, Any]", value).get(tag_field, _MISSING)
        may_keep = walk.keep_unknown or (walk.sending and KEPT in value)
        if isinstance(tag, str) and tag not in self.spec.tagged and self.spec.closed and may_keep:
            return UnknownVariant(tag_field, tag, cast("dict[str, Any]", value))
        if first is not None:
            raise first
        if tag is _MISSING:
            walk.fail(f"Object missing required field `{tag_field}`")
        if not isinstance(tag, str):
            walk.fail(f"Expected `str`, got `{kind_of(tag)}`", tag_field)
        return walk.fail(f"Invalid value {shown(tag)}", tag_field)

    def viable(self, value: Any) -> bool:
        return any(self.plan_of(kind).viable(value) for kind in candidates(self.spec, value))


class Choice(Struct, frozen=True):
    """A union without tags: the options in order."""

    options: tuple[Plan, ...]
    names: str

    def read(self, value: Any, walk: Walk) -> Any:
        viable = [p for p in self.options if p.viable(value)]
        for plan in viable[:-1]:
            try:
                return walk.attempt(plan.read, value)
            except Mismatch:
                continue
        if viable:
            return viable[-1].read(value, walk)
        # An object or array of the wrong make: its own plan tells what is wrong with it.
        made_for = (Fields, Tagged, Values) if isinstance(value, dict) else (Items,) if isinstance(value, list) else ()
        for plan in self.options:
            if isinstance(plan.inner if isinstance(plan, Advised) else plan, made_for):
                return plan.read(value, walk)
        return walk.expected(self.names, value)

    def viable(self, value: Any) -> bool:
        return any(p.viable(value) for p in self.options)
