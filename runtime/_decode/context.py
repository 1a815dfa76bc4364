"""The state of one repair: where it is, what it may replace, and what it has replaced so far."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NoReturn, Protocol

from msgspec import Struct

from .paths import Mismatch, Step, json_path, kind_of

MAX_RECORDED = 100
"""Repairs of one value that are recorded one by one; one more `Skipped` counts the others."""


class KeptVariant(dict[str, Any]):
    """The plain form of an `UnknownVariant` that is about to be sent.

    It has a class of its own so that no JSON object can be mistaken for it.
    """


class Skipped(Struct, frozen=True, repr_omit_defaults=True):
    """One repair: the value at `path` was invalid and was replaced or dropped.

    `path` is a JSON path (`$.update.content[2]`), `value` the plain JSON value that stood there, `error` says why it
    was invalid, and `action` is "default" (the field now has its default) or "dropped" (the item was removed).

    At most 100 repairs of one value are recorded one by one. If there are more, the last `Skipped` stands for `count`
    others: its `path` is that of the whole value, its `value` None, its `error` their number, its `action` "default".
    """

    path: str
    value: Any
    error: str
    action: Literal["default", "dropped"]
    count: int = 1
    """Number of repairs that this entry represents."""


class RepairContext(Struct):
    """The state of one repair."""

    strict: bool = False
    """Whether any repair is an error."""
    keep_unknown: bool = False
    """Whether a value with an unknown tag in a closed union becomes an `UnknownVariant`."""
    sending: bool = False
    """Whether the value is about to be sent, so that sender constraints are checked too."""
    mismatch: Sequence[str] = ()
    """Path of the first mismatch of the fast path, if it ran; msgspec can read every object that is not on it."""
    limit: int = MAX_RECORDED
    """Repairs to record one by one; 0 where nobody listens."""
    path: list[Step] = []
    """Path of the current value."""
    count: int = 0
    """Number of repairs so far."""
    skipped: list[Skipped] = []
    """The recorded repairs: the first `limit` ones."""
    causes: list[tuple[str, tuple[Step, ...]]] = []
    """Message and path of the mismatch behind each recorded repair; filled only where `strict` is set."""

    @property
    def is_quiet(self) -> bool:
        """Whether further repairs are counted only, so that their reasons are not needed."""
        return self.count >= self.limit

    def read_root(self, reader: "TypeReader", value: Any) -> Any:
        """Read the outermost value.

        A strict read repairs as well and then rejects what it repaired. Otherwise a union would try the next variant
        for a value that a lenient read would repair as the first one.
        """
        out = reader.read(value, self)
        if self.strict and self.causes:
            raise Mismatch(*self.causes[0])
        return out

    def fail(self, message: str, *below: Step) -> NoReturn:
        """Raise a `Mismatch` at the current path, extended by `below`."""
        raise Mismatch(message, (*self.path, *below))

    def expected(self, kind: str, value: Any) -> NoReturn:
        """Raise a `Mismatch` that names the expected and the actual type."""
        self.fail(f"Expected `{kind}`, got `{kind_of(value)}`")

    def attempt(self, read: Callable[[Any, "RepairContext"], Any], value: Any) -> Any:
        """Read `value`; on a mismatch undo the repairs inside it and raise again."""
        depth, repairs = len(self.path), self.count
        try:
            return read(value, self)
        except Mismatch:
            self.undo(depth, repairs)
            raise

    def undo(self, depth: int, repairs: int) -> None:
        """Go back to a path of length `depth` and to the first `repairs` repairs."""
        del self.path[depth:]
        self.count = repairs
        del self.skipped[repairs:], self.causes[repairs:]

    def skip(self, value: Any, why: Mismatch, action: Literal["default", "dropped"]) -> None:
        """Record a repair of the current value, or only count it beyond the limit."""
        self.count += 1
        if self.count > self.limit:
            return
        below = why.path[len(self.path) :]
        error = f"{why.message} - at `{json_path(below)}`" if below else why.message
        if self.strict:
            self.causes.append((why.message, why.path))
        self.skipped.append(Skipped(json_path(self.path), value, error, action))

    def repairs(self, path: tuple[Step, ...] = ()) -> list[Skipped]:
        """List the repairs of the value at `path`; the last entry represents those that were only counted."""
        more = self.count - len(self.skipped)
        if more and self.limit:
            self.skipped.append(Skipped(json_path(path), None, f"{more} more repairs", "default", more))
        return self.skipped


class TypeReader(Protocol):
    """The compiled reader of one type: reads plain JSON values and repairs them where the type is lenient."""

    def read(self, value: Any, context: RepairContext) -> Any:
        """Return the typed value; raise `Mismatch` if it is invalid."""
        ...

    def viable(self, value: Any) -> bool:
        """Check the outermost shape only. False means that `read` raises; True promises nothing."""
        ...

    def refuses(self, value: Any, context: RepairContext) -> bool:
        """Check without exceptions. True means that `read` raises; False promises nothing."""
        ...

    def sift(self, entries: list[Any], context: RepairContext) -> list[Any]:
        """Leave out items for which `read` raises, as far as a cheap check of each shows it."""
        ...
