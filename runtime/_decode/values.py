"""Readers of values: one small class for each kind of scalar, list and map."""

import re
from base64 import b64decode
from enum import Enum
from math import isfinite
from typing import Any, cast

import msgspec
from msgspec import UNSET, Struct

from .._types.leniency import SenderConstraint
from .context import RepairContext, TypeReader
from .hook import FORBIDDEN, dec_hook
from .paths import Mismatch, shown

FORMATS = {
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)"),
}
"""Outer forms of URIs (RFC 3986) and date-times (RFC 3339). Regular expressions are not checked: dialects differ."""


class ReaderBase:
    """Defaults for readers that cannot reject a value cheaply."""

    __slots__ = ()

    def refuses(self, value: Any, context: RepairContext) -> bool:
        """Return False: only `read` knows."""
        return False

    def sift(self, entries: list[Any], context: RepairContext) -> list[Any]:
        """Return all items."""
        return entries


class AnyReader(ReaderBase):
    """Reads any JSON value, unchanged."""

    def read(self, value: Any, context: RepairContext) -> Any:
        return value

    def viable(self, value: Any) -> bool:
        return True


class RawReader(AnyReader):
    """Reads any JSON value as `msgspec.Raw`, encoded again."""

    def read(self, value: Any, context: RepairContext) -> Any:
        return value if context.sending else msgspec.Raw(msgspec.json.encode(value))


class ExactReader(ReaderBase, Struct, frozen=True):
    """Reads a value of one Python class: text, a boolean, null."""

    kind: type
    name: str

    def read(self, value: Any, context: RepairContext) -> Any:
        return value if isinstance(value, self.kind) else context.expected(self.name, value)

    def viable(self, value: Any) -> bool:
        return isinstance(value, self.kind)

    def refuses(self, value: Any, context: RepairContext) -> bool:
        return not isinstance(value, self.kind)

    def sift(self, entries: list[Any], context: RepairContext) -> list[Any]:
        kind = self.kind
        return [e for e in entries if isinstance(e, kind)]


class ForbiddenReader(ReaderBase, Struct, frozen=True):
    """Rejects every value: the key must be absent. The value `unless` is as good as none."""

    unless: str | None

    def read(self, value: Any, context: RepairContext) -> Any:
        return context.fail(FORBIDDEN) if self.refuses(value, context) else UNSET

    def viable(self, value: Any) -> bool:
        return True

    def refuses(self, value: Any, context: RepairContext) -> bool:
        return self.unless is None or value != self.unless


class PatternReader(ReaderBase, Struct, frozen=True):
    """Reads text that must match a pattern."""

    pattern: str

    def read(self, value: Any, context: RepairContext) -> Any:
        if not isinstance(value, str):
            context.expected("str", value)
        return value if re.search(self.pattern, value) else context.fail(f"Expected `str` matching `{self.pattern}`")

    def viable(self, value: Any) -> bool:
        return isinstance(value, str)

    def refuses(self, value: Any, context: RepairContext) -> bool:
        return not isinstance(value, str) or re.search(self.pattern, value) is None


class IntReader(ReaderBase, Struct, frozen=True):
    """Reads an integer within bounds; `1.0` and `true` do not count."""

    low: int | None
    high: int | None

    def read(self, value: Any, context: RepairContext) -> Any:
        if not isinstance(value, int) or isinstance(value, bool):
            context.expected("int", value)
        if self.low is not None and value < self.low:
            context.fail(f"Expected `int` >= {self.low}")
        if self.high is not None and value > self.high:
            context.fail(f"Expected `int` <= {self.high}")
        return value

    def viable(self, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    def refuses(self, value: Any, context: RepairContext) -> bool:
        if not isinstance(value, int) or isinstance(value, bool):
            return True
        return (self.low is not None and value < self.low) or (self.high is not None and value > self.high)


class FloatReader(ReaderBase):
    """Reads a number; integers count."""

    def read(self, value: Any, context: RepairContext) -> Any:
        if not isinstance(value, int | float) or isinstance(value, bool):
            context.expected("float", value)
        try:
            number = float(value)
        except OverflowError:
            context.fail("Number out of range")
        return number if isfinite(number) else context.fail("JSON has no infinity and no NaN")

    def viable(self, value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool)

    def refuses(self, value: Any, context: RepairContext) -> bool:
        return not isinstance(value, int | float) or isinstance(value, bool)


class LiteralReader(ReaderBase, Struct, frozen=True):
    """Reads one of a few literal values."""

    values: tuple[Any, ...]

    def read(self, value: Any, context: RepairContext) -> Any:
        return value if self.viable(value) else context.fail(f"Invalid enum value {shown(value)}")

    def viable(self, value: Any) -> bool:
        return any(type(value) is type(v) and value == v for v in self.values)

    def refuses(self, value: Any, context: RepairContext) -> bool:
        return not self.viable(value)


class EnumReader(ReaderBase, Struct, frozen=True):
    """Reads a member of an enumeration; `for_unknown`, if the class has it, returns the member for an unknown value."""

    kind: type[Enum]
    plain: type
    for_unknown: Any
    known: frozenset[Any] | None
    """All values of a closed enumeration; None for an open one."""

    def read(self, value: Any, context: RepairContext) -> Any:
        if not self.viable(value):
            context.expected("int" if self.plain is int else "str", value)
        try:
            return self.kind(value)
        except ValueError:
            if self.for_unknown is None:
                context.fail(f"Invalid enum value {shown(value)}")
        if context.is_quiet:
            context.count += 1
        else:
            context.skip(value, Mismatch(f"Invalid enum value {shown(value)}", tuple(context.path)), "default")
        return self.for_unknown(value)

    def viable(self, value: Any) -> bool:
        return isinstance(value, self.plain) and not isinstance(value, bool)

    def refuses(self, value: Any, context: RepairContext) -> bool:
        if not isinstance(value, self.plain) or isinstance(value, bool):
            return True
        return self.known is not None and value not in self.known

    def sift(self, entries: list[Any], context: RepairContext) -> list[Any]:
        plain, known = self.plain, self.known
        if known is None:
            return [e for e in entries if isinstance(e, plain)]
        return [e for e in entries if isinstance(e, plain) and e in known]


class LengthReader(ReaderBase, Struct, frozen=True):
    """Reads text or a list whose length is limited."""

    inner: TypeReader
    name: str
    low: int
    high: int | None

    def read(self, value: Any, context: RepairContext) -> Any:
        out = self.inner.read(value, context)
        if len(out) < self.low:
            context.fail(f"Expected `{self.name}` of length >= {self.low}")
        if self.high is not None and len(out) > self.high:
            context.fail(f"Expected `{self.name}` of length <= {self.high}")
        return out

    def viable(self, value: Any) -> bool:
        return self.inner.viable(value)

    def refuses(self, value: Any, context: RepairContext) -> bool:
        return self.inner.refuses(value, context)

    def sift(self, entries: list[Any], context: RepairContext) -> list[Any]:
        return self.inner.sift(entries, context)


class ConstrainedReader(ReaderBase, Struct, frozen=True):
    """Reads a value with constraints that apply to senders only."""

    inner: TypeReader
    constraint: SenderConstraint

    def read(self, value: Any, context: RepairContext) -> Any:
        out = self.inner.read(value, context)
        if context.sending:
            problem = violation(self.constraint, value)
            if problem is not None:
                context.fail(problem)
        return out

    def viable(self, value: Any) -> bool:
        return self.inner.viable(value)

    def refuses(self, value: Any, context: RepairContext) -> bool:
        return self.inner.refuses(value, context)

    def sift(self, entries: list[Any], context: RepairContext) -> list[Any]:
        return self.inner.sift(entries, context)


def violation(constraint: SenderConstraint, value: Any) -> str | None:
    """Return what a value violates, None if nothing."""
    if constraint.minimum is not None and value < constraint.minimum:
        return f"Expected a number >= {constraint.minimum}"
    if constraint.maximum is not None and value > constraint.maximum:
        return f"Expected a number <= {constraint.maximum}"
    if constraint.min_items is not None and len(value) < constraint.min_items:
        return f"Expected at least {constraint.min_items} items"
    if constraint.min_length is not None and len(value) < constraint.min_length:
        return f"Expected at least {constraint.min_length} characters"
    if constraint.max_length is not None and len(value) > constraint.max_length:
        return f"Expected at most {constraint.max_length} characters"
    if constraint.pattern is not None and re.search(constraint.pattern, value) is None:
        return f"Expected text matching `{constraint.pattern}`"
    if constraint.content_encoding == "base64" and not _is_base64(value):
        return "Expected Base64"
    if constraint.format in FORMATS and FORMATS[constraint.format].fullmatch(value) is None:
        return f"Expected the format {constraint.format}"
    return None


def _is_base64(text: str) -> bool:
    try:
        b64decode(text, validate=True)
    except ValueError:
        return False
    return True


CHUNK = 64
"""Items of a list that msgspec is tried on together before they are read one by one."""


class ListReader(ReaderBase, Struct, frozen=True):
    """Reads a list; with `skips`, invalid items are dropped."""

    item: TypeReader
    skips: bool
    many: Any
    """The type of a list of such items."""

    def read(self, value: Any, context: RepairContext) -> Any:
        if not isinstance(value, list | tuple):
            context.expected("array", value)
        entries = cast("list[Any]", value)
        out: list[Any] = []
        start = 0
        while start < len(entries):
            if self.skips and context.is_quiet:
                entries = self.item.sift(entries[start:], context)
                context.count += len(cast("list[Any]", value)) - start - len(entries)
                self.read_quietly(entries, context, out)
                break
            chunk = entries[start : start + CHUNK]
            if not self.read_together(chunk, context, out):
                self.read_each(chunk, start, context, out)
            start += CHUNK
        return out

    def read_together(self, chunk: list[Any], context: RepairContext, out: list[Any]) -> bool:
        """Append the items to `out` if msgspec can read them all; return whether it can."""
        # msgspec is only trusted with plain values that came from JSON text: it accepts more than JSON elsewhere.
        if not context.mismatch or len(chunk) == 1:
            return False
        try:
            out += msgspec.convert(chunk, self.many, dec_hook=dec_hook)
        except (ValueError, RecursionError):
            return False
        return True

    def read_each(self, entries: list[Any], start: int, context: RepairContext, out: list[Any]) -> None:
        """Append the items to `out`; the first one stands at index `start`."""
        path, read = context.path, self.item.read
        depth = len(path) + 1
        for index, entry in enumerate(entries, start):
            path.append(index)
            repairs = context.count
            try:
                out.append(read(entry, context))
            except Mismatch as why:
                context.undo(depth, repairs)
                if not self.skips:
                    raise
                context.skip(entry, why, "dropped")
            path.pop()

    def read_quietly(self, entries: list[Any], context: RepairContext, out: list[Any]) -> None:
        """Append the valid items to `out` and count the others, without an exception for each."""
        path, reader = context.path, self.item
        path.append(-1)
        depth = len(path)
        for start in range(0, len(entries), CHUNK):
            chunk = entries[start : start + CHUNK]
            if self.read_together(chunk, context, out):
                continue
            for entry in chunk:
                repairs = context.count
                if reader.refuses(entry, context):
                    context.count += 1
                    continue
                try:
                    out.append(reader.read(entry, context))
                except Mismatch:
                    context.undo(depth, repairs)
                    context.count += 1
        path.pop()

    def viable(self, value: Any) -> bool:
        if not isinstance(value, list | tuple):
            return False
        return self.skips or all(self.item.viable(v) for v in cast("list[Any]", value))

    def refuses(self, value: Any, context: RepairContext) -> bool:
        if not isinstance(value, list | tuple):
            return True
        return not self.skips and any(self.item.refuses(v, context) for v in cast("list[Any]", value))


class MapReader(ReaderBase, Struct, frozen=True):
    """Reads an object used as a map with text keys; one invalid value makes it invalid."""

    item: TypeReader

    def read(self, value: Any, context: RepairContext) -> Any:
        if not isinstance(value, dict):
            context.expected("object", value)
        out: dict[str, Any] = {}
        for key, entry in cast("dict[str, Any]", value).items():
            context.path.append(key)
            out[key] = self.item.read(entry, context)
            context.path.pop()
        return out

    def viable(self, value: Any) -> bool:
        return isinstance(value, dict)

    def refuses(self, value: Any, context: RepairContext) -> bool:
        if not isinstance(value, dict):
            return True
        return any(self.item.refuses(v, context) for v in cast("dict[str, Any]", value).values())
