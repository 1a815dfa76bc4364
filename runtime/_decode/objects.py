"""Readers of objects: structs, catch-alls, and unions."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from .._types.leniency import Leniency
from .._types.unions import UnionSpec, candidates, excluding_key, forbidden
from .._types.variants import CatchAll, UnknownVariant
from .context import KeptVariant, RepairContext, TypeReader
from .hook import FORBIDDEN, dec_hook
from .paths import Mismatch, kind_of, shown
from .values import (
    AnyReader,
    ConstrainedReader,
    EnumReader,
    ExactReader,
    IntReader,
    LengthReader,
    ListReader,
    LiteralReader,
    MapReader,
    RawReader,
    ReaderBase,
)

Gates = tuple[tuple[str, frozenset[type[Any]]], ...]
_MISSING: Any = object()
FEW = 8
"""Number of fields up to which reading field by field costs no more than a failed attempt by msgspec."""


class FieldReader(Struct, frozen=True):
    """Reads one field of an object."""

    name: str
    wire: str
    reader: TypeReader
    required: bool
    leniency: Leniency | None
    fallback: Any
    """Builds the value of a repaired field, as `compile` decides; None if the field cannot be repaired."""

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
        """Return whether the field falls back to its default if this value is invalid."""
        return self.fallback is not None and (
            self.leniency is Leniency.ON_ERROR or (self.leniency is Leniency.ON_NULL and value is None)
        )

    def refuses(self, value: Any, context: RepairContext) -> bool:
        """Check without exceptions. True means that `read` raises."""
        return not self.is_lenient(value) and self.reader.refuses(value, context)

    @property
    def can_fail(self) -> bool:
        """Whether some value makes `read` raise."""
        return self.leniency is not Leniency.ON_ERROR or self.fallback is None


class ObjectReader(ReaderBase, Struct):
    """Reads an object with declared fields. Its own tag, if any, was checked before."""

    kind: type[Any]
    list_fields: Callable[[type[Any]], list[FieldReader]]
    fields: tuple[FieldReader, ...] = ()
    steps: tuple[tuple[str, str, frozenset[type[Any]], FieldReader], ...] = ()
    """Of each field: its name, its JSON key, the classes whose values need no reading, and the field itself."""
    required: frozenset[str] = frozenset()
    checks: tuple[tuple[str, bool, frozenset[type[Any]], Callable[[Any, RepairContext], bool]], ...] = ()
    """Of each field that can make the object invalid: its JSON key, whether it is required, the classes whose values
    need no reading, and the function that checks all others."""
    takes_null: bool = False
    """Whether null stands for an object without keys."""
    constants: tuple[FieldReader, ...] = ()
    """Fields with a fixed value: the tags of enclosing unions."""
    gates: Gates = ()
    """Of each required field that is not lenient: its JSON key, and the classes of which a plain value must be."""
    compiled: bool = False

    def compile(self) -> None:
        """List the fields, at the first use, so that types may refer to themselves."""
        self.fields = tuple(self.list_fields(self.kind))
        self.steps = tuple((e.name, e.wire, _unread_classes(e.reader), e) for e in self.fields)
        self.checks = tuple(
            (e.wire, e.required, _unread_classes(e.reader), e.reader.refuses if e.leniency is None else e.refuses)
            for e in self.fields
            if e.required or e.can_fail
        )
        self.gates = tuple(
            (e.wire, classes)
            for e in self.fields
            if e.required and e.fallback is None and (classes := _plain_classes(e.reader))
        )
        self.required = frozenset(e.wire for e in self.fields if e.required)
        self.constants = tuple(e for e in self.fields if isinstance(e.reader, LiteralReader))
        self.takes_null = getattr(self.kind, "__takes_null__", False)
        self.compiled = True

    def read(self, value: Any, context: RepairContext) -> Any:
        if not self.compiled:
            self.compile()
        return self.by_field(value, context)

    def by_field(self, value: Any, context: RepairContext) -> Any:
        """Read each field by its own reader."""
        if value is None and self.takes_null:
            context.skip(None, Mismatch("Expected `object`, got `null`", tuple(context.path)), "default")
            value = {}
        if not isinstance(value, dict):
            context.expected("object", value)
        given = cast("dict[str, Any]", value)
        found: dict[str, Any] = {}
        for name, wire, unread, entry in self.steps:
            raw = given.get(wire, _MISSING)
            if raw is _MISSING:
                if entry.required:
                    context.fail(f"Object missing required field `{wire}`")
            elif raw.__class__ in unread:
                found[name] = raw
            else:
                found[name] = entry.read(raw, context)
        return self.build(given, found, context)

    def build(self, given: dict[str, Any], found: dict[str, Any], context: RepairContext) -> Any:
        """Build the object from its fields."""
        return self.kind(**found)

    def viable(self, value: Any) -> bool:
        if not self.compiled:
            self.compile()
        if not isinstance(value, dict):
            return value is None and self.takes_null
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
            return value is not None or not self.takes_null
        given = cast("dict[str, Any]", value)
        for wire, required, unread, refuses in self.checks:
            raw = given.get(wire, _MISSING)
            if raw is _MISSING:
                if required:
                    return True
            elif raw.__class__ not in unread and refuses(raw, context):
                return True
        return False

    def sift(self, entries: list[Any], context: RepairContext) -> list[Any]:
        if not self.compiled:
            self.compile()
        first = next(iter(self.required), None)
        if self.takes_null:
            return [e for e in entries if isinstance(e, dict) or e is None]
        if context.mismatch:  # plain values, whose classes are known exactly
            entries = [e for e in entries if e.__class__ is dict]
            for wire, classes in self.gates:
                entries = [e for e in entries if e.get(wire, _MISSING).__class__ in classes]
        return [e for e in entries if isinstance(e, dict) and (first is None or first in e)]


class StructReader(ObjectReader):
    """Reads a Struct. msgspec converts it as a whole if nothing in it is invalid."""

    def read(self, value: Any, context: RepairContext) -> Any:
        if not self.compiled:
            self.compile()
        mismatch = context.mismatch
        # After many repairs, a failed attempt costs more than reading the few fields of a small object.
        if mismatch and (context.count < context.limit or len(self.steps) > FEW):
            depth = len(context.path)
            # No attempt on the path of the first mismatch. To msgspec, a fixed value that is absent has a default.
            may_match = depth >= len(mismatch) or (depth and str(context.path[-1]) != mismatch[depth])
            if may_match and (not self.constants or self.viable(value)):
                try:
                    return msgspec.convert(value, self.kind, dec_hook=dec_hook)
                except (ValueError, RecursionError):
                    pass
        return self.by_field(value, context)


class CatchAllReader(ObjectReader):
    """Reads a catch-all: declared fields, and every other key unchanged."""

    def build(self, given: dict[str, Any], found: dict[str, Any], context: RepairContext) -> Any:
        cls: type[CatchAll] = self.kind
        shape = cls.__shape__
        if shape.other_of is not None and given[shape.other_of] in shape.known:
            context.fail(f"Invalid value {shown(given[shape.other_of])}", shape.other_of)
        own = {e.wire for e in self.fields} | shape.reserved | {shape.tag_field}
        return cls(**found, extra={k: v for k, v in given.items() if k not in own})

    def viable(self, value: Any) -> bool:
        shape = self.kind.__shape__
        if not ObjectReader.viable(self, value):
            return False
        tag = None if shape.other_of is None else value[shape.other_of]
        return not isinstance(tag, str) or tag not in shape.known

    def refuses(self, value: Any, context: RepairContext) -> bool:
        return not self.viable(value) or ObjectReader.refuses(self, value, context)


class ExcludingReader(ReaderBase, Struct, frozen=True):
    """Reads a variant that certain keys exclude from its union."""

    inner: TypeReader
    forbidden: frozenset[str]

    def read(self, value: Any, context: RepairContext) -> Any:
        key = excluding_key(self.forbidden, value)
        return self.inner.read(value, context) if key is None else context.fail(FORBIDDEN, key)

    def viable(self, value: Any) -> bool:
        return self.inner.viable(value) and excluding_key(self.forbidden, value) is None

    def refuses(self, value: Any, context: RepairContext) -> bool:
        return excluding_key(self.forbidden, value) is not None or self.inner.refuses(value, context)


class UnionReader(ReaderBase, Struct, frozen=True):
    """Reads a union described by a `UnionSpec`."""

    spec: UnionSpec
    reader_of: Callable[[Any], TypeReader]
    readers: dict[tuple[Any, ...], tuple[TypeReader, ...]] = {}
    """The readers of each group of candidates."""
    by_tag: dict[str, tuple[TypeReader, ...]] = {}
    """The readers by tag."""

    def read(self, value: Any, context: RepairContext) -> Any:
        first: Mismatch | None = None
        readers: Sequence[TypeReader] = self.readers_for(value)
        if len(readers) > 1:
            # If no candidate is viable, the error is that of the first one.
            readers = [r for r in readers if r.viable(value)] or readers[:1]
            # The fast path tried one type only; its mismatch says nothing about the others.
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
        """List the readers of the types that `value` may have."""
        spec = self.spec
        tag: Any = value.get(spec.tag_field) if value.__class__ is dict else None
        if tag.__class__ is str:
            found = self.by_tag.get(tag)
            if found is not None:
                return found
        kinds = candidates(spec, value)
        found = self.readers.get(kinds)
        if found is None:
            found = self.readers[kinds] = tuple(map(self.variant_reader, kinds))
        if tag.__class__ is str and tag in spec.tagged:
            self.by_tag[tag] = found
        return found

    def variant_reader(self, kind: Any) -> TypeReader:
        """Return the reader of a type as a variant of this union."""
        reader, keys = self.reader_of(kind), forbidden(kind)
        return ExcludingReader(reader, keys) if keys else reader

    def may_keep(self, value: Any, context: RepairContext) -> bool:
        """Return whether a value with an unknown tag becomes an `UnknownVariant`."""
        return self.spec.closed and (context.keep_unknown or (context.sending and isinstance(value, KeptVariant)))

    def viable(self, value: Any) -> bool:
        return any(r.viable(value) for r in self.readers_for(value))

    def refuses(self, value: Any, context: RepairContext) -> bool:
        for reader in self.readers_for(value):
            if not reader.refuses(value, context):
                return False
        return not (self.spec.closed and self.may_keep(value, context))

    def sift(self, entries: list[Any], context: RepairContext) -> list[Any]:
        tag, tagged = self.spec.tag_field, self.spec.tagged
        others = self.readers_for(None)  # the fallbacks, which are the same for all values
        if tag is None or not all(isinstance(r, ObjectReader) for r in others):
            return entries
        # This must be cheap: a hostile peer can send an item in two or three bytes.
        objects: list[dict[str, Any]] = [e for e in entries if isinstance(e, dict)]
        if others:
            return objects
        if self.spec.catch_alls or context.keep_unknown or context.sending:
            objects = [e for e in objects if isinstance(e.get(tag), str)]
        else:
            objects = [e for e in objects if (name := e.get(tag)).__class__ is str and name in tagged]
        return self.through_gates(objects, tag) if context.mismatch else objects

    def through_gates(self, objects: list[dict[str, Any]], tag: str) -> list[Any]:
        """Leave out objects that lack what the class of their tag requires."""
        gates: dict[Any, Gates] = {}
        for name in self.spec.tagged:
            readers = self.readers_for({tag: name})
            if len(readers) == 1 and isinstance(readers[0], ObjectReader):
                if not readers[0].compiled:
                    readers[0].compile()
                gates[name] = readers[0].gates
        found: list[Any] = []
        for entry in objects:
            for wire, classes in gates.get(entry[tag], ()):
                if entry.get(wire, _MISSING).__class__ not in classes:
                    break
            else:
                found.append(entry)
        return found


class ChoiceReader(ReaderBase, Struct, frozen=True):
    """Reads a union of scalars, lists and maps: the options in order."""

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
        # No option is viable. For an object or an array, the error is that of the option of that shape.
        same_shape: tuple[type[Any], ...] = ()
        if isinstance(value, dict):
            same_shape = (ObjectReader, UnionReader, MapReader)
        elif isinstance(value, list):
            same_shape = (ListReader,)
        for reader in self.options:
            if isinstance(reader.inner if isinstance(reader, ConstrainedReader) else reader, same_shape):
                return reader.read(value, context)
        return context.expected(self.names, value)

    def viable(self, value: Any) -> bool:
        return any(r.viable(value) for r in self.options)

    def refuses(self, value: Any, context: RepairContext) -> bool:
        for reader in self.options:  # noqa: SIM110 # a generator would take twice as long
            if not reader.refuses(value, context):
                return False
        return True


_SIMPLE = (ExactReader, ObjectReader, ListReader, MapReader)
"""Readers whose values differ in class, so that the class alone decides between them."""


def _plain_classes(reader: TypeReader) -> frozenset[type[Any]]:
    """List the classes of all plain values that a reader may accept; nothing if that is not simple to tell."""
    match reader:
        case ExactReader():
            return frozenset((reader.kind,))
        case ConstrainedReader() | LengthReader():
            return _plain_classes(reader.inner)
        case EnumReader():
            return frozenset((reader.plain,))
        case IntReader():
            return frozenset((int,))
        case ListReader():
            return frozenset((list,))
        case MapReader():
            return frozenset((dict,))
        case ObjectReader(takes_null=False, compiled=True):
            return frozenset((dict,))
        case UnionReader(spec=UnionSpec(fallbacks=(), tag_field=str())):
            return frozenset((dict,))
        case _:
            return frozenset()


def _unread_classes(reader: TypeReader) -> frozenset[type[Any]]:
    """List the classes whose values a reader returns unchanged and unchecked."""
    match reader:
        case ExactReader():
            return frozenset((reader.kind,))
        case RawReader():
            return frozenset()
        case AnyReader():
            return frozenset((str, bool, int, float, list, dict, type(None)))
        case ChoiceReader(options=options) if all(isinstance(r, _SIMPLE) for r in options):
            return frozenset(c for r in options for c in _unread_classes(r))
        case _:
            return frozenset()
