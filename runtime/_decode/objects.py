"""Plans of objects: structs, catch-alls, and the unions of them."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from .._types.leniency import Leniency
from .._types.unions import UnionSpec, candidates
from .._types.variants import CatchAll, UnknownVariant
from .context import KeptVariant, RepairContext, TypeReader
from .hook import dec_hook
from .paths import Mismatch, kind_of, shown
from .values import Advised, Constant, Exact, FreeJson, Items, RawJson, Sifting, Values

_MISSING: Any = object()
FEW = 8
"""An object with so many fields is read by field about as fast as msgspec says that it does not fit."""


class Entry(Struct, frozen=True):
    """One field of an object."""

    name: str
    wire: str
    reader: TypeReader
    required: bool
    leniency: Leniency | None
    fallback: Any
    """Makes the value of a forgiven field; None where there is none."""

    def read(self, value: Any, context: RepairContext) -> Any:
        path = context.path
        if self.leniency is None or self.fallback is None:
            path.append(self.wire)
            out = self.reader.read(value, context)
        else:
            if context.count >= context.limit and self.is_lenient(value) and self.reader.refuses(value, context):
                context.count += 1
                return self.fallback()
            path.append(self.wire)
            depth, repairs = len(path), context.count
            try:
                out = self.reader.read(value, context)
            except Mismatch as why:
                context.undo(depth, repairs)
                if not self.is_lenient(value):
                    raise
                context.skip(value, why, "default")
                out = self.fallback()
        path.pop()
        return out

    def is_lenient(self, value: Any) -> bool:
        """Whether the field falls back to its default where it cannot have this value."""
        return self.fallback is not None and (
            self.leniency is Leniency.ON_ERROR or (self.leniency is Leniency.ON_NULL and value is None)
        )

    def refuses(self, value: Any, context: RepairContext) -> bool:
        """Say without raising that `read` would raise."""
        return not self.is_lenient(value) and self.reader.refuses(value, context)

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
    exacting: tuple[tuple[str, bool, frozenset[type[Any]], Callable[[Any, RepairContext], bool]], ...] = ()
    """For each entry that may fail its JSON key, whether that is required, the classes of values that are taken as they
    are, and what says of others that they are refused."""
    constants: tuple[Entry, ...] = ()
    """The fields that say which variant of an inner union this is."""
    compiled: bool = False

    def compile(self) -> None:
        """Find the fields; late, so that types may refer to themselves."""
        self.entries = tuple(self.list_entries(self.kind))
        self.steps = tuple((e.name, e.wire, _taken_as_is(e.reader), e) for e in self.entries)
        self.exacting = tuple(
            (e.wire, e.required, _taken_as_is(e.reader), e.reader.refuses if e.leniency is None else e.refuses)
            for e in self.entries
            if e.required or e.is_exacting
        )
        self.required = frozenset(e.wire for e in self.entries if e.required)
        self.constants = tuple(e for e in self.entries if isinstance(e.reader, Constant))
        self.compiled = True

    def read(self, value: Any, context: RepairContext) -> Any:
        if not self.compiled:
            self.compile()
        return self.by_field(value, context)

    def by_field(self, value: Any, context: RepairContext) -> Any:
        """Read each field by its own reader."""
        if not isinstance(value, dict):
            context.expected("object", value)
        given = cast("dict[str, Any]", value)
        found: dict[str, Any] = {}
        for name, wire, as_is, entry in self.steps:
            raw = given.get(wire, _MISSING)
            if raw is _MISSING:
                if entry.required:
                    context.fail(f"Object missing required field `{wire}`")
            elif raw.__class__ in as_is:
                found[name] = raw
            else:
                found[name] = entry.read(raw, context)
        return self.build(given, found, context)

    def build(self, given: dict[str, Any], found: dict[str, Any], context: RepairContext) -> Any:
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
            if constant.wire in given and not constant.reader.viable(given[constant.wire]):
                return False
        return True

    def refuses(self, value: Any, context: RepairContext) -> bool:
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
            elif raw.__class__ not in as_is and refuses(raw, context):
                return True
        return False

    def sift(self, entries: list[Any], context: RepairContext) -> list[Any]:
        if not self.compiled:
            self.compile()
        first = next(iter(self.required), None)
        return [e for e in entries if isinstance(e, dict) and (first is None or first in e)]


class Whole(Fields):
    """A Struct, which msgspec can read by itself where nothing in it is amiss."""

    def read(self, value: Any, context: RepairContext) -> Any:
        if not self.compiled:
            self.compile()
        mismatch = context.mismatch
        # Where many values were bad already, trying costs more than the few fields of a small object.
        if mismatch and (context.count < context.limit or len(self.steps) > FEW):
            depth = len(context.path)
            # What the first mismatch seems to be in is not tried. To msgspec alone a constant has a default.
            seems_fine = depth >= len(mismatch) or (depth and str(context.path[-1]) != mismatch[depth])
            if seems_fine and (not self.constants or self.viable(value)):
                try:
                    return msgspec.convert(value, self.kind, dec_hook=dec_hook)
                except (ValueError, RecursionError):
                    pass
        return self.by_field(value, context)


class Remainder(Fields):
    """A catch-all: declared fields, and every other key as it came."""

    def build(self, given: dict[str, Any], found: dict[str, Any], context: RepairContext) -> Any:
        cls: type[CatchAll] = self.kind
        shape = cls.__shape__
        if shape.other_of is not None and given[shape.other_of] in shape.known:
            context.fail(f"Invalid value {shown(given[shape.other_of])}", shape.other_of)
        own = {e.wire for e in self.entries} | shape.reserved | {shape.tag_field}
        return cls(**found, extra={k: v for k, v in given.items() if k not in own})

    def viable(self, value: Any) -> bool:
        shape = self.kind.__shape__
        if not Fields.viable(self, value):
            return False
        tag = None if shape.other_of is None else value[shape.other_of]
        return not isinstance(tag, str) or tag not in shape.known

    def refuses(self, value: Any, context: RepairContext) -> bool:
        return not self.viable(value) or Fields.refuses(self, value, context)


class Tagged(Sifting, Struct, frozen=True):
    """A union described by a `UnionSpec`."""

    spec: UnionSpec
    reader_of: Callable[[Any], TypeReader]
    readers: dict[tuple[Any, ...], tuple[TypeReader, ...]] = {}
    """The readers of candidates, which are few different ones."""
    by_tag: dict[str, tuple[TypeReader, ...]] = {}
    """The same for the tags of the schema."""

    def read(self, value: Any, context: RepairContext) -> Any:
        first: Mismatch | None = None
        readers: Sequence[TypeReader] = self.readers_for(value)
        if len(readers) > 1:
            # Where nothing fits, the first tells what is wrong.
            readers = [p for p in readers if p.viable(value)] or readers[:1]
            # What the strict pass did not take may be a good value of another type than it tried.
            if len(context.mismatch) > len(context.path) > 0:
                context.mismatch = context.mismatch[: len(context.path)]
        for reader in readers:
            depth, repairs = len(context.path), context.count
            try:
                return reader.read(value, context)
            except Mismatch as why:
                context.undo(depth, repairs)
                first = why
        tag_field = self.spec.tag_field
        if tag_field is None:
            raise first or Mismatch("No variant of the union fits", tuple(context.path))
        if not isinstance(value, dict):
            context.expected("object", value)
        tag = cast("dict[str, Any]", value).get(tag_field, _MISSING)
        if isinstance(tag, str) and tag not in self.spec.tagged and self.may_keep(value, context):
            return UnknownVariant(tag_field, tag, cast("dict[str, Any]", value))
        if first is not None:
            raise first
        if tag is _MISSING:
            context.fail(f"Object missing required field `{tag_field}`")
        if not isinstance(tag, str):
            context.fail(f"Expected `str`, got `{kind_of(tag)}`", tag_field)
        return context.fail(f"Invalid value {shown(tag)}", tag_field)

    def readers_for(self, value: Any) -> tuple[TypeReader, ...]:
        """List the readers of the types that `value` may be read as."""
        spec = self.spec
        tag: Any = value.get(spec.tag_field) if value.__class__ is dict else None
        if tag.__class__ is str:
            found = self.by_tag.get(tag)
            if found is not None:
                return found
        kinds = candidates(spec, value)
        found = self.readers.get(kinds)
        if found is None:
            found = self.readers[kinds] = tuple(map(self.reader_of, kinds))
        if tag.__class__ is str and tag in spec.tagged:
            self.by_tag[tag] = found
        return found

    def may_keep(self, value: Any, context: RepairContext) -> bool:
        """Whether a value with an unknown tag may stay as it is."""
        return self.spec.closed and (context.keep_unknown or (context.sending and isinstance(value, KeptVariant)))

    def viable(self, value: Any) -> bool:
        return any(p.viable(value) for p in self.readers_for(value))

    def refuses(self, value: Any, context: RepairContext) -> bool:
        for reader in self.readers_for(value):
            if not reader.refuses(value, context):
                return False
        return not (self.spec.closed and self.may_keep(value, context))

    def sift(self, entries: list[Any], context: RepairContext) -> list[Any]:
        tag, tagged = self.spec.tag_field, self.spec.tagged
        others = self.readers_for(None)  # those of the fallbacks, which are the same for all values
        if tag is None or not all(isinstance(p, Fields) for p in others):
            return entries
        # A peer may have this done for every two or three bytes.
        objects: list[dict[str, Any]] = [e for e in entries if isinstance(e, dict)]
        if others:
            return objects
        if self.spec.catch_alls or context.keep_unknown or context.sending:
            return [e for e in objects if isinstance(e.get(tag), str)]
        return [e for e in objects if (name := e.get(tag)).__class__ is str and name in tagged]


class Choice(Sifting, Struct, frozen=True):
    """A union without tags: the options in order."""

    options: tuple[TypeReader, ...]
    names: str

    def read(self, value: Any, context: RepairContext) -> Any:
        last: TypeReader | None = None
        for reader in self.options:
            if reader.viable(value):
                if last is not None:
                    try:
                        return context.attempt(last.read, value)
                    except Mismatch:
                        pass
                last = reader
        if last is not None:
            return last.read(value, context)
        # An object or array of the wrong make: its own reader tells what is wrong with it.
        made_for = (Fields, Tagged, Values) if isinstance(value, dict) else (Items,) if isinstance(value, list) else ()
        for reader in self.options:
            if isinstance(reader.inner if isinstance(reader, Advised) else reader, made_for):
                return reader.read(value, context)
        return context.expected(self.names, value)

    def viable(self, value: Any) -> bool:
        return any(p.viable(value) for p in self.options)

    def refuses(self, value: Any, context: RepairContext) -> bool:
        return all(p.refuses(value, context) for p in self.options)


def _taken_as_is(reader: TypeReader) -> frozenset[type[Any]]:
    """List the classes of values that a reader gives back unchanged and unchecked."""
    match reader:
        case Exact():
            return frozenset((reader.kind,))
        case RawJson():
            return frozenset()
        case FreeJson():
            return frozenset((str, bool, int, float, list, dict, type(None)))
        case Choice() if all(isinstance(p, (Exact, Fields, Items, Values)) for p in reader.options):
            return frozenset(c for p in reader.options for c in _taken_as_is(p))
        case _:
            return frozenset()
