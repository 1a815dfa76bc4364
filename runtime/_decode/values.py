"""Plans of values: one small reader for each kind of scalar, list and map."""

import re
from base64 import b64decode
from enum import Enum
from math import isfinite
from typing import Any, cast

import msgspec
from msgspec import Struct

from .._types.leniency import Advice
from .context import RepairContext, TypeReader
from .hook import dec_hook
from .paths import Mismatch, shown

FORMATS = {
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)"),
}
"""The outer form of URIs (RFC 3986) and date-times (RFC 3339); the regular expressions of peers are their own."""


class Sifting:
    """What every reader does about values that it refuses, as far as it does not know better."""

    __slots__ = ()

    def refuses(self, value: Any, context: RepairContext) -> bool:
        """Refuse nothing without a closer look."""
        return False

    def sift(self, entries: list[Any], context: RepairContext) -> list[Any]:
        """Leave nothing out."""
        return entries


class FreeJson(Sifting):
    """Any JSON value, untouched."""

    def read(self, value: Any, context: RepairContext) -> Any:
        return value

    def viable(self, value: Any) -> bool:
        return True


class RawJson(FreeJson):
    """Any JSON value, written again as `msgspec.Raw`."""

    def read(self, value: Any, context: RepairContext) -> Any:
        return value if context.sending else msgspec.Raw(msgspec.json.encode(value))


class Exact(Sifting, Struct, frozen=True):
    """A value of one Python type: text, a boolean, null."""

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


class ByHook(Sifting, Struct, frozen=True):
    """A stand-in that reads for itself."""

    kind: Any

    def read(self, value: Any, context: RepairContext) -> Any:
        try:
            return self.kind.read(value)
        except ValueError as why:
            context.fail(str(why))

    def viable(self, value: Any) -> bool:
        return True


class Patterned(Sifting, Struct, frozen=True):
    """Text that matches a pattern which readers do enforce."""

    pattern: str

    def read(self, value: Any, context: RepairContext) -> Any:
        if not isinstance(value, str):
            context.expected("str", value)
        return value if re.search(self.pattern, value) else context.fail(f"Expected `str` matching `{self.pattern}`")

    def viable(self, value: Any) -> bool:
        return isinstance(value, str)

    def refuses(self, value: Any, context: RepairContext) -> bool:
        return not isinstance(value, str) or re.search(self.pattern, value) is None


class Integer(Sifting, Struct, frozen=True):
    """An integer within bounds; `1.0` and `true` are none."""

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


class Float(Sifting):
    """A number; an integer counts."""

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


class Constant(Sifting, Struct, frozen=True):
    """One of a few literal values."""

    values: tuple[Any, ...]

    def read(self, value: Any, context: RepairContext) -> Any:
        return value if self.viable(value) else context.fail(f"Invalid enum value {shown(value)}")

    def viable(self, value: Any) -> bool:
        return any(type(value) is type(v) and value == v for v in self.values)

    def refuses(self, value: Any, context: RepairContext) -> bool:
        return not self.viable(value)


class Member(Sifting, Struct, frozen=True):
    """A member of an enumeration; `for_unknown`, where the class has it, says what an unknown value becomes."""

    kind: type[Enum]
    plain: type
    for_unknown: Any
    known: frozenset[Any] | None
    """All values, where the class takes no others."""

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


class Advised(Sifting, Struct, frozen=True):
    """A value with limits that only a sender keeps to."""

    inner: TypeReader
    advice: Advice

    def read(self, value: Any, context: RepairContext) -> Any:
        out = self.inner.read(value, context)
        if context.sending:
            problem = unheeded(self.advice, value)
            if problem is not None:
                context.fail(problem)
        return out

    def viable(self, value: Any) -> bool:
        return self.inner.viable(value)

    def refuses(self, value: Any, context: RepairContext) -> bool:
        return self.inner.refuses(value, context)

    def sift(self, entries: list[Any], context: RepairContext) -> list[Any]:
        return self.inner.sift(entries, context)


def unheeded(advice: Advice, value: Any) -> str | None:
    """Say which limit a value does not keep, if any."""
    if advice.minimum is not None and value < advice.minimum:
        return f"Expected a number >= {advice.minimum}"
    if advice.maximum is not None and value > advice.maximum:
        return f"Expected a number <= {advice.maximum}"
    if advice.min_items is not None and len(value) < advice.min_items:
        return f"Expected at least {advice.min_items} items"
    if advice.min_length is not None and len(value) < advice.min_length:
        return f"Expected at least {advice.min_length} characters"
    if advice.pattern is not None and re.search(advice.pattern, value) is None:
        return f"Expected text matching `{advice.pattern}`"
    if advice.content_encoding == "base64" and not _is_base64(value):
        return "Expected Base64"
    if advice.format in FORMATS and FORMATS[advice.format].fullmatch(value) is None:
        return f"Expected the format {advice.format}"
    return None


def _is_base64(text: str) -> bool:
    try:
        b64decode(text, validate=True)
    except ValueError:
        return False
    return True


CHUNK = 64
"""So many items of a list are tried together before they are looked at one by one."""


class Items(Sifting, Struct, frozen=True):
    """A list; with `skips`, items that do not fit are dropped."""

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
        """Add the items to `out` if msgspec takes them all, and say whether it does."""
        # As with a Struct: of plain values from JSON text msgspec takes for fine what is fine, and no more.
        if not context.mismatch or len(chunk) == 1:
            return False
        try:
            out += msgspec.convert(chunk, self.many, dec_hook=dec_hook)
        except (ValueError, RecursionError):
            return False
        return True

    def read_each(self, entries: list[Any], start: int, context: RepairContext, out: list[Any]) -> None:
        """Add the items to `out`, the first of which stands at `start`."""
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
        """Add the items to `out` that fit, and only count the others: no error is made for those."""
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


class Values(Sifting, Struct, frozen=True):
    """An object used as a map with text keys: one bad value fails it."""

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
